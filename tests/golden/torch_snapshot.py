#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Allocator snapshots of PyTorch, held against Python's own pickle.

  torch_snapshot.py --binary memviewd [--shared DIR]

figures  events, levels before, at the peak and at the end, blocks that are there before and after, of every device
curve    at every event what is in use is the running sum of the events before it, and ends at the active blocks
live     at moments the live rows are the allocations that are open, and with the remainders they add up to the curve
stacks   an event's frames are those of the file
writers  the same snapshot by protocols 2 to 5, packed, with keys in another order, and as older releases wrote it
refused  what is no snapshot, or would run code: the opcode and its place are those that pickletools finds; cut anywhere,
         a snapshot is refused with a place inside it
Snapshots are made here, as an allocator would write them; those of --shared are recorded ones. Ends with the counts;
exit status 1 if one does not hold.
"""
import argparse
import collections
import gzip
import os
import pickle
import pickletools
import random
import re
import subprocess
import tempfile
import urllib.error

from daemon import Counts, Daemon
from made_snapshots import REFUSED, as_older, made

ACTIVE = ("active_allocated", "active_pending_free", "active_awaiting_free")
MOMENTS = 40
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
    return sum(requested(block) for segment in snapshot["segments"] if segment["device"] == device
               for block in segment["blocks"] if block["state"] in ACTIVE)


def levels(snapshot, device):
    rows, end = changes(snapshot, device), active(snapshot, device)
    level = end - sum(change for _, _, change, _ in rows)
    found = [level]
    for _, _, change, _ in rows:
        level += change
        found.append(level)
    return found


# ---- what is held against what ----

def figures_faults(snapshot, device, pool):
    rows, curve = changes(snapshot, device), levels(snapshot, device)
    open_, before = set(), 0
    for _, address, change, _ in rows:
        if change > 0 or address in open_:
            (open_.add if change > 0 else open_.discard)(address)
        else:
            before += 1
    wanted = {"event_count": len(rows), "allocation_count": sum(change > 0 for _, _, change, _ in rows), "first_bytes": curve[0],
              "last_bytes": curve[-1], "never_freed_count": len(open_), "before_window_count": before, "min_bytes": min(curve[1:])}
    faults = [f"{name}: {pool[name]}, not {value}" for name, value in wanted.items() if pool[name] != value]
    if pool["peak"]["in_use_bytes"] != max(curve[1:]):
        faults.append(f"peak: {pool['peak']['in_use_bytes']}, not {max(curve[1:])}")
    if curve[-1] != active(snapshot, device):
        faults.append(f"ends at {curve[-1]}, not at the active blocks' {active(snapshot, device)}")
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
    return [f"event {at}: {value}, not {curve[at + 1]}" for at, value in own.items() if value != curve[at + 1]]


def open_at(rows, end):
    found = {}
    for _, address, change, _ in rows[:end]:
        if change > 0:
            found[address] = change
        else:
            found.pop(address, None)
    return collections.Counter(found.values())


def live_faults(daemon, place, snapshot, device):
    rows, curve, faults = changes(snapshot, device), levels(snapshot, device), []
    for end in sorted(random.Random(1).sample(range(1, len(rows) + 1), min(MOMENTS, len(rows)))):
        live = daemon.json("/api/v1/memory_profile/live", event=end - 1, group="none", limit=1, **place)["data"]
        own_rows = list(rows_of(daemon, "live", event=end - 1, group="none", **place))
        own = collections.Counter(row["size_bytes"] for row in own_rows)
        if own != open_at(rows, end):
            faults.append(f"after {end} events: {sum(own.values())} allocations, not {sum(open_at(rows, end).values())}")
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


def hold(daemon, counts, name, snapshot, hosts):
    host = hosts[name]
    summary = daemon.json("/api/v1/memory_profile/summary", session=host["session"], host=host["id"])["data"]
    pools = {pool["memory"]: pool for pool in summary["pools"]}
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


# ---- what is refused ----

CALLS = ("GLOBAL", "STACK_GLOBAL", "REDUCE", "BUILD", "INST", "OBJ", "NEWOBJ", "NEWOBJ_EX", "PERSID", "BINPERSID", "EMPTY_SET",
         "BYTEARRAY8", "FROZENSET", "EXT1", "EXT2", "EXT4")


def refusal(binary, folder, data):
    """what the command line says of a file, and its exit status"""
    path = os.path.join(folder, "snapshot.pickle")
    with open(path, "wb") as file:
        file.write(data)
    done = subprocess.run([binary, "summary", path], capture_output=True, text=True, timeout=60)
    return done.stdout + done.stderr, done.returncode


def refused(binary, counts, folder):
    for name, data in REFUSED.items():
        opcode, _, at = next(found for found in pickletools.genops(data) if found[0].name in CALLS)
        said, status = refusal(binary, folder, data)
        right = status != 0 and opcode.name in said and re.search(rf"byte {at}\b", said)
        counts.add([] if right else [f"status {status}: {said.strip()!r}, not {opcode.name} at byte {at}"], f"refused: {name}")
    laugh = [[]]
    for _ in range(60):
        laugh = [laugh, laugh]
    said, status = refusal(binary, folder, pickle.dumps({"segments": laugh, "device_traces": []}, 4))
    counts.add([] if status != 70 else [said], "lists in each other, doubled sixty times")


def cut(binary, counts, folder, data):
    faults = []
    for end in random.Random(3).sample(range(1, len(data) - 1), 60):
        said, status = refusal(binary, folder, data[:end])
        place = re.search(r"byte (\d+)", said)
        if status in (0, 70) or status < 0 or (place and int(place.group(1)) > end):
            faults.append(f"cut at {end}: status {status}: {said.strip()[:120]!r}")
    counts.add(faults, "cut at 60 places")


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
        with tempfile.TemporaryDirectory() as other:
            refused(options.binary, counts, other)
            cut(options.binary, counts, other, pickle.dumps(made(9, 1, 60, 100), 4))
    return counts.finish()


if __name__ == "__main__":
    raise SystemExit(main())
