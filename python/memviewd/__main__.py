# SPDX-License-Identifier: Apache-2.0
"""python -m memviewd WORD…: the memviewd program, in the place of this interpreter. `estimate SCRIPT` runs here."""

import os
import sys

from . import _binary


def main() -> int:
    try:
        path = _binary.find()
        if sys.argv[1:2] == ["estimate"]:
            from ._estimate_command import main as estimate

            return estimate(sys.argv[2:])
        # With all of the environment: what a job preloads is for the command of `run`, too.
        os.execv(path, [_binary.NAME, *sys.argv[1:]])
    except (_binary.NotFound, OSError) as error:
        print("memviewd: {}".format(error), file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
