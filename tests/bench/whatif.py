#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What predictions cost for a training step of 100,000 buffers: each kind of change, and the search for sets that fit.

  whatif.py --binary PATH [--looks N] [--buffers N]

Every question is a new one about a program that is loaded, so no kept answer is measured and no reading of the file.
"""

import argparse
import os
import statistics
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "golden"))
import make_step  # noqa: E402
from daemon import Daemon  # noqa: E402

CHANGES = [
    "donate=all",
    "cast=*:bf16",
    "cast=*mu*:bf16",
    "batch=0.5",
    "sequence=0.5",
    "checkpoint=*",
    "offload=*mu*",
    "shard=*:4",
]
GOAL_ONE_S, GOAL_FIT_S = 0.05, 2


def main():
    parser = argparse.ArgumentParser(description=__doc__.strip(), formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--looks", type=int, default=7)
    parser.add_argument("--buffers", type=int, default=100000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "module_0000.jit_train_step.after_optimizations.hlo.pb"), "wb") as file:
            file.write(make_step.encode(make_step.build(options.buffers)))
        with Daemon(options.binary, folder) as daemon:
            session = daemon.json("/api/v1/sessions")["sessions"][0]
            module = daemon.json(f"/api/v1/sessions/{session['id']}/modules")["modules"][0]
            daemon.view("summary", session, module)
            measure(daemon, session, module, options.looks)


def asked(daemon, session, module, looks, capacity, **more):
    """median seconds; `looks` different questions, told apart by the capacity"""
    seconds = []
    for look in range(looks):
        begin = time.perf_counter()
        daemon.view("whatif", session, module, capacity_bytes=capacity + look, **more)
        seconds.append(time.perf_counter() - begin)
    return statistics.median(seconds)


def measure(daemon, session, module, looks):
    total = daemon.view("whatif", session, module)["total_bytes_before"]
    print(f"\npredictions for {module['name']}")
    slowest = 0
    for change in CHANGES:
        seconds = asked(daemon, session, module, looks, total, change=change)
        slowest = max(slowest, seconds)
        print(f"  {change:16} {seconds * 1e3:10.1f} ms")
    print(
        f"  slowest {slowest * 1e3:.1f} ms, goal {GOAL_ONE_S * 1e3:.0f}: {'met' if slowest < GOAL_ONE_S else 'MISSED'}"
    )
    slowest = 0
    for part in (0.95, 0.7, 0.3, 0.1, 0.01):
        seconds = asked(daemon, session, module, max(1, looks // 3), int(total * part), fit=1)
        slowest = max(slowest, seconds)
        print(f"  fit {part:4.0%} of it {seconds * 1e3:11.1f} ms")
    print(
        f"  slowest {slowest * 1e3:.1f} ms, goal {GOAL_FIT_S * 1e3:.0f}: {'met' if slowest < GOAL_FIT_S else 'MISSED'}"
    )


if __name__ == "__main__":
    main()
