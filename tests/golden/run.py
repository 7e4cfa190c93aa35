#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds the daemon against XProf's recorded answers.

  run.py --binary memviewd [--shared DIR] [--logdir DIR] [--only xprof|dumps]

xprof   every recorded request about the logdir that DIR/tools/make-logdir makes (--logdir)
dumps   summary figures and the five largest buffers of every compiled program, per memory space:
        DIR/golden/dumps.json; without DIR those of tests/fixtures, dumps.json beside this file
Ends with the counts; exit status 1 if one differs.
"""

import argparse
import json
import os
import subprocess
import sys

import inputs
from daemon import Counts, Daemon

HERE = os.path.dirname(os.path.abspath(__file__))
REQUESTS = ("memory_viewer", "memory_profile", "/module_list", "/hosts", "/runs")
FIGURES = (
    "entryComputationParametersMib",
    "indefiniteBufferAllocationMib",
    "maybeLiveOutMib",
    "nonReusableMib",
    "peakHeapMib",
    "peakHeapSizePosition",
    "peakUnpaddedHeapMib",
    "totalBufferAllocationMib",
)


def check_requests(options, counts):
    golden = os.path.join(options.shared, "golden", "logdir.json.gz")
    with Daemon(options.binary, options.logdir) as daemon:
        for request in REQUESTS:
            done = subprocess.run(
                [
                    os.path.join(options.shared, "tools", "xprof-compare"),
                    "check",
                    "--golden",
                    golden,
                    "--url",
                    daemon.url,
                    "--only",
                    request,
                ],
                capture_output=True,
                text=True,
            )
            lines = done.stdout.splitlines()
            print(f"xprof-compare --only {request}: {lines[-1] if lines else done.stderr}")
            counts.add([] if done.returncode == 0 else lines or [done.stderr], request)


def is_equal(mine, theirs):
    if isinstance(theirs, (int, float)) and isinstance(mine, (int, float)):
        return abs(mine - theirs) <= 1e-6 * max(1e-3, abs(mine), abs(theirs))
    return mine == theirs


def largest(answer):
    return [
        [row.get("instructionName"), row.get("logicalBufferSizeMib"), row.get("groupName")]
        for row in answer.get("maxHeapBySize", [])[:5]
    ]


def space_faults(answer, expected, space):
    for name in FIGURES:
        if not is_equal(answer.get(name, 0), expected[name]):
            yield f"space {space} {name}: {answer.get(name, 0)}, XProf {expected[name]}"
    if len(answer.get("maxHeap", [])) != expected["maxHeap"]:
        yield f"space {space} maxHeap: {len(answer.get('maxHeap', []))} buffers, XProf {expected['maxHeap']}"
    for mine, theirs in zip(largest(answer), expected["largest"]):
        if not all(map(is_equal, mine, theirs)):
            yield f"space {space}: {mine}, XProf {theirs}"
    if len(largest(answer)) != len(expected["largest"]):
        yield f"space {space}: {len(largest(answer))} largest, XProf {len(expected['largest'])}"


def program_faults(daemon, path, expected):
    """what differs between the daemon's answers about one file and the recorded ones"""
    session, module = daemon.find(*path.split("/")[1:])
    if not module:
        return ["not found"]
    faults = [] if module["name"] == expected["module"] else [f"module {module['name']}, XProf {expected['module']}"]
    for space, figures in expected["spaces"].items():
        answer = daemon.json("/api/v1/memory_viewer/xprof", session=session["id"], module=module["id"], space=space)
        faults += space_faults(answer, figures, space)
    return faults


def check_dumps(options, counts):
    data = inputs.data_of(options)
    with open(
        os.path.join(options.shared, "golden", "dumps.json") if options.shared else os.path.join(HERE, "dumps.json"),
        encoding="utf-8",
    ) as file:
        entries = json.load(file)
    for root in inputs.present(options, data, "", ("dumps", "modules", "whatif")):
        with Daemon(options.binary, os.path.join(data, root)) as daemon:
            before = counts.passed
            mine = [(path, entry) for path, entry in entries.items() if path.startswith(root + "/")]
            for path, entry in mine:
                counts.add(program_faults(daemon, path, entry), path.split(".cl_")[0])
            print(f"{root}: {counts.passed - before} of {len(mine)} programs equal XProf's figures")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True)
    inputs.add_argument(parser)
    parser.add_argument("--logdir", default=os.path.join(HERE, "..", "..", "build", "golden", "logdir"))
    parser.add_argument("--only", choices=("xprof", "dumps"))
    options = parser.parse_args()
    counts = Counts()
    if options.only != "dumps" and options.shared:
        check_requests(options, counts)
    if options.only != "xprof":
        check_dumps(options, counts)
    return counts.finish()


if __name__ == "__main__":
    sys.exit(main())
