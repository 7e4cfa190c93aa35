#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A memviewd that was built with FLEET=0: what it says of what it lacks, and that the rest goes.

  fleetless.py --binary PATH

The last line is "N passed, N failed, N skipped".
"""

import argparse
import os
import subprocess
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "http"))
import harness
import running

LACK = "this memviewd was built without fleet (FLEET=0)"
MODULES = os.path.join(harness.FIXTURES, "modules")


def command(t, *words, status=0):
    ended = subprocess.run([t.binary, *words], capture_output=True, text=True, timeout=harness.PATIENCE_SECONDS)
    assert ended.returncode == status, (words, ended.returncode, ended.stderr)
    return ended.stdout + ended.stderr


def test_it_is_said(t):
    for words in (
        ["index", MODULES],
        ["serve", "--demo", "--notify=https://hooks.example/x"],
        ["serve", "--catalog=postgresql:///x"],
        ["check", "--baseline=catalog:a@b", "--catalog=postgresql:///x", MODULES],
    ):
        assert LACK in command(t, *words, status=2), words
    for word in ("--help", "--version"):
        assert LACK in command(t, word), word
    assert "libpq" not in command(t, "--version")


def test_no_libpq_is_linked(t):
    assert "libpq" not in subprocess.run(["ldd", t.binary], capture_output=True, text=True, check=True).stdout


def test_the_rest_goes(t):
    assert "jit_step" in command(t, "summary", MODULES)
    daemon = t.serve("--logdir=" + harness.FIXTURES)
    assert daemon.sessions()
    answer = daemon.ask("/api/v1/fleet/summary")
    assert answer.status >= 400 and LACK in answer.body.decode(), answer


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binary", required=True)
    options = parser.parse_args()

    def run_one(name, function):
        return running.run_one(name, function, harness.Toolbox(os.path.abspath(options.binary), None))

    tests = [(name[5:], function) for name, function in globals().items() if name.startswith("test_")]
    return running.in_turn(tests, run_one).end()


if __name__ == "__main__":
    sys.exit(main())
