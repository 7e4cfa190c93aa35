#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Asks XProf for the summary figures of compiled programs, as run.py holds ours against.

record.py --xprof CMD --shared DIR PATH…      PATH below DIR/data; prints JSON
"""

import argparse
import json
import os
import sys
import tempfile

from fixtures import answer_of, ask
from run import FIGURES, HERE, largest

sys.path.insert(0, os.path.join(HERE, "..", "bench"))
from inputs import session_folder, wrapped  # noqa: E402
from server import Server  # noqa: E402


def figures(answer):
    return {
        **{name: answer.get(name, 0) for name in FIGURES},
        "maxHeap": len(answer.get("maxHeap", [])),
        "largest": largest(answer),
    }


def entry(port, run):
    """one program's figures, for the memory spaces that it uses"""
    module, spaces = ask(port, "module_list", run=run).split(",")[0], {}
    for space in range(7):
        answer = answer_of(port, run, module, space)
        if isinstance(answer, dict) and answer.get("totalBufferAllocationMib"):
            spaces[str(space)] = figures(answer)
            name = answer["moduleName"]
    return {"module": name, "spaces": spaces}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--xprof", required=True)
    parser.add_argument("--shared", required=True)
    parser.add_argument("paths", nargs="+")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as logdir:
        for at, path in enumerate(options.paths):
            with open(os.path.join(options.shared, "data", path), "rb") as file:
                data = wrapped("program", file.read())
            with open(os.path.join(session_folder(logdir, f"r{at}"), "host0.xplane.pb"), "wb") as out:
                out.write(data)
        server = Server(options.xprof, logdir, is_xprof=True)
        try:
            entries = {path: entry(server.port, f"r{at}") for at, path in enumerate(options.paths)}
        finally:
            server.stop()
    json.dump(entries, sys.stdout, indent=1, sort_keys=True)
    print()


if __name__ == "__main__":
    main()
