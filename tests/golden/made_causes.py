# SPDX-License-Identifier: Apache-2.0
"""Allocator snapshots of programs that run out of memory for one reason each, and of twins that do the same without it,
on the allocator of made_allocator.py, with stacks as PyTorch writes them. A program is a function of `is_so`: False is
the silent twin."""

import made_allocator
from made_allocator import MIB, TORCH

SITE = "/usr/lib/python3/site-packages/"
OWN = [{"name": "<module>", "filename": "/home/me/train.py", "line": 40}]
CALL = {"name": "_call_impl", "filename": TORCH + "nn/modules/module.py", "line": 1790}


def frame(name, file, line):
    return {"name": name, "filename": file, "line": line}


class Program:
    def __init__(self, capacity=8192):
        self.one = made_allocator.Caching(7, capacity=capacity * MIB)

    def at(self, frames, *mebibytes, pool=(0, 0)):
        self.one.stack = lambda: [*frames, *OWN]
        return [self.one.allocate(int(size * MIB), pool=pool) for size in mebibytes]

    def free(self, addresses):
        for address in addresses:
            self.one.free(address)

    def weights(self, *sizes):
        return self.at([frame("__init__", TORCH + "nn/modules/linear.py", 109)], *sizes)

    def forward(self, *sizes, through=()):
        """of layers two modules deep, and one of the outermost module's own"""
        layer = [
            frame("forward", TORCH + "nn/modules/linear.py", 134),
            CALL,
            frame("forward", "/home/me/net.py", 12),
            CALL,
            *through,
        ]
        return self.at(layer, *sizes) + self.at([frame("forward", "/home/me/net.py", 30), CALL, *through], 1)

    def backward(self, saved, *gradients):
        engine = [frame("_engine_run_backward", TORCH + "autograd/graph.py", 824)]
        passing = self.at(engine, 2)
        self.free([*saved, *passing])
        return self.at(engine, *gradients)

    def step(self, *sizes, name="_multi_tensor_adamw"):
        return self.at(
            [frame(name, TORCH + "optim/adamw.py", 380), frame("step", TORCH + "optim/adamw.py", 243)], *sizes
        )

    def state(self, *sizes):
        return self.at(
            [frame("_init_group", TORCH + "optim/adamw.py", 150), frame("step", TORCH + "optim/adamw.py", 243)], *sizes
        )

    def fails(self, what):
        """the snapshot after a request that fails, which `what` makes"""
        try:
            what()
        except made_allocator.OutOfMemory:
            return self.snapshot()
        raise AssertionError("the request did not fail")

    def snapshot(self):
        return made_allocator.snapshot(self.one)


def ended(program, size=17 << 10):
    return program.fails(lambda: program.forward(size))


def steps_keep(is_so):
    program, kept = Program(), []
    program.weights(64, 64)
    for _ in range(12):
        saved = program.forward(*[8] * 4)
        kept += program.at([frame("log_metrics", "/home/me/train.py", 31)], 24)
        program.backward(saved)
        if not is_so and len(kept) > 1:
            program.free([kept.pop(0)])
    return ended(program)


def outputs_kept(is_so):
    """nothing is learned: only modules tell of steps"""
    program = Program()
    program.weights(16, 16)
    for _ in range(12):
        passing = program.forward(*[8] * 4)
        output = program.at([frame("predict", "/home/me/serve.py", 22)], 24)
        program.free(passing + ([] if is_so else output))
    return ended(program)


def one_pass(is_so):
    """the twin of outputs_kept once more: each layer of one pass keeps as much, by the same line"""
    return outputs_kept(True) if is_so else one_pass_alone()


def one_pass_alone():
    program = Program()
    program.weights(16, 16)
    layer = [frame("forward", "/home/me/net.py", 12), CALL, frame("forward", "/home/me/net.py", 50), CALL]
    program.at(
        [frame("forward", TORCH + "nn/modules/sparse.py", 190), CALL, frame("forward", "/home/me/net.py", 48), CALL], 4
    )
    for _ in range(24):
        program.at(layer, 24)
    return ended(program)


def weights_twice(is_so):
    program, sizes = Program(), [32] * 16
    program.weights(*sizes)
    if is_so:
        program.at(
            [
                frame("load_tensor", TORCH + "serialization.py", 1980),
                frame("load", TORCH + "serialization.py", 1540),
                frame("main", "/home/me/load.py", 8),
            ],
            *sizes,
        )
    return ended(program)


def evaluation(is_so):
    program = Program()
    program.weights(16, 16)
    evaluate = [frame("evaluate", "/home/me/train.py", 77)]
    saved = program.forward(*[24] * 4)
    program.backward(saved)
    for _ in range(16):
        made = program.forward(24, through=evaluate)
        if not is_so:
            program.free(made)
    return program.fails(lambda: program.forward(17 << 10, through=evaluate))


