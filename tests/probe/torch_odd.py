#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One odd number of a file of PyTorch loses at most itself.

  torch_odd.py --binary memviewd [--seed N] [--every]

Each scalar of a small snapshot, as pickle and as JSON, and of a small trace of torch.profiler becomes 0, -1, 2^31 …,
NaN, a text, or is not there, one at a time. Every such file is still read; no sum is below 0; the categories at the
peak, and what is live at the peak and at the end, add up to what is in use there (where a note says that events tell of
more, to no less); where a value that cannot be changes a sum, a note says so.
Some of them are drawn by the seed; --every, or EVERY=1, takes all. Ends with the counts; exit status 1 if one does not
hold.
"""

import argparse
import json
import os
import pickle
import random
import sys
import tempfile

import json_fields
import odd_values
import pickle_fields

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "golden"))
from daemon import Counts, Daemon  # noqa: E402
import made_snapshots  # noqa: E402
import torch_trace  # noqa: E402

FILES_TOGETHER, DRAWN = 150, 450
CONTRADICTING = (
    "chain_break"  # the note of events that tell of more than the allocator counts: what balances that is below 0
)
SUMS = (
    "first_bytes",
    "last_bytes",
    "min_bytes",
    "reserved_bytes",
    "allocation_count",
    "deallocation_count",
    "never_freed_count",
)


def snapshot():
    """whose blocks were partly there before the ring began"""
    return made_snapshots.made(5, 2, 24, 12)


def trace():
    made = torch_trace.Maker(4, False).made(1)
    made["traceEvents"].sort(key=lambda event: event["ts"])
    return made


def negatives(value, path=""):
    """every figure of bytes below 0"""
    if isinstance(value, dict):
        return [fault for key, inside in value.items() for fault in negatives(inside, f"{path}.{key}")]
    if isinstance(value, list):
        return [fault for inside in value for fault in negatives(inside, path)]
    is_below = isinstance(value, (int, float)) and not isinstance(value, bool) and value < 0 and "bytes" in path
    return [f"{path} is {value}"] if is_below else []


def live_faults(daemon, place, pool):
    faults, count = [], pool["event_count"]
    for event in {pool["peak"]["event"], count - 1} if count else ():
        live = daemon.json("/api/v1/memory_profile/live", event=event, group="op", limit=1000, **place)["data"]
        in_use = daemon.json("/api/v1/memory_profile/event", id=event, **place)["data"]["event"]["in_use_bytes"]
        total = sum(row["size_bytes"] for row in live["rows"] + live["remainders"])
        faults += [f"live after event {event}: {total}, not {in_use}"] if total != in_use else []
        balances = [
            row for row in live["remainders"] if row["code"] == "unaccounted" and CONTRADICTING in codes_of(pool)
        ]
        faults += negatives({"live": live["rows"] + [row for row in live["remainders"] if row not in balances]})
    return faults


def band_faults(daemon, place):
    stacked = daemon.json("/api/v1/memory_profile/timeline", stack="category", **place)["data"]["stacked"]
    return [
        f"band {band['label'] or band['kind']}: {min([band['before_bytes'], *band['bytes']])}"
        for band in stacked["bands"]
        if min([band["before_bytes"], *band["bytes"]]) < 0
    ]


def category_faults(pool):
    total, in_use = sum(row["size_bytes"] for row in pool["categories"] or ()), pool["peak"]["in_use_bytes"]
    if pool["categories"] is not None and (total < in_use or (total > in_use and CONTRADICTING not in codes_of(pool))):
        return [f"categories of {pool['memory']} are not {in_use}: {pool['categories']}"]
    return []


def codes_of(part):
    return {note["code"] for note in part["notes"]}


def notes_of(summary):
    return set().union(*map(codes_of, summary["hosts"] + summary["pools"]))


def sums_of(summary):
    return sorted(
        [pool["memory"], pool["peak"]["in_use_bytes"], *(pool[name] for name in SUMS)] for pool in summary["pools"]
    )


def faults_of(daemon, host, base, description):
    place = {"session": host["session"], "host": host["id"]}
    summary = daemon.json("/api/v1/memory_profile/summary", **place)["data"]
    if summary["hosts"][0]["error"]:
        return [f"refused: {summary['hosts'][0]['error']}"]
    faults = negatives(summary)
    for pool in summary["pools"]:
        faults += category_faults(pool)
        faults += live_faults(daemon, {**place, "memory": pool["memory"]}, pool)
        faults += band_faults(daemon, {**place, "memory": pool["memory"]})
    if (
        base
        and odd_values.cannot_be(description)
        and sums_of(summary) != sums_of(base)
        and notes_of(summary) <= notes_of(base)
    ):
        faults.append(f"no note says it: {sums_of(summary)}, not {sums_of(base)}")
    return faults


def asked(daemon, host, base, description):
    try:
        return faults_of(daemon, host, base, description)
    except OSError as error:  # of urllib, too
        return [f"no answer: {error} {getattr(error, 'read', bytes)()[:300]!r}"]


def hold(binary, counts, suffix, original, variants):
    with tempfile.TemporaryDirectory() as folder:
        names = {}
        for at, (description, data) in enumerate([("as it is", original), *variants]):
            names[f"v{at}"] = description
            with open(os.path.join(folder, f"v{at}{suffix}"), "wb") as file:
                file.write(data)
        with Daemon(binary, folder) as daemon:
            sessions = daemon.json("/api/v1/sessions", limit=1000)["sessions"]
            hosts = {
                host["name"]: {"session": session["id"], "id": host["id"]}
                for session in sessions
                for host in session["hosts"]
            }
            base = None
            for name, description in names.items():
                faults = asked(daemon, hosts[name], base, description) if name in hosts else ["it is not listed"]
                counts.add(faults, f"{suffix} {description}")
                if name == "v0":
                    base = daemon.json(
                        "/api/v1/memory_profile/summary", session=hosts[name]["session"], host=hosts[name]["id"]
                    )["data"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--every", action="store_true", default=os.environ.get("EVERY") == "1")
    options = parser.parse_args()
    print(f"seed {options.seed}")
    counts, draw = Counts(), random.Random(options.seed)
    small = snapshot()
    originals = (
        (".pickle", pickle_fields, pickle.dumps(small, 4)),
        (".json", json_fields, json.dumps(small).encode()),
        (".pt.trace.json", json_fields, json.dumps(trace()).encode()),
    )
    for suffix, module, original in originals:
        rows = list(module.variants(original, draw))
        rows = rows if options.every else rows[: DRAWN // len(originals)]
        for at in range(0, len(rows), FILES_TOGETHER):
            hold(options.binary, counts, suffix, original, rows[at : at + FILES_TOGETHER])
    return counts.finish()


if __name__ == "__main__":
    raise SystemExit(main())
