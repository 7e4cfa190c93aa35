# SPDX-License-Identifier: Apache-2.0
"""Tests of the Python package.

  run.py --binary build/release/memviewd [--pattern 'test_*.py'] [--only TEXT] [--here]

In this Python and, unless --here, in the newest one of pyenv if that is newer. The last line is "N passed, N failed, N
skipped".
"""

import argparse
import glob
import os
import re
import subprocess
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
OTHERS = os.path.expanduser("~/.pyenv/versions/*/bin/python")


def cases_of(suite, only):
    for each in suite:
        if isinstance(each, unittest.TestSuite):
            yield from cases_of(each, only)
        elif only in each.id():
            yield each


def version_of(python):
    return tuple(map(int, re.findall(r"\d+", python.rsplit("/", 3)[1])))


def in_newest(words):
    """what passed, failed and was skipped in the newest Python that is here, and its status"""
    others = [python for python in glob.glob(OTHERS) if version_of(python) > sys.version_info[:3]]
    if not others:
        return (0, 0, 0), 0
    python = max(others, key=version_of)
    print(f"in {python}", flush=True)
    done = subprocess.run([python, __file__, *words, "--here"], stdout=subprocess.PIPE, text=True, check=False)
    print(done.stdout, end="")
    counts = re.search(r"(\d+) passed, (\d+) failed, (\d+) skipped\n$", done.stdout)
    return (tuple(map(int, counts.groups())), done.returncode) if counts else ((0, 1, 0), 1)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--pattern", default="test_*.py")
    parser.add_argument("--only", default="")
    parser.add_argument("--here", action="store_true")
    options = parser.parse_args()
    os.environ["MEMVIEWD"] = os.path.abspath(options.binary)
    for name in ("XLA_FLAGS", "MEMVIEWD_RUN"):
        os.environ.pop(name, None)
    sys.path[:0] = [os.path.join(HERE, "..", "..", "python"), HERE]
    found = unittest.defaultTestLoader.discover(HERE, options.pattern)
    result = unittest.TextTestRunner(sys.stdout, verbosity=2).run(unittest.TestSuite(cases_of(found, options.only)))
    for case, reason in result.skipped:
        print(f"skipped: {case.id()}: {reason}")
    fallen = [case.id() for case, _ in result.failures + result.errors]
    for name in fallen:
        print(f"FAILED  {name}")
    counts, status = ((0, 0, 0), 0) if options.here else in_newest(sys.argv[1:])
    counts = (
        result.testsRun - len(fallen) - len(result.skipped) + counts[0],
        len(fallen) + counts[1],
        len(result.skipped) + counts[2],
    )
    print("{} passed, {} failed, {} skipped".format(*counts))
    return 1 if fallen or result.testsRun == 0 else status


if __name__ == "__main__":
    sys.exit(main())
