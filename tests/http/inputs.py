# SPDX-License-Identifier: Apache-2.0
"""Traces and HLO files made up here: a protobuf writer and the few messages that are needed.

Field numbers are those of proto/*.proto.
"""

import gzip
import pickle
import random
import zlib


def varint(value):
    value &= (1 << 64) - 1
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def number(field, value):
    return varint(field << 3) + varint(value)


def block(field, data):
    data = data.encode() if isinstance(data, str) else data
    return varint(field << 3 | 2) + varint(len(data)) + data


def packed(field, values):
    return block(field, b"".join(varint(value) for value in values))


def profile(samples, types=(("allocations", "count"), ("space", "bytes")), padding=0):
    """a device profile: samples of (stack of (function, file, line) leaf first, values, labels)"""
    strings, places, body, tables = [""], {}, b"", b""

    def text(word):
        if word not in strings:
            strings.append(word)
        return strings.index(word)

    head = b"".join(block(1, number(1, text(name)) + number(2, text(unit))) for name, unit in types)
    for stack, values, labels in samples:
        for place in stack:
            if place in places:
                continue
            at = places[place] = len(places) + 1
            name, file, line = place
            tables += block(5, number(1, at) + number(2, text(name)) + number(3, text(name)) + number(4, text(file)))
            tables += block(4, number(1, at) + block(4, number(1, at) + number(2, line)))
        label = b"".join(block(3, number(1, text(key)) + number(2, text(value))) for key, value in labels.items())
        body += block(2, packed(1, [places[place] for place in stack]) + packed(2, values) + label)
    return (
        head
        + body
        + tables
        + b"".join(block(6, word) for word in strings)
        + (number(13, 0) * 64 + block(999, bytes(padding)) if padding else b"")
    )


def shape(element_count):
    """f32[element_count]{0}"""
    return number(2, 11) + packed(3, [element_count]) + block(5, packed(1, [0]))


def instruction(at, opcode, elements):
    return block(1, f"{opcode}.{at}") + block(2, opcode) + block(3, shape(elements)) + number(35, at)


def hlo_module(name, buffer_count, elements=1024):
    """a program of `buffer_count` instructions in a row, scheduled"""
    instructions = b"".join(block(2, instruction(at, "add", elements)) for at in range(1, buffer_count + 1))
    computation = block(1, "main") + instructions + number(5, 1) + number(6, buffer_count)
    schedule = block(1, number(1, 1) + block(2, packed(1, range(1, buffer_count + 1))))
    return (
        block(1, name)
        + block(2, "main")
        + block(3, computation)
        + number(5, 1)
        + number(6, 1)
        + block(7, schedule)
        + block(21, "TPU")
    )


def buffer_assignment(buffer_count, elements=1024):
    """every buffer lives while the next one is made; one heap trace in space 0"""
    size = elements * 4
    buffers = b"".join(
        block(1, number(1, at) + number(2, size) + block(3, number(2, 0) + number(4, at)))
        for at in range(1, buffer_count + 1)
    )
    assigned = b"".join(
        block(9, number(1, at) + number(2, (at % 2) * size) + number(3, size)) for at in range(1, buffer_count + 1)
    )
    allocation = block(3, number(1, 0) + number(2, 2 * size) + assigned)
    events = []
    for at in range(1, buffer_count + 1):
        events.append(block(1, number(1, 0) + number(2, at) + block(3, "main") + block(4, f"add.{at}")))
        if at > 1:
            events.append(block(1, number(1, 1) + number(2, at - 1) + block(3, "main") + block(4, f"add.{at}")))
    return buffers + allocation + block(4, b"".join(events))


def hlo_proto(name="jit_made", buffer_count=8, elements=1024):
    return block(1, hlo_module(name, buffer_count, elements)) + block(3, buffer_assignment(buffer_count, elements))


def xspace(programs, padding=0):
    """a trace whose /host:metadata plane holds {(name, program id): HloProto bytes}; `padding`: bytes of
    another plane in front"""
    plane = block(2, "/host:metadata")
    for at, ((name, program_id), hlo) in enumerate(programs.items(), 1):
        metadata = number(1, program_id) + block(2, f"{name}({program_id})") + block(5, number(1, 1) + block(6, hlo))
        plane += block(4, number(1, program_id) + block(2, metadata))
    if programs:
        plane += block(5, number(1, 1) + block(2, number(1, 1) + block(2, "Hlo Proto")))
    other = block(1, block(2, "/device:TPU:0") + block(3, block(2, "X" * padding))) if padding else b""
    return other + block(1, plane)


