# SPDX-License-Identifier: Apache-2.0
"""Seeds of make-corpus: programs and traces, whole, odd, beside each other, and as texts."""

import glob
import gzip
import os
import random

DEPTH = 10_000


def varint(value):
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes(out + bytes([value]))


def message(number, data):
    return varint(number << 3 | 2) + varint(len(data)) + data


def deep_shape():
    """an instruction whose shape is a tuple of a tuple of a tuple"""
    shape = b""
    for _ in range(DEPTH):
        shape = message(4, shape)
    instruction = message(1, b"deep") + message(2, b"tuple") + message(3, shape) + b"\x98\x02\x01"
    computation = message(1, b"main") + message(2, instruction) + b"\x28\x01\x30\x01"
    module = message(1, b"jit_deep") + message(2, b"main") + message(3, computation) + b"\x30\x01"
    buffer = b"\x08\x01\x10\x04" + message(3, b"\x20\x01")
    allocation = b"\x10\x04" + message(9, b"\x08\x01\x18\x04")
    return message(1, module) + message(3, message(1, buffer) + message(3, allocation))


def odd_bytes():
    """name, bytes"""
    yield "empty", b""
    yield "one-byte", b"\x0a"
    yield "long-varint", b"\x0a" + b"\xff" * 11 + b"\x01"
    yield "length-past-end", b"\x0a\xff\xff\xff\xff\x0f" + b"x" * 20
    yield "length-past-64-bits", b"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f"
    yield "group", b"\x0b\x0c" * 4
    yield "field-zero", b"\x02\x01x"
    yield "wire-type-7", b"\x0f\x01"
    yield "text", b"RESOURCE_EXHAUSTED: XLA:TPU compile permanent error. Ran out of memory in memory space hbm.\n" * 3
    yield "not-utf8", b"\xff\xfe\x80\x81" * 8
    yield "deep", deep_shape()
    yield (
        "unpacked",
        message(1, message(1, b"m") + message(3, message(2, b"\xa0\x02\x05\xa0\x02\x06\xa2\x02\x02\x01\x02"))),
    )
    yield "fixed-fields", b"\x09" + b"\1" * 8 + b"\x0d" + b"\2" * 4 + message(1, message(1, b"jit_f"))


def mimics():
    """name, bytes: other kinds of files that begin like ours"""
    value_types = message(1, b"\x08\x01\x10\x02") + message(1, b"\x08\x03\x10\x04")
    strings = b"".join(message(6, text) for text in (b"", b"allocations", b"count", b"space", b"bytes"))
    sample = message(2, message(1, b"\x01") + message(2, b"\x01\x08"))
    yield "pprof", value_types + sample + message(4, b"\x08\x01") + message(5, b"\x08\x01\x10\x01") + strings


def compile_files():
    """name, bytes: what a dump has beside a module, and modules for several devices"""

    def bounds(x, y, z):
        return b"\x08" + varint(x) + b"\x10" + varint(y) + b"\x18" + varint(z)

    for name, generation, variant, hosts in (
        ("v5e", 4, b"lite", (1, 1, 1)),
        ("v4", 3, b"", (1, 1, 4)),
        ("unknown", 99, b"", (1, 1, 1)),
        ("vast", 4, b"", (1 << 40, 1, 1)),
    ):
        topology = (
            b"\x08"
            + varint(generation)
            + message(2, variant)
            + message(5, bounds(2, 2, 1))
            + message(6, bounds(*hosts))
        )
        yield f"{name}.target_arguments", message(6, topology)
        yield f"{name}.topology", message(2, b"tpu") + message(9, message(1, b"url") + message(2, message(1, topology)))
    yield (
        "arguments.txt",
        (
            b'tpu_topology_args {\n  version: TPU_VERSION_VIPERFISH\n  variant: "lite"\n'
            b"  chips_per_host_bounds {\n    x: 2\n    y: 2\n"
            b"    z: 1\n  }\n  host_bounds {\n    x: 1\n  }\n}\n"
        ),
    )
    for name in ("v5e", "h100", "H100-80G", "a100", "15.75GiB"):
        yield f"device-{name}", name.encode()
    for number in range(0, 40):  # of the table, and past its end
        yield f"device-{number}", bytes([number])
    yield "topology.textproto", b'platform_name: "tpu"\nplatform_version: "TFRT TPU v5 lite\\nBuilt on Nov 5 2026"\n'
    flags = b"\xf8\x01\x03" + message(109, b"/elsewhere") + b"\x80\x07\x01"
    build = (
        b"\x08"
        + varint((1 << 64) - 1)
        + message(3, flags)
        + b"\x20\x01\x28\x02\x30\x01"
        + message(9, b"\x10\x02")
        + b"\x98\x01\x01"
    )
    yield (
        "options",
        message(3, build) + b"\x28\x07" + message(7, message(1, b"xla_dump_to")) + message(7, message(1, b"xla_x")),
    )
    meshes = message(1, message(1, b"xla.sdy.meshes") + message(2, b"{}"))
    module = (
        message(1, b"jit_f")
        + message(2, b"main")
        + message(3, b"")
        + b"\x30\x01"
        + message(15, b"\x08\x01\x10\x04")
        + message(19, meshes)
    )
    yield "module", module
    yield "program", message(1, module) + message(3, b"")


