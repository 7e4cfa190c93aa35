#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds the daemon's whole answers about the text fixtures against XProf's; needs no other inputs.

  fixtures.py --binary memviewd [--fixtures build/fixtures]
  fixtures.py --record XPROF                                  ask XProf 2.24.2 and rewrite fixtures.json

Each program is wrapped into a trace and asked for on XProf's surface, memory spaces 0 to 6. These
answers hold what the recorded real programs do not: scoped VMEM, from the module's pool and in place.
"""

import argparse
import gzip
import json
import os
import sys
import tempfile
import urllib.error
import urllib.parse
import urllib.request

from daemon import Counts

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "bench"))
from inputs import PREFIX, session_folder, wrapped  # noqa: E402
from server import Server  # noqa: E402

RECORDED = os.path.join(HERE, "fixtures.json")
NAMES = ("hlo-two-buffers", "hlo-no-trace", "hlo-payload-pool", "hlo-no-assignment", "hlo-layouts", "hlo-share-with")
SPACES = range(7)


def ask(port, path, **arguments):
    """the body as text, or the status where it is an error"""
    url = f"http://127.0.0.1:{port}{PREFIX}/{path}?" + urllib.parse.urlencode(arguments)
    try:
        with urllib.request.urlopen(url, timeout=60) as answer:
            body = answer.read()
            return (gzip.decompress(body) if answer.headers.get("Content-Encoding") == "gzip" else body).decode()
    except urllib.error.HTTPError as error:
        return error.code


def answer_of(port, run, module, space):
    text = ask(port, "data", run=run, tag="memory_viewer", host="host0", module_name=module, memory_space=space)
    tree = json.loads(text) if isinstance(text, str) else text
    if isinstance(tree, dict):
        tree.pop("allocationTimeline", None)
    return tree


def answers(command, fixtures, is_xprof=False):
    """{fixture: {"modules": text, space: answer}}"""
    with tempfile.TemporaryDirectory() as logdir:
        for name in NAMES:
            with open(os.path.join(fixtures, name + ".pb"), "rb") as file:
                data = wrapped("program", file.read())
            with open(os.path.join(session_folder(logdir, name), "host0.xplane.pb"), "wb") as out:
                out.write(data)
        server = Server(command, logdir, is_xprof)
        try:
            found = {}
            for name in NAMES:
                modules = ask(server.port, "module_list", run=name)
                found[name] = {"modules": modules}
                found[name].update({str(space): answer_of(server.port, name, modules, space) for space in SPACES})
            return found
        finally:
            server.stop()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary")
    parser.add_argument("--fixtures", default=os.path.join(HERE, "..", "..", "build", "fixtures"))
    parser.add_argument("--record", metavar="XPROF")
    options = parser.parse_args()
    if options.record:
        with open(RECORDED, "w", encoding="utf-8") as out:
            json.dump(answers(options.record, options.fixtures, is_xprof=True), out, indent=1, sort_keys=True)
            out.write("\n")
        return 0
    with open(RECORDED, encoding="utf-8") as file:
        recorded = json.load(file)
    mine, counts = answers(options.binary, options.fixtures), Counts()
    for name, spaces in recorded.items():
        for space, expected in spaces.items():
            found = mine[name][space]
            counts.add(
                [] if found == expected else [f"{json.dumps(found)[:200]}, XProf {json.dumps(expected)[:200]}"],
                f"{name} {space}",
            )
    return counts.finish()


if __name__ == "__main__":
    sys.exit(main())
