# SPDX-License-Identifier: Apache-2.0
"""What is live in an allocator snapshot at a moment, by stack: added up here from the pickle's own events and blocks,
and held against the profile that the daemon gives for pprof, its differences, and its list of lines."""

import collections
import gzip
import os
import random
import sys
import urllib.parse
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import wire

ACTIVE = ("active_allocated", "active_pending_free", "active_awaiting_free")
BEFORE = (("before recording began", "", 0),)
MOMENTS = 20
LIBRARIES = ("-packages/torch/", "-packages/einops/", "-packages/triton/", "/torchinductor_", "/lib/python3.")


# ---- added up here ----


def path_of(file):
    return "" if file == "??" else file.replace("\\", "/") if file[1:3] == ":\\" else file


def stack_of(frames):
    """as tuples, the innermost first"""
    return tuple((frame["name"], path_of(frame["filename"]), frame["line"]) for frame in frames)


def end_blocks(snapshot, device):
    """address → (bytes asked for, bytes of the block, stack) of what is active at the end"""
    found = {}
    for segment in snapshot["segments"]:
        address = segment["address"]
        for block in segment["blocks"] if segment["device"] == device else ():
            history = (block.get("history") or [{}])[0]
            asked = block.get("requested_size", history.get("real_size", block["size"]))
            if block["state"] in ACTIVE:
                found[address] = asked, block["size"], stack_of(block.get("frames", history.get("frames", ())))
            address += block["size"]
    return found


def changes(snapshot, device):
    return [event for event in snapshot["device_traces"][device] if event["action"] in ("alloc", "free_completed")]


def told(snapshot, device, rows):
    """stack → [blocks, bytes asked for, bytes of blocks] before the first event, and of each event: (its stack, its
    size)"""
    blocks, open_, before, own = end_blocks(snapshot, device), {}, collections.Counter(), []
    for event in rows:
        if event["action"] == "alloc":
            open_[event["addr"]] = len(own)
            own.append((stack_of(event["frames"]), event["size"]))
            continue
        at = open_.pop(event["addr"], None)
        if at is None:
            before[BEFORE, event["size"]] += 1
        own.append((BEFORE if at is None else own[at][0], event["size"]))
    for address, at in open_.items():
        if not own[at][0] and address in blocks:
            own[at] = blocks[address][2], own[at][1]
    for address, (asked, _, stack) in blocks.items():
        if address not in open_:
            before[stack or BEFORE, asked] += 1
    return before, own


def live_at(before, own, rows, end):
    """(stack, size) → how many blocks"""
    found = collections.Counter(before)
    for (stack, size), event in zip(own[:end], rows):
        found[stack, size] += 1 if event["action"] == "alloc" else -1
    return +found


def by_stack(live):
    sums = collections.defaultdict(lambda: [0, 0])
    for (stack, size), many in live.items():
        sums[stack][0] += many
        sums[stack][1] += many * size
    return {stack: tuple(values) for stack, values in sums.items() if any(values)}


# ---- as the daemon gives it ----


def signed(value):
    return value - (1 << 64) if value >> 63 else value


def packed(data):
    at, found = 0, []
    while at < len(data):
        value, at = wire.varint(data, at)
        found.append(signed(value))
    return found


def profile_of(data):
    """(types, stack → values) of a profile.proto"""
    rows = collections.defaultdict(list)
    for number, value in wire.fields(data):
        rows[number].append(dict_of(value) if number in (1, 2, 4, 5) else value)
    texts = [value.decode() for value in rows[6]]
    functions = {row[1][0]: (texts[row.get(2, [0])[0]], texts[row.get(4, [0])[0]]) for row in rows[5]}
    frames = {}
    for row in rows[4]:
        line = dict_of(row[4][0])
        frames[row[1][0]] = (*functions[line[1][0]], line.get(2, [0])[0])
    sums = {}
    for row in rows[2]:
        stack = tuple(frames[at] for at in packed(row.get(1, [b""])[0]))
        values = packed(row[2][0])
        sums[stack] = tuple(map(sum, zip(sums.get(stack, [0] * len(values)), values)))
    return [texts[row[1][0]] for row in rows[1]], {stack: values for stack, values in sums.items() if any(values)}