def every_attribute():
    """an HloProto in which each attribute of an operation's dimensions is said once"""
    shape, numbers = b"\x10\x0b" + message(3, b"\x04\x04"), b"\x20\x01" + message(5, b"\x00") + message(6, b"\x00")
    windows = message(1, b"\x01") + message(2, b"\x00") + message(3, b"\x00") + numbers
    spatial = message(6, b"\x00") + message(11, b"\x00") + message(12, b"\x00")
    said = {
        b"convolution": message(15, message(1, b"\x08\x01\x10\x01\x18\x01\x20\x01\x28\x01\x30\x02\x38\x01"))
        + message(16, b"\x18\x00\x20\x01\x38\x00\x40\x01\x48\x00\x50\x01" + spatial)
        + varint(50 << 3)
        + b"\x02"
        + varint(58 << 3)
        + b"\x02",
        b"reduce": message(17, b"\x08\x00\x10\x03\x18\x01") * 13
        + message(20, b"\x01\x04")
        + message(21, message(1, b"\x08\x01\x10\x01\x18\x00") * 13 + message(2, b""))
        + message(14, bytes(13)),
        b"dot": message(30, message(1, b"\x01") + message(2, b"\x00") + message(3, b"\x00") + message(4, b"\x00")),
        b"gather": message(33, windows) + message(34, b"\x01\x04"),
        b"scatter": message(48, windows),
        b"broadcast": message(14, b"\x00\x01"),
    }
    name = message(7, message(2, b"params['w']"))
    code = message(
        2,
        message(1, b"w")
        + message(2, b"parameter")
        + message(3, shape)
        + name
        + b"\x98\x02\x01"
        + message(40, b"\x08\x00"),
    )
    for at, (opcode, attributes) in enumerate(said.items(), 2):
        op_name = message(7, message(2, b"jit(f)/jvp(layer_" + b"%d" % at + b")/" + opcode))
        code += message(
            2,
            message(1, opcode)
            + message(2, opcode)
            + message(3, shape)
            + op_name
            + b"\x98\x02"
            + varint(at)
            + message(36, b"\x01\x01\x01")
            + attributes,
        )
    module = (
        message(1, b"jit_f")
        + message(2, b"main")
        + message(3, message(1, b"main") + code + b"\x28\x01\x30\x02")
        + b"\x30\x01"
        + message(15, b"\x08\x01\x10\x08")
    )
    buffers = b"".join(
        message(1, b"\x08" + varint(at) + b"\x10\x40" + message(3, b"\x20" + varint(at))) for at in (1, 2)
    )
    allocations = message(3, b"\x10\x40\x28\x01" + message(9, b"\x08\x01\x18\x40")) + message(
        3, b"\x08\x01\x10\x40" + message(9, b"\x08\x02\x18\x40")
    )
    return message(1, module) + message(3, buffers + allocations)


