#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Memory over time, held against the traces themselves, read here a second time.

  memory_profile.py --binary memviewd --shared DIR --logdir DIR

chain   bytes in use before an event, and its size, give those after it: in every trace, by the true times
rows    at every moment the live rows are the allocations that are open, and with the named remainders they
        add up to what the allocator says; likewise at XProf's 1000 sampled points of the large trace
free    the smallest of the largest free chunks is drawn at any width
launch  on GPUs as many launches of each module as the host ran it, which its spans "MODULE:XLA GPU module" tell
--logdir is what DIR/tools/make-logdir makes. Ends with the counts; exit status 1 if one does not hold.
"""
import argparse
import collections
import gzip
import json
import os
import struct
import sys
import urllib.parse
import urllib.request

from daemon import Counts, Daemon

SMALL = ("tf/small", "mi300/conv", "mi300/gemm", "synthetic/10k-bfc", "synthetic/10k-tpu")
LARGE = "tf/large"
LARGE_START_PS = 8002000  # of both of its lines
RUN = ":XLA GPU module"
MOMENTS = 150  # of a pool that has more events


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, at


def fields(data):
    at = 0
    while at < len(data):
        tag, at = varint(data, at)
        if tag & 7 == 0:
            value, at = varint(data, at)
        elif tag & 7 == 1:
            value, at = struct.unpack_from("<d", data, at)[0], at + 8
        else:
            size, at = varint(data, at)
            value, at = data[at:at + size], at + size
        yield tag >> 3, value


def entries(plane, field):
    """the names of one of a plane's two maps"""
    names = {}
    for number, value in plane:
        if number == field:
            entry = dict(fields(value))
            names[entry.get(1, 0)] = dict(fields(entry[2])).get(2, b"").decode()
    return names


def planes_of(path):
    with open(path, "rb") as file:
        return [list(fields(value)) for number, value in fields(file.read()) if number == 1]


def runs_of(path):
    """{module: how often the host ran it on a GPU}"""
    plane = next(plane for plane in planes_of(path) if dict(plane).get(2) == b"/host:CPU")
    names = entries(plane, 4)
    events = (dict(fields(event)) for number, line in plane if number == 3 for field, event in fields(line) if field == 4)
    ran = (names.get(event.get(1, 0), "") for event in events)
    return collections.Counter(name.removesuffix(RUN) for name in ran if name.endswith(RUN))


def events_of(path):
    """{pool: [(time in ps, is a free, in use, size or None, address, free, fragmentation)]} in the order of time"""
    pools = {}
    plane = next(plane for plane in planes_of(path) if dict(plane).get(2) == b"/host:CPU")
    events, stats = entries(plane, 4), entries(plane, 5)
    for line in (list(fields(value)) for number, value in plane if number == 3):
        start_ps = dict(line).get(3, 0) * 1000
        for event in (list(fields(value)) for number, value in line if number == 4):
            head = dict(event)
            name = events.get(head.get(1, 0))
            if name not in ("MemoryAllocation", "MemoryDeallocation"):
                continue
            known = {}
            for stat in (dict(fields(value)) for number, value in event if number == 4):
                known[stats[stat[1]]] = stats[stat[7]] if 7 in stat else stat.get(4, stat.get(3, stat.get(2)))
            pool = str(known.get("device_ordinal", known.get("index_on_host", known.get("allocator_name", ""))))
            pools.setdefault(pool, []).append((start_ps + head.get(2, 0), name == "MemoryDeallocation", known["bytes_allocated"],
                                               known.get("allocation_bytes"), known["addr"], known.get("bytes_available"),
                                               known.get("fragmentation")))
    return {pool: sorted(found, key=lambda event: event[0]) for pool, found in pools.items()}


class Ground:
    def __init__(self, options):
        self.daemon = Daemon(options.binary, options.logdir)
        with urllib.request.urlopen(self.daemon.url + "/api/v1/sessions") as answer:
            self.ids = {row["name"]: row["id"] for row in json.load(answer)["sessions"]}

    def view(self, view, session, **arguments):
        query = urllib.parse.urlencode({"session": self.ids[session], **arguments})
        with urllib.request.urlopen(f"{self.daemon.url}/api/v1/memory_profile/{view}?{query}") as answer:
            return json.load(answer)["data"]


def check_chain(counts, session, pool, events):
    """the events alone: they follow each other"""
    sizes, faults, before = {}, 0, None
    for _, is_free, in_use, size, address, *_ in events:
        if not is_free:
            sizes[address] = size
        change = -(size if size is not None else sizes.get(address, 0)) if is_free else size
        faults += before is not None and before + change != in_use
        before = in_use
    counts.add([f"{faults} breaks"] if faults else [], f"chain {session} {pool}")


