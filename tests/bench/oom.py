#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How fast a report at the end of a large log is found, and in how much memory.

  oom.py --binary build/release/memviewd [--megabytes 1000] [--check]

Goals: 400 MB/s of processor time on one core, 64 MiB. The log is made, read and removed; of the
three runs the fastest counts.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
REPORT = os.path.join(HERE, "..", "fixtures", "oom", "0.10.0-libtpu0.0.40-v5e-adamlin.txt")
LEAST_MB_PER_S, MOST_MIB, RUNS = 400, 64, 3


def lines(count):
    """a training log; now and then a line that mentions memory"""
    for step in range(count):
        yield (
            f"I0528 07:{step // 60 % 60:02d}:{step % 60:02d}.{step % 1000000:06d} 27487 train.py:{step % 997}] step "
            f"{step} "
            f"loss={1 / (step + 1):.6f} examples/sec={step % 1000}.{step % 10}\n"
        )
        if step % 1000 == 0:
            yield f"I0528 07:00:00.000000 27487 mem.py:3] device memory in use: {step % 16}.5 GiB\n"


def write_log(path, megabytes):
    block = "".join(lines(100_000)).encode()
    with open(path, "wb") as log, open(REPORT, "rb") as report:
        for _ in range(max(1, megabytes * 1_000_000 // len(block))):
            log.write(block)
        log.write(report.read())
    return os.path.getsize(path)


def run(binary, path):
    """seconds on the clock, seconds of processor, MiB at most"""
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    failures = json.loads(subprocess.run([binary, "explain", "--json", path], check=True, capture_output=True).stdout)
    took, after = time.monotonic() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
    if len(failures) != 1 or failures[0]["buffer_count"] != 3:
        raise ValueError("the report was not found")
    return took, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, after.ru_maxrss / 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--megabytes", type=int, default=1000)
    parser.add_argument("--check", action="store_true", help="exit status 1 if a goal is missed")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "train.log")
        size = write_log(path, options.megabytes)
        runs = [run(options.binary, path) for _ in range(RUNS)]
    took, processor, mib = (min(values) for values in zip(*runs))
    print(
        f"explain: {size / 1e6:.0f} MB log in {took:.2f} s ({size / 1e6 / took:.0f} MB/s; "
        f"{size / 1e6 / processor:.0f} MB/s of processor time), {mib:.1f} MiB"
    )
    is_good = size / 1e6 / processor >= LEAST_MB_PER_S and mib < MOST_MIB
    return 0 if is_good or not options.check else 1


if __name__ == "__main__":
    sys.exit(main())
