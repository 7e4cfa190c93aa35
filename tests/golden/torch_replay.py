#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The allocator's rules, run on snapshots again, against what was recorded, and against what the same requests made
with other settings.

  torch_replay.py --binary MEMVIEWD [--shared DIR]

Made ones: an allocator of Python's, which is not ours, runs the same requests with each setting; with --shared also
what PyTorch recorded, and the peaks that it printed of runs with other settings."""

import argparse
import gzip
import json
import os
import pickle
import random
import subprocess
import tempfile

import made_allocator
import made_program
from daemon import Counts
from made_allocator import KIB, MIB, SMALL
from members import loads

LARGE = 20 * MIB


class Settled(made_allocator.Caching):
    """The same with settings; it keeps the peaks that torch.cuda.memory_stats would tell."""

    def __init__(self, seed, divisions=0, max_split=None, **more):
        super().__init__(seed, **more)
        self.clock = random.Random(seed)
        self.divisions, self.max_split, self.peaks = (
            divisions,
            max_split or 1 << 60,
            {"allocated": 0, "reserved": 0, "requested": 0},
        )

    def write(self, *event):
        """what it asks of the driver takes no part in what the job does next"""
        job, self.random = self.random, self.clock
        super().write(*event)
        self.random = job

    def rounded(self, size):
        if self.divisions > 1 and size > 512 * self.divisions:
            step = (1 << size.bit_length() - 1) // self.divisions
            return -(-size // step) * step
        return made_allocator.rounded(size)

    def find(self, size, stream, pool):
        """the end of a segment that grows counts as what it could become"""
        found = [
            (block is segment.blocks[-1] and segment.is_expandable, block[1], block[0], segment, block)
            for segment in self.segments
            if (segment.stream, segment.is_large, segment.pool) == (stream, size > SMALL, pool)
            for block in segment.blocks
            if block[2] == made_allocator.INACTIVE and block[1] >= size
        ]
        if not found:
            return None
        is_end, bytes_, _, segment, block = min(found, key=lambda one: one[:3])
        is_kept = size < self.max_split <= bytes_ or size >= self.max_split and bytes_ >= size + LARGE
        return None if is_kept and not is_end else (segment, block)

    def allocate(self, requested, stream=0, pool=(0, 0)):
        size, frames = self.rounded(requested), self.stack()
        found = self.find(size, stream, pool) or self.grow(size, stream, pool, frames)
        if not found:
            self.release()
            found = self.grow(size, stream, pool, frames)
        if not found:
            self.fail(size, stream, frames)
        segment, block = found
        rest = block[1] - size
        if rest >= 512 and (segment.is_expandable or not segment.is_large) or rest > SMALL and size < self.max_split:
            segment.blocks.insert(
                segment.blocks.index(block) + 1, [block[0] + size, rest, made_allocator.INACTIVE, 0, []]
            )
            block[1] = size
        block[2:] = [made_allocator.ACTIVE, requested, frames]
        self.write("alloc", block[0], requested, stream, frames)
        used = [each for one in self.segments for each in one.blocks if each[2] == made_allocator.ACTIVE]
        for name, bytes_ in (
            ("allocated", sum(each[1] for each in used)),
            ("reserved", self.reserved),
            ("requested", self.requested()),
        ):
            self.peaks[name] = max(self.peaks[name], bytes_)
        return block[0]

    def mark(self):
        pass


SETTINGS = [
    ("expandable_segments", {"expandable": True}),
    ("max_split_size=32MiB", {"max_split": 32 * MIB}),
    ("roundup=4", {"divisions": 4}),
    ("roundup=[1:8,>:8]", {"divisions": 8}),
]


def made(seed, steps=1200, capacity=1 << 40, **settings):
    return made_allocator.run(
        Settled(seed, capacity=capacity, **settings), steps, (0, 7) if seed % 2 else (0,), (24 + seed) * MIB
    )


def ask(binary, path, *words):
    done = subprocess.run([binary, "whatif", "--json", path, *words], capture_output=True, text=True, timeout=600)
    if done.returncode != 0:
        raise AssertionError(f"{words}: status {done.returncode}: {done.stderr.strip()}")
    return loads(done.stdout)["modules"][0]


def written(folder, snapshot):
    path = os.path.join(folder, "one.pickle")
    with open(path, "wb") as file:
        pickle.dump(snapshot, file, 4)
    return path


def peak_faults(answer, peaks, suffix, reserved="reserved_bytes"):
    names = {
        "requested": f"peak_bytes_{suffix}",
        "allocated": f"allocated_bytes_{suffix}",
        "reserved": f"{reserved}_{suffix}",
    }
    return [f"{name}: {answer[key]}, not {peaks[name]}" for name, key in names.items() if answer[key] != peaks[name]]


def exact_faults(answer, is_whole=True):
    replay = answer["replay"]
    faults = [] if replay["is_exact"] else [f"it differs: {replay}"]
    faults += (
        [] if replay.get("moved_block_count") == 0 else [f"{replay.get('moved_block_count')} blocks lie elsewhere"]
    )
    return faults + ([] if replay.get("is_whole") == is_whole else [f"whole: {replay.get('is_whole')}"])


def hold_settings(binary, counts, folder):
    """the same requests by both, with each setting"""
    for seed in range(1, 9):
        plain = made(seed)
        path = written(folder, made_allocator.snapshot(plain))
        answer = ask(binary, path)
        counts.add(exact_faults(answer) + peak_faults(answer, plain.peaks, "before"), f"made {seed}")
        for change, settings in SETTINGS:
            changed = made(seed, **settings)
            assert changed.peaks["requested"] == plain.peaks["requested"]
            answer = ask(binary, path, "--change", change)
            own = {
                "requested": "peak_bytes_after",
                "allocated": "allocated_bytes_after",
                "reserved": "reserved_bytes_after",
            }
            if answer["changes"][0]["confidence"] != "exact":  # this allocator puts new segments above the others
                own = {"requested": "peak_bytes_after", "reserved": "reserved_bytes_otherwise"}
            faults = [
                f"{name}: {answer[key]}, not {changed.peaks[name]}"
                for name, key in own.items()
                if answer[key] != changed.peaks[name]
            ]
            counts.add(faults, f"made {seed} with {change}")


def hold_recorded_settings(binary, counts, folder):
    """runs that had the settings: the snapshot tells them"""
    for seed in range(11, 15):
        for name, settings, told in (
            ("expandable", {"expandable": True}, {"expandable_segments": True}),
            ("max_split", {"max_split": 32 * MIB}, {"max_split_size": 32 * MIB, "expandable_segments": False}),
            ("divisions", {"divisions": 8}, {"roundup_power2_divisions": {str(1 << at): 8 for at in range(16)}}),
        ):
            one = made(seed, **settings)
            snapshot = {**made_allocator.snapshot(one), "allocator_settings": told}
            answer = ask(binary, written(folder, snapshot))
            counts.add(
                exact_faults(answer) + peak_faults(answer, one.peaks, "before"), f"made {seed} that ran with {name}"
            )


PROGRAMS = [
    ("batch=0.5", {"batch": 4}),
    ("batch=2", {"batch": 16}),
    ("accumulate=2", {"batch": 4, "parts": 2}),
    ("sequence=0.5", {"sequence": 0.5}),
    ("optimizer=sgd", {"optimizer": "sgd"}),
    ("attention=sdpa", {"attention": "sdpa"}),
    ("checkpoint", {"checkpoint": True}),
]


KEPT = [
    ("zero_grad", {"keeps_gradients": True}, {"keeps_gradients": False}),
    ("no_cache", {"caches": True}, {"caches": False}),
    ("offload=optimizer", {}, {"offload": ("optimizer",)}),
    ("offload=activations", {}, {"offload": ("activations",)}),
    ("shard=2", {}, {"devices": 2}),
    ("shard=4", {}, {"devices": 4}),
]


def near_faults(answer, peaks, part, reserved_part):
    names = {
        "requested": ("peak_bytes_after", part),
        "allocated": ("allocated_bytes_after", part),
        "reserved": ("reserved_bytes_after", reserved_part),
    }
    return [
        f"{name}: {answer[key]}, not {peaks[name]}"
        for name, (key, most) in names.items()
        if abs(answer[key] - peaks[name]) > most * peaks[name]
    ]


def hold_programs(binary, counts, folder):
    """another program, run on the same allocator; gradients that are added to those that are there (parts) are of no
    batch"""
    for more in ({}, {"parts": 2}, {"layers": 7, "weights": (5 * MIB, 4 * MIB)}):
        path = written(folder, made_program.snapshot(made_program.Program(**more)))
        for change, other in PROGRAMS:
            answer = ask(binary, path, "--change", change)
            parts = more.get("parts", 1) * other.get("parts", 1)
            faults = near_faults(answer, made_program.Program(**{**more, **other, "parts": parts}).peaks, 0.02, 0.06)
            faults += [] if answer["changes"][0]["confidence"] == "model" else ["it is not a model"]
            counts.add(faults, f"made program {more} with {change}")


def hold_kept(binary, counts, folder):
    """what is kept, elsewhere, or on other devices"""
    for more in ({}, {"layers": 7, "weights": (5 * MIB, 4 * MIB)}):
        for change, with_it, without in KEPT:
            path = written(folder, made_program.snapshot(made_program.Program(**more, **with_it)))
            answer = ask(binary, path, "--change", change)
            counts.add(
                near_faults(
                    answer, made_program.Program(**more, **without).peaks, 0.03 if change == "shard=2" else 0.02, 0.06
                ),
                f"made program {more} {with_it} with {change}",
            )


def hold_cut(binary, counts, folder):
    """the first events are lost: what was there is walked back from the end"""
    for seed in range(21, 27):
        one = made(seed, 900)
        for keeps in (400, 1200):
            answer = ask(binary, written(folder, made_allocator.snapshot(one, keeps=keeps)))
            counts.add(
                exact_faults(answer, is_whole=keeps >= len(one.trace)), f"made {seed} with its last {keeps} events"
            )


def requests_alone(snapshot):
    """as of a program that was never run: memviewd.estimate() knows no segments"""
    traces = [
        [event for event in trace if not event["action"].startswith("segment_")] for trace in snapshot["device_traces"]
    ]
    return {**snapshot, "segments": [], "device_traces": traces}


def unchecked_faults(answer, peaks, part, reserved_part):
    """reserved: of equal holes the lowest is taken, and where segments lie is not recorded, nor when the cache is
    emptied"""
    faults = (
        []
        if answer["replay"]["is_unchecked"] and not answer["replay"]["is_exact"]
        else [f"it is held against something: {answer['replay']}"]
    )
    wanted = {
        "reserved_bytes_before": peaks["reserved"],
        "allocated_bytes_before": peaks["allocated"],
        "peak_bytes_before": peaks["requested"],
    }
    return faults + [
        f"{name}: {answer[name]}, not {bytes_}"
        for name, bytes_ in wanted.items()
        if abs(answer[name] - bytes_) > (reserved_part if name.startswith("reserved") else part) * bytes_
    ]


def hold_without_segments(binary, counts, folder):
    """the allocator's rules make them; of what began late nothing is made up"""
    for seed in range(41, 47):
        one = made(seed, 900)
        answer = ask(binary, written(folder, requests_alone(made_allocator.snapshot(one))))
        counts.add(unchecked_faults(answer, one.peaks, 0.01, 0.25), f"made {seed} without its segments")
    cut = written(folder, requests_alone(made_allocator.snapshot(one, keeps=400)))
    done = subprocess.run([binary, "whatif", cut], capture_output=True, text=True, timeout=600)
    counts.add(
        [] if "Not replayed: it has no segments.\n" in done.stdout else [f"{done}"],
        "made, without segments and beginning late",
    )


