# SPDX-License-Identifier: Apache-2.0
"""Allocator snapshots as PyTorch writes them, made up, and pickles that are none."""

import collections
import datetime
import fractions
import io
import os
import pickle
import random


class Allocator:
    """One device: segments of whole MiB, blocks in them, and what it wrote down of itself."""

    def __init__(self, random_, device, files):
        self.random, self.device, self.trace = random_, device, []
        self.frames = [{"name": f"step_{i}", "filename": name, "line": i + 1} for i, name in enumerate(files)]
        self.now, self.live, self.segments, self.next = 1_700_000_000_000_000, {}, [], 1 << 40

    def stack(self):
        return self.random.sample(self.frames, self.random.randint(1, len(self.frames)))

    def write(self, action, address, size, frames):
        self.now += self.random.randint(0, 50)
        self.trace.append(
            {
                "action": action,
                "addr": address,
                "size": size,
                "stream": 0,
                "time_us": self.now,
                "compile_context": "N/A",
                "user_metadata": "",
                "frames": frames,
            }
        )

    def allocate(self):
        requested = self.random.choice((4, 512, 1000, 1 << 20, 3_000_000))
        size = -(-requested // 512) * 512
        address, self.next = self.next, self.next + (4 << 20)
        frames = self.stack()
        self.segments.append({"address": address, "total_size": 4 << 20})
        self.write("segment_alloc", address, 4 << 20, frames)
        self.write("alloc", address, requested, frames)
        self.live[address] = {"address": address, "size": size, "requested_size": requested, "frames": frames}

    def free(self):
        address = self.random.choice(list(self.live))
        block = self.live.pop(address)
        self.write("free_requested", address, block["requested_size"], [])
        self.write("free_completed", address, block["requested_size"], self.stack())
        if self.random.random() < 0.5:
            self.segments = [one for one in self.segments if one["address"] != address]
            self.write("segment_free", address, 4 << 20, [])

    def snapshot(self):
        found = []
        for segment in self.segments:
            block = self.live.get(segment["address"])
            rest = segment["total_size"] - (block["size"] if block else 0)
            blocks = [dict(block, state="active_allocated")] if block else []
            blocks.append(
                {
                    "address": segment["address"] + segment["total_size"] - rest,
                    "size": rest,
                    "requested_size": 0,
                    "state": "inactive",
                    "frames": [],
                }
            )
            active = block["size"] if block else 0
            found.append(
                {
                    "device": self.device,
                    "address": segment["address"],
                    "total_size": segment["total_size"],
                    "allocated_size": active,
                    "active_size": active,
                    "stream": 0,
                    "segment_type": "large",
                    "segment_pool_id": (0, 0),
                    "is_expandable": False,
                    "frames": [],
                    "blocks": blocks,
                }
            )
        return found


def made(seed, devices, steps, keeps):
    """devices allocators of which the last `keeps` events are remembered"""
    random_ = random.Random(seed)
    files = [
        "/home/me/train.py",
        "/usr/lib/python3/dist-packages/torch/nn/modules/module.py",
        "??",
        "C:\\work\\model.py",
    ]
    allocators = [Allocator(random_, device, files) for device in range(devices)]
    for _ in range(steps):
        one = random_.choice(allocators)
        one.free() if one.live and random_.random() < 0.45 else one.allocate()
    traces = [one.trace[-keeps:] for one in allocators]
    traces[0].append(
        {
            "action": "oom",
            "device_free": 1 << 20,
            "size": 1 << 33,
            "stream": 0,
            "time_us": allocators[0].now,
            "frames": allocators[0].stack(),
        }
    )
    return {
        "segments": [row for one in allocators for row in one.snapshot()],
        "device_traces": traces,
        "allocator_settings": {"expandable_segments": False, "max_split_size": -1},
        "external_annotations": [],
    }


def without_history(snapshot):
    """as it is dumped where nothing was recorded"""
    return {**snapshot, "device_traces": [[] for _ in snapshot["device_traces"]]}


def as_older(snapshot):
    """as PyTorch 2.0 wrote it: no times, no requested size but in a block's history"""

    def block(row):
        frames = {"history": [{"addr": row["address"], "real_size": row["requested_size"], "frames": row["frames"]}]}
        return {"size": row["size"], "state": row["state"], **(frames if row["state"] != "inactive" else {})}

    drop = ("time_us", "user_metadata", "compile_context")
    return {
        "segments": [dict(row, blocks=[block(one) for one in row["blocks"]]) for row in snapshot["segments"]],
        "device_traces": [
            [{key: value for key, value in event.items() if key not in drop} for event in trace]
            for trace in snapshot["device_traces"]
        ],
    }


def as_pending(snapshot):
    """blocks whose free was asked for while a stream still uses them, in the words of all releases"""
    states = ("active_allocated", "active_pending_free", "active_allocated", "active_awaiting_free")
    segments = [
        dict(
            segment,
            blocks=[
                dict(block, state=states[at % 4]) if block["state"] != "inactive" else block
                for block in segment["blocks"]
            ],
        )
        for at, segment in enumerate(snapshot["segments"])
    ]
    return dict(snapshot, segments=segments)


def as_expandable(snapshot):
    """segments that grow by pieces, and the event of a snapshot that was taken before"""
    words = {"segment_alloc": "segment_map", "segment_free": "segment_unmap"}
    traces = [
        [dict(event, action=words.get(event["action"], event["action"])) for event in trace]
        for trace in snapshot["device_traces"]
    ]
    for trace in traces:
        trace.insert(
            len(trace) // 2,
            {
                "action": "snapshot",
                "addr": 0,
                "size": 0,
                "stream": 0,
                "time_us": trace[len(trace) // 2]["time_us"],
                "frames": [],
            },
        )
    return dict(
        snapshot, device_traces=traces, segments=[dict(segment, is_expandable=True) for segment in snapshot["segments"]]
    )


def annotated(snapshot):
    """with steps of torch.profiler, wide numbers, numbers that are none, and what no release writes"""
    times = [event["time_us"] for event in snapshot["device_traces"][0]]
    marks = [
        {
            "stage": stage,
            "name": f"ProfilerStep#{step}",
            "device": 0,
            "time_us": times[step * len(times) // 4 + (stage == "END") * 3],
        }
        for step in range(4)
        for stage in ("START", "END")
    ]
    odd = [
        {"action": "snapshot", "addr": 0, "size": 0, "time_us": times[-1], "frames": ()},
        {"action": "segment_map", "addr": (1 << 63) - 1, "size": 1 << 20, "time_us": times[-1] + 1, "frames": []},
        {"action": "segment_unmap", "addr": -(1 << 62), "size": 1 << 20, "time_us": times[-1] + 2, "frames": []},
        {"action": "alloc", "addr": 7, "size": 1 << 60, "time_us": times[0], "frames": [b"x" * 300, 1.5, None, True]},
        {"action": "dance", "addr": 7, "size": 3, "frames": [["x" * 300, (1, 2, 3, 4), ()]]},
    ]
    settings = dict(snapshot["allocator_settings"], threshold=0.5, name="x", flag=True, nothing=None)
    return dict(
        snapshot,
        device_traces=[trace + odd for trace in snapshot["device_traces"]],
        external_annotations=marks,
        allocator_settings=settings,
    )


class Persistent(pickle.Pickler):
    def persistent_id(self, obj):
        return "storage" if isinstance(obj, bytearray) else None


def persistent():
    buffer = io.BytesIO()
    Persistent(buffer, protocol=2).dump({"segments": bytearray(b"x")})
    return buffer.getvalue()


REFUSED = {
    "a function": pickle.dumps({"segments": [os.system]}, 4),
    "a date": pickle.dumps({"segments": datetime.date(2026, 1, 1)}, 4),
    "an ordered dict, as models are": pickle.dumps({"segments": collections.OrderedDict(w=1)}, 2),
    "an object": pickle.dumps({"device_traces": fractions.Fraction(1, 3)}, 5),
    "a set": pickle.dumps({"segments": {1, 2}}, 4),
    "a bytearray": pickle.dumps({"segments": bytearray(b"x")}, 5),
    "a persistent id": persistent(),
}
