#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Many machines: replicas behind nginx, and three weeks of jobs from buckets to a webhook, with kills in between.

  run.py --binary PATH [--shared DIR] [--only TEXT]...

Each file here that is named in THEMES is a theme, each function in it that begins with test_ a test: it gets a Toolbox of
tests/http/harness.py. The last line is "N passed, N failed, N skipped".
"""
import argparse
import importlib
import os
import sys
import time
import traceback

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "http"), os.path.join(HERE, "..", "catalog")]
import harness  # noqa: E402: its folder is added above

THEMES = ["replicas", "webhooks", "story"]


def run_one(name, function, options):
    """("passed", "failed" or "skipped", the words about it)"""
    began = time.monotonic()
    try:
        with harness.Toolbox(options.binary, options.shared) as toolbox:
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
    options = parser.parse_args()
    options.binary = os.path.abspath(options.binary)
    os.environ["PATH"] += ":/usr/sbin"
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    for theme in THEMES:
        for key, function in vars(importlib.import_module(theme)).items():
            name = f"{theme}.{key[5:]}"
            if key.startswith("test_") and any(text in name for text in options.only or [""]):
                outcome, words = run_one(name, function, options)
                counts[outcome] += 1
                print(words, flush=True)
    print(", ".join(f"{count} {what}" for what, count in counts.items()))
    return 1 if counts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