def first_failure(trace):
    """how many allocations and frees came before the first request that failed"""
    at = next(i for i, event in enumerate(trace) if event["action"] == "oom")
    return sum(event["action"] in ("alloc", "free_completed") for event in trace[:at]), trace[at]["size"]


def hold_limits(binary, counts, folder):
    """with less memory: the first request that fails, and where it was refused, segments went back"""
    for seed in range(31, 37):
        small = made(seed, 700, capacity=160 * MIB)
        if not small.failures:
            continue
        path = written(folder, made_allocator.snapshot(made(seed, 700)))
        answer = ask(binary, path, "--change", "memory_fraction=0.25", "--capacity", str(4 * 160 * MIB))
        fails = answer["fails"] or {}
        got, wanted = (
            (fails.get("event"), made_allocator.rounded(fails.get("requested_bytes", 0))),
            first_failure(small.trace),
        )
        counts.add([] if got == wanted else [f"the first failure is {got}, not {wanted}"], f"made {seed} with 160 MiB")
        answer = ask(binary, written(folder, made_allocator.snapshot(small)))
        is_placed = answer["failed_request"]["is_placed"]
        counts.add(
            exact_faults(answer) + (["a request that failed gets memory"] if is_placed else []),
            f"made {seed} that failed",
        )


def verdict_faults(binary, path, needed, lands):
    """it needs what the run reserved, and the first advice lands at what the run with that setting reserved"""
    done = subprocess.run([binary, "explain", "--json", path], capture_output=True, text=True, timeout=600, check=True)
    (answer,) = [one["answer"] for one in loads(done.stdout)]
    first = answer["advice"][0]
    got = (
        answer["fit"]["needed_bytes"],
        answer["cause"]["kind"],
        first["do"],
        first["lands_at_bytes"],
        first["confidence"],
    )
    wanted = (needed, "fragmentation", "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True", lands, "exact")
    return [] if got == wanted else [f"{got}, not {wanted}"]


