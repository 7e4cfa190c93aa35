# SPDX-License-Identifier: Apache-2.0
"""Answers about a folder and about the same files at an address, side by side."""

import json
import os
import re

import servers

# What says where the files lie and when they were written there, and who measured.
PLACES = {
    "logdir",
    "root",
    "roots",
    "generated_at",
    "modified_at_unix_ms",
    "mtime",
    "modified_at",
    "file_id",
    "id",
    "session_id",
}


# What is another with each request, and with each copy of a file.
OF_PLACE = re.compile(r'"(modified_at|request_id|modified_at_unix_ms|mtime_unix_ms)":("[^"]*"|[0-9]+)')


def equal_lines(mine, expected, what):
    """says which are not on the other side, and no more"""
    mine, expected = ([OF_PLACE.sub(r'"\1":…', line) for line in lines] for lines in (mine, expected))
    if mine == expected:
        return
    lines = [f"+ {line[:600]}" for line in mine if line not in expected][:3] + [
        f"- {line[:600]}" for line in expected if line not in mine
    ][:3]
    raise AssertionError(
        f"{what}: {len(mine)} lines, expected {len(expected)}:\n" + "\n".join(lines or ["another order"])
    )


def api_paths(daemon):
    """{(session, what): path} of answers that hold figures"""
    paths = {}
    for name, row in daemon.sessions().items():
        base = f"/api/v1/sessions/{row['id']}"
        paths[name, "session"] = base
        listed = daemon.ask(base + "/modules")
        for module in listed.json.get("modules", []) if listed.status == 200 else []:
            for view in ("summary", "buffers", "whose"):
                paths[name, module["name"], view] = (
                    f"/api/v1/memory_viewer/{view}?session={row['id']}&module={module['id']}"
                )
    return paths


def files(t, folder, address, environ, pick):
    """each file of the folder by itself, as commands answer it: byte for byte"""
    count = 0
    for path in servers.files_of(folder):
        if not pick(path):
            continue
        for command in (("whose", "--json"), ("summary", "--csv"), ("export", "--format=ndjson")):
            mine = t.command(command[0], os.path.join(folder, path), *command[1:], status=None)
            other = t.command(command[0], f"{address}/{path}", *command[1:], status=None, **environ)
            assert mine.returncode == other.returncode, (command, path, mine.stderr, other.stderr)
            equal_lines(other.stdout.replace(address, folder).splitlines(), mine.stdout.splitlines(), (command, path))
            count += mine.returncode == 0
    return count


def rows(t, place, environ):
    """what memviewd index writes of it, by path and module, without what differs from place to place"""
    made = t.command("index", place, **environ).stdout
    listed = [json.loads(line) for line in made.splitlines()]
    return sorted(
        json.dumps({name: value for name, value in row.items() if name not in PLACES}, sort_keys=True) for row in listed
    )
