# SPDX-License-Identifier: Apache-2.0
"""Every kind of input, small, large, and damaged so that it is refused. Made here or taken from tests/fixtures."""

import dataclasses
import functools
import gzip
import json
import os
import pickle
import random
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
TESTS = os.path.dirname(HERE)
sys.path[:0] = [os.path.join(TESTS, name) for name in ("http", "golden")]

import inputs  # noqa: E402
import made_snapshots  # noqa: E402
import snapshot_forms  # noqa: E402

LARGE_INSTRUCTIONS = 30000
LARGE_TIMES = 20000
PROGRAM_TEXT = "texts/module_0002.jit_fft_complex.cpu_after_optimizations.txt"
PLAN_TEXT = "modules/mlp-adam/module_0000.jit_step.cl_1014260217.after_optimizations-buffer-assignment.txt"


def fixture(path):
    with open(os.path.join(TESTS, "fixtures", path), "rb") as file:
        return file.read()


@dataclasses.dataclass(frozen=True)
class Kind:
    """One kind of input: a file, or with `folder` that file in a folder of such a name, which is what is asked about.

    `plain()` makes the bytes before packing, `large()` some that need much memory, `damage(bytes)` what is refused.
    `beside`: {name: bytes} of sound files in the same folder: the folder can be read then, but for the file.
    """

    name: str
    file: str
    plain: object
    large: object
    damage: object
    is_packed: bool = False
    folder: str = ""
    beside: object = dict
    is_text: bool = False  # any bytes are such a file: neither cut nor damaged can be seen of it
    is_deep: bool = True  # large(), packed, needs much memory to be read

    def bytes(self):
        return gzip.compress(self.plain(), 6, mtime=0) if self.is_packed else self.plain()

    def cut(self):
        whole = self.bytes()
        return whole[: len(whole) // 3]

    def damaged(self):
        whole = self.bytes()
        if self.is_packed:  # the middle of the stream
            middle = len(whole) // 2
            return whole[:middle] + bytes(byte ^ 0xA5 for byte in whole[middle : middle + 40]) + whole[middle + 40 :]
        return self.damage(whole)

    def foreign(self):
        return random.Random(self.name).randbytes(2000)

    def grown(self):
        return gzip.compress(self.large(), 1, mtime=0) if self.is_packed else self.large()


def overwritten(data):
    """lengths in the program, or in what stands there, become such that run past the end"""
    middle = len(data) * 3 // 4
    return data[:middle] + b"\xff" * 60 + data[middle + 60 :]


def interrupted(data):
    """brackets and quotes that close nothing"""
    middle = len(data) // 2
    return data[:middle] + b'}]")}]' * 4 + data[middle:]


def unopened(data):
    """an operation of no pickle"""
    middle = len(data) // 2
    return data[:middle] + b"\xff" * 30 + data[middle:]


def no_members(data):
    """a zip archive whose list of members is overwritten"""
    at = data.rfind(b"PK\x01\x02")
    return data[:at] + b"\0" * 30 + data[at + 30 :]


def ranks(made):
    return snapshot_forms.zipped(rank0_pickle=pickle.dumps(made, 4), rank1_pickle=pickle.dumps(made, 2), notes_md=b"x")


@functools.cache
def snapshot(steps=60):
    return made_snapshots.made(3, 2, steps, 50)


@functools.cache
def large_snapshot():
    found = snapshot()
    trace = found["device_traces"][0]
    return {**found, "device_traces": [trace * (LARGE_TIMES * 4 // max(1, len(trace)))]}


@functools.cache
def trace_of_torch():
    return gzip.decompress(fixture("torch/cpu.pt.trace.json.gz"))


@functools.cache
def large_trace_of_torch():
    tree = json.loads(trace_of_torch())
    tree["traceEvents"] *= 12
    return json.dumps(tree).encode()


def trace():
    return inputs.memory_plane(4) + inputs.trace()


@functools.cache
def large_trace():
    return inputs.memory_plane(4) + inputs.trace("jit_made", 7, LARGE_INSTRUCTIONS)


@functools.cache
def large_program():
    return inputs.hlo_proto("jit_made", LARGE_INSTRUCTIONS)


@functools.cache
def large_profile():
    return inputs.profile(
        [((("f", "/a/x.py", 3), (f"g{at}", "/a/x.py", at)), (1, 64), {"kind": "buffer"}) for at in range(LARGE_TIMES)]
    )


def profile():
    return gzip.decompress(fixture("memprof/memory1.prof"))


def log():
    return b"step 1\n" + fixture("text/oom-gpu.txt")


def large_text(data):
    """the same instructions over and over, under other names"""
    head, _, tail = data.partition(b"\n}")
    return (
        head + b"".join(b"\n  added.%d = f32[8]{0} parameter(0)" % at for at in range(LARGE_TIMES * 6)) + b"\n}" + tail
    )


STEM = "module_0001.jit_made.after_optimizations"
KINDS = (
    Kind("xspace", "host.xplane.pb", trace, large_trace, overwritten),
    Kind("xspace.gz", "host.xplane.pb.gz", trace, large_trace, None, is_packed=True),
    Kind("session-folder", "host.xplane.pb", trace, large_trace, overwritten, folder="plugins/profile/run"),
    Kind("hlo", "jit_made.hlo_proto.pb", inputs.hlo_proto, large_program, overwritten),
    Kind("dump-file", STEM + ".hlo.pb", inputs.hlo_proto, large_program, overwritten),
    Kind("dump-file.gz", STEM + ".hlo.pb.gz", inputs.hlo_proto, large_program, None, is_packed=True),
    Kind("dump-folder", STEM + ".hlo.pb", inputs.hlo_proto, large_program, overwritten, folder="dump"),
    Kind(
        "mixed-folder",
        STEM + ".hlo.pb",
        inputs.hlo_proto,
        large_program,
        overwritten,
        folder="dump",
        beside=lambda: {"module_0002.jit_sound.after_optimizations.hlo.pb": inputs.hlo_proto("jit_sound")},
    ),
    Kind(
        "program-text",
        os.path.basename(PROGRAM_TEXT),
        lambda: fixture(PROGRAM_TEXT),
        lambda: large_text(fixture(PROGRAM_TEXT)),
        lambda data: data.replace(b" = ", b" = (", 3),
    ),
    Kind(
        "plan-text",
        os.path.basename(PLAN_TEXT),
        lambda: fixture(PLAN_TEXT),
        lambda: fixture(PLAN_TEXT),
        lambda data: data.replace(b"allocation ", b"\xff\xff", 100),
        is_deep=False,
    ),
    Kind(
        "plan",
        "buffer_assignment.pb",
        lambda: fixture("texts/buffer_assignment.pb"),
        lambda: inputs.buffer_assignment(LARGE_INSTRUCTIONS),
        overwritten,
    ),
    Kind("profile", "memory1.prof", profile, large_profile, overwritten),
    Kind("profile.gz", "memory.prof", profile, large_profile, None, is_packed=True),
    Kind(
        "pickle",
        "rank0.pickle",
        lambda: pickle.dumps(snapshot(), 4),
        lambda: pickle.dumps(large_snapshot(), 4),
        unopened,
    ),
    Kind(
        "pickle.gz",
        "rank0.pickle.gz",
        lambda: pickle.dumps(snapshot(), 4),
        lambda: pickle.dumps(large_snapshot(), 4),
        None,
        is_packed=True,
    ),
    Kind(
        "snapshot-json",
        "rank0.json",
        lambda: json.dumps(snapshot()).encode(),
        lambda: json.dumps(large_snapshot()).encode(),
        interrupted,
    ),
    Kind(
        "snapshot-zip",
        "rank0.zip",
        lambda: snapshot_forms.zipped(rank0_pickle=pickle.dumps(snapshot(), 4)),
        lambda: snapshot_forms.zipped(rank0_pickle=pickle.dumps(large_snapshot(), 4)),
        no_members,
    ),
    Kind("snapshot-archive", "ranks.zip", lambda: ranks(snapshot()), lambda: ranks(large_snapshot()), no_members),
    Kind("torch-trace", "h.pt.trace.json", trace_of_torch, large_trace_of_torch, interrupted),
    Kind("torch-trace.gz", "h.pt.trace.json.gz", trace_of_torch, large_trace_of_torch, None, is_packed=True),
    Kind("log", "job.log", log, lambda: log() * 40000, None, is_text=True),
    Kind("log.gz", "job.log.gz", log, lambda: log() * 40000, None, is_packed=True),
)

STATES = ("whole", "cut", "empty", "damaged", "foreign", "gone", "no-room")


def bytes_of(kind, state):
    """None: the file is gone, or a link to nothing; not None: its bytes"""
    makers = {
        "whole": kind.bytes,
        "cut": kind.cut,
        "empty": bytes,
        "damaged": kind.damaged,
        "foreign": kind.foreign,
        "no-room": kind.grown,
    }
    return makers[state]() if state in makers else None


def is_possible(kind, state):
    return not (kind.is_text and state in ("cut", "damaged", "foreign")) and (state != "no-room" or kind.is_deep)


def write(kind, state, folder):
    """the file as it is in that state below `folder`; (the path to ask about, the path of the file)"""
    place = os.path.join(folder, kind.folder)
    os.makedirs(place, exist_ok=True)
    for name, data in kind.beside().items():
        with open(os.path.join(place, name), "wb") as file:
            file.write(data)
    path = os.path.join(place, kind.file)
    data = bytes_of(kind, state)
    if data is None:
        os.symlink("nothing-is-here", path)
    else:
        with open(path, "wb") as file:
            file.write(data)
    return place if kind.folder else path, path
