#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Allocator snapshots of PyTorch, held against Python's own pickle.

  torch_snapshot.py --binary memviewd [--shared DIR]

figures   events, levels before, at the peak and at the end, blocks before and after, of every device
curve     at every event what is in use is the sum of what is open there; it ends at the active blocks, or a note says
          by how much not
live      at moments the live rows are the allocations that are open, and with the remainders they add up to the curve
stacks    an event's frames are those of the file
by stack  at the peak, the end and other moments: blocks and bytes of each stack, all of them, two moments apart, and by
          line (torch_stacks.py)
failures  each request that failed: what it met, and who pins the holes, as the allocator that was made for it knows
segments  what was held at moments, segment by segment, and what lay in each (torch_failures.py)
writers   the same snapshot by protocols 2 to 5, packed, with keys in another order, and as older releases wrote it
refused   what is no snapshot, or would run code: the opcode and its place are those that pickletools finds; lengths
          beyond the bytes, broken stacks, things in themselves, bombs; JSON is read if Python's reader reads it; cut
          anywhere, a snapshot is refused with a place inside it (torch_refused.py)
Snapshots are made here, as an allocator would write them; those of --shared are recorded ones. Ends with the counts;
exit status 1 if one does not hold.
"""

import argparse
import collections
import gzip
import json
import os
import pickle
import pickletools
import random
import re
import tempfile
import urllib.error

import hostile_snapshots as hostile
from daemon import Counts, Daemon
import made_allocator
import torch_end
from torch_failures import MOMENTS, devices, failures, segments
from torch_refused import (
    bombs_refused,
    broken_refused,
    bytes_stay_bytes,
    calls_refused,
    cut,
    json_verdicts,
    lengths_refused,
)
from torch_stacks import stacks_faults
from made_snapshots import as_older, made

ACTIVE = ("active_allocated", "active_pending_free", "active_awaiting_free")
PAGE = 1000


# ---- the same figures, by Python ----


def changes(snapshot, device):
    """(time, address, change, frames) of each allocation and free, as they were written"""
    rows = []
    for event in snapshot["device_traces"][device]:
        if event["action"] in ("alloc", "free_completed"):
            sign = 1 if event["action"] == "alloc" else -1
            rows.append((event.get("time_us"), event["addr"], sign * event["size"], event["frames"]))
    return rows


def active(snapshot, device):
    """bytes that were asked for, of blocks that are not free at the end"""

    def requested(block):
        history = block.get("history")
        return block.get("requested_size", history[0]["real_size"] if history else block["size"])

    return sum(
        requested(block)
        for segment in snapshot["segments"]
        if segment["device"] == device
        for block in segment["blocks"]
        if block["state"] in ACTIVE
    )


def levels(snapshot, device):
    """in use before the first event and after each: what is open there, was there before, or is a block that no event
    allocates"""
    rows, open_, before, found = changes(snapshot, device), {}, 0, []
    for _, address, change, _ in rows:
        if change > 0:
            found.append(change - open_.get(address, 0))
            open_[address] = change
        else:
            before -= 0 if address in open_ else change
            found.append(-open_.pop(address, -change))
    level = before + sum(size * count for (size, _), count in kept_of(snapshot, device).items())
    return [level + sum(found[:end]) for end in range(len(found) + 1)]


# ---- what is held against what ----


def figures_faults(snapshot, device, pool):
    rows, curve = changes(snapshot, device), levels(snapshot, device)
    open_, before = set(), 0
    for _, address, change, _ in rows:
        if change > 0 or address in open_:
            (open_.add if change > 0 else open_.discard)(address)
        else:
            before += 1
    wanted = {
        "event_count": len(rows),
        "allocation_count": sum(change > 0 for _, _, change, _ in rows),
        "first_bytes": curve[0],
        "last_bytes": curve[-1],
        "never_freed_count": len(open_),
        "before_window_count": before,
        "min_bytes": min(curve[1:]),
    }
    faults = [f"{name}: {pool[name]}, not {value}" for name, value in wanted.items() if pool[name] != value]
    if pool["peak"]["in_use_bytes"] != max(curve[1:]):
        faults.append(f"peak: {pool['peak']['in_use_bytes']}, not {max(curve[1:])}")
    return faults


def rows_of(daemon, view, **arguments):
    for offset in range(0, 1 << 30, PAGE):
        rows = daemon.json(f"/api/v1/memory_profile/{view}", offset=offset, limit=PAGE, **arguments)["data"]["rows"]
        yield from rows
        if len(rows) < PAGE:
            return


def curve_faults(daemon, place, snapshot, device):
    rows = list(rows_of(daemon, "events", sort="event", **place))
    curve, own = levels(snapshot, device), {row["event"]: row["in_use_bytes"] for row in rows}
    sizes = [abs(change) for _, _, change, _ in changes(snapshot, device)]
    return [f"event {at}: {value}, not {curve[at + 1]}" for at, value in own.items() if value != curve[at + 1]] + [
        f"event {row['event']}: asked {row['requested_bytes']}, not {sizes[row['event']]}"
        for row in rows
        if row["requested_bytes"] != sizes[row["event"]]
    ]


def open_at(rows, end):
    found = {}
    for _, address, change, _ in rows[:end]:
        if change > 0:
            found[address] = change
        else:
            found.pop(address, None)
    return collections.Counter(found.values())


def kept_of(snapshot, device):
    """bytes that were asked for, and the innermost frame, of blocks at the end that no event allocates"""
    last = {address: change for _, address, change, _ in changes(snapshot, device)}
    found = []
    for segment in snapshot["segments"]:
        address = segment["address"]
        for block in segment["blocks"]:
            own, history = block.get("address", address), block.get("history")
            address = own + block["size"]
            if segment["device"] == device and block["state"] in ACTIVE and last.get(own, 0) <= 0:
                found.append(
                    (
                        block.get("requested_size", history[0]["real_size"] if history else block["size"]),
                        tuple(
                            (row["filename"], row["name"])
                            for row in block.get("frames", history[0]["frames"] if history else [])
                        ),
                    )
                )
    return collections.Counter(found)


def live_faults(daemon, place, snapshot, device):
    rows, curve, faults = changes(snapshot, device), levels(snapshot, device), []
    kept = kept_of(snapshot, device)
    for end in sorted(random.Random(1).sample(range(1, len(rows) + 1), min(MOMENTS, len(rows)))):
        live = daemon.json("/api/v1/memory_profile/live", event=end - 1, group="none", limit=1, **place)["data"]
        own_rows = list(rows_of(daemon, "live", event=end - 1, group="none", **place))
        own = collections.Counter(row["size_bytes"] for row in own_rows if row["origin"] == "recorded")
        before = collections.Counter(
            (row["size_bytes"], tuple((frame["file"], frame["function"]) for frame in row["stack"] or []))
            for row in own_rows
            if row["origin"] == "before_recording"
        )
        if before != kept:
            faults.append(
                f"after {end} events: {sum(before.values())} blocks from before the recording, not {sum(kept.values())}"
            )
        if own != open_at(rows, end):
            faults.append(
                f"after {end} events: {sum(own.values())} allocations, not {sum(open_at(rows, end).values())}"
            )
        total = sum(row["size_bytes"] for row in own_rows + live["remainders"])
        if total != curve[end]:
            faults.append(f"after {end} events: rows and remainders are {total}, not {curve[end]}")
    return faults


def stack_faults(daemon, place, snapshot, device):
    rows, faults = changes(snapshot, device), []
    for at in sorted(random.Random(2).sample(range(len(rows)), min(MOMENTS, len(rows)))):
        stack = daemon.json("/api/v1/memory_profile/event", id=at, **place)["data"]["event"]["stack"] or []
        own = [(row["file"], row["function"], row["line"]) for row in stack]
        wanted = [(row["filename"], row["name"], row["line"] or None) for row in rows[at][3]]
        if own != wanted:
            faults.append(f"event {at}: {own[:2]} …, not {wanted[:2]} …")
    return faults


def untold(snapshot, device):
    """bytes by which the curve ends beside the active blocks"""
    return levels(snapshot, device)[-1] - active(snapshot, device)


def note_faults(summary, snapshot, devices):
    own = sorted(note["count"] for note in summary["hosts"][0]["notes"] if note["code"] == "curve_end")
    true = sorted(abs(untold(snapshot, device)) for device in devices if untold(snapshot, device))
    return [] if own == true else [f"notes say that the curve ends off by {own}, not {true}"]


def lost(snapshot):
    """without one free in ten"""
    drop = random.Random(7)
    return {
        **snapshot,
        "device_traces": [
            [event for event in trace if event["action"] != "free_completed" or drop.random() > 0.1]
            for trace in snapshot["device_traces"]
        ],
    }


def hold(daemon, counts, name, snapshot, hosts):
    host = hosts[name]
    summary = daemon.json("/api/v1/memory_profile/summary", session=host["session"], host=host["id"])["data"]
    pools = {pool["memory"]: pool for pool in summary["pools"]}
    counts.add(
        note_faults(summary, snapshot, [at for at in range(len(snapshot["device_traces"])) if changes(snapshot, at)]),
        f"notes of {name}",
    )
    for device in range(len(snapshot["device_traces"])):
        if not changes(snapshot, device):
            continue
        memory, what = f"GPU {device}", f"{name}, GPU {device}"
        if memory not in pools:
            counts.add([f"only {sorted(pools)}"], what)
            continue
        place = {"session": host["session"], "host": host["id"], "memory": memory}
        counts.add(figures_faults(snapshot, device, pools[memory]), f"figures of {what}")
        counts.add(curve_faults(daemon, place, snapshot, device), f"curve of {what}")
        counts.add(live_faults(daemon, place, snapshot, device), f"live in {what}")
        counts.add(stack_faults(daemon, place, snapshot, device), f"stacks of {what}")
        if untold(snapshot, device) == 0:  # else the events do not go together with the blocks
            counts.add(stacks_faults(daemon, place, snapshot, device, levels(snapshot, device)), f"by stack, {what}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--shared")
    options = parser.parse_args()
    counts, snapshots = Counts(), {}
    with tempfile.TemporaryDirectory() as folder:

        def put(name, data, snapshot):
            with open(os.path.join(folder, name), "wb") as file:
                file.write(data)
            snapshots[re.sub(r"\.(pickle|pkl)(\.gz)?$", "", name)] = snapshot

        one = made(1, 2, 800, 700)
        for protocol in (2, 3, 4, 5):
            put(f"protocol_{protocol}.pickle", pickle.dumps(one, protocol), one)
        put("packed.pickle.gz", gzip.compress(pickle.dumps(one, 4)), one)
        put("optimized.pkl", pickletools.optimize(pickle.dumps(one, 4)), one)
        put("turned.pickle", pickle.dumps(dict(reversed(one.items())), 4), one)
        older = as_older(one)
        put("older.pickle", pickle.dumps(older, 4), older)
        for seed in range(2, 6):
            other = made(seed, seed, 600, 40 * seed)
            put(f"made_{seed}.pickle", pickle.dumps(other, 4), other)
        part = lost(made(8, 1, 700, 300))
        put("lost.pickle", pickle.dumps(part, 4), part)
        made_devices = devices()
        for name, (allocators, keeps) in made_devices.items():
            whole = made_allocator.snapshot(*allocators, keeps=keeps)
            put(f"{name}.pickle", pickle.dumps(whole, 4), whole)
        if options.shared:
            for name in ("systems-train", "systems-ddp"):
                with gzip.open(os.path.join(options.shared, "data", "torch", f"{name}.pickle.gz")) as file:
                    data = file.read()
                put(f"{name}.pickle", data, pickle.loads(data))
        else:
            counts.skip("recorded snapshots: without --shared")
        with Daemon(options.binary, folder) as daemon:
            session = daemon.json("/api/v1/sessions")["sessions"][0]
            hosts = {host["name"]: {"session": session["id"], "id": host["id"]} for host in session["hosts"]}
            for name, snapshot in snapshots.items():
                try:
                    hold(daemon, counts, name, snapshot, hosts)
                except (KeyError, urllib.error.HTTPError) as error:
                    counts.add([repr(error), getattr(error, "read", bytes)()], name)
            for name, (allocators, keeps) in made_devices.items():
                failures(daemon, counts, name, allocators, keeps, hosts)
                segments(daemon, counts, name, allocators, keeps, hosts)
        with tempfile.TemporaryDirectory() as other:
            for hold_refusals in (
                calls_refused,
                lengths_refused,
                broken_refused,
                bytes_stay_bytes,
                json_verdicts,
                bombs_refused,
                torch_end.hold,
            ):
                hold_refusals(options.binary, counts, other)
            small = made(9, 1, 60, 100)
            cut(options.binary, counts, other, pickle.dumps(small, 4), "cut.pickle")
            cut(options.binary, counts, other, json.dumps(small).encode(), "cut.json")
            cut(options.binary, counts, other, hostile.archive(snapshot=pickle.dumps(small, 4)), "cut.zip")
    return counts.finish()


if __name__ == "__main__":
    raise SystemExit(main())
