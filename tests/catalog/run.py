#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The catalog: `memviewd index --catalog` and what reads it, against a PostgreSQL that is started here (postgres.py).

  run.py --binary PATH [--only TEXT]...

Each file here that is named in THEMES (with --only engines, engines.py) is a theme, each function in it that begins
with test_ a test: it gets a Toolbox of tests/http/harness.py, and an empty database. The last line is "N passed, N
failed, N skipped"; without PostgreSQL, or a memviewd without libpq, all are skipped.
"""

import os
import subprocess
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "http")]
import harness  # noqa: E402: its folder is added above
import postgres  # noqa: E402
import running  # noqa: E402

THEMES = [
    "asking",
    "writing",
    "growing",
    "interrupted",
    "parquet",
    "loading",
    "queries",
    "deploying",
    "fleet_pages",
    "baseline",
    "rounds",
    "parallel_rounds",
    "known_series",
    "objects",
    "programs",
]
BY_HAND = "engines"  # needs what is fetched on purpose: run only where it is asked for


def on_empty(function):
    def test(toolbox, database):
        database.execute("DROP SCHEMA IF EXISTS memviewd CASCADE")
        function(toolbox, database)

    return test


def run_all(tests, binary):
    with postgres.Postgres() as database:

        def run_one(name, function):
            return running.run_one(name, on_empty(function), harness.Toolbox(binary, None), database)

        outcomes = running.in_turn(tests, run_one)
        outcomes.settle()
    return outcomes


def main():
    options = running.parser_of(__doc__).parse_args()
    tests = running.chosen_of([BY_HAND] if options.only and BY_HAND in options.only else THEMES, options.only)
    told = subprocess.run(
        [os.path.abspath(options.binary), "--version"], stdout=subprocess.PIPE, check=True, text=True
    ).stdout
    try:
        if "libpq" not in told:
            raise postgres.Missing("libpq, which this memviewd was built without")
        return run_all(tests, os.path.abspath(options.binary)).end()
    except postgres.Missing as missing:
        print(f"skipped: {missing}")
        return running.Outcomes(skipped=len(tests)).end()


if __name__ == "__main__":
    sys.exit(main())
