#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Allocator snapshots in memviewd, beside torch.cuda._memory_viz and Mosaic.

  beside_memory_viz.py --binary memviewd --memory-viz FILE [--mosaic PYTHON --mosaic-folder DIR] [--pairs 3] SNAPSHOT…

FILE is PyTorch's torch/cuda/_memory_viz.py, which runs without torch and is measured so: importing torch would take two
more seconds. PYTHON is an interpreter with what Mosaic (github.com/facebookresearch/mosaic) needs. Each snapshot:
its peak in bytes as memviewd has it, by the rule of memory_viz's page, which is that of blocks that are allocated
before the recording as well, and as Mosaic prints it; then processor seconds and peak memory of a tool and of
`memviewd explain` in turn, and the median of their ratios. Exit status 1 if a peak differs from memory_viz's rule.
"""

import argparse
import json
import os
import pickle
import re
import statistics
import subprocess
import sys
import tempfile


def peaks_by_rule(path):
    """the peak of each device that has events; sizes as asked for"""
    with open(path, "rb") as file:
        snapshot = pickle.load(file)
    for device, events in enumerate(snapshot["device_traces"]):
        if events:
            yield peak_of(events, [s for s in snapshot["segments"] if s.get("device", 0) == device])


def peak_of(events, segments):
    made, before = set(), 0
    for event in events:
        if event["action"] == "alloc":
            made.add(event["addr"])
        elif event["action"] == "free_requested":
            before += 0 if event["addr"] in made else event["size"]
            made.discard(event["addr"])
    for segment in segments:
        address = segment["address"]
        for block in segment["blocks"]:
            if block["state"] == "active_allocated" and address not in made:
                before += block.get("requested_size", block["size"])
            address += block["size"]
    live, in_use, peak = {}, before, before
    for event in events:
        if event["action"] == "alloc":
            live[event["addr"]] = event["size"]
            in_use += event["size"]
            peak = max(peak, in_use)
        elif event["action"] == "free_requested":
            in_use -= live.pop(event["addr"], event["size"])
    return peak


def run(command, folder=None):
    """processor seconds, MiB at the most, and what it printed"""
    with tempfile.TemporaryFile() as out:
        child = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT, cwd=folder)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        text = out.read().decode("utf-8", "replace")
    if child.returncode:
        sys.exit(f"{command[0]}: status {child.returncode}: {text[-400:]}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, text


def compare(name, theirs, ours, pairs, folder=None):
    rows = [(run(theirs, folder), run(ours)) for _ in range(pairs)]
    times = [(their[0], our[0]) for their, our in rows]
    print(
        f"  {name}: {statistics.median(t for t, _ in times):.2f} s and {rows[-1][0][1]:.0f} MiB; "
        f"memviewd {statistics.median(o for _, o in times):.3f} s and {rows[-1][1][1]:.0f} MiB; "
        f"ratio of times {statistics.median(t / o for t, o in times):.0f}"
    )
    return rows[-1][0][2]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--memory-viz", required=True)
    parser.add_argument("--mosaic")
    parser.add_argument("--mosaic-folder")
    parser.add_argument("--pairs", type=int, default=3)
    parser.add_argument("snapshots", nargs="+")
    options = parser.parse_args()
    wrong = 0
    for path in map(os.path.abspath, options.snapshots):
        top = json.loads(run([options.binary, "top", "--json", path])[2])["data"]["total"]
        rule = sum(peaks_by_rule(path))
        wrong += top != rule
        print(f"{os.path.basename(path)}: peak {top:,} B; memory_viz {rule:,} B{'' if top == rule else ', DIFFERENT'}")
        ours = [options.binary, "explain", path]
        with tempfile.TemporaryDirectory() as folder:
            page = [options.memory_viz, "trace_plot", path, "-o", f"{folder}/page.html"]
            compare("memory_viz trace_plot", [sys.executable, *page], ours, options.pairs)
        if options.mosaic:
            peak = [options.mosaic, "-m", "mosaic.cmd.get_memory_usage_peak", "--snapshot", path]
            text = compare("Mosaic", peak, ours, options.pairs, options.mosaic_folder)
            for gib in re.findall(r"Overall Peak.*: ([0-9.e+-]+) GiB", text):
                print(f"  Mosaic's peak: {round(float(gib) * 2**30):,} B")
        sys.stdout.flush()
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
