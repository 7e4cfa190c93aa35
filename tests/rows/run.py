#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The rows of `memviewd index` as others read them.

  run.py --binary PATH --hostile PATH [--only TEXT]...

Each file here that is named in THEMES is a theme, each function in it that begins with test_ a test: it gets a Toolbox
of tests/http/harness.py. The last line is "N passed, N failed, N skipped".
"""

import os
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "http")]
import harness  # noqa: E402: its folder is added above
import running  # noqa: E402

THEMES = ["formats", "hostile"]


def main():
    parser = running.parser_of(__doc__)
    parser.add_argument("--hostile", required=True)
    options = parser.parse_args()

    def run_one(name, function):
        toolbox = harness.Toolbox(os.path.abspath(options.binary), None)
        toolbox.hostile = os.path.abspath(options.hostile)
        return running.run_one(name, function, toolbox)

    return running.in_turn(running.chosen_of(THEMES, options.only), run_one).end()


if __name__ == "__main__":
    sys.exit(main())
