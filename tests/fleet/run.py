#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Many machines: replicas behind nginx, and three weeks of jobs from buckets to a webhook, with kills in between.

  run.py --binary PATH [--shared DIR] [--only TEXT]...

Each file here that is named in THEMES is a theme, each function in it that begins with test_ a test: it gets a Toolbox
of tests/http/harness.py. The last line is "N passed, N failed, N skipped".
"""

import os
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "http"), os.path.join(HERE, "..", "catalog")]
import harness  # noqa: E402: its folder is added above
import running  # noqa: E402

THEMES = ["replicas", "webhooks", "forms", "idle", "newcomer", "story"]


def main():
    options = running.parser_of(__doc__).parse_args()
    os.environ["PATH"] += ":/usr/sbin"

    def run_one(name, function):
        return running.run_one(name, function, harness.Toolbox(os.path.abspath(options.binary), options.shared))

    return running.in_turn(running.chosen_of(THEMES, options.only), run_one).end()


if __name__ == "__main__":
    sys.exit(main())