def trace(name="jit_made", program_id=7, buffer_count=8, padding=0):
    return xspace({(name, program_id): hlo_proto(name, buffer_count)}, padding)


def device_plane(name, facts):
    """a plane that says only what the device is: {stat: text or number}; texts beginning with "=" are interned"""
    names, stats = [], []
    for at, (stat, value) in enumerate(facts.items(), 1):
        names.append(block(5, number(1, at) + block(2, number(1, at) + block(2, stat))))
        if isinstance(value, int):
            stats.append(block(6, number(1, at) + number(3, value)))
        elif value.startswith("="):
            names.append(block(5, number(1, at + 100) + block(2, number(1, at + 100) + block(2, value[1:]))))
            stats.append(block(6, number(1, at) + number(7, at + 100)))
        else:
            stats.append(block(6, number(1, at) + block(5, value)))
    return block(1, block(2, name) + b"".join(names + stats))


def runs_plane(device, runs):
    """a device's line XLA Modules: runs of (name, from ps, to ps)"""
    names = sorted({name for name, _, _ in runs})
    events = b"".join(
        block(4, number(1, names.index(name) + 1) + number(2, begin) + number(3, end - begin))
        for name, begin, end in runs
    )
    known = b"".join(
        block(4, number(1, at) + block(2, number(1, at) + block(2, name))) for at, name in enumerate(names, 1)
    )
    return block(1, block(2, device) + block(3, block(2, "XLA Modules") + number(3, 5) + events) + known)


def gzip_bomb(mib=300):
    """a trace of zeros that inflates a thousandfold"""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    zeros = bytes(1 << 20)
    return (
        packer.compress(b"\x0a\xff\xff\xff\xff\x7f")
        + b"".join(packer.compress(zeros) for _ in range(mib))
        + packer.flush()
    )


def slow_trace(name="jit_slow", mib=3000):
    """a packed trace of `mib` MiB: every reader has to inflate them, at one or two thousand a second"""
    piece = random.Random(5).randbytes(2048) * 512
    line = varint(2 << 3 | 2) + varint(len(piece) * mib)
    lines = varint(3 << 3 | 2) + varint(len(line) + len(piece) * mib) + line
    title = block(2, "/device:TPU:0")
    plane = varint(1 << 3 | 2) + varint(len(title) + len(lines) + len(piece) * mib) + title + lines
    return gzip.compress(plane) + gzip.compress(piece, 6) * mib + gzip.compress(trace(name, 1))


def many_programs(count, first_id):
    """a trace of `count` programs that hold next to nothing, as quick to make as they can be"""
    hlo = block(1, block(1, "m"))
    plane = [block(2, "/host:metadata"), block(5, number(1, 1) + block(2, number(1, 1) + block(2, "Hlo Proto")))]
    for program_id in range(first_id, first_id + count):
        metadata = number(1, program_id) + block(2, "m") + block(5, number(1, 1) + block(6, hlo))
        plane.append(block(4, number(1, program_id) + block(2, metadata)))
    return block(1, b"".join(plane))


def stat_names(names):
    """the entries of stat_metadata, 1…"""
    return b"".join(
        block(5, number(1, at) + block(2, number(1, at) + block(2, name))) for at, name in enumerate(names, 1)
    )


MEMORY_STATS = (
    "allocator_name",
    "bytes_reserved",
    "bytes_allocated",
    "bytes_available",
    "fragmentation",
    "peak_bytes_in_use",
    "requested_bytes",
    "allocation_bytes",
    "addr",
    "tf_op",
    "shape",
    "_r",
    "step_num",
    "GPU_0_bfc",
    "dot_general",
    "f32[64,64]",
)


def memory_event(is_free, at_ps, in_use, size, address):
    limit = 1 << 20
    values = [
        (1, 7, 14),
        (2, 4, 0),
        (3, 4, in_use),
        (4, 4, limit - in_use),
        (6, 4, limit),
        (7, 4, size - 1),
        (8, 4, size),
        (9, 4, address),
        (10, 7, 15),
        (11, 7, 16),
    ]
    stats = b"".join(block(4, number(1, name) + number(field, value)) for name, field, value in values)
    half = block(4, number(1, 5) + varint(2 << 3 | 1) + b"\0\0\0\0\0\0\xe0\x3f")  # fragmentation 0.5
    return block(4, number(1, 2 if is_free else 1) + number(2, at_ps) + stats + half)


