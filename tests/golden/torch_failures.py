# SPDX-License-Identifier: Apache-2.0
"""Requests that failed and what lay in each segment, as the allocator that was made for it knows. Called by
torch_snapshot.py."""

import random

import made_allocator

MOMENTS = 40

FIGURES = {
    "requested_bytes": "requested",
    "device_free_bytes": "device_free",
    "active_bytes": "active",
    "reserved_bytes": "reserved",
}
HOLES = {
    "free_bytes": "free",
    "usable_free_bytes": "usable",
    "largest_hole_bytes": "largest",
    "largest_any_hole_bytes": "largest_any",
}


def kind_of(true):
    if true["largest"] >= true["requested"]:
        return "fits"
    for name, bytes_ in (
        ("limit", true["device_free"]),
        ("fragmentation", true["usable"]),
        ("elsewhere", true["free"]),
        ("pieces", true["free"] + true["device_free"]),
    ):
        if bytes_ >= true["requested"]:
            return name
    return "shortage"


def pinned_of(true):
    """the fewest bytes of blocks that stand between two holes, or a hole and an end, of a stretch that would hold the
    request"""
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
    faults += [
        f"{name}: {own[name]}, not {true[word]} to {true[word] + true['unsplit']}"
        for name, word in HOLES.items()
        if not 0 <= own[name] - true[word] <= true["unsplit"]
    ]
    if true["unsplit"] == 0 and own["kind"] != kind_of(true):
        faults.append(f"kind: {own['kind']}, not {kind_of(true)}")
    return faults


def holes_faults(daemon, place, at, true):
    own = daemon.json("/api/v1/memory_profile/holes", failure=at, **place)["data"]
    faults = (
        [f"request: {own['request_bytes']}, not {true['requested']}"]
        if own["request_bytes"] != true["requested"]
        else []
    )
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
            faults += [
                f"failure {own['failure']}: {fault}"
                for fault in failure_faults(own, true[own["failure"]])
                + holes_faults(daemon, place, own["failure"], true[own["failure"]])
            ]
        if true and (pool["finding"] or {}).get("kind") != "failed_request":
            faults.append(f"the page leads with {pool['finding']}")
        counts.add(faults, f"failures of {name}, {memory}")


def segment_faults(own, true):
    address, size, stream, blocks = true
    where = f"segment {address:#x}"
    unsplit = sum(block[1] - made_allocator.rounded(block[3]) for block in blocks)
    holes, to = [], address
    for block in [*blocks, (address + size, 0)]:
        holes += [block[0] - to] if block[0] > to else []
        to = block[0] + block[1]
    figures = {
        "size_bytes": size,
        "stream": stream,
        "block_count": len(blocks),
        "requested_bytes": sum(block[3] for block in blocks),
    }
    faults = [f"{where}: {name} {own[name]}, not {value}" for name, value in figures.items() if own[name] != value]
    upper = {
        "used_bytes": -sum(block[1] for block in blocks),
        "free_bytes": sum(holes),
        "largest_hole_bytes": max(holes, default=0),
        "pending_bytes": -sum(block[1] for block in blocks if block[2] == made_allocator.PENDING),
    }
    faults += [
        f"{where}: {name} {own[name]}, not {abs(value)}"
        for name, value in upper.items()
        if not 0
        <= (own[name] if value > 0 or name in ("free_bytes", "largest_hole_bytes") else -own[name]) - value
        <= unsplit
    ]
    drawn = sum(piece["used_bytes"] for piece in own["pieces"]), sum(piece["size_bytes"] for piece in own["pieces"])
    return faults + ([] if drawn == (own["used_bytes"], own["size_bytes"]) else [f"{where}: pieces are {drawn}"])


def segments(daemon, counts, name, allocators, keeps, hosts):
    host = hosts[name]
    for one in allocators:
        place, faults = {"session": host["session"], "host": host["id"], "memory": f"GPU {one.device}"}, []
        kept = sum(event["action"] in ("alloc", "free_completed") for event in one.trace[-keeps:])
        for event in sorted(random.Random(4).sample(range(kept), min(MOMENTS, kept))):
            true = one.states[len(one.states) - kept + event]
            own = daemon.json("/api/v1/memory_profile/segments", event=event, sort="address", limit=1000, **place)[
                "data"
            ]
            if [int(row["address"], 16) for row in own["rows"]] != [row[0] for row in true]:
                faults.append(
                    f"event {event}: segments at {[row['address'] for row in own['rows']]}, not "
                    f"{[hex(row[0]) for row in true]}"
                )
                continue
            faults += [
                f"event {event}: {fault}"
                for row, other in zip(own["rows"], true)
                for fault in segment_faults(row, other)
            ]
            largest = max((row["largest_hole_bytes"] for row in own["rows"]), default=0)
            met = daemon.json("/api/v1/memory_profile/holes", event=event, **place)["data"]["largest_hole"]
            if largest != (met["size_bytes"] if met else 0):
                faults.append(f"event {event}: the largest hole has {met}, but of the segments {largest}")
            sums = {
                word: sum(row[word] for row in own["rows"])
                for word in ("used_bytes", "free_bytes", "pending_bytes", "requested_bytes")
            }
            faults += [
                f"event {event}: {word} {own[word]}, but rows have {value}"
                for word, value in sums.items()
                if own[word] != value
            ]
        counts.add(faults, f"segments of {name}, GPU {one.device}")


def devices():
    """name: (allocators, events that each of them remembers)"""
    run = made_allocator.run
    one = made_allocator.Caching
    return {
        "fragmented": ([made_allocator.fragmented()], 10**6),
        "fails": ([run(one(3, 0, 128 << 20), 900, (0, 7)), run(one(4, 1, 160 << 20, others=9 << 20), 900, (0,))], 600),
        "grows": (
            [run(one(5, 0, 128 << 20, expandable=True), 900, (0, 7)), run(one(6, 1, 96 << 20, expandable=True), 900)],
            700,
        ),
    }
