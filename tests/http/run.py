#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Both JSON surfaces and the command line, against the real daemon.

  run.py --binary PATH [--shared DIR] [--only TEXT]... [--without TEXT]... [--jobs N] [--list]

Starts the daemon on free ports, over the fixtures, over inputs that it writes itself and, with
--shared, over the large real inputs (what needs those is skipped and named without it). --only runs
the tests whose name holds TEXT, --without leaves out those; --jobs tests run at a time, as many as there are processors. Each file here that is named in THEMES is a theme, each function in it
that begins with test_ a test: it gets a Toolbox (harness.py). The last line is
"N passed, N failed, N skipped". Exit status 0: none failed, 1: some did, 2: could not run.
"""
import argparse
import concurrent.futures
import importlib
import os
import sys
import time
import traceback

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
# Those of long tests first, so that no processor is left with one of them at the end.
THEMES = ["evidence", "memory", "concurrency", "queues", "openapi", "uploads", "oom", "bad_input", "watching", "index", "stopping", "limits", "start",
          "all_modules", "names", "opening", "guard", "users", "log", "connections", "placing", "sandbox", "service", "keeping", "metrics", "negotiation", "api", "xprof", "sessions", "summary", "compare", "profiles", "snapshots", "snapshot_forms", "snapshot_moments", "snapshot_texts", "confirmations", "whatif", "check", "export", "catalog", "fleet_views", "verdict", "live_arrays", "notify"]


def tests_of(theme):
    module = importlib.import_module(theme)
    return [(f"{theme}.{name[5:]}", function) for name, function in vars(module).items() if name.startswith("test_")]


def run_one(theme, name, options):
    """("passed", "failed" or "skipped", the words about it); in a process of its own"""
    import harness
    began = time.monotonic()
    function = dict(tests_of(theme))[name]
    try:
        with harness.Toolbox(options.binary, options.shared) as toolbox:  # its end tells how the daemons ended
            function(toolbox)
    except harness.Skip as reason:
        return "skipped", f"skipped {name}: {reason}"
    except Exception:  # noqa: a test may fail in any way
        return "failed", f"FAILED  {name}\n    " + traceback.format_exc().replace("\n", "\n    ").rstrip()
    return "passed", f"ok      {name} ({time.monotonic() - began:.1f} s)"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--shared")
    parser.add_argument("--only", action="append")
    parser.add_argument("--without", action="append", default=[])
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    options.binary = os.path.abspath(options.binary)
    if not os.access(options.binary, os.X_OK):
        print(f"run.py: {options.binary}: not an executable", file=sys.stderr)
        return 2
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    chosen = [(theme, name) for theme in THEMES for name, _ in tests_of(theme)
              if any(text in name for text in options.only or [""]) and not any(text in name for text in options.without)]
    if options.list:
        print("\n".join(name for _, name in chosen))
        return 0
    with concurrent.futures.ProcessPoolExecutor(options.jobs) as pool:
        waiting = [pool.submit(run_one, theme, name, options) for theme, name in chosen]
        for done in concurrent.futures.as_completed(waiting):
            outcome, words = done.result()
            counts[outcome] += 1
            print(words, flush=True)
    print(", ".join(f"{count} {what}" for what, count in counts.items()))
    return 1 if counts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
