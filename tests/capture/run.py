#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Captures from servers that stand in for the profiler server of a job (profiler.py).

  run.py --binary PATH [--only TEXT]...

By the Python that has requirements.txt. Each file that THEMES names is a theme, each function in it that begins with
test_ a test: it gets a Toolbox. The last line is "N passed, N failed, N skipped".
"""

import os
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "http")]
import harness
import running

THEMES = ["command", "page"]


def main():
    options = running.parser_of(__doc__).parse_args()

    def run_one(name, function):
        return running.run_one(name, function, harness.Toolbox(os.path.abspath(options.binary), options.shared))

    outcomes = running.in_turn(running.chosen_of(THEMES, options.only), run_one)
    os._exit(outcomes.end())  # threads of servers are of no further use


if __name__ == "__main__":
    main()
