#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A typed client, generated from docs/openapi.yaml by openapi-python-client, asks the running daemon.

  typed_client.py --binary PATH --client FOLDER [--logdir FOLDER]

Generates the package memviewd_client into FOLDER; `make typed-client-test` runs this with the Python that has the
generator. On the built-in demo every view of every tool and the lists are asked for, on each session of --logdir
what it has. An answer must be of its generated type, and that, written as JSON again, must be the answer: nothing
is lost, nothing is there that the types do not know. The last line is "N passed, N failed, N skipped".
"""

import argparse
import importlib
import inspect
import json
import os
import re
import subprocess
import sys
import traceback

import fleet_story
import harness

PACKAGE = "memviewd_client"
LISTS = (
    "/-/healthy",
    "/-/ready",
    "/api/v1/about",
    "/api/v1/tools",
    "/api/v1/devices",
    "/api/v1/live",
    "/api/v1/sessions",
)
OF_A_SESSION = (
    "/api/v1/sessions/{session}",
    "/api/v1/sessions/{session}/modules",
    "/api/v1/sessions/{session}/profiles",
    "/api/v1/oom",
    "/api/v1/oom/plan",
    "/api/v1/oom/text",
)
# What a view needs beside the session.
ARGUMENTS = {
    "/api/v1/memory_profile/event": {"id": 0},
    "/api/v1/memory_profile/block": {"id": 0},
    "/api/v1/device_memory/callers": {"match": "."},
    "/api/v1/device_memory/source": {"file": "train.py"},
}
OF_SNAPSHOTS = "/api/v1/memory_profile/block"  # of blocks from before a recording; the demo has no such snapshot
FLEET = "/api/v1/fleet/"  # views of all sessions together


def is_of_two(path):
    """Is what the view is about A and B: two programs, two device profiles?"""
    return path.startswith("/api/v1/compare")


def generate(folder):
    os.makedirs(folder, exist_ok=True)
    config = os.path.join(folder, "config.yaml")
    with open(config, "w", encoding="utf-8") as file:
        json.dump(
            {
                "post_hooks": [],
                "content_type_overrides": {"application/vnd.google.protobuf+gzip": "application/octet-stream"},
            },
            file,
        )
    made = subprocess.run(
        [
            os.path.join(os.path.dirname(sys.executable), "openapi-python-client"),
            "generate",
            "--path",
            os.path.join(harness.ROOT, "docs", "openapi.yaml"),
            "--config",
            config,
            "--meta",
            "none",
            "--output-path",
            os.path.join(folder, PACKAGE),
            "--overwrite",
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    said = made.stdout + made.stderr
    assert made.returncode == 0, said
    # The generator sends every body as application/octet-stream; all else has to be understood.
    unknown = re.findall(r"Unsupported content type (\S+)", said)
    assert (
        said.count("WARNING") == len(unknown)
        and set(unknown) <= {"text/plain", "text/markdown", "application/x-ndjson"}
        and "Unable to" not in said
    ), said


class Client:
    def __init__(self, url):
        self.client = importlib.import_module(PACKAGE).Client(
            base_url=url.rstrip("/"), timeout=harness.PATIENCE_SECONDS
        )
        self.problem = importlib.import_module(f"{PACKAGE}.models").Problem

    @staticmethod
    def operation(path, method="get"):
        return importlib.import_module(
            f"{PACKAGE}.api.default.{method}_" + "_".join(re.findall(r"\w+", path))
        ).sync_detailed

    def ask(self, path, method="get", **arguments):
        """(status, value of the generated type); raises where the answer does not fit its type"""
        answer = self.operation(path, method)(client=self.client, **arguments)
        what = f"{method} {path} {arguments}: {answer.status_code} {answer.content[:200]}"
        if answer.headers.get("content-type", "").partition(";")[0].endswith("json"):
            assert answer.parsed is not None, f"not documented: {what}"
            harness.equal(isinstance(answer.parsed, self.problem), answer.status_code >= 400, what)
            harness.equal(answer.parsed.to_dict(), json.loads(answer.content), what)
        return answer.status_code, answer.parsed

    def ask_session(self, path, session):
        arguments = dict(ARGUMENTS.get(path, {}))
        if path == "/api/v1/memory_viewer/buffer":
            status, answer = self.ask("/api/v1/memory_viewer/buffers", session=session, step="all", limit=1)
            arguments["id"] = answer.data.rows[0].id if status == 200 and answer.data.rows else "0"
        about = {"a": session, "b": session} if is_of_two(path) else {"session": session}
        return self.ask(path, **about, **arguments)[0]


class Run:
    def __init__(self):
        self.passed = self.failed = 0

    def check(self, name, function, *arguments):
        try:
            function(*arguments)
            self.passed += 1
            print(f"ok      {name}", flush=True)
        except Exception:  # noqa: a generated type may refuse an answer in any way
            self.failed += 1
            print(f"FAILED  {name}\n{traceback.format_exc()}", flush=True)


def ask_lists(client):
    for path in LISTS:
        harness.equal(client.ask(path)[0], 200, path)


def ask_sessions(client, path, sessions, is_every_view):
    asked = {client.ask_session(path, session.id) for session in sessions}
    assert asked <= ({200, 404, 409} if is_of_two(path) else {200, 404}), f"{path}: {asked}"
    assert 200 in asked or not is_every_view or path == OF_SNAPSHOTS, f"{path}: no session has it"


def ask_fleet(client, has_rows):
    for view in ("summary", "chart", "series", "points", "regressions", "hosts"):
        status, answer = client.ask(FLEET + view)
        harness.equal(status, 200, view)
        assert not has_rows or getattr(answer.data, "rows", None) != [], view


def ask_given(client, profile):
    """a text and a profile in, what is in them out"""
    file = importlib.import_module(f"{PACKAGE}.types").File
    text = b"RESOURCE_EXHAUSTED: Out of memory while trying to allocate 300 bytes.\n"
    status, answer = client.ask("/api/v1/oom", "post", body=file(payload=text))
    harness.equal((status, answer.failures[0].needed_bytes), (200, 300))
    status, part = client.ask("/api/v1/oom/text", local=answer.local)
    harness.equal((status, part.payload.read()), (200, text))
    status, answer = client.ask("/api/v1/profiles", "post", body=file(payload=profile))
    harness.equal(status, 201)
    status, answer = client.ask("/api/v1/device_memory/summary", profile=[answer.id], hide=["a", "b"])
    harness.equal((status, answer.tool), (200, "device_memory"))


def ask_daemon(run, client, name, is_every_view):
    run.check(f"{name}: lists", ask_lists, client)
    sessions = client.ask("/api/v1/sessions", limit=1000)[1].sessions
    views = [f"/api/v1/{tool.name}/{view.name}" for tool in client.ask("/api/v1/tools")[1].tools for view in tool.views]
    run.check(f"{name}: fleet", ask_fleet, client, False)
    for path in (path for path in (*OF_A_SESSION, *views) if not path.startswith(FLEET)):
        about = "a" if is_of_two(path) else "session"
        assert about in inspect.signature(client.operation(path)).parameters, path
        run.check(f"{name}: {path}", ask_sessions, client, path, sessions, is_every_view)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--client", required=True)
    parser.add_argument("--logdir")
    options = parser.parse_args()
    run = Run()
    run.check("generated", generate, options.client)
    sys.path.insert(0, options.client)
    with harness.Toolbox(options.binary, None) as toolbox:
        for name, arguments in (("demo", ["--demo"]), ("logdir", [options.logdir])):
            if None not in arguments:
                daemon = toolbox.serve(*arguments)
                harness.wait_until(lambda: daemon.ask("/-/ready").status == 200, what="the first scan")
                client = Client(daemon.url)
                ask_daemon(run, client, name, is_every_view=name == "demo")
        run.check("jobs: fleet", ask_fleet, Client(toolbox.serve(fleet_story.make(toolbox.folder("story"))).url), True)
        run.check("given", ask_given, client, toolbox.fixture("demo/leak/memory9.prof"))
    print(f"{run.passed} passed, {run.failed} failed, 0 skipped")
    return 1 if run.failed else 0


if __name__ == "__main__":
    sys.exit(main())
