#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What is read of an allocator snapshot, held against torch.cuda._memory_viz of PyTorch itself.

  memory_viz.py --rows DRIVER --binary memviewd --memory-viz FILE [--shared DIR]

The driver prints all that was read, under PyTorch's own keys. PyTorch's tool makes its texts of that and of what
Python's pickle reads, with sizes in bytes; they have to be equal:

stats     segments, reserved, allocated, free outside and inside of blocks, and a line a segment (segsum)
segments  bytes by segment, state of the block and stack, with the gaps; memory: by stream
trace     every event of every device in its order
Each snapshot as pickle, as JSON, and as pages that the tool itself writes. Beyond its texts: each event's time and
stack, how many there are of each action, requests of frees being counted alone; and what the command line prints:
events, memory in use and in segments at the end, of each device. Ends with the counts; exit status 1 if one does not
hold.
"""

import argparse
import collections
import gzip
import importlib.util
import json
import os
import pickle
import subprocess
import tempfile

from daemon import Counts
from made_snapshots import as_expandable, as_older, as_pending, made
from members import loads

EVENT_KEYS = ("action", "addr", "size", "time_us", "device_free")
SEGMENT_SIGNS = {"segment_alloc": 1, "segment_map": 1, "segment_free": -1, "segment_unmap": -1}
READ = ("alloc", "free_completed", *SEGMENT_SIGNS, "oom", "snapshot")


def load_memory_viz(path):
    spec = importlib.util.spec_from_file_location("memory_viz_of_pytorch", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module._format_size = lambda size: f"{size} bytes"  # to the byte, not to a tenth of a MiB
    return module


# ---- the same snapshot twice ----


def ours(driver, path):
    done = subprocess.run([driver, path], capture_output=True, text=True, timeout=300)
    if done.returncode != 0:
        raise ValueError(done.stderr.strip())
    read = loads(done.stdout)
    stacks = [[read["frames"][at] for at in stack] for stack in read["stacks"]]

    def with_frames(row):
        return dict(row, frames=[] if row["frames"] is None else stacks[row["frames"]])

    traces = collections.defaultdict(list)
    for event in read["events"]:
        traces[int(event["device"].removeprefix("GPU ") or -1)].append(with_frames(event))
    segments = [
        dict(segment, blocks=[with_frames(block) for block in segment["blocks"]]) for segment in read["segments"]
    ]
    return {
        "segments": segments,
        "device_traces": [traces.get(device, []) for device in range(max(traces, default=-1) + 1)],
        "has_times": read["has_times"],
        "free_requested_count": read["free_requested_count"],
    }


def block_as_read(block):
    """a block of any release as those of today are; what a release calls awaiting another calls pending, and in free
    blocks stands what was asked for before they were split"""
    history = block.get("history", [{}])[0]
    requested = block.get("requested_size", history.get("real_size", block["size"]))
    return {
        "address": block.get("address"),
        "size": block["size"],
        "state": block["state"].replace("awaiting", "pending"),
        "requested_size": min(requested, block["size"]) if block["state"] == "inactive" else requested,
        "frames": block.get("frames") or history.get("frames", []),
    }


def theirs(data):
    if isinstance(data, list):
        data = {"segments": data, "device_traces": []}
    segments = [
        dict(segment, blocks=[block_as_read(block) for block in segment["blocks"]]) for segment in data["segments"]
    ]
    traces = [[event for event in trace if event["action"] in READ] for trace in data["device_traces"]]
    while traces and not traces[-1]:
        traces.pop()
    return {"segments": segments, "device_traces": traces}


def bare(snapshot):
    """events with what `trace` prints of them alone"""
    traces = [
        [{key: event[key] for key in EVENT_KEYS if key in event} for event in trace]
        for trace in snapshot["device_traces"]
    ]
    return dict(snapshot, device_traces=traces)


# ---- what is held ----


def first_difference(own, wanted):
    for at, (left, right) in enumerate(zip(own, wanted)):
        if left != right:
            return [f"line {at + 1}: {str(left)[:200]!r}, not {str(right)[:200]!r}"]
    return [] if len(own) == len(wanted) else [f"{len(own)} lines, not {len(wanted)}"]


def text_faults(make, own, wanted):
    return first_difference(make(own).splitlines(), make(wanted).splitlines())


def event_faults(own, wanted):
    for device, (left, right) in enumerate(zip(own["device_traces"], wanted["device_traces"])):
        counts = [collections.Counter(event["action"] for event in trace) for trace in (left, right)]
        if counts[0] != counts[1]:
            return [f"GPU {device}: {dict(counts[0])}, not {dict(counts[1])}"]

        def rows(trace):
            return [
                (
                    [
                        (frame["name"], frame["filename"], frame["line"])
                        for frame in event["frames"]
                        if isinstance(frame, dict)
                    ],
                    event.get("time_us") if own["has_times"] else 0,
                )
                for event in trace
            ]

        faults = first_difference(rows(left), rows(right))
        if faults:
            return [f"GPU {device}, {faults[0]}"]
    return []


def end_faults(binary, viz, path, own, wanted):
    """the command line's figures of each device against the sums of PyTorch's tool"""
    done = subprocess.run([binary, "summary", path, "--json"], capture_output=True, text=True, timeout=300)
    if done.returncode != 0:
        return [done.stderr.strip()]
    pools, faults = {pool["memory"]: pool for pool in loads(done.stdout)["sessions"][0]["memory"]}, []
    for device, trace in enumerate(wanted["device_traces"]):
        rows = [event for event in trace if event["action"] in ("alloc", "free_completed")]
        if not rows:
            continue
        segments = [segment for segment in wanted["segments"] if segment["device"] == device]
        said = dict(
            line.split(": ") for line in viz.segsum({"segments": segments}).splitlines() if line.startswith("total_")
        )
        pending = sum(
            viz._block_extra(block)[1]
            for segment in segments
            for block in segment["blocks"]
            if "pending" in block["state"]
        )
        pool, events = pools[f"GPU {device}"], own["device_traces"][device]
        last = max(at for at, event in enumerate(events) if event["action"] in ("alloc", "free_completed"))
        reserved = events[last]["reserved_bytes"] + sum(
            SEGMENT_SIGNS.get(event["action"], 0) * event["size"] for event in events[last + 1 :]
        )
        held = {
            "event_count": (pool["event_count"], len(rows)),
            "last_bytes": (f"{pool['last_bytes'] - pending} bytes", said["total_allocated"]),
            "reserved_bytes": (f"{reserved} bytes", said["total_reserved"]),
        }
        faults += [
            f"GPU {device}, {name}: {own_}, not {wanted_}" for name, (own_, wanted_) in held.items() if own_ != wanted_
        ]
    return faults


def hold(options, viz, counts, name, path, data):
    own, wanted = ours(options.rows, path), theirs(data)
    counts.add(text_faults(viz.segsum, own, wanted), f"stats of {name}")
    counts.add(text_faults(lambda one: viz.segments(one, str), own, wanted), f"segments of {name}")
    counts.add(text_faults(lambda one: viz.memory(one, str), own, wanted), f"memory of {name}")
    if own["device_traces"] or wanted["device_traces"]:
        counts.add(text_faults(lambda one: viz.trace(bare(one)), own, wanted), f"trace of {name}")
        counts.add(event_faults(own, wanted), f"times and stacks of {name}")
        counts.add(end_faults(options.binary, viz, path, own, wanted), f"the end of {name}")
    asked = sum(
        event["action"] == "free_requested"
        for trace in (data.get("device_traces", []) if isinstance(data, dict) else [])
        for event in trace
    )
    counts.add(
        [] if own["free_requested_count"] == asked else [f"{own['free_requested_count']}, not {asked}"],
        f"requests of frees of {name}",
    )


def forms(viz, data):
    """ending, bytes: what people keep a snapshot in; pages are those that PyTorch's tool writes"""
    yield "pickle", pickle.dumps(data)
    yield "json", json.dumps(data).encode()
    yield "sorted.json", json.dumps(data, indent=2, sort_keys=True).encode()
    yield "html", viz.trace_plot(data).encode()
    yield "segments.html.gz", gzip.compress(viz.segment_plot(data).encode())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--rows", required=True)
    parser.add_argument("--memory-viz", required=True)
    parser.add_argument("--shared")
    options = parser.parse_args()
    counts, viz = Counts(), load_memory_viz(options.memory_viz)
    one = made(1, 2, 800, 700)
    snapshots = {
        "made": one,
        "pending": as_pending(made(2, 3, 900, 400)),
        "expandable": as_expandable(made(3, 2, 600, 500)),
        "older": as_older(one),
        "segments": as_older(one)["segments"],
        "cut": made(4, 1, 2000, 50),
    }
    if options.shared:
        for name in ("systems-train", "systems-ddp"):
            with gzip.open(os.path.join(options.shared, "data", "torch", f"{name}.pickle.gz")) as file:
                snapshots[name] = pickle.load(file)
    else:
        counts.skip("recorded snapshots: without --shared")
    with tempfile.TemporaryDirectory() as folder:
        for name, data in snapshots.items():
            for form, content in forms(viz, data):
                path = os.path.join(folder, f"{name}.{form}")
                with open(path, "wb") as file:
                    file.write(content)
                hold(options, viz, counts, f"{name}.{form}", path, data)
    return counts.finish()


if __name__ == "__main__":
    raise SystemExit(main())
