# SPDX-License-Identifier: Apache-2.0
"""What `memviewd run` costs a program that fits: seconds of its compile and of a step, its host memory, and bytes that
the dump takes at most.

  cost.py --binary build/release/memviewd --python build/jax/bin/python --libtpu
  build/libtpu/lib/python3.11/site-packages [--rounds 7]

jobs/fits.py in turns without and with it; medians. The figures of `memviewd run --help` are from here.
"""

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import threading

import box
import real


def bytes_of(folder):
    total = 0
    for at, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.stat(os.path.join(at, name)).st_blocks * 512
            except OSError:
                pass  # removed meanwhile
    return total


class Most:
    """the most bytes that a folder has while the block runs"""

    def __init__(self, folder):
        self.folder, self.bytes, self.over = folder, 0, threading.Event()
        self.thread = threading.Thread(target=self.look)

    def look(self):
        while not self.over.wait(0.02):
            self.bytes = max(self.bytes, bytes_of(self.folder))

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.thread.join()


ROWS = (
    ("compile, clock", "s"),
    ("compile, processors", "s"),
    ("a step, clock", "s"),
    ("a step, processors", "s"),
    ("host memory", "MiB"),
    ("command, processors", "s"),
)


def measured(command, **more):
    """of each of ROWS; a program for a TPU makes no step"""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, check=True, capture_output=True, timeout=900, text=True, **more)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    said = {line.split()[0]: line.split()[1:] for line in done.stdout.splitlines()}
    return (
        *map(float, said["compiled"]),
        *map(float, said.get("stepped", ("nan", "nan"))),
        int(said["took"][0]) / 1024,
        after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--python", required=True)
    parser.add_argument("--libtpu", required=True)
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    job = real.job(options, "fits.py")
    for name, variables in (
        ("CPU, 12 layers", {"LAYERS": "12", "STEPS": "30"}),
        ("TPU v5e, 2 layers", {"LAYERS": "2", **real.AOT, "PYTHONPATH": options.libtpu}),
    ):
        rows, most, left = ([], []), 0, 0
        with tempfile.TemporaryDirectory(prefix="memviewd-run-") as folder:
            here = box.Box(os.path.abspath(options.binary), folder)
            environment = {**here.environment, "JAX_PLATFORMS": "cpu", **variables}
            for _ in range(options.rounds):
                rows[0].append(measured(job, env=environment))
                with Most(here.runs) as peak:
                    rows[1].append(measured(here.command(*job), env=environment))
                most = max(most, peak.bytes)
            measured(here.command(*job, options=["--keep", "--quiet"]), env=environment)
            left = bytes_of(here.runs)
        bare, ours = ([statistics.median(column) for column in zip(*part)] for part in rows)
        print(f"{name}: {options.rounds} rounds")
        for at, (what, unit) in enumerate(ROWS):
            if bare[at] == bare[at]:
                print(
                    f"  {what:20} {bare[at]:8.3f} {unit} without, {ours[at]:8.3f} {unit} with: "
                    f"{100 * (ours[at] / bare[at] - 1):+.1f} %"
                    f"   (without: {min(row[at] for row in rows[0]):.3f} to {max(row[at] for row in rows[0]):.3f})"
                )
        print(f"  disk: {most >> 10} KiB at most, {left >> 10} KiB with --keep", flush=True)


if __name__ == "__main__":
    sys.exit(main())