def on_devices(plain):
    """an HloProto as of a program for eight devices, some arguments whole on each, others split"""
    length, at = 0, 1
    while True:
        byte = plain[at]
        length |= (byte & 127) << 7 * (at - 1)
        at += 1
        if byte < 128:
            break
    in_eight = b"\x08\x03\x1a\x02\x08\x01"  # its first dimension of two
    shardings = b"".join(
        message(14, sharding) for sharding in (b"", b"\x08\x00", b"\x08\x03", b"\x08\x00\x12\x00", *[in_eight] * 196)
    )
    # an instruction's own sharding, whole on each device, becomes a field that nobody knows, as long as it was
    module = (
        plain[at : at + length].replace(b"\xc2\x02\x00", b"\xb8\x3e\x00") + shardings + message(15, b"\x08\x01\x10\x08")
    )
    return message(1, module) + plain[at + length :]


def framed(paths):
    """files behind each other, each between the lines that XLA puts around it"""
    return b"".join(
        b"*** Begin %s ***\n%s\n*** End %s ***\n" % (name, unpacked(path), name)
        for path in paths
        for name in [os.path.basename(path).encode()]
    )


def parts():
    """name, bytes: texts of a program, and parts of one"""
    folder = "tests/fixtures/texts/"
    text = folder + "module_0002.jit_fft_complex.cpu_after_optimizations"
    for path in sorted(glob.glob(folder + "*")):
        yield os.path.basename(path), unpacked(path)
    assignment = unpacked(text + "-buffer-assignment.txt")
    yield "both-texts", framed([text + ".txt", text + "-buffer-assignment.txt"])
    yield "both-protos", framed([folder + "mod.hlo.pb", folder + "buffer_assignment.pb"])
    yield "text-and-proto", framed([folder + "attributes.hlo.txt", folder + "buffer_assignment.pb"])
    yield "cut-frame", framed([text + ".txt"])[:-20]
    yield "old-tail", assignment + b"\nTotal bytes used: 7 (7B)\n\nUsed values:\n<1 a @0>\n"
    yield (
        "later-words",
        assignment.replace(b"preallocated-temp", b"color 5, thread-local, constant, maybe-live-out, new-word", 1),
    )
    yield "reused", assignment + b" reused by buffers of a different color:\n  value: <9 a{1} @1> (color=1)\n"
    yield (
        "phi",
        (
            b"BufferAssignment:\nallocation 0: size 8, color 5, parameter 0, shape |f32[2]| at ShapeIndex "
            b"{1,0}:\n value: <1 a{0,1} (phi) @5> (size=8,offset=0): f32[2]{0}\n"
        ),
    )
    yield "deep", b"HloModule deep\n\nENTRY %m () -> f32[] {\n  ROOT %x = " + b"(" * DEPTH + b"f32[] parameter(0)\n}\n"
    yield "brackets", b"HloModule deep\n\nENTRY %m () -> f32[] {\n  ROOT %x = f32[] tuple" + b"(" * DEPTH


def long_trace():
    """a trace of 70 MB that packs to less than 1 MB, its programs after the first 3 MB"""

    def filler(count):
        blocks = b"".join(random.randbytes(400) + bytes(65136) for _ in range(count))
        return message(1, message(2, b"/host:CPU") + message(3, message(2, blocks)))

    random.seed(1)
    with open("build/fixtures/xspace-two-programs.pb", "rb") as file:
        return filler(50) + file.read() + filler(1030)


def without_programs(trace):
    """an XSpace without its last plane, which holds its programs"""
    planes, at = [], 0
    while at < len(trace):
        begin, length, shift = at, 0, 0
        at += 1  # the tag of a plane
        while not shift or trace[at - 1] & 128:
            length |= (trace[at] & 127) << shift
            at, shift = at + 1, shift + 7
        at += length
        planes.append(trace[begin:at])
    assert planes[-1].count(b"/host:metadata") == 1
    return b"".join(planes[:-1])


def beside():
    """name, bytes: a trace behind its size, and a file that lies beside it"""
    trace = without_programs(unpacked("build/fixtures/trace-gpu-programs.pb"))
    for path in sorted(
        [
            *glob.glob("build/fixtures/hlo-*.pb"),
            *glob.glob("build/fixtures/xspace-*.pb"),
            "build/fixtures/trace-gpu-programs.pb",
        ]
    ):
        yield os.path.basename(path), len(trace).to_bytes(4, "little") + trace + unpacked(path)


def unpacked(path):
    with open(path, "rb") as file:
        data = file.read()
    return gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data