def first_step(is_so):
    program, sizes = Program(), [32] * 8
    program.weights(*sizes)
    gradients = program.backward(program.forward(8, 8), *sizes)
    program.state(*sizes)
    if is_so:
        return program.fails(lambda: program.state(17 << 10))
    program.state(*sizes)
    program.free(gradients)
    return ended(program)


def step_temporaries(is_so):
    program, sizes = Program(), [32] * 8
    program.weights(*sizes)
    program.backward(program.forward(8, 8), *sizes)
    program.state(*sizes, *sizes)
    if not is_so:
        return ended(program)
    program.step(*sizes)
    return program.fails(lambda: program.step(17 << 10))


def graph_pools(is_so):
    program = Program(capacity=640)
    pool = (1, 0) if is_so else (0, 0)
    program.at(
        [frame("forward", TORCH + "nn/modules/sparse.py", 190), CALL, frame("forward", "/home/me/net.py", 10), CALL], 4
    )
    held = program.at([frame("forward", "/home/me/net.py", 12), CALL], *[64] * 8, pool=pool)
    for at, address in enumerate(held):
        if at % 2 == 0:
            program.one.free(address)
    program.weights(*[16] * 4)
    held = program.at([frame("forward", "/home/me/net.py", 12), CALL], *[24] * 8, pool=pool)
    program.free(held[::2])
    return program.fails(lambda: program.forward(200 if is_so else 2000))


def of_frames(*frames):
    """a program in which frames hold 512 MiB; the twin's frames are those of a layer"""

    def program(is_so):
        made = Program()
        made.weights(64, 64)
        made.backward(made.forward(16, 16))
        made.at(frames if is_so else [frame("__init__", TORCH + "nn/modules/linear.py", 109)], *[64] * 8)
        return ended(made)

    return program


def averaged(is_so):
    return of_frames(frame("__init__", TORCH + "optim/swa_utils.py", 220))(is_so)


def wide_gradients(is_so):
    program, sizes = Program(), [8, 24, 40, 56, 72]
    program.weights(*sizes)
    program.backward(program.forward(8, 8), *[size * (2 if is_so else 1) for size in sizes])
    return ended(program)


def late_gradients(is_so):
    """freed before the next backward pass, or right after the optimizer's step"""
    program, gradients = Program(capacity=1000), []
    program.weights(*[4] * 8)
    for _ in range(4):
        saved = program.forward(*[24] * 16)
        program.free(gradients)
        gradients = program.backward(saved, *[64] * 8)
        program.free(program.step(8))
        if not is_so:
            program.free(gradients)
            gradients = []
    program.forward(*[24] * 16)
    return ended(program, 300 if is_so else 17 << 10)


def training_cache(is_so):
    program = Program()
    program.weights(16, 16)
    if is_so:
        program.backward(program.forward(8, 8))
    for _ in range(16):
        program.at(
            [
                frame("update", SITE + "transformers/cache_utils.py", 90),
                frame("forward", SITE + "transformers/models/llama/modeling_llama.py", 260),
                CALL,
            ],
            24,
        )
    return ended(program)


def unknown(is_so):
    """what was there before the recording holds most"""
    program = Program()
    program.weights(*[64] * 8)
    if is_so:
        program.one.trace.clear()
        for segment in program.one.segments:
            segment.frames = []
            for block in segment.blocks:
                block[4] = []
    program.forward(8)
    return ended(program)


def first_pass(is_so):
    """a first forward pass; an optimizer has asked for memory before it, or nothing says that anything is learned"""
    program = Program()
    program.weights(16, 16)
    if is_so:
        program.state(16, 16)
    program.forward(*[24] * 16)
    return ended(program)


def unwound(is_so):
    """the request fails, and the exception frees the activations on its way; the twin ends where it fails"""
    program = Program()
    program.weights(16, 16)
    made = program.forward(*[24] * 16)
    snapshot = ended(program)
    if is_so:
        program.free(made)
        snapshot = program.snapshot()
    return snapshot


def passing():
    """activations that are freed although no request failed before: they are workspace"""
    program = Program()
    program.weights(16, 16)
    program.free(program.forward(*[24] * 16))
    return ended(program)


def unwound_elsewhere():
    """two devices: the request fails on one, and the exception frees what was saved on both"""
    first, second = Program(), Program()
    second.one.device, second.one.next = 1, 2 << 40
    for program in (first, second):
        program.weights(16, 16)
    saved = [(program, program.forward(*[24] * 16)) for program in (first, second)]
    second.one.now = first.one.now = max(first.one.now, second.one.now)
    ended(first)
    second.one.now = first.one.now
    for program, made in saved:
        program.free(made)
    return made_allocator.snapshot(first.one, second.one)
