#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Allocator snapshots of PyTorch, held against Python's own pickle.

  torch_snapshot.py --binary memviewd [--shared DIR]

figures  events, levels before, at the peak and at the end, blocks that are there before and after, of every device
curve    at every event what is in use is the sum of what is open there; it ends at the active blocks, or a note says by how much not
live     at moments the live rows are the allocations that are open, and with the remainders they add up to the curve
stacks   an event's frames are those of the file
failures each request that failed: what it met, and who pins the holes, as the allocator that was made for it knows
by stack at the peak, the end and other moments: blocks and bytes of each stack, all of them, two moments apart, and by line
segments what was held at moments, segment by segment, and what lay in each
writers  the same snapshot by protocols 2 to 5, packed, with keys in another order, and as older releases wrote it
refused  what is no snapshot, or would run code: the opcode and its place are those that pickletools finds; lengths beyond
         the bytes, broken stacks, things in themselves, bombs; JSON is read if Python's reader reads it; cut anywhere, a
         snapshot is refused with a place inside it
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
import subprocess
import tempfile
import urllib.error

import hostile_snapshots as hostile
from daemon import Counts, Daemon
import made_allocator
import torch_end
from torch_stacks import stacks_faults
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
    """in use before the first event and after each: what is open there, was there before, or is a block that no event allocates"""
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
    wanted = {"event_count": len(rows), "allocation_count": sum(change > 0 for _, _, change, _ in rows), "first_bytes": curve[0],
              "last_bytes": curve[-1], "never_freed_count": len(open_), "before_window_count": before, "min_bytes": min(curve[1:])}
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
        f"event {row['event']}: asked {row['requested_bytes']}, not {sizes[row['event']]}" for row in rows if row["requested_bytes"] != sizes[row["event"]]]


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
                found.append((block.get("requested_size", history[0]["real_size"] if history else block["size"]),
                              tuple((row["filename"], row["name"]) for row in block.get("frames", history[0]["frames"] if history else []))))
    return collections.Counter(found)


def live_faults(daemon, place, snapshot, device):
    rows, curve, faults = changes(snapshot, device), levels(snapshot, device), []
    kept = kept_of(snapshot, device)
    for end in sorted(random.Random(1).sample(range(1, len(rows) + 1), min(MOMENTS, len(rows)))):
        live = daemon.json("/api/v1/memory_profile/live", event=end - 1, group="none", limit=1, **place)["data"]
        own_rows = list(rows_of(daemon, "live", event=end - 1, group="none", **place))
        own = collections.Counter(row["size_bytes"] for row in own_rows if row["origin"] == "recorded")
        before = collections.Counter((row["size_bytes"], tuple((frame["file"], frame["function"]) for frame in row["stack"] or []))
                                     for row in own_rows if row["origin"] == "before_recording")
        if before != kept:
            faults.append(f"after {end} events: {sum(before.values())} blocks from before the recording, not {sum(kept.values())}")
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
    return {**snapshot, "device_traces": [[event for event in trace if event["action"] != "free_completed" or drop.random() > 0.1]
                                          for trace in snapshot["device_traces"]]}


def hold(daemon, counts, name, snapshot, hosts):
    host = hosts[name]
    summary = daemon.json("/api/v1/memory_profile/summary", session=host["session"], host=host["id"])["data"]
    pools = {pool["memory"]: pool for pool in summary["pools"]}
    counts.add(note_faults(summary, snapshot, [at for at in range(len(snapshot["device_traces"])) if changes(snapshot, at)]), f"notes of {name}")
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


# ---- requests that failed ----

FIGURES = {"requested_bytes": "requested", "device_free_bytes": "device_free", "active_bytes": "active", "reserved_bytes": "reserved"}
HOLES = {"free_bytes": "free", "usable_free_bytes": "usable", "largest_hole_bytes": "largest", "largest_any_hole_bytes": "largest_any"}


def kind_of(true):
    if true["largest"] >= true["requested"]:
        return "fits"
    for name, bytes_ in (("limit", true["device_free"]), ("fragmentation", true["usable"]), ("elsewhere", true["free"]),
                         ("pieces", true["free"] + true["device_free"])):
        if bytes_ >= true["requested"]:
            return name
    return "shortage"


