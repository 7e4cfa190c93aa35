#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Memory over time, held against the traces themselves, read here a second time.

  memory_profile.py --binary memviewd --make-trace PATH [--shared DIR --logdir DIR]

chain   bytes in use before an event, and its size, give those after it: in every trace, by the true times
rows    at every moment the live rows are the allocations that are open, and with the named remainders they
        add up to what the allocator says; likewise at XProf's 1000 sampled points of the large trace
free    the smallest of the largest free chunks is drawn at any width
groups  however the rows are grouped, they are the same allocations, and with the remainders the curve
faults  what is wrong in a trace is counted as often as it is there
leak    what grows is the first row of growth, with the slope that the events have
names   of the bytes that no op of a GPU's trace names, the share that the programs of the trace name; a name's
        program has a buffer of that size in that role, read here from its buffer assignment
launch  on GPUs as many launches of each module as the host ran it, which its spans "MODULE:XLA GPU module" tell
Recorded traces are those of --logdir, which DIR/tools/make-logdir makes; others are written by make-trace. Ends with
the counts; exit status 1 if one does not hold.
"""

import argparse
import collections
import gzip
import json
import os
import struct
import subprocess
import sys
import tempfile
import urllib.parse
import urllib.request

from daemon import Counts, Daemon

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from wire import fields  # noqa: E402
from members import loads

SMALL = ("tf/small", "mi300/conv", "mi300/gemm", "synthetic/10k-bfc", "synthetic/10k-tpu")
LARGE = "tf/large"
LARGE_START_PS = 8002000  # of both of its lines
NAMED = {"mi300/conv": 1.0, "mi300/gemm": 1.0}  # share of the bytes without an op
RUN = ":XLA GPU module"
HOUR_PS = 3600 * 10**12
SIZES = (
    "bytes_reserved",
    "bytes_allocated",
    "bytes_available",
    "peak_bytes_in_use",
    "requested_bytes",
    "allocation_bytes",
)
FIELDS = {"tf_op": "op", "region_type": "region", "shape": "shape"}
# what rows are grouped by, and the stats that tell it; a step, a type and a thread are told apart by their sums alone
GROUPS = {
    "same": (),
    "none": (),
    "op": ("tf_op",),
    "region": ("region_type",),
    "shape": ("shape",),
    "op,shape": ("tf_op", "shape"),
    "step": (),
    "dtype": (),
    "thread": (),
    "op,step,region,dtype,shape,thread": (),
}
MADE = {
    "leak": "--events 2940 --steps 20 --leak 1M --before 40G",
    "pools": "--events 2970 --allocators 5 --lines 9 --steps 6 --seed 7 --before 9G --capacity 16G",
    "one": "--events 450 --lines 1 --others 0 --seed 3",
    "tpu": "--events 1500 --kind tpu --allocators 2 --seed 5",
    "faults": "--events 4000 --allocators 2 --bad disorder,free,double,size,stats,clock --bad-every 17",
}
MOMENTS = 60  # of a pool that has more events


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
    events = (
        dict(fields(event)) for number, line in plane if number == 3 for field, event in fields(line) if field == 4
    )
    ran = (names.get(event.get(1, 0), "") for event in events)
    return collections.Counter(name.removesuffix(RUN) for name in ran if name.endswith(RUN))


def stats_of(path):
    """(line, time in ps, is a free, {stat: value}) of each memory event in the order of the file, and the ends of
    steps"""
    found, ends = [], []
    plane = next(plane for plane in planes_of(path) if dict(plane).get(2) == b"/host:CPU")
    events, stats = entries(plane, 4), entries(plane, 5)
    for line in (list(fields(value)) for number, value in plane if number == 3):
        start_ps = dict(line).get(3, 0) * 1000
        for event in (list(fields(value)) for number, value in line if number == 4):
            head = dict(event)
            name, time_ps = events.get(head.get(1, 0)), start_ps + head.get(2, 0)
            if name == "train":
                ends.append(time_ps + head.get(3, 0))
            if name not in ("MemoryAllocation", "MemoryDeallocation"):
                continue
            known = {}
            for stat in (dict(fields(value)) for number, value in event if number == 4):
                known[stats[stat[1]]] = stat_value(stat, stats)
            found.append((dict(line).get(1, 0), time_ps, name == "MemoryDeallocation", known))
    return found, sorted(ends)


def stat_value(stat, names):
    if 7 in stat:
        return names[stat[7]]
    value = stat.get(4, stat.get(3))
    return struct.unpack("<d", stat[2])[0] if value is None and 2 in stat else signed(value)


def signed(value):
    return value - (1 << 64) if isinstance(value, int) and value >> 63 else value


def pool_of(known):
    return str(known.get("device_ordinal", known.get("index_on_host", known.get("allocator_name", "(none)"))))


def by_pool(found):
    """{pool: [(time in ps, is a free, {stat: value})]} in the order of time"""
    pools = {}
    for _, time_ps, is_free, known in found:
        pools.setdefault(pool_of(known), []).append((time_ps, is_free, known))
    return {pool: sorted(events, key=lambda event: event[0]) for pool, events in pools.items()}


def figures_of(found):
    """{pool: [(time in ps, is a free, in use, size or None, address, free, fragmentation)]} in the order of time"""
    names = ("bytes_allocated", "allocation_bytes", "addr", "bytes_available", "fragmentation")
    return {
        pool: [(time_ps, is_free, *(known.get(name) for name in names)) for time_ps, is_free, known in events]
        for pool, events in by_pool(found).items()
    }


class Ground:
    def __init__(self, binary, logdir):
        self.daemon = Daemon(binary, logdir)
        with urllib.request.urlopen(self.daemon.url + "/api/v1/sessions") as answer:
            self.ids = {row["name"]: row["id"] for row in loads(answer.read())["sessions"]}

    def view(self, view, session, **arguments):
        query = urllib.parse.urlencode({"session": self.ids[session], **arguments})
        with urllib.request.urlopen(f"{self.daemon.url}/api/v1/memory_profile/{view}?{query}") as answer:
            return loads(answer.read())["data"]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.daemon.__exit__()


def check_chain(counts, session, pool, events):
    """the events alone: they follow each other"""
    sizes, faults, before = {}, 0, None
    for _, is_free, in_use, size, address, *_ in events:
        if not is_free:
            sizes[address] = size
        size = sizes.get(address) if size is None else size  # not known of what was there before the trace
        faults += None not in (before, size) and before + (-size if is_free else size) != in_use
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
        if (
            answer["in_use_bytes"] != events[at][2]
            or sum(live.values()) + named != events[at][2]
            or not answer["matches_curve"]
        ):
            faults.append(f"event {at}: {sum(live.values())} + {named} is not {events[at][2]}")
    counts.add(faults, f"rows {session} {pool}")


def check_groups(counts, ground, session, pool, events):
    """every way to group, at a few moments: events are (time, is a free, {stat: value}), none of them is wrong"""
    faults = []
    for at in range(len(events) // 9, len(events), len(events) // 4 + 1):
        live = {}
        for _, is_free, known in events[: at + 1]:
            live.pop(known["addr"], None)
            if not is_free:
                live[known["addr"]] = known
        for group, stats in GROUPS.items():
            wanted = collections.Counter()
            for known in live.values():
                wanted[tuple(known.get(stat) or None for stat in stats)] += known["allocation_bytes"]
            answer = ground.view("live", session, memory=pool, event=at, group=group, limit=1000)
            named, rows = sum(row["size_bytes"] for row in answer["remainders"]), answer["rows"]
            found = collections.Counter()
            for row in rows:
                found[tuple(row[FIELDS[stat]] or None for stat in stats)] += row["size_bytes"]
            if stats and found != wanted:
                faults.append(f"event {at} by {group}: {dict(found)}, the trace says {dict(wanted)}")
            if sum(found.values()) + named != events[at][2]["bytes_allocated"] or sum(
                row["count"] for row in rows
            ) != len(live):
                faults.append(
                    f"event {at} by {group}: {sum(found.values())} + {named} is not {events[at][2]['bytes_allocated']}"
                )
    counts.add(faults, f"groups {session} {pool}")


def check_faults(counts, ground, session, found):
    """a trace with faults: each is counted, and the rows still add up"""
    wanted, last = collections.Counter(), {}
    for line, time_ps, is_free, known in found:
        needed = {"bytes_allocated", "addr"} | (set() if is_free else {"allocation_bytes"})
        wanted["absurd_size"] += sum(not 0 <= known.get(stat, 0) <= 1 << 48 for stat in SIZES)
        told = {stat for stat in known if stat not in SIZES or 0 <= known[stat] <= 1 << 48}
        wanted["missing_stat"] += not needed <= told
        wanted["out_of_order"] += time_ps < last.get(line, time_ps)
        last[line] = time_ps
    for pool, events in by_pool(found).items():
        live = set()
        for at, (time_ps, is_free, known) in enumerate(events):
            wanted["clock_jump"] += at > 0 and time_ps - events[at - 1][0] > HOUR_PS
            if "addr" not in known:
                wanted["free_without_allocation"] += is_free
            else:
                wanted["free_without_allocation" if is_free else "allocated_twice"] += (
                    known["addr"] in live
                ) != is_free
                (live.discard if is_free else live.add)(known["addr"])
    summary = ground.view("summary", session)
    notes = [*summary["hosts"][0]["notes"], *(note for row in summary["pools"] for note in row["notes"])]
    told = collections.Counter()
    for note in notes:
        told[note["code"]] += note["count"]
    faults = [
        f"{code}: {told[code]}, the trace has {count}"
        for code, count in wanted.items()
        if told[code] != count or not count
    ]
    for pool, events in by_pool(found).items():
        for at in range(0, len(events), max(1, len(events) // 60)):
            answer = ground.view("live", session, memory=pool, event=at, limit=1000, group="same")
            sums = sum(row["size_bytes"] for row in answer["rows"] + answer["remainders"])
            told = events[at][2].get("bytes_allocated", answer["in_use_bytes"])
            if sums != answer["in_use_bytes"] or told != answer["in_use_bytes"]:
                faults.append(
                    f"{pool}, event {at}: rows and remainders are {sums}, in use {answer['in_use_bytes']}, told {told}"
                )
    counts.add(faults, f"faults {session}")


def check_leak(counts, ground, session, found, ends):
    """one op keeps 1 MiB of each step: its live bytes at the ends of the steps, by the events alone"""
    (pool, events), live, course, at = next(iter(by_pool(found).items())), {}, [], 0
    for end_ps in ends:
        while at < len(events) and events[at][0] <= end_ps:
            _, is_free, known = events[at]
            live.pop(known["addr"], None)
            if not is_free:
                live[known["addr"]] = known
            at += 1
        course.append(
            sum(known["allocation_bytes"] for known in live.values() if known.get("tf_op") == "metrics/append")
        )
    changes = {after - before for before, after in zip(course, course[1:])}
    whole = max(known["bytes_allocated"] for _, _, known in events)
    answer = ground.view("growth", session, memory=pool)
    first = answer["rows"][0]
    mine = (
        first["op"],
        first["slope_bytes_per_step"],
        first["first_bytes"],
        first["last_bytes"],
        first["grown_count"],
        first["verdict"],
    )
    wanted = ("metrics/append", 1 << 20, course[0], course[-1], len(course) - 1, "grows")
    is_right = mine == wanted and changes == {1 << 20} and whole > 40 << 30 and answer["boundary_count"] == len(course)
    counts.add([] if is_right else [f"{mine}, the trace says {wanted}, {changes}, {whole}"], f"leak {session}")


def check_made(counts, ground, logdir):
    for session in MADE:
        path = os.path.join(logdir, "plugins", "profile", session, "host0.xplane.pb")
        found, ends = stats_of(path)
        name = next(name for name in ground.ids if name.endswith(session))
        if session == "faults":
            check_faults(counts, ground, name, found)
            continue
        if session == "leak":
            check_leak(counts, ground, name, found, ends)
        check_summary(counts, ground, name, figures_of(found))
        check_pools(counts, ground, name, found)


def check_pools(counts, ground, session, found):
    events = by_pool(found)
    for pool, figures in figures_of(found).items():
        check_chain(counts, session, pool, figures)
        check_rows(counts, ground, session, pool, figures)
        check_fragmentation(counts, ground, session, pool, figures)
        if all("allocation_bytes" in known for _, _, known in events[pool]):  # frees of TPUs tell no size
            check_groups(counts, ground, session, pool, events[pool])


def check_summary(counts, ground, session, pools):
    found = {row["memory"]: row for row in ground.view("summary", session)["pools"]}
    for pool, events in pools.items():
        row = found.get(pool)
        wanted = (
            len(events),
            max(event[2] for event in events),
            min(event[2] for event in events),
            sum(event[1] for event in events),
            0,
        )
        mine = row and (
            row["event_count"],
            row["peak"]["in_use_bytes"],
            row["min_bytes"],
            row["deallocation_count"],
            row["chain"]["break_count"],
        )
        counts.add([] if mine == wanted else [f"{mine}, the trace says {wanted}"], f"summary {session} {pool}")


def check_fragmentation(counts, ground, session, pool, events):
    """however few points are asked for, the smallest of the largest free chunks is one of them"""
    if any(free is None or share is None for *_, free, share in events):
        return
    wanted = min(int(free * (1 - share)) for *_, free, share in events)
    answer = ground.view("fragmentation", session, memory=pool, width=10)
    found = (min(answer["columns"]["largest_free_bytes"], default=None), answer["worst"]["largest_free_bytes"])
    counts.add(
        [] if found == (wanted, wanted) else [f"{found}, the trace says {wanted}"], f"fragmentation {session} {pool}"
    )


def check_launches(counts, ground, session, path):
    told = collections.Counter()
    for lane in ground.view("lanes", session, width=4096)["lanes"]:
        for launch in lane["launches"]:
            told[launch["name"]] += launch["merged_count"]
    ran = runs_of(path)
    counts.add([] if told == ran else [f"{dict(told)}, the host ran {dict(ran)}"], f"launch {session}")


def programs_of(path):
    """{"jit_dot(5)": {role: sizes}} of the buffer assignments in the trace"""
    programs = {}
    plane = next(plane for plane in planes_of(path) if dict(plane).get(2) == b"/host:metadata")
    for entry in (dict(fields(value)) for number, value in plane if number == 4):
        metadata = list(fields(entry[2]))
        hlo = next(dict(fields(value)).get(6) for number, value in metadata if number == 5)
        sizes = programs[dict(metadata)[2].decode()] = {"output": set(), "temporaries": set(), "argument": set()}
        for allocation in (
            dict(fields(value)) for number, value in fields(dict(fields(hlo)).get(3, b"")) if number == 3
        ):
            role = "argument" if allocation.get(5) else "output" if allocation.get(7) else "temporaries"
            sizes[role].add(allocation.get(2, 0))
    return programs


def fits(programs, row):
    """does a program of the row's name, with its id or with any, have a buffer of its size in one of its roles?"""
    own = [sizes for name, sizes in programs.items() if row["program"] in (name, name[: name.rindex("(")])]
    return any(row["requested_bytes"] in sizes[role] for sizes in own for role in sizes if role in row["role"])


