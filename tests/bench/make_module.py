#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A compiled program with any number of buffers, as an XLA dump writes it.

  make_module.py FILE [--buffers N] [--hostile]

A training step: each layer saves an activation for the way back and makes short-lived temporaries on
top of it; the way back makes gradients and frees the activations. Offsets are those of a stack, so no
two buffers that live at one time overlap. Equal arguments give equal bytes; nothing is drawn by chance. With --hostile
names, scopes and source files are markup, control characters, marks that turn the direction, 10,000 characters.
"""

import argparse
import sys

MIB = 1 << 20
TEMPORARIES = 8  # beside each saved activation
ROW = 512  # bytes; sizes are whole rows
F32, BF16 = 11, 16
ROWS = [(F32, 128), (BF16, 256), (F32, 50)]  # the last is padded to 128
OPS = ["fusion", "dot", "copy", "reduce", "transpose"]

# One after the other; no browser may take any of them for more than a text.
HOSTILE = [
    text.encode()
    for text in (
        "<img src=x onerror=alert(1)>",
        "x" * 10000,
        "\u202egnp.exe\u202c",
        "a\x00b\x07c\x1b[31md",
        "\u05d0\u05d1\u05d2 \u0627\u0644\u0639",
        "\u200b\u200d\ufeff",
        "\U0001f4a5" * 3000,
        "=cmd|' /C calc'!A0",
        "a\r\nb\tc",
        "&lt;script&gt;",
        "%00%0a${7*7}{{7*7}}",
        " ",
        "W" * 300 + "\u0301" * 300,
    )
] + [b"\xff\xfe\xc3("]


def varint(value):
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def number(field, value):
    return varint(field << 3) + varint(value) if value else b""


def data(field, value):
    value = value.encode() if isinstance(value, str) else value
    return varint(field << 3 | 2) + varint(len(value)) + value


def shape(kind, sizes):
    layout = data(1, b"".join(varint(at) for at in reversed(range(len(sizes)))))
    return number(2, kind) + data(3, b"".join(varint(size) for size in sizes)) + data(5, layout)


class Program:
    def __init__(self, is_hostile=False):
        self.is_hostile = is_hostile
        self.instructions, self.buffers, self.assigned, self.events = [], [], [], []
        self.high = 0

    def make(self, op, layer, size, offset, at):
        """One instruction with its buffer; its id."""
        name, scope, file = (
            f"{op}.{at}",
            f"jit(train_step)/layer_{layer}/{op}",
            f"/home/user/training/model_{layer % 7}.py",
        )
        if self.is_hostile:
            name, scope, file = (
                text + HOSTILE[(at + turn) % len(HOSTILE)] for turn, text in enumerate((b"", b"jit(f)/", b"/tmp/"))
            )
        metadata = data(1, op) + data(2, scope) + data(3, file) + number(4, 10 + at % 90)
        self.instructions.append(
            data(1, name)
            + data(2, op)
            + data(3, shape(ROWS[at % 3][0], [size // ROW, ROWS[at % 3][1]]))
            + data(7, metadata)
            + number(35, at)
        )
        self.buffers.append(number(1, at) + number(2, size) + data(3, number(4, at)))
        self.assigned.append(number(1, at) + number(2, offset) + number(3, size))
        self.high = max(self.high, offset + size)
        self.event(0, at, name)
        return at, name

    def event(self, kind, at, name):
        self.events.append(number(1, kind) + number(2, at) + data(3, "main") + data(4, name))

    def free(self, buffer):
        self.event(1, *buffer)


def build(count, is_hostile=False):
    program, saved, top, at = Program(is_hostile), [], 0, 1
    layers = max(1, count // (2 * (TEMPORARIES + 1)))
    for layer in range(layers):
        size = (1 + layer * 7 % 13) * MIB // 4
        saved.append((program.make("fusion", layer, size, top, at), layer, size))
        top, at = top + size, at + 1
        at = temporaries(program, layer, top, at)
    for buffer, layer, size in reversed(saved):
        if at > count:
            break
        gradient = program.make("dot", layer, size // 2, top, at)
        at = temporaries(program, layer, top + size // 2, at + 1)
        program.free(gradient)
        program.free(buffer)
        top -= size
    return program


def temporaries(program, layer, top, at):
    alive = []
    for turn in range(TEMPORARIES):
        size = ((layer * 31 + turn * 17) % 97 + 1) * 4096
        alive.append(program.make(OPS[turn % len(OPS)], layer, size, top, at))
        top, at = top + size, at + 1
        if turn % 2:
            program.free(alive.pop(0))
    for buffer in alive:
        program.free(buffer)
    return at


def encode(program):
    parameters = [(100 * MIB >> turn) + 4096 for turn in range(12)]
    first = len(program.instructions) + 1
    ids = b"".join(varint(at) for at in range(1, first))
    computation = data(1, "main") + b"".join(data(2, each) for each in program.instructions)
    allocations = [number(1, 0) + number(2, program.high) + b"".join(data(9, each) for each in program.assigned)]
    for turn, size in enumerate(parameters):
        at = first + turn
        computation += data(
            2,
            data(1, f"param.{turn}")
            + data(2, "parameter")
            + data(3, shape(F32, [size // 4]))
            + number(9, turn)
            + number(35, at),
        )
        program.buffers.append(number(1, at) + number(2, size) + data(3, number(4, at)))
        allocations.append(
            number(1, turn + 1)
            + number(2, size)
            + number(5, 1)
            + number(6, turn)
            + data(9, number(1, at) + number(3, size))
        )
        ids = varint(at) + ids
    computation += number(5, 1) + number(6, first - 1)
    schedule = data(1, number(1, 1) + data(2, data(1, ids)))
    module = (
        data(1, "jit_train_step")
        + data(2, "main")
        + data(3, computation)
        + number(5, 1)
        + number(6, 1)
        + data(7, schedule)
        + data(21, "TPU")
    )
    trace = b"".join(data(1, each) for each in program.events) + number(3, 0)
    assignment = (
        b"".join(data(1, each) for each in program.buffers)
        + b"".join(data(3, each) for each in allocations)
        + data(4, trace)
    )
    return data(1, module) + data(3, assignment)


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__.strip(), formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file")
    parser.add_argument("--buffers", type=int, default=100000)
    parser.add_argument("--hostile", action="store_true")
    options = parser.parse_args(arguments)
    with open(options.file, "wb") as file:
        file.write(encode(build(options.buffers, options.hostile)))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