def memory_plane(step_count, leak_bytes=1024):
    """/host:CPU of a program with `step_count` steps: each allocates and frees 4 KiB, and keeps `leak_bytes`"""
    events, in_use, address = [], 0, 1 << 12
    for step in range(step_count):
        begin = step * 1000
        events.append(
            block(
                4,
                number(1, 3)
                + number(2, begin)
                + number(3, 900)
                + block(4, number(1, 12) + number(4, 1))
                + block(4, number(1, 13) + number(4, 100 + step)),
            )
        )
        for is_free, size, place, at in (
            (False, 4096, address, 100),
            (False, leak_bytes, address + 4096, 200),
            (True, 4096, address, 300),
        ):
            in_use += -size if is_free else size
            events.append(memory_event(is_free, begin + at, in_use, size, place))
        address += leak_bytes
    names = b"".join(
        block(4, number(1, at) + block(2, number(1, at) + block(2, name)))
        for at, name in enumerate(("MemoryAllocation", "MemoryDeallocation", "train"), 1)
    )
    line = number(1, 1) + block(2, "python") + number(3, 5) + b"".join(events)
    return block(1, block(2, "/host:CPU") + block(3, line) + names + stat_names(MEMORY_STATS))


GPU_EVENTS = ("MemoryAllocation", "MemoryDeallocation", "PjitFunction(step)", "jit_step:XLA GPU module")


def gpu_program(argument, output, temporaries, has_assignment=True):
    """an HloProto: one argument "params['w']", one output, temporaries; sizes in bytes"""
    parameter = (
        block(1, "p0")
        + block(2, "parameter")
        + block(3, shape(argument // 4))
        + block(7, block(2, "params['w']"))
        + number(9, 0)
        + number(35, 1)
    )
    root = instruction(2, "slice", output // 4)
    module = (
        block(1, "jit_step")
        + block(2, "main")
        + block(3, block(1, "main") + block(2, parameter) + block(2, root) + number(5, 1) + number(6, 2))
    )
    allocations = [
        number(2, output) + number(7, 1),
        number(1, 1) + number(2, argument) + number(5, 1),
        number(1, 2) + number(2, temporaries),
    ]
    return block(1, module) + (
        block(3, b"".join(block(3, allocation) for allocation in allocations)) if has_assignment else b""
    )


def gpu_trace(launch_count, has_assignment=True, has_programs=True):
    """a GPU whose allocations no op names: each launch of jit_step (1) allocates 512 KiB and 3,000,000 bytes, and frees
    the latter; its argument of 1 MiB is brought there in the call of the first. One more is of no program's size."""
    events, in_use = [], 0

    def happens(kind, at, duration=0, size=0, address=0):
        nonlocal in_use
        rounded, stats = (size + 255) // 256 * 256, b""
        if size:
            in_use += -rounded if kind == 2 else rounded
            known = [(1, 7, 14), (3, 4, in_use), (7, 4, size), (8, 4, rounded), (9, 4, address)]
            stats = b"".join(block(4, number(1, name) + number(field, value)) for name, field, value in known)
        events.append(block(4, number(1, kind) + number(2, at) + number(3, duration) + stats))

    for launch in range(launch_count):
        begin = 1000 * launch
        happens(3, begin, 900)
        if launch == 0:
            happens(1, 50, 0, 1 << 20, 1 << 30)
        happens(1, begin + 100, 0, 1 << 19, (1 << 31) + (launch << 20))
        happens(1, begin + 110, 0, 3000000, 1 << 32)
        happens(4, begin + 200, 300)
        happens(2, begin + 600, 0, 3000000, 1 << 32)
    happens(1, 1000 * launch_count, 0, 54321, 1 << 33)
    names = b"".join(
        block(4, number(1, at) + block(2, number(1, at) + block(2, name))) for at, name in enumerate(GPU_EVENTS, 1)
    )
    line = number(1, 1) + block(2, "python") + number(3, 5) + b"".join(events)
    host = block(1, block(2, "/host:CPU") + block(3, line) + names + stat_names(MEMORY_STATS))
    host += block(1, block(2, "/device:GPU:0"))
    return (
        host
        if not has_programs
        else host + xspace({("jit_step", 1): gpu_program(1 << 20, 1 << 19, 3000000, has_assignment)})
    )


def kept_snapshot():
    """of PyTorch's allocator: block 0 was there before the only event, and is there at the end"""
    event = {"action": "alloc", "addr": 0x1200, "size": 512, "stream": 0, "time_us": 5, "frames": []}
    block = {"address": 0x1000, "size": 512, "requested_size": 400, "state": "active_allocated", "frames": []}
    segment = {
        "device": 0,
        "address": 0x1000,
        "total_size": 4096,
        "stream": 0,
        "segment_type": "small",
        "blocks": [block],
    }
    return pickle.dumps({"device_traces": [[event]], "segments": [segment]}, 4)