def dict_of(data):
    found = collections.defaultdict(list)
    for number, value in wire.fields(data):
        found[number].append(value)
    return found


def ask(daemon, **arguments):
    query = urllib.parse.urlencode(arguments)
    with urllib.request.urlopen(f"{daemon.url}/api/v1/device_memory/profile?{query}", timeout=120) as answer:
        return profile_of(gzip.decompress(answer.read()))


def differ(own, wanted, what):
    wrong = [stack for stack in {*own, *wanted} if own.get(stack, ())[:2] != wanted.get(stack)]
    return [f"{what}: {own.get(stack)}, not {wanted.get(stack)} of {stack[:2]}" for stack in wrong[:3]]


def lines_faults(daemon, place, wanted, what):
    """the list of lines: what each frame of the person's own code holds itself"""
    sums, own = collections.Counter(), collections.Counter()
    for stack, (_, size) in wanted.items():
        mine = [
            frame for frame in stack if frame[1].endswith(".py") and not any(word in frame[1] for word in LIBRARIES)
        ]
        sums[
            stack[0] if stack == BEFORE else mine[0] if mine else ("(no user frame)" if stack else "(no stack)", "", 0)
        ] += size
    data = daemon.json("/api/v1/device_memory/top", limit=1000, zeros=0, **place)["data"]
    for row in data["rows"]:
        own[row["frame"]["function"], row["frame"]["file"], row["frame"]["line"]] += row["self"]
    return (
        [f"{what}: lines hold {dict(+own - +sums)} too much, {dict(+sums - +own)} too little"] if +own != +sums else []
    )


def stacks_faults(daemon, place, snapshot, device, level):
    """level: bytes in use before the first event, and after each"""
    rows = changes(snapshot, device)
    before, own = told(snapshot, device, rows)
    peak = max(range(len(rows)), key=lambda at: (level[at + 1], -at)) + 1
    moments = {
        "peak": peak,
        "end": len(rows),
        "start": 0,
        **{f"e{at}": at + 1 for at in random.Random(4).sample(range(len(rows)), min(MOMENTS, len(rows)))},
    }
    faults, found = [], {}
    for moment, end in moments.items():
        live = live_at(before, own, rows, end)
        found[moment] = wanted = by_stack(live)
        here = {"session": place["session"], "profile": f"{place['host']}@{moment}@{place['memory']}"}
        types, sums = ask(daemon, **here)
        faults += differ(sums, wanted, f"{moment}, stack by stack")
        if sum(values[1] for values in sums.values()) != level[end]:
            faults.append(f"{moment}: {sum(values[1] for values in sums.values())} in all, not {level[end]}")
        if moment in ("peak", "end"):
            faults += lines_faults(daemon, here, wanted, moment)
        blocks = sum(size for _, size, _ in end_blocks(snapshot, device).values())
        if types != ["blocks", "requested"] + ["block_size"] * (end == len(rows)):
            faults.append(f"{moment}: sample types {types}")
        elif moment == "end" and sum(values[2] for values in sums.values()) != blocks:
            faults.append(f"end: blocks of {sum(values[2] for values in sums.values())} bytes, not {blocks}")
    return faults + difference_faults(daemon, place, found)


def difference_faults(daemon, place, found):
    """what the peak has and the end has not, and the other way round"""
    faults = []
    for shown, base in (("peak", "end"), ("end", "peak")):
        own = ask(
            daemon,
            session=place["session"],
            subtract=1,
            profile=f"{place['host']}@{shown}@{place['memory']}",
            base=f"{place['host']}@{base}@{place['memory']}",
        )[1]
        a, b = found[shown], found[base]
        wanted = {stack: tuple(x - y for x, y in zip(a.get(stack, (0, 0)), b.get(stack, (0, 0)))) for stack in {*a, *b}}
        faults += differ(
            own, {stack: values for stack, values in wanted.items() if any(values)}, f"{shown} less {base}"
        )
    return faults