def pinned_of(true):
    """the fewest bytes of blocks that stand between two holes, or a hole and an end, of a stretch that would hold the request"""
    least = None
    for address, size, _, blocks in true["segments"]:
        for first in range(len(blocks)):
            for end in range(first + 1, len(blocks) + 1):
                low = blocks[first - 1][0] + blocks[first - 1][1] if first else address
                high = blocks[end][0] if end < len(blocks) else address + size
                held = sum(block[1] for block in blocks[first:end])
                if high - low >= true["requested"] and (least is None or held < least):
                    least = held
    return least


def failure_faults(own, true):
    faults = [f"{name}: {own[name]}, not {true[word]}" for name, word in FIGURES.items() if own[name] != true[word]]
    # a block that is gone by the end is known without what was too small to be split off it
    faults += [f"{name}: {own[name]}, not {true[word]} to {true[word] + true['unsplit']}" for name, word in HOLES.items()
               if not 0 <= own[name] - true[word] <= true["unsplit"]]
    if true["unsplit"] == 0 and own["kind"] != kind_of(true):
        faults.append(f"kind: {own['kind']}, not {kind_of(true)}")
    return faults


def holes_faults(daemon, place, at, true):
    own = daemon.json("/api/v1/memory_profile/holes", failure=at, **place)["data"]
    faults = [f"request: {own['request_bytes']}, not {true['requested']}"] if own["request_bytes"] != true["requested"] else []
    if own["pin_count"] and true["unsplit"] == 0 and own["pinned_bytes"] != pinned_of(true):
        faults.append(f"pinned: {own['pinned_bytes']}, not {pinned_of(true)}")
    if not own["pin_count"] and pinned_of(true) is not None and own["largest_hole"]["size_bytes"] < true["requested"]:
        faults.append(f"nothing is pinned, but {pinned_of(true)} bytes are")
    return faults


def failures(daemon, counts, name, allocators, keeps, hosts):
    host = hosts[name]
    summary = daemon.json("/api/v1/memory_profile/summary", session=host["session"], host=host["id"])["data"]
    for one in allocators:
        memory = f"GPU {one.device}"
        pool = next(pool for pool in summary["pools"] if pool["memory"] == memory)
        begin = one.trace[-keeps:][0]["time_us"]
        true = [failure for failure in one.failures if failure["at"] >= begin]
        faults = [f"{pool['failure_count']} failures, not {len(true)}"] if pool["failure_count"] != len(true) else []
        place = {"session": host["session"], "host": host["id"], "memory": memory}
        for own in pool["failures"]:
            faults += [f"failure {own['failure']}: {fault}" for fault in
                       failure_faults(own, true[own["failure"]]) + holes_faults(daemon, place, own["failure"], true[own["failure"]])]
        if true and (pool["finding"] or {}).get("kind") != "failed_request":
            faults.append(f"the page leads with {pool['finding']}")
        counts.add(faults, f"failures of {name}, {memory}")


# ---- segments ----

def segment_faults(own, true):
    address, size, stream, blocks = true
    where = f"segment {address:#x}"
    unsplit = sum(block[1] - made_allocator.rounded(block[3]) for block in blocks)
    holes, to = [], address
    for block in [*blocks, (address + size, 0)]:
        holes += [block[0] - to] if block[0] > to else []
        to = block[0] + block[1]
    figures = {"size_bytes": size, "stream": stream, "block_count": len(blocks), "requested_bytes": sum(block[3] for block in blocks)}
    faults = [f"{where}: {name} {own[name]}, not {value}" for name, value in figures.items() if own[name] != value]
    upper = {"used_bytes": -sum(block[1] for block in blocks), "free_bytes": sum(holes), "largest_hole_bytes": max(holes, default=0),
             "pending_bytes": -sum(block[1] for block in blocks if block[2] == made_allocator.PENDING)}
    faults += [f"{where}: {name} {own[name]}, not {abs(value)}" for name, value in upper.items()
               if not 0 <= (own[name] if value > 0 or name in ("free_bytes", "largest_hole_bytes") else -own[name]) - value <= unsplit]
    drawn = sum(piece["used_bytes"] for piece in own["pieces"]), sum(piece["size_bytes"] for piece in own["pieces"])
    return faults + ([] if drawn == (own["used_bytes"], own["size_bytes"]) else [f"{where}: pieces are {drawn}"])