def check_names(counts, ground, session, path):
    programs, share, wrong = programs_of(path), [0, 0], []
    for pool in ground.view("summary", session)["pools"]:
        rows = ground.view("events", session, memory=pool["memory"], limit=1000)["rows"]
        for row in rows:
            if row["op"] is None and row["kind"] != "before_window":
                share[1] += row["size_bytes"]
                share[0] += row["size_bytes"] if row["program"] else 0
            if row["program"] and (row["confidence"] != "guess" or not fits(programs, row)):
                wrong.append(f"{pool['memory']} {row['event']}: {row['program']} {row['role']}")
    counts.add(wrong, f"names {session} fit")
    least = NAMED[session]
    is_named = share[1] > 0 and share[0] >= least * share[1]
    counts.add(
        [] if is_named else [f"{share[0]} of {share[1]} bytes, at least {least} of them before"], f"names {session}"
    )


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
            faults.append(
                f"{point['timeOffsetPs']}: {live['heap_bytes']}, {point['aggregationStats']['heapAllocatedBytes']}"
            )
    counts.add(faults, f"rows {LARGE} {pool}")


def check_recorded(counts, ground, options):
    for session in SMALL:
        folder = os.path.join(options.logdir, session.split("/")[0], "plugins", "profile", session.split("/")[1])
        path = os.path.join(folder, os.listdir(folder)[0])
        found, _ = stats_of(path)
        if session.startswith("mi300"):
            check_launches(counts, ground, session, path)
            check_names(counts, ground, session, path)
        check_summary(counts, ground, session, figures_of(found))
        check_pools(counts, ground, session, found)
    check_large(counts, ground, options.shared)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("binary", "make-trace"):
        parser.add_argument(f"--{name}", required=True)
    for name in ("shared", "logdir"):
        parser.add_argument(f"--{name}")
    options = parser.parse_args()
    counts = Counts()
    with tempfile.TemporaryDirectory() as logdir:
        for session, words in MADE.items():
            folder = os.path.join(logdir, "plugins", "profile", session)
            os.makedirs(folder)
            subprocess.run(
                [options.make_trace, os.path.join(folder, "host0.xplane.pb"), *words.split()],
                check=True,
                stdout=subprocess.DEVNULL,
            )
        with Ground(options.binary, logdir) as ground:
            check_made(counts, ground, logdir)
    if options.shared:
        with Ground(options.binary, options.logdir) as ground:
            check_recorded(counts, ground, options)
    else:
        counts.skip("recorded traces (they are in ../shared)")
    return counts.finish()


if __name__ == "__main__":
    sys.exit(main())
