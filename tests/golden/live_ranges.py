#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds the view live_range against the compiler's -live-range.txt of every program.

  live_ranges.py --binary memviewd --shared DIR

Name, start and end of every range; the unpadded bytes at the position that XLA calls the peak. XLA looks
for that position with the sizes of whole instructions, a tuple counting as its pointers, so it may miss
the true peak: ours is never lower. Ends with the counts; exit status 1 if one differs.
"""
import argparse
import collections
import glob
import os
import re
import sys

from daemon import Counts, Daemon

ENDING = ".after_optimizations.hlo.pb"


def report_of(path):
    """(multiset of "name{index}:start-end", position of the peak, its bytes or None)"""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    ranges, _, rest = text.partition("  BufferLiveRange:\n")[2].partition("  Live ranges at ")
    peak = re.match(r"(\d+) \(peak\):", rest)
    sums = re.findall(r"\(cumulative: (\d+) bytes\)", rest)
    lines = collections.Counter(line.strip() for line in ranges.splitlines() if line.strip())
    return lines, int(peak.group(1)) if peak else None, int(sums[-1]) if sums else 0


def ours(data):
    names = ((row["name"] if row["name"].endswith("}") else row["name"] + "{}", row) for row in data["values"])
    return collections.Counter(f"{name}:{row['start']}-{row['end']}" for name, row in names)


def faults(data, path):
    lines, position, total = report_of(path)
    mine = ours(data)
    for line in list((lines - mine).elements())[:2]:
        yield f"XLA has {line}"
    for line in list((mine - lines).elements())[:2]:
        yield f"XLA has no {line}"
    if lines != mine:
        yield f"{sum((lines & mine).values())} of {sum(lines.values())} ranges equal"
    there = sum(row["unpadded_bytes"] or 0 for row in data["values"] if row["start"] <= position <= row["end"])
    if there != total:
        yield f"{there} bytes at {position}, XLA {total}"
    if data["peak_unpadded_bytes"] < total:
        yield f"peak {data['peak_unpadded_bytes']} below XLA's {total}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--shared", required=True)
    options = parser.parse_args()
    counts, data = Counts(), os.path.join(options.shared, "data")
    for root in ("dumps", "modules", "whatif"):
        with Daemon(options.binary, os.path.join(data, root)) as daemon:
            for path in sorted(glob.glob(f"{data}/{root}/*/*{ENDING}")):
                report, folder = path[:-len(".hlo.pb")] + "-live-range.txt", os.path.basename(os.path.dirname(path))
                session, module = daemon.find(folder, os.path.basename(path))
                found = list(faults(daemon.view("live_range", session, module), report)) if module else ["not found"]
                counts.add(found, f"{root}/{folder}")
    return counts.finish()


if __name__ == "__main__":
    sys.exit(main())