RECORDED_PROGRAMS = [
    ("llama.batch", "batch=0.5", 0.001),
    ("llama.sgd", "optimizer=sgd", 0),
    ("llama.sdpa", "attention=sdpa", 0.01),
    ("llama.ckpt", "checkpoint", 0.005),
]


# A run of vary with max_split_size_mb:64 reserved so much; that its device let it have no more is likely, not recorded.
SPLIT_RESERVED_BYTES, SPLIT_DEVICE_BYTES = 117_742_501_888, 117_760_000_000


def split_faults(binary, path):
    faults = []
    for more, part in ([], 0.013), (["--change", "memory_fraction=1", "--capacity", f"{SPLIT_DEVICE_BYTES}B"], 0.0001):
        answer = ask(binary, path, "--change", "max_split_size=64MiB", *more)
        reserved_bytes = answer["reserved_bytes_after"]
        if abs(reserved_bytes - SPLIT_RESERVED_BYTES) > part * SPLIT_RESERVED_BYTES or answer["confidence"] == "exact":
            faults.append(f"{more}: {reserved_bytes}, {answer['confidence']}")
    return faults


def hold_recorded(binary, counts, folder, shared):
    data = os.path.join(shared, "data")
    with open(os.path.join(data, "torch-h200", "peaks.json"), encoding="utf-8") as file:
        peaks = {
            name: {key: row[f"peak_{key}"] for key in ("allocated", "requested", "reserved")}
            for name, row in json.load(file).items()
        }
    for name in ("llama", "vary"):
        path = os.path.join(data, "torch-h200", f"{name}.pickle.gz")
        answer = ask(binary, path)
        counts.add(exact_faults(answer) + peak_faults(answer, peaks[name], "before"), name)
        with gzip.open(path) as file:
            answer = ask(binary, written(folder, requests_alone(pickle.load(file))))
        counts.add(unchecked_faults(answer, peaks[name], 0.002, 0.002), f"{name} without its segments")
    for name, change, reserved_part in RECORDED_PROGRAMS:
        answer = ask(binary, os.path.join(data, "torch-h200", f"{name.split('.')[0]}.pickle.gz"), "--change", change)
        counts.add(near_faults(answer, peaks[name], 0.01, reserved_part), f"{name}, of the plain run")
    answer = ask(binary, path, "--change", "expandable_segments")
    counts.add(peak_faults(answer, peaks["vary.expandable"], "after"), "vary with expandable segments")
    counts.add(split_faults(binary, path), "vary with max_split_size")
    counts.add(
        verdict_faults(binary, path, peaks["vary"]["reserved"], peaks["vary.expandable"]["reserved"]),
        "the verdict of vary",
    )
    for name in ("t-llama", "t-leak"):
        answer = ask(binary, os.path.join(data, "gpu-h200", "runs", name, "rank0.pickle"))
        counts.add(exact_faults(answer), name)
    for name in ("systems-train", "systems-ddp"):
        answer = ask(binary, os.path.join(data, "torch", f"{name}.pickle.gz"))
        counts.add(exact_faults(answer, is_whole=False), name)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--shared")
    options = parser.parse_args()
    counts = Counts()
    with tempfile.TemporaryDirectory() as folder:
        for hold in (
            hold_settings,
            hold_recorded_settings,
            hold_programs,
            hold_kept,
            hold_cut,
            hold_without_segments,
            hold_limits,
        ):
            hold(options.binary, counts, folder)
        if options.shared:
            hold_recorded(options.binary, counts, folder, options.shared)
        else:
            counts.skip("recorded snapshots: without --shared")
    return counts.finish()


if __name__ == "__main__":
    raise SystemExit(main())
