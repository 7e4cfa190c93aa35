#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Both JSON surfaces and the command line, against the real daemon.

  run.py --binary PATH [--shared DIR] [--only TEXT]... [--without TEXT]... [--part K/N:SEED]
         [--jobs N] [--list]

Starts the daemon on free ports, over the fixtures, over inputs that it writes itself and, with
--shared, over the large real inputs (what needs those is skipped and named without it). --only runs
the tests whose name holds TEXT, --without leaves out those, --part takes the K-th (from 0) of N parts into which SEED
divides them; --jobs tests run at a time, twice as many as there are processors, for many wait most of their time. Each
file here that is named in THEMES is a theme, each function in it that begins with test_ a test: it gets a Toolbox
(harness.py). The last line is "N passed, N failed, N skipped". Exit status 0: none failed, 1: some did, 2: could not
run.
"""

import concurrent.futures
import functools
import os
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import harness  # noqa: E402: its folder is added above
import running  # noqa: E402

# Those of long tests first, so that no processor is left with one of them at the end.
THEMES = [
    "evidence",
    "unknown_fields",
    "memory",
    "concurrency",
    "queues",
    "openapi",
    "uploads",
    "oom",
    "bad_input",
    "watching",
    "index",
    "stopping",
    "limits",
    "start",
    "all_modules",
    "names",
    "opening",
    "guard",
    "users",
    "log",
    "connections",
    "placing",
    "sandbox",
    "service",
    "keeping",
    "metrics",
    "negotiation",
    "api",
    "memory_viewer",
    "xprof",
    "sessions",
    "summary",
    "compare",
    "profiles",
    "device_memory",
    "snapshots",
    "snapshot_forms",
    "snapshot_archives",
    "snapshot_moments",
    "snapshot_whatif",
    "snapshot_replay",
    "snapshot_whose",
    "snapshot_segments",
    "snapshot_blocks",
    "snapshot_texts",
    "confirmations",
    "whatif",
    "fit",
    "patch",
    "check",
    "export",
    "terminal",
    "catalog",
    "fleet_views",
    "verdict",
    "live_arrays",
    "notify",
    "captures",
    "live",
]


def run_one(theme, name, options):
    """in a process of its own"""
    return running.run_one(name, dict(running.tests_of(theme))[name], harness.Toolbox(options.binary, options.shared))


def main():
    parser = running.parser_of(__doc__)
    parser.add_argument("--without", action="append", default=[])
    parser.add_argument("--part", default="")
    parser.add_argument("--jobs", type=int, default=2 * os.cpu_count())
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    options.binary = os.path.abspath(options.binary)
    if not os.access(options.binary, os.X_OK):
        print(f"run.py: {options.binary}: not an executable", file=sys.stderr)
        return 2
    is_in_part = running.part_of(options.part)
    chosen = [
        (theme, name)
        for theme in THEMES
        for name, _ in running.chosen_of([theme], options.only)
        if is_in_part(name) and not any(text in name for text in options.without)
    ]
    if options.list:
        print("\n".join(name for _, name in chosen))
        return 0
    outcomes = running.Outcomes()
    with concurrent.futures.ProcessPoolExecutor(options.jobs) as pool:
        waiting = {pool.submit(run_one, *test, options): test for test in chosen}
        for done in concurrent.futures.as_completed(waiting):
            outcomes.take(*done.result(), functools.partial(run_one, *waiting[done], options))
    return outcomes.end()


if __name__ == "__main__":
    sys.exit(main())