def segments(daemon, counts, name, allocators, keeps, hosts):
    host = hosts[name]
    for one in allocators:
        place, faults = {"session": host["session"], "host": host["id"], "memory": f"GPU {one.device}"}, []
        kept = sum(event["action"] in ("alloc", "free_completed") for event in one.trace[-keeps:])
        for event in sorted(random.Random(4).sample(range(kept), min(MOMENTS, kept))):
            true = one.states[len(one.states) - kept + event]
            own = daemon.json("/api/v1/memory_profile/segments", event=event, sort="address", limit=1000, **place)["data"]
            if [int(row["address"], 16) for row in own["rows"]] != [row[0] for row in true]:
                faults.append(f"event {event}: segments at {[row['address'] for row in own['rows']]}, not {[hex(row[0]) for row in true]}")
                continue
            faults += [f"event {event}: {fault}" for row, other in zip(own["rows"], true) for fault in segment_faults(row, other)]
            largest = max((row["largest_hole_bytes"] for row in own["rows"]), default=0)
            met = daemon.json("/api/v1/memory_profile/holes", event=event, **place)["data"]["largest_hole"]
            if largest != (met["size_bytes"] if met else 0):
                faults.append(f"event {event}: the largest hole has {met}, but of the segments {largest}")
            sums = {word: sum(row[word] for row in own["rows"]) for word in ("used_bytes", "free_bytes", "pending_bytes", "requested_bytes")}
            faults += [f"event {event}: {word} {own[word]}, but rows have {value}" for word, value in sums.items() if own[word] != value]
        counts.add(faults, f"segments of {name}, GPU {one.device}")


def devices():
    """name: (allocators, events that each of them remembers)"""
    run = made_allocator.run
    one = made_allocator.Caching
    return {"fragmented": ([made_allocator.fragmented()], 10**6),
            "fails": ([run(one(3, 0, 128 << 20), 900, (0, 7)), run(one(4, 1, 160 << 20, others=9 << 20), 900, (0,))], 600),
            "grows": ([run(one(5, 0, 128 << 20, expandable=True), 900, (0, 7)), run(one(6, 1, 96 << 20, expandable=True), 900)], 700)}


# ---- what is refused ----

CALLS = ("GLOBAL", "STACK_GLOBAL", "REDUCE", "BUILD", "INST", "OBJ", "NEWOBJ", "NEWOBJ_EX", "PERSID", "BINPERSID", "EMPTY_SET",
         "BYTEARRAY8", "FROZENSET", "EXT1", "EXT2", "EXT4", "NEXT_BUFFER", "READONLY_BUFFER")


def refusal(binary, folder, data, name="snapshot.pickle"):
    """what the command line says of a file, and its exit status; it has to be quick"""
    path = os.path.join(folder, name)
    with open(path, "wb") as file:
        file.write(data)
    done = subprocess.run([binary, "summary", path], capture_output=True, text=True, timeout=60)
    return done.stdout + done.stderr, done.returncode


def calls_refused(binary, counts, folder):
    for name, data in {**REFUSED, **hostile.CALLING}.items():
        opcode, _, at = next(found for found in pickletools.genops(data) if found[0].name in CALLS)
        said, status = refusal(binary, folder, data)
        right = status == 2 and opcode.name in said and re.search(rf"byte {at}\b", said)
        counts.add([] if right else [f"status {status}: {said.strip()!r}, not {opcode.name} at byte {at}"], f"refused: {name}")


def lengths_refused(binary, counts, folder):
    for name, data in hostile.LONG.items():
        at = len(data)
        while not list_begins(data[:at]):
            at -= 1
        said, status = refusal(binary, folder, data)
        right = status == 2 and re.search(rf"byte {at}\b", said)
        counts.add([] if right else [f"status {status}: {said.strip()!r}, not the opcode at byte {at}"], f"too long: {name}")


def list_begins(data):
    """do opcodes end where these bytes end? Then another begins behind them."""
    try:
        for opcode, _, _ in pickletools.genops(data + b"."):
            last = opcode
        return last.name == "STOP"
    except ValueError:
        return False


