# SPDX-License-Identifier: Apache-2.0
"""mypy on typed.py, with the package where pip would put it: only there does py.typed count.

  check_types.py

Run by a Python that has mypy. The last line is "N passed, N failed, 0 skipped".
"""

import os
import re
import subprocess
import sys
import sysconfig
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TYPED, PACKAGE = os.path.join(HERE, "typed.py"), os.path.join(HERE, "..", "..", "python", "memviewd")


def main():
    place = os.path.join(sysconfig.get_path("purelib"), "memviewd")
    if os.path.lexists(place):
        os.unlink(place)
    os.symlink(os.path.realpath(PACKAGE), place)
    with open(TYPED, encoding="utf-8") as file:
        wanted = {
            (at, code) for at, line in enumerate(file, 1) for code in re.findall(r"# error: ([\w-]+)$", line.rstrip())
        }
    with tempfile.TemporaryDirectory() as cache:
        done = subprocess.run(
            [sys.executable, "-m", "mypy", "--strict", "--cache-dir", cache, TYPED],
            capture_output=True,
            text=True,
            check=False,
        )
    found = {(int(at), code) for at, code in re.findall(r"typed\.py:(\d+): error: .*\[([\w-]+)\]$", done.stdout, re.M)}
    faults = sorted(found ^ wanted)
    for at, code in faults:
        print(f"FAILED  typed.py:{at}: {code} is {'not wanted' if (at, code) in found else 'missing'}")
    if faults or done.returncode not in (0, 1) or done.stderr:
        print(done.stdout + done.stderr)
        print("0 passed, 1 failed, 0 skipped")
        return 1
    print(f"{len(wanted)} mistakes are found, and nothing else")
    print("1 passed, 0 failed, 0 skipped")
    return 0


if __name__ == "__main__":
    sys.exit(main())