def live_after(events, count):
    """{address: size} of the allocations that are open after so many events"""
    live = {}
    for _, is_free, _, size, address, *_ in events[:count]:
        live.pop(address, None)
        if not is_free:
            live[address] = size
    return live


def check_rows(counts, ground, session, pool, events):
    faults = []
    step = max(1, len(events) // MOMENTS)
    for at in range(0, len(events), step):
        answer = ground.view("live", session, memory=pool, event=at, limit=1000, group="none")
        live = live_after(events, at + 1)
        named = sum(row["size_bytes"] for row in answer["remainders"])
        if sorted(row["size_bytes"] for row in answer["rows"]) != sorted(live.values()):
            faults.append(f"event {at}: other rows than {len(live)} open allocations")
        if answer["in_use_bytes"] != events[at][2] or sum(live.values()) + named != events[at][2] or not answer["matches_curve"]:
            faults.append(f"event {at}: {sum(live.values())} + {named} is not {events[at][2]}")
    counts.add(faults, f"rows {session} {pool}")


def check_summary(counts, ground, session, pools):
    found = {row["memory"]: row for row in ground.view("summary", session)["pools"]}
    for pool, events in pools.items():
        row = found.get(pool)
        wanted = (len(events), max(event[2] for event in events), min(event[2] for event in events), sum(event[1] for event in events), 0)
        mine = row and (row["event_count"], row["peak"]["in_use_bytes"], row["least_bytes"], row["deallocation_count"],
                        row["chain"]["break_count"])
        counts.add([] if mine == wanted else [f"{mine}, the trace says {wanted}"], f"summary {session} {pool}")


def check_fragmentation(counts, ground, session, pool, events):
    """however few points are asked for, the smallest of the largest free chunks is one of them"""
    if any(free is None or share is None for *_, free, share in events):
        return
    wanted = min(int(free * (1 - share)) for *_, free, share in events)
    answer = ground.view("fragmentation", session, memory=pool, width=10)
    found = (min(answer["columns"]["largest_free_bytes"], default=None), answer["worst"]["largest_free_bytes"])
    counts.add([] if found == (wanted, wanted) else [f"{found}, the trace says {wanted}"], f"fragmentation {session} {pool}")


def check_launches(counts, ground, session, path):
    told = collections.Counter()
    for lane in ground.view("lanes", session, width=4096)["lanes"]:
        for launch in lane["launches"]:
            told[launch["name"]] += launch["merged_count"]
    ran = runs_of(path)
    counts.add([] if told == ran else [f"{dict(told)}, the host ran {dict(ran)}"], f"launch {session}")


def check_large(counts, ground, shared):
    """tf/large at XProf's sampled points, whose times count from the start of the lines"""
    with gzip.open(os.path.join(shared, "golden", "logdir.json.gz"), "rt") as golden:
        answers = json.load(golden)["answers"]
    url = next(url for url in answers if "memory_profile" in url and urllib.parse.quote(LARGE, "") in url)
    ((pool, answer),) = answers[url]["body"]["memoryProfilePerAllocator"].items()
    row = ground.view("summary", LARGE)["pools"][0]
    faults = [] if row["event_count"] == 549999 and row["chain"]["break_count"] == 0 else ["events or chain"]
    for point in answer["sampledTimelineSnapshots"][::20]:
        live = ground.view("live", LARGE, time=int(point["timeOffsetPs"]) + LARGE_START_PS, limit=0)
        if live["heap_bytes"] != int(point["aggregationStats"]["heapAllocatedBytes"]) or not live["matches_curve"]:
            faults.append(f"{point['timeOffsetPs']}: {live['heap_bytes']}, {point['aggregationStats']['heapAllocatedBytes']}")
    counts.add(faults, f"rows {LARGE} {pool}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("binary", "shared", "logdir"):
        parser.add_argument(f"--{name}", required=True)
    options = parser.parse_args()
    counts, ground = Counts(), Ground(options)
    try:
        for session in SMALL:
            folder = os.path.join(options.logdir, session.split("/")[0], "plugins", "profile", session.split("/")[1])
            path = os.path.join(folder, os.listdir(folder)[0])
            pools = events_of(path)
            if session.startswith("mi300"):
                check_launches(counts, ground, session, path)
            check_summary(counts, ground, session, pools)
            for pool, events in pools.items():
                check_chain(counts, session, pool, events)
                check_rows(counts, ground, session, pool, events)
                check_fragmentation(counts, ground, session, pool, events)
        check_large(counts, ground, options.shared)
    finally:
        ground.daemon.__exit__()
    return counts.finish()


if __name__ == "__main__":
    sys.exit(main())
