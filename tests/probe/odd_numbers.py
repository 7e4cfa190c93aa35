# SPDX-License-Identifier: Apache-2.0
"""Each scalar in turn with another value: protobuf messages by the schemas of proto/, texts by their digits."""

import re
import struct

from case import LEGAL, ODD, Case
from proto import ENUMS, SCALARS, encoded, length_delimited, packed, places, tag

VALUES = (0, -1, 1 << 31, 1 << 32, (1 << 63) - 1, 1 << 63, (1 << 64) - 1)
# Fields in bytes: no program has a buffer of 2^60 bytes or of fewer than none.
SIZES = re.compile(r"(^|_)(size|offset|total_bytes|cumulative_size)$")
CANNOT_BE = {-1, (1 << 63) - 1, 1 << 63, (1 << 64) - 1}


def word_of(field, value):
    return ODD if value in CANNOT_BE and SIZES.search(field.name) else LEGAL


def others(place):
    """(description, bytes of the whole field, word) of a scalar that is one number or one text"""
    field, number = place.field, place.number
    yield "absent", b"", LEGAL
    if field.kind in ("string", "bytes"):
        for words, text in (
            ("empty", b""),
            ("control characters", b"a\x00\x01\x1f"),
            ("no UTF-8", b"\xff\xfe\xc3("),
            ("long", b"x" * 5000),
        ):
            yield words, length_delimited(number, text), LEGAL
        yield "a number", tag(number, 0) + encoded(5), LEGAL
    elif field.kind in ("double", "float"):
        for value in (0.0, -1.0, 1e300, float("nan"), float("inf")):
            yield str(value), tag(number, 1) + struct.pack("<d", value), LEGAL
        yield "a number", tag(number, 0) + encoded(5), LEGAL
    else:
        for value in VALUES:
            yield str(value), tag(number, 0) + encoded(value), word_of(field, value)
        yield "a text", length_delimited(number, b"text"), LEGAL


def numbers_of(message, embedded=()):
    """variants of a message: each of its scalars in turn"""

    def variants(data, random):
        count = {}
        for place in places(data, message, embedded=embedded):
            if place.field is None or not (place.field.kind in SCALARS or place.field.kind in ENUMS):
                continue
            if (place.owner, place.field.name) in dict(embedded):
                continue  # a message: its own scalars are tried
            at = count[place.path] = count.get(place.path, 0) + 1
            name = f"{place.path}[{at}]"
            if place.wire == 2 and place.field.kind not in ("string", "bytes"):
                run = list(packed(place.bytes()))
                for i in range(len(run)):
                    for value in VALUES:
                        new = b"".join(encoded(value if j == i else run[j]) for j in range(len(run)))
                        yield (
                            f"{name}.{i} = {value}",
                            place.replaced(length_delimited(place.number, new)),
                            word_of(place.field, value),
                        )
                continue
            for words, new, word in others(place):
                yield f"{name} = {words}", place.replaced(new), word

    return variants


def digits(data, random):
    """each number of a text in turn"""
    for match in re.finditer(rb"(?<![\w.-])\d+(?![\w.])|(?<=[#%.]) *\d+", data):
        for value in (*VALUES, "99999999999999999999999", "", "x", "nan", "1e9"):
            line = data.count(b"\n", 0, match.start()) + 1
            yield (
                f"line {line}, {match[0].decode()} = {value}",
                data[: match.start()] + str(value).encode() + data[match.end() :],
            )


HLO = ("summary --json", "explain --json", "whose --json")
TRACE = ("summary --json", "explain --json")
PROFILE = ("top --json", "explain --json")


def case(name, path, message, commands, embedded=(), **more):
    return Case(f"numbers of {name}", path, numbers_of(message, embedded), commands, **more)


CASES = [
    case(
        "an HloProto",
        "build/fixtures/hlo-two-buffers.pb",
        "HloProto",
        HLO,
        count=80,
        always=r"events\.kind\[[12]\] = (absent|a text)|events\.kind\[2\] = 4294967296|logical_buffers\.size\[2\] = a "
        r"text|\.name\[1\] = long$",
    ),
    case(
        "an HloProto with layouts",
        "build/fixtures/hlo-layouts.pb",
        "HloProto",
        HLO,
        count=30,
        always=r"buffer_allocations\.size\[6\] = 4294967296|hlo_module\.name\[1\] = long",
    ),
    case(
        "an HloProto that shares buffers",
        "build/fixtures/hlo-share-with.pb",
        "HloProto",
        HLO,
        always=r"events\.kind\[[234]\] = absent|events\.kind\[2\] = a text",
    ),
    case(
        "an HloProto of a CPU",
        "tests/fixtures/hlo/jit_step(22).hlo_proto.pb",
        "HloProto",
        HLO,
        count=30,
        always=r"assigned\.logical_buffer_id\[14\] = absent",
    ),
    case("a bare HloModuleProto", "build/fixtures/hlo-module.pb", "HloModuleProto", ("summary --json",)),
    case("an HloSnapshot", "build/fixtures/hlo-snapshot.pb", "HloSnapshot", ("summary --json",)),
    case(
        "an XSpace", "build/fixtures/xspace-two-programs.pb", "XSpace", TRACE, ((("XStat", "bytes_value"), "HloProto"),)
    ),
    case(
        "a trace of memory",
        "build/fixtures/trace-tpu.pb",
        "XSpace",
        TRACE,
        count=60,
        always=r"int64_value\[8\] = 4294967296",
    ),
    case(
        "a trace of memory of a GPU",
        "build/fixtures/trace-gpu.pb",
        "XSpace",
        TRACE,
        always=r"int64_value\[(1\] = 0|2\] = 4294967296)",
    ),
    case(
        "a buffer assignment", "tests/fixtures/texts/buffer_assignment.pb", "BufferAssignmentProto", ("summary --json",)
    ),
    case(
        "a pprof profile",
        "build/fixtures/profile-tpu.pb",
        "Profile",
        PROFILE,
        count=60,
        always=r"value\[4\]\.0 = 18446744073709551615",
    ),
    case(
        "a packed pprof profile",
        "tests/fixtures/memprof/memory1.prof",
        "Profile",
        PROFILE,
        count=60,
        always=r"value\[7\]\.0 = 9223372036854775808",
    ),
    Case(
        "numbers of a buffer assignment's text",
        "tests/fixtures/texts/module_0002.jit_fft_complex.cpu_after_optimizations-buffer-assignment.txt",
        digits,
        HLO,
        count=60,
    ),
    Case(
        "numbers of an HLO text",
        "tests/fixtures/texts/module_0002.jit_fft_complex.cpu_after_optimizations.txt",
        digits,
        ("summary --json", "explain --json"),
        count=60,
    ),
]
