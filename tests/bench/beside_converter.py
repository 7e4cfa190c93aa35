#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Processor time of rows: `memviewd index` and, in the same run, converter.py with XProf's package.

  beside_converter.py --binary PATH --shared DIR --xprof-python V/bin/python [--rounds N]

Each real trace of DIR/data/logdir is copied, N times (8), into folders of its own, of which no side has seen one; so is
each real dump of DIR/data/programs, once. Each side reads all copies of one trace, and all dumps, in one process, one
side after the other; its start counts. Prints a table as Markdown: user and system time of a file, rows of a file, how
many times as much the converter takes; both sides' times come from processors with whatever else runs on them.
"""

import argparse
import glob
import os
import shutil
import subprocess
import sys
import tempfile


HERE = os.path.dirname(os.path.abspath(__file__))


def traces(shared):
    """{name: path}; of a session of several hosts, which are equal, the first"""
    found = {}
    for path in sorted(
        glob.glob(os.path.join(shared, "data", "logdir", "*", "plugins", "profile", "*", "*.xplane.pb"))
    ):
        cells = path.split(os.sep)
        found.setdefault(f"{cells[-5]}/{cells[-2]}", path)
    return found


def copy(path, folder):
    os.makedirs(folder)
    made = shutil.copy(path, folder)
    os.chmod(made, 0o600)
    return made


def run(*command):
    """user and system seconds, and how many lines it printed"""
    with tempfile.TemporaryFile() as out:
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        assert process.returncode == 0, command
        out.seek(0)
        return usage.ru_utime + usage.ru_stime, sum(1 for _ in out)


def measure(options, paths):
    """(seconds, rows) of a file, of each side"""
    sides = []
    for side in ("memviewd", "converter"):
        with tempfile.TemporaryDirectory() as folder:
            made = [
                copy(path, os.path.join(folder, f"run{at}", "plugins", "profile", f"s{at}"))
                for at, path in enumerate(paths)
            ]
            command = (
                [options.binary, "index", folder]
                if side == "memviewd"
                else [options.xprof_python, os.path.join(HERE, "converter.py"), *made]
            )
            seconds, rows = run(*command)
            sides.append((seconds / len(paths), rows / len(paths)))
    return sides


def line(name, own, theirs):
    print(
        f"| {name} | {own[0] * 1000:.1f} ms | {own[1]:.0f} | {theirs[0] * 1000:.1f} ms | {theirs[1]:.0f} | "
        f"{theirs[0] / own[0]:.1f} |",
        flush=True,
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--shared", required=True)
    parser.add_argument("--xprof-python", required=True)
    parser.add_argument("--rounds", type=int, default=8)
    options = parser.parse_args()
    print("| file | memviewd | rows | converter | rows | times |\n|---|---|---|---|---|---|")
    measured = []
    for name, path in traces(options.shared).items():
        measured.append(measure(options, [path] * options.rounds))
        line(name, *measured[-1])
    line(
        "one of each trace",
        *(tuple(sum(sides[side][cell] for sides in measured) for cell in (0, 1)) for side in (0, 1)),
    )
    dumps = sorted(glob.glob(os.path.join(options.shared, "data", "programs", "*", "*.gz")))
    line(f"a packed dump, of {len(dumps)}", *measure(options, dumps))
    return 0


if __name__ == "__main__":
    sys.exit(main())
