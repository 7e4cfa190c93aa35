#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The catalog: `memviewd index --catalog` and what reads it, against a PostgreSQL that is started here (postgres.py).

  run.py --binary PATH [--only TEXT]...

Each file here that is named in THEMES is a theme, each function in it that begins with test_ a test: it gets a Toolbox of
tests/http/harness.py, and an empty database. The last line is "N passed, N failed, N skipped"; without PostgreSQL, or a
memviewd without libpq, all are skipped.
"""
import argparse
import importlib
import os
import subprocess
import sys
import time
import traceback

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "http")]
import harness  # noqa: E402: its folder is added above
import postgres  # noqa: E402

THEMES = ["asking", "writing", "parquet", "queries", "deploying", "fleet_pages", "baseline", "rounds"]


def tests_of(theme):
    return [(f"{theme}.{name[5:]}", function) for name, function in vars(importlib.import_module(theme)).items() if name.startswith("test_")]


def run_one(name, function, database, options):
    """("passed", "failed" or "skipped", the words about it)"""
    began = time.monotonic()
    try:
        database.execute("DROP SCHEMA IF EXISTS memviewd CASCADE")
        with harness.Toolbox(options.binary, None) as toolbox:
            function(toolbox, database)
    except harness.Skip as reason:
        return "skipped", f"skipped {name}: {reason}"
    except Exception:  # noqa: a test may fail in any way
        return "failed", f"FAILED  {name}\n    " + traceback.format_exc().replace("\n", "\n    ").rstrip()
    return "passed", f"ok      {name} ({time.monotonic() - began:.1f} s)"


def run_all(tests, options):
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    with postgres.Postgres() as database:
        for name, function in tests:
            outcome, words = run_one(name, function, database, options)
            counts[outcome] += 1
            print(words, flush=True)
    return counts


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--only", action="append")
    options = parser.parse_args()
    options.binary = os.path.abspath(options.binary)
    tests = [test for theme in THEMES for test in tests_of(theme) if any(text in test[0] for text in options.only or [""])]
    told = subprocess.run([options.binary, "--version"], stdout=subprocess.PIPE, check=True, text=True).stdout
    try:
        if "libpq" not in told:
            raise postgres.Missing("libpq, which this memviewd was built without")
        counts = run_all(tests, options)
    except postgres.Missing as missing:
        print(f"skipped: {missing}")
        counts = {"passed": 0, "failed": 0, "skipped": len(tests)}
    print(", ".join(f"{count} {what}" for what, count in counts.items()))
    return 1 if counts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
