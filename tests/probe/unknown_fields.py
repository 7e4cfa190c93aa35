# SPDX-License-Identifier: Apache-2.0
"""Fields that no schema of ours has, of every wire type, at every level of messages: they say nothing."""

from case import SAME, Case
from proto import MESSAGES, encoded, length_delimited, places, tag

# A number that XLA and the profiler use nowhere, small ones that a message has none of, and the largest that there is.
FAR = (5000, 536870911)


def fields(number):
    """(description, bytes) of one field of each wire type; the groups hold a field, a group and a text"""
    inside = tag(3, 0) + encoded(7) + tag(4, 3) + length_delimited(5, b"text") + tag(4, 4)
    yield "varint", tag(number, 0) + encoded(300)
    yield "varint of ten bytes", tag(number, 0) + encoded(-1)
    yield "fixed64", tag(number, 1) + bytes(8)
    yield "text", length_delimited(number, b"text")
    yield "no bytes", length_delimited(number, b"")
    yield "bytes that are no message", length_delimited(number, b"\xff\xff\xff\xff")
    yield "message", length_delimited(number, length_delimited(1, b"x") + tag(2, 0) + encoded(1))
    yield "fixed32", tag(number, 5) + bytes(4)
    yield "group", tag(number, 3) + inside + tag(number, 4)
    yield "empty group", tag(number, 3) + tag(number, 4)


def numbers_of(message):
    near = next(
        number
        for number in range(1, 5000)
        if number not in MESSAGES[message] and number > max(MESSAGES[message], default=0)
    )
    return (near, *FAR)


def variants_of(message, embedded):
    def variants(data, random):
        def levels():
            yield message, "", None, data
            for place in places(data, message, embedded=embedded):
                kind = place.field and (
                    place.field.kind
                    if place.field.kind in MESSAGES
                    else dict(embedded).get((place.owner, place.field.name))
                )
                if kind and place.wire == 2:
                    yield kind, place.path, place, place.bytes()

        for kind, path, place, inside in levels():
            for number in numbers_of(kind):
                for words, field in fields(number):
                    for where, changed in (("first", field + inside), ("last", inside + field)):
                        whole = changed if place is None else place.replaced(length_delimited(place.number, changed))
                        yield f"{kind}{path}: {words}, field {number}, {where}", whole, SAME

    return variants


HLO = ("summary --json", "explain --json", "whose --json")
TRACE = ("summary --json", "explain --json")
PROFILE = ("top --json", "explain --json")


def case(name, path, message, commands, embedded=(), **more):
    return Case(f"unknown fields of {name}", path, variants_of(message, embedded), commands, **more)


CASES = [
    case("an HloProto", "build/fixtures/hlo-two-buffers.pb", "HloProto", HLO),
    case("a bare HloModuleProto", "build/fixtures/hlo-module.pb", "HloModuleProto", ("summary --json",)),
    case("an HloSnapshot", "build/fixtures/hlo-snapshot.pb", "HloSnapshot", ("summary --json",)),
    case(
        "an XSpace", "build/fixtures/xspace-two-programs.pb", "XSpace", TRACE, ((("XStat", "bytes_value"), "HloProto"),)
    ),
    case("a trace of memory", "build/fixtures/trace-tpu.pb", "XSpace", TRACE),
    case(
        "a buffer assignment", "tests/fixtures/texts/buffer_assignment.pb", "BufferAssignmentProto", ("summary --json",)
    ),
    case("a pprof profile", "build/fixtures/profile-tpu.pb", "Profile", PROFILE),
    case("a packed pprof profile", "tests/fixtures/memprof/memory1.prof", "Profile", PROFILE),
]