def broken_refused(binary, counts, folder):
    for name, data in hostile.BROKEN.items():
        said, status = refusal(binary, folder, data)
        place = re.search(r"byte (\d+) of the pickle", said)
        right = status == 2 and place and int(place.group(1)) <= len(data)
        counts.add([] if right else [f"status {status}: {said.strip()!r}"], f"broken: {name}")
    for name, data in {**hostile.itself(), **hostile.laughs()}.items():
        said, status = refusal(binary, folder, data)
        counts.add([] if status == 0 or (status == 1 and "is empty" in said) else [f"status {status}: {said.strip()!r}"], f"ends: {name}")


def bytes_stay_bytes(binary, counts, folder):
    """a pickle that calls, as bytes inside a snapshot, changes nothing of what is shown"""
    plain = made(8, 1, 200, 100)
    inside = pickle.dumps(os.system)
    said = [refusal(binary, folder, pickle.dumps(dict(plain, **more), 4), "same.pickle")
            for more in ({}, {"allocator_settings": {"nested": inside, "text": inside.decode("latin-1")}})]
    counts.add([] if said[0] == said[1] and said[0][1] == 0 else [str(said)], "bytes that hold a pickle")


def json_verdicts(binary, counts, folder):
    """what Python reads is read, and what it does not is refused with a place inside"""
    for name, data in {**hostile.BROKEN_JSON, **hostile.ODD_JSON}.items():
        try:
            json.loads(data.decode("utf-8-sig"))
            is_read = True
        except ValueError:
            is_read = False
        said, status = refusal(binary, folder, data, "s.json")
        place = re.search(r"byte (\d+) of the JSON", said)
        right = not place and status in (0, 1) if is_read else status == 2 and place and int(place.group(1)) <= len(data)
        counts.add([] if right else [f"status {status}: {said.strip()!r}; Python: {is_read}"], f"JSON: {name}")
    for name, data in {**hostile.STRAY_JSON, **hostile.LONG_JSON, **hostile.DEEP_JSON}.items():
        said, status = refusal(binary, folder, data, "s.json")
        right = status == (2 if name in hostile.DEEP_JSON else 0) and (status == 0 or "of the JSON" in said)
        counts.add([] if right else [f"status {status}: {said.strip()!r}"], f"JSON: {name}")


def bombs_refused(binary, counts, folder):
    for name, data in hostile.bombs().items():
        said, status = refusal(binary, folder, data, "snapshot.json")
        counts.add([] if status == 2 and "256 times" in said else [f"status {status}: {said.strip()!r}"], f"a bomb: {name}")
    for name, (data, words) in hostile.broken_archives().items():
        said, status = refusal(binary, folder, data, "snapshot.zip")
        counts.add([] if status == 2 and words in said else [f"status {status}: {said.strip()!r}, not {words!r}"], f"an archive {name}")
    for name, data in hostile.CHECKPOINTS.items():
        said, status = refusal(binary, folder, data, "model.pt")
        counts.add([] if status == 2 and "a checkpoint or model of PyTorch" in said else [f"status {status}: {said.strip()!r}"], f"a checkpoint {name}")


def cut(binary, counts, folder, data, name):
    faults = []
    for end in random.Random(3).sample(range(1, len(data) - 1), 40):
        said, status = refusal(binary, folder, data[:end], name)
        place = re.search(r"byte (\d+)", said)
        if status in (0, 70) or status < 0 or (place and int(place.group(1)) > end):
            faults.append(f"cut at {end}: status {status}: {said.strip()[:120]!r}")
    counts.add(faults, f"{name}, cut at 40 places")


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
            for hold_refusals in (calls_refused, lengths_refused, broken_refused, bytes_stay_bytes, json_verdicts, bombs_refused,
                                  torch_end.hold):
                hold_refusals(options.binary, counts, other)
            small = made(9, 1, 60, 100)
            cut(options.binary, counts, other, pickle.dumps(small, 4), "cut.pickle")
            cut(options.binary, counts, other, json.dumps(small).encode(), "cut.json")
            cut(options.binary, counts, other, hostile.archive(snapshot=pickle.dumps(small, 4)), "cut.zip")
    return counts.finish()


if __name__ == "__main__":
    raise SystemExit(main())
