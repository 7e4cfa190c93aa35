#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A compiled training step with any number of buffers, whose instructions compute with each other: for predictions.

  make_step.py FILE [--buffers N]

Attention over one axis, layer after layer, with jax.named_scope around each: products, reshapes, transposes,
broadcasts, reductions and fusions of three operations, the way back, and Adam. Buffers are freed after their last
reader, and offsets only grow: what the heap looks like in memory matters to no prediction. Equal arguments give equal
bytes.
"""

import argparse
import sys

from make_module import BF16, F32, data, number, shape, varint

BATCH, TOKENS, HEADS, WIDTH = 4, 128, 4, 64
WIDE = HEADS * WIDTH
BUFFERS_A_LAYER = 24 + 3 + 3  # computed, parameters, new state
BYTES = {F32: 4, BF16: 2}


def packed(field, values):
    return data(field, b"".join(varint(value) for value in values))


def dot(lhs, rhs):
    return data(30, packed(1, lhs) + packed(2, rhs))


class Step:
    def __init__(self):
        self.entry, self.inner, self.buffers, self.assigned, self.allocations, self.events = [], [], [], [], [], []
        self.shapes, self.last_read, self.schedule, self.results = {}, {}, [], []
        self.next_id, self.next_computation, self.parameters, self.high = 1, 2, 0, 0

    def instruction(self, opcode, kind, sizes, operands=(), name="", more=b""):
        at, self.next_id = self.next_id, self.next_id + 1
        self.shapes[at] = (kind, sizes)
        return at, (
            data(1, f"{opcode}.{at}")
            + data(2, opcode)
            + data(3, shape(kind, sizes))
            + (data(7, data(2, name)) if name else b"")
            + number(35, at)
            + packed(36, operands)
            + more
        )

    def hold(self, at):
        kind, sizes = self.shapes[at]
        size = BYTES[kind]
        for length in sizes:
            size *= length
        self.buffers.append(number(1, at) + number(2, size) + data(3, number(4, at)))
        return size

    def parameter(self, kind, sizes, path):
        at, text = self.instruction("parameter", kind, sizes, name=path, more=number(9, self.parameters))
        self.entry.append(text)
        size = self.hold(at)
        self.allocations.append(
            number(1, len(self.allocations) + 1)
            + number(2, size)
            + number(5, 1)
            + number(6, self.parameters)
            + data(9, number(1, at) + number(3, size))
        )
        self.parameters += 1
        self.schedule.append(at)
        return at

    def compute(self, opcode, kind, sizes, operands, name, more=b"", is_result=False):
        at, text = self.instruction(opcode, kind, sizes, operands, name, more)
        self.entry.append(text)
        self.schedule.append(at)
        size = self.hold(at)
        for operand in operands:
            self.last_read[operand] = at
        if is_result:
            self.allocations.append(
                number(1, len(self.allocations) + 1)
                + number(2, size)
                + number(7, 1)
                + data(9, number(1, at) + number(3, size))
            )
            self.results.append(at)
        else:
            self.assigned.append(number(1, at) + number(2, self.high) + number(3, size))
            self.high += size
            self.events.append((0, at))
            self.last_read.setdefault(at, at)
        return at

    def fusion(self, opcode, kind, sizes, operands, name):
        """its operands, converted, and one operation of both"""
        parts, read = [], []
        for place, operand in enumerate(operands):
            parameter, text = self.instruction("parameter", *self.shapes[operand], more=number(9, place))
            parts.append(text)
            converted, text = self.instruction("convert", kind, self.shapes[operand][1], [parameter], name)
            parts.append(text)
            read.append(converted)
        root, text = self.instruction(opcode, kind, sizes, read, name)
        parts.append(text)
        number_of, self.next_computation = self.next_computation, self.next_computation + 1
        self.inner.append(
            data(1, f"fused.{number_of}")
            + b"".join(data(2, part) for part in parts)
            + number(5, number_of)
            + number(6, root)
        )
        return self.compute("fusion", kind, sizes, operands, name, packed(38, [number_of]))


def layer_forward(step, layer, x, weight):
    tokens, heads, scores = [BATCH, TOKENS, WIDE], [BATCH, TOKENS, HEADS, WIDTH], [BATCH, HEADS, TOKENS, WIDTH]
    name = f"jit(train_step)/jvp(layer_{layer})/"
    h = step.compute("dot", F32, tokens, [x, weight], name + "dot_general", dot([2], [0]))
    c = step.compute("convert", BF16, tokens, [h], name + "convert_element_type")
    r = step.compute("reshape", BF16, heads, [c], name + "reshape")
    t = step.compute("transpose", BF16, scores, [r], name + "transpose", packed(14, [0, 2, 1, 3]))
    e = step.fusion("add", F32, scores, [t, t], name + "exp")
    s = step.compute("reduce", F32, scores[:3], [e], name + "reduce_sum", packed(14, [3]))
    b = step.compute("broadcast", F32, scores, [s], name + "broadcast_in_dim", packed(14, [0, 1, 2]))
    d = step.compute("divide", F32, scores, [e, b], name + "div")
    u = step.compute("transpose", F32, heads, [d], name + "transpose", packed(14, [0, 2, 1, 3]))
    v = step.compute("reshape", F32, tokens, [u], name + "reshape")
    return step.fusion("add", BF16, tokens, [x, v], name + "add"), (x, h, e, d)


def layer_backward(step, layer, gradient, saved, weight):
    x, h, e, d = saved
    tokens, heads, scores = [BATCH, TOKENS, WIDE], [BATCH, TOKENS, HEADS, WIDTH], [BATCH, HEADS, TOKENS, WIDTH]
    name = f"jit(train_step)/transpose(jvp(layer_{layer}))/"
    r = step.compute("reshape", BF16, heads, [gradient], name + "reshape")
    t = step.compute("transpose", BF16, scores, [r], name + "transpose", packed(14, [0, 2, 1, 3]))
    m = step.fusion("multiply", F32, scores, [t, d], name + "mul")
    s = step.compute("reduce", F32, scores[:3], [m], name + "reduce_sum", packed(14, [3]))
    b = step.compute("broadcast", F32, scores, [s], name + "broadcast_in_dim", packed(14, [0, 1, 2]))
    q = step.compute("divide", F32, scores, [b, e], name + "div")
    u = step.compute("transpose", F32, heads, [q], name + "transpose", packed(14, [0, 2, 1, 3]))
    v = step.compute("reshape", F32, tokens, [u], name + "reshape")
    k = step.fusion("multiply", F32, tokens, [v, h], name + "mul")
    flat_k = step.compute("reshape", F32, [BATCH * TOKENS, WIDE], [k], name + "reshape")
    flat_x = step.compute("reshape", BF16, [BATCH * TOKENS, WIDE], [x], name + "reshape")
    of_weight = step.compute("dot", F32, [WIDE, WIDE], [flat_x, flat_k], name + "dot_general", dot([0], [0]))
    of_x = step.compute("dot", BF16, tokens, [k, weight], name + "dot_general", dot([2], [1]))
    return step.fusion("add", BF16, tokens, [gradient, of_x], name + "add_any"), of_weight


def build(count):
    step, layers = Step(), max(1, count // BUFFERS_A_LAYER)
    states = [
        [step.parameter(F32, [WIDE, WIDE], f"{of}['layers'][{layer}]['w']") for layer in range(layers)]
        for of in ("params", "opt_state[0].mu", "opt_state[0].nu")
    ]
    x = step.parameter(BF16, [BATCH, TOKENS, WIDE], "batch")
    kept, gradients = [], []
    for layer in range(layers):
        x, saved = layer_forward(step, layer, x, states[0][layer])
        kept.append(saved)
    for layer in reversed(range(layers)):
        x, of_weight = layer_backward(step, layer, x, kept[layer], states[0][layer])
        gradients.append(of_weight)
    for layer, gradient in zip(reversed(range(layers)), gradients):
        for state in states:
            step.compute("add", F32, [WIDE, WIDE], [state[layer], gradient], "jit(train_step)/add", is_result=True)
    return step


def events_of(step):
    """what is live when: each buffer is freed behind its last reader"""
    freed, when = {}, {at: place for place, at in enumerate(step.schedule)}
    born = [(when[at], 0, at) for _, at in step.events]
    for _, at in step.events:
        freed.setdefault(step.last_read[at], []).append(at)
    died = [(when[reader], 1, at) for reader, gone in freed.items() for at in gone]
    return [data(1, number(1, kind) + number(2, at)) for _, kind, at in sorted(born + died)]


def encode(step):
    ids = sorted(step.results)
    root = step.next_id
    shapes = b"".join(data(4, shape(*step.shapes[at])) for at in ids)
    step.entry.append(
        data(1, "tuple") + data(2, "tuple") + data(3, number(2, 13) + shapes) + number(35, root) + packed(36, ids)
    )
    step.schedule.append(root)
    computation = data(1, "main") + b"".join(data(2, each) for each in step.entry) + number(5, 1) + number(6, root)
    allocations = [
        number(1, 0) + number(2, step.high) + b"".join(data(9, each) for each in step.assigned)
    ] + step.allocations
    schedule = data(1, number(1, 1) + data(2, packed(1, step.schedule)))
    module = (
        data(1, "jit_train_step")
        + data(2, "main")
        + b"".join(data(3, each) for each in step.inner + [computation])
        + number(5, 1)
        + number(6, 1)
        + data(7, schedule)
        + data(21, "TPU")
    )
    assignment = (
        b"".join(data(1, each) for each in step.buffers)
        + b"".join(data(3, each) for each in allocations)
        + data(4, b"".join(events_of(step)) + number(3, 0))
    )
    return data(1, module) + data(3, assignment)


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__.strip(), formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file")
    parser.add_argument("--buffers", type=int, default=100000)
    options = parser.parse_args(arguments)
    with open(options.file, "wb") as file:
        file.write(encode(build(options.buffers)))


if __name__ == "__main__":
    main(sys.argv[1:])
