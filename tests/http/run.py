#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Both JSON surfaces and the command line, against the real daemon.

  run.py --binary PATH [--shared DIR] [--only TEXT] [--list]

Starts the daemon on free ports, over the fixtures, over inputs that it writes itself and, with
--shared, over the large real inputs (what needs those is skipped and named without it). --only runs
the tests whose name holds TEXT. Each file here that is named in THEMES is a theme, each function in it
that begins with test_ a test: it gets a Toolbox (harness.py). The last line is
"N passed, N failed, N skipped". Exit status 0: none failed, 1: some did, 2: could not run.
"""
import argparse
import importlib
import os
import sys
import time
import traceback

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
THEMES = ["start", "stopping", "guard", "limits", "negotiation", "api", "openapi", "xprof", "sessions", "index",
          "bad_input", "oom", "given", "concurrency", "memory", "summary", "profiles"]


def tests_of(theme):
    module = importlib.import_module(theme)
    return [(f"{theme}.{name[5:]}", function) for name, function in vars(module).items() if name.startswith("test_")]


def run_one(name, function, options):
    """"passed", "failed" or "skipped"; says why when it is not the first"""
    import harness
    began = time.monotonic()
    try:
        with harness.Toolbox(options.binary, options.shared) as toolbox:  # its end tells how the daemons ended
            function(toolbox)
    except harness.Skip as reason:
        print(f"skipped {name}: {reason}")
        return "skipped"
    except Exception:  # noqa: a test may fail in any way
        print(f"FAILED  {name}")
        print("    " + traceback.format_exc().replace("\n", "\n    ").rstrip())
        return "failed"
    print(f"ok      {name} ({time.monotonic() - began:.1f} s)", flush=True)
    return "passed"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--shared")
    parser.add_argument("--only", default="")
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    options.binary = os.path.abspath(options.binary)
    if not os.access(options.binary, os.X_OK):
        print(f"run.py: {options.binary}: not an executable", file=sys.stderr)
        return 2
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    for theme in THEMES:
        for name, function in tests_of(theme):
            if options.only not in name:
                continue
            if options.list:
                print(name)
            else:
                counts[run_one(name, function, options)] += 1
    if not options.list:
        print(", ".join(f"{count} {what}" for what, count in counts.items()))
    return 1 if counts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
