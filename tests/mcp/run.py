# SPDX-License-Identifier: Apache-2.0
"""`memviewd mcp` over its pipes: the protocol, hostile lines, and tools beside the commands that they are.

  run.py --binary build/release/memviewd [--only TEXT]

Each function of protocol.py and tools.py that begins with test_ is a test; it gets a folder of its own. The last line
is "N passed, N failed, 0 skipped".
"""

import argparse
import os
import sys
import tempfile
import traceback

import protocol
import tools
from talk import Talk


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    passed = failed = 0
    for name, test in [*vars(protocol).items(), *vars(tools).items()]:
        if not name.startswith("test_") or options.only not in name:
            continue
        with tempfile.TemporaryDirectory(prefix="memviewd-mcp-") as folder:
            try:
                test(Talk(os.path.abspath(options.binary), os.path.realpath(folder)))
                passed, word = passed + 1, "ok     "
            except Exception:  # noqa: a test may fail in any way
                failed, word = failed + 1, "FAILED "
                traceback.print_exc(file=sys.stdout)
            print(word, name[5:].replace("_", " "), flush=True)
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return failed > 0 or passed == 0


if __name__ == "__main__":
    sys.exit(main())
