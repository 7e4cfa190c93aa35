#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One program, one capacity and one answer to whether it fits, whoever says it.

  capacity.py --binary memviewd [--shared ../shared]

Over all programs of tests/fixtures and of ../shared/data: `summary --json`, /api/v1/memory_viewer/summary, the list of
modules, the table of modules and the verdict say the same bytes of the same source, with the same word and sentence.
Left out is what is joined from elsewhere: logs of another folder, which `summary` does not read, and in the verdict the
limit of the allocator in a trace that lies in another folder. No program of a GPU says "Default memory".
"""
import argparse
import os
import subprocess
import time

from daemon import Counts, Daemon
from members import loads

HERE = os.path.dirname(os.path.abspath(__file__))
SETTLED_SECONDS = 60


def of_fit(fit):
    return (fit["capacity_bytes"], fit["source"], fit["word"], fit["sentence"])


def of_device(spaces):
    """the fit of memory space 0; None where there is none"""
    return next((of_fit(space["fit"]) for space in spaces if space["space"] == 0), None)


def by_summary(binary, root):
    """{(session, module): its fit}"""
    done = subprocess.run([binary, "summary", "--json", root], capture_output=True, text=True, check=False)
    return {(session["id"], module["id"]): of_device(module["summary"]["data"]["spaces"])
            for session in loads(done.stdout)["sessions"] for module in session["modules"] if module["summary"]}


def rows_of(daemon, session):
    answer = {"reading": {"is_complete": False}}
    while not answer["reading"]["is_complete"]:
        answer = daemon.json("/api/v1/modules/table", session=session["id"], space=0, limit=1000)["data"]
    return {row["module_id"]: row["capacity_bytes"] for row in answer["rows"]}


def faces_of(daemon, of_summary):
    """(program, {face: what it says}) of each program with memory of a device"""
    faces = []
    for session in daemon.json("/api/v1/sessions", limit=1000)["sessions"]:
        if session["kind"] not in ("trace", "dump", "hlo"):
            continue
        detail = daemon.json(f"/api/v1/sessions/{session['id']}")
        modules = daemon.json(f"/api/v1/sessions/{session['id']}/modules", limit=1000)
        rows = rows_of(daemon, session) if modules["modules"] else {}
        for module in modules["modules"]:
            said = None if module["error"] else of_device(module["spaces"])
            if said is None:
                continue
            verdict = daemon.json("/api/v1/verdict", session=session["id"], module=module["id"])
            viewer = daemon.json("/api/v1/memory_viewer/summary", session=session["id"], module=module["id"])
            of_faces = {"modules": said, "viewer": of_device(viewer["data"]["spaces"]), "table": (rows.get(module["id"]), *said[1:])}
            folder = os.path.dirname(module["file"])
            if not any(text["capacity"] and os.path.dirname(text["file"]) != folder for text in detail["error_texts"]):
                of_faces["summary"] = of_summary[session["id"], module["id"]]
            is_joined = verdict["trace_session"] not in (None, session["id"]) and "allocator" in str(verdict["fit"]["source"])
            if not is_joined and verdict["fit"]["space"] in said[3]:
                of_faces["verdict"] = of_fit(verdict["fit"])
            faces.append((f"{session['name']} {module['name']}", of_faces))
    return faces


def hold(binary, root, counts):
    """the daemon reads logs while it answers: what they state is in all answers a little later"""
    of_summary, until = by_summary(binary, root), time.monotonic() + SETTLED_SECONDS
    with Daemon(binary, root) as daemon:
        faces = faces_of(daemon, of_summary)
        while any(len(set(said.values())) > 1 for _, said in faces) and time.monotonic() < until:
            faces = faces_of(daemon, of_summary)
    counts.add([] if any(said["modules"][0] for _, said in faces) else ["no program has a capacity"], root)
    for name, said in faces:
        is_of_gpu = any(word in str(said["modules"][1]) for word in ("NVIDIA", "AMD", "allocator"))
        is_named = not is_of_gpu or "Default memory" not in said["modules"][3]
        counts.add(([f"{said}"] if len(set(said.values())) > 1 else []) + ([] if is_named else ["Default memory"]), name)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--shared")
    options = parser.parse_args()
    counts = Counts()
    roots = [os.path.join(HERE, "..", "fixtures")] + ([os.path.join(options.shared, "data")] if options.shared else [])
    for root in roots:
        hold(options.binary, os.path.abspath(root), counts)
    return counts.finish()


if __name__ == "__main__":
    raise SystemExit(main())
