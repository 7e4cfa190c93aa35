# SPDX-License-Identifier: Apache-2.0
"""Tests of the Python package.

  run.py --binary build/release/memviewd [--pattern 'test_*.py'] [--only TEXT]

The last line is "N passed, N failed, N skipped".
"""
import argparse
import os
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))


def cases_of(suite, only):
    for each in suite:
        if isinstance(each, unittest.TestSuite):
            yield from cases_of(each, only)
        elif only in each.id():
            yield each


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--pattern", default="test_*.py")
    parser.add_argument("--only", default="")
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
    print(f"{result.testsRun - len(fallen) - len(result.skipped)} passed, {len(fallen)} failed, {len(result.skipped)} skipped")
    return 1 if fallen or result.testsRun == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
