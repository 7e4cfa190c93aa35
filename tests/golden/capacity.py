#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One program, one capacity and one answer to whether it fits, whoever says it.

  capacity.py --binary memviewd [--shared ../shared] [--part K/N:SEED]

Over all programs of tests/fixtures and of ../shared/data every face says the same bytes of the same source, with the
same word and sentence: /api/v1/memory_viewer/summary, the list of modules, the table of modules, the verdict with and
without a module, the what-if of no change, `explain`, `summary --json`, `check` and the rows of `index`. A face that
says less (the table, the rows) is held to what it says. With capacity=h200 those that take one agree as well. No
program of a GPU says "Default memory". Of the sessions of ../shared/data --part takes the K-th (from 0) of N parts into
which SEED divides them.

The what-if judges the plan alone: where an error text asks for more than the plan, bytes and source are held.
A verdict without a module of a session that failed is of the failure: what that needs is the text's own figure, so
bytes and source of the capacity are held alone.
"""

import argparse
import os
import subprocess
import sys
import time
import urllib.error

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "http"))
import running  # noqa: E402: its folder comes first
from daemon import Counts, Daemon
from members import loads

HERE = os.path.dirname(os.path.abspath(__file__))
SETTLED_SECONDS = 60
CHOSEN = ("h200",)  # more than the limit of an allocator that a trace records
KINDS = ("trace", "dump", "hlo")


def of_fit(fit):
    return (fit.get("capacity_bytes"), fit.get("source"), fit["word"], fit["sentence"])


def of_device(spaces):
    """the fit of memory space 0; None where there is none"""
    return next((of_fit(space["fit"]) for space in spaces if space["space"] == 0), None)


def json_of(binary, *words):
    done = subprocess.run([binary, *words], capture_output=True, text=True, check=False)
    return loads(done.stdout)


def by_summary(binary, root, *words):
    """{(session, module): its fit}"""
    answer = json_of(binary, "summary", "--json", *words, root)
    return {
        (session["id"], module["id"]): of_device(module["summary"]["data"]["spaces"])
        for session in answer["sessions"]
        for module in session["modules"]
        if module["summary"]
    }


def by_rows(binary, root):
    """{(session, host, module, program id): (capacity, source) of its row}"""
    done = subprocess.run([binary, "index", "--format=ndjson", root], capture_output=True, text=True, check=False)
    rows = [loads(line) for line in done.stdout.splitlines()]
    return {
        (row["session_id"], row["file"], row["module"], row["program_id"]): row
        for row in rows
        if row["kind"] == "module"
    }


def by_explain(binary, root, *words):
    """{(session, key): the fit of its verdict}, of programs without a failure"""
    listed = json_of(binary, "explain", "--json", *words, root)
    return {
        (one["session"], one["module"]): one["answer"]["fit"]
        for one in listed
        if one.get("answer") and one.get("module") and one.get("session")
    }


def by_check(binary, root, name):
    """{(file, module, bytes): its fit into the device of that name}"""
    checked = json_of(binary, "check", f"--max-total={name}", "--format=json", root)
    return {
        (one["file"].removeprefix(root + "/"), one["module"], one["total_bytes"]): of_fit(one["fit"])
        for one in checked["modules"]
        if one.get("fit")
    }


def table_of(daemon, session, **chosen):
    answer = {"reading": {"is_complete": False}}
    while not answer["reading"]["is_complete"]:
        answer = daemon.json("/api/v1/modules/table", session=session["id"], space=0, limit=1000, **chosen)["data"]
    return {row["module_id"]: row.get("capacity_bytes") for row in answer["rows"]}


def held(said, other):
    """what a face says that says no more than some of (bytes, source, word, sentence)"""
    return tuple(mine if mine is not ... else whole for mine, whole in zip(other, said))


def has_total(viewer):
    """does the what-if start from the total that the other faces need? It counts neither constants nor what a text asks
    for"""
    space = next(space for space in viewer["data"]["spaces"] if space["space"] == 0)
    return (
        space["fit"]["needed_bytes"] == space["total_bytes"]
        and not space["constant_bytes"]
        and not space["thread_local_bytes"]
    )


def faces_of_module(daemon, session, module, **chosen):
    """{face: what it says} of one program, asked by its id"""
    about = {"session": session["id"], "module": module["id"]}
    viewer = daemon.json("/api/v1/memory_viewer/summary", **about, **chosen)
    said = of_device(viewer["data"]["spaces"])
    faces = {"viewer": said}
    verdict = daemon.json("/api/v1/verdict", **about, **chosen)["fit"]
    if verdict["space"] in said[3]:
        faces["verdict"] = of_fit(verdict)
    try:
        whatif = of_fit(daemon.json("/api/v1/memory_viewer/whatif", **about, **chosen)["data"]["fit_before"])
    except urllib.error.HTTPError:  # nothing to change: no program, or none with memory of its own
        return faces
    faces["whatif"] = whatif if whatif[3] == said[3] or has_total(viewer) else held(said, (*whatif[:2], ..., ...))
    return faces


def explain_add(faces, explained, session, module):
    fit = explained.get((session["name"], module["key"]))
    if fit and fit["space"] in faces["viewer"][3]:
        faces["explain"] = of_fit(fit)


def faces_of(daemon, by, is_in_part):
    """(program, {face: what it says}) of each program with memory of a device"""
    found = []
    for session in daemon.json("/api/v1/sessions", limit=1000)["sessions"]:
        if session["kind"] not in KINDS or not is_in_part(session["name"]):
            continue
        modules = daemon.json(f"/api/v1/sessions/{session['id']}/modules", limit=1000)["modules"]
        table = table_of(daemon, session) if modules else {}
        whole = daemon.json("/api/v1/verdict", session=session["id"])
        for module in modules:
            said = None if module.get("error") else of_device(module["spaces"])
            if said is None:
                continue
            faces = {"modules": said, **faces_of_module(daemon, session, module)}
            faces["table"] = held(said, (table.get(module["id"]), ..., ..., ...))
            faces["summary"] = by["summary"][session["id"], module["id"]]
            row = by["rows"].get((session["id"], module["file"], module["name"], module["program_id"]))
            if row and row["memory_space"] in said[3]:
                faces["index"] = held(said, (row["capacity_bytes"], row["capacity_source"], ..., ...))
            explain_add(faces, by["explain", None], session, module)
            if (whole.get("module") or {}).get("id") == module["id"] and whole["fit"]["space"] in said[3]:
                fit = of_fit(whole["fit"])
                faces["session"] = fit if whole.get("report") is None else held(said, (*fit[:2], ..., ...))
            found.append((f"{session['name']} {module['name']}", faces))
            for name in CHOSEN:
                chosen = faces_of_module(daemon, session, module, capacity=name)
                chosen["summary"] = by[name][session["id"], module["id"]]
                explain_add(chosen, by["explain", name], session, module)
                total = next(space["total_bytes"] for space in module["spaces"] if space["space"] == 0)
                check = by["check", name].get((module["file"], module["name"], total))
                if check:
                    chosen["check"] = check
                found.append((f"{session['name']} {module['name']} --capacity={name}", chosen))
    return found


def hold(binary, root, counts, part):
    """the daemon reads logs while it answers: what they state is in all answers a little later"""
    is_in_part = running.part_of(part)
    by = {name: by_summary(binary, root, f"--capacity={name}") for name in CHOSEN}
    by |= {"summary": by_summary(binary, root), "rows": by_rows(binary, root)}
    by |= {("explain", name): by_explain(binary, root, f"--capacity={name}") for name in CHOSEN}
    by |= {("check", name): by_check(binary, root, name) for name in CHOSEN}
    by["explain", None] = by_explain(binary, root)
    until = time.monotonic() + SETTLED_SECONDS
    with Daemon(binary, root) as daemon:
        faces = faces_of(daemon, by, is_in_part)
        while any(len(set(said.values())) > 1 for _, said in faces) and time.monotonic() < until:
            faces = faces_of(daemon, by, is_in_part)
    # Of a part of the sessions a face may have nothing to say.
    has_capacity = any("modules" in said and said["modules"][0] for _, said in faces)
    counts.add([] if part or has_capacity else ["no program has a capacity"], root)
    for face in () if part else ("index", "explain", "session", "verdict", "whatif", "check"):
        counts.add([] if any(face in said for _, said in faces) else [f"{face} says nothing of any program"], root)
    for name, said in faces:
        is_of_gpu = any(word in str(said["viewer"][1]) for word in ("NVIDIA", "AMD", "allocator"))
        is_named = not is_of_gpu or "Default memory" not in said["viewer"][3]
        counts.add(
            ([f"{said}"] if len(set(said.values())) > 1 else []) + ([] if is_named else ["Default memory"]), name
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--shared")
    parser.add_argument("--part", default="")
    options = parser.parse_args()
    counts = Counts()
    roots = [os.path.join(HERE, "..", "fixtures")] + ([os.path.join(options.shared, "data")] if options.shared else [])
    for at, root in enumerate(roots):
        hold(options.binary, os.path.abspath(root), counts, options.part if at else "")
    return counts.finish()


if __name__ == "__main__":
    raise SystemExit(main())
