# SPDX-License-Identifier: Apache-2.0
"""A training of a small transformer on the allocator of made_allocator.py, with stacks as PyTorch writes them where
only Python's frames are kept. It can be run with another batch, sequence, optimizer, attention, checkpointed, with
gradients that are kept, with a cache, with activations or the optimizer in the host's memory, and over several devices:
what it takes then is measured, not told by a rule. It ends where a request fails. Some activations have the size of a
weight on purpose."""

import made_allocator
from made_allocator import MIB, TORCH

CUBLAS_BYTES, HEAD_BYTES = 8_519_680, 12 * MIB
SITE = "/usr/lib/python3/site-packages/"
MODULE = [
    {"name": name, "filename": TORCH + "nn/modules/module.py", "line": line}
    for name, line in (("_call_impl", 1790), ("_wrapped_call_impl", 1779))
]


def frame(name, file, line):
    return {"name": name, "filename": file, "line": line}


class Program:
    def __init__(
        self,
        batch=8,
        sequence=1,
        optimizer="adamw",
        attention="eager",
        checkpoint=False,
        layers=4,
        steps=3,
        parts=1,
        weights=(4 * MIB, 6 * MIB),
        capacity=4096 * MIB,
        keeps_gradients=False,
        offload=(),
        devices=1,
        caches=False,
    ):
        self.one = made_allocator.Caching(5, capacity=capacity)
        self.keeps_gradients, self.offload, self.devices, self.caches = keeps_gradients, offload, devices, caches
        self.optimizer, self.attention, self.is_checkpointed, self.layers = optimizer, attention, checkpoint, layers
        self.activation, self.scores = (
            int(batch * sequence * MIB / 2),
            int(batch * sequence**2 * 2 * MIB),
        )  # of a batch of 8: 4 MiB, as much as a weight; 16 MiB
        self.outer = [frame("<module>", "/home/me/train.py", 40)]
        self.cached = []
        self.weights = [
            self.at(
                [
                    frame("__init__", TORCH + "nn/modules/linear.py", 109),
                    frame("__init__", "/home/me/net.py", 20),
                    *self.outer,
                ],
                size // devices,
            )
            for _ in range(layers)
            for size in weights
        ] + [self.at([frame("__init__", TORCH + "nn/modules/linear.py", 109), *self.outer], HEAD_BYTES // devices)]
        self.sizes = [size for _ in range(layers) for size in weights] + [HEAD_BYTES]
        self.gradients, self.states, self.workspace, self.peaks = (
            [],
            [],
            None,
            {"allocated": 0, "requested": 0, "reserved": 0},
        )
        self.failed = False
        try:
            for _ in range(steps):
                for _ in range(parts):
                    self.backward(self.forward())
                self.step()
        except made_allocator.OutOfMemory:
            self.failed = True

    def at(self, frames, size):
        self.one.stack = lambda: frames
        address = self.one.allocate(size)
        self.measure()
        return address

    def measure(self):
        if hasattr(self, "peaks"):
            used = sum(
                block[1]
                for segment in self.one.segments
                for block in segment.blocks
                if block[2] == made_allocator.ACTIVE
            )
            for name, value in (
                ("allocated", used),
                ("requested", self.one.requested()),
                ("reserved", self.one.reserved),
            ):
                self.peaks[name] = max(self.peaks[name], value)

    def free(self, *addresses):
        for address in addresses:
            self.one.free(address)

    # ---- forward ----

    def layer_frames(self, line, *inner):
        return [
            *inner,
            frame("forward", "/home/me/net.py", line),
            *MODULE,
            frame("forward", "/home/me/net.py", 70),
            *MODULE,
            *self.outer,
        ]

    def layer(self, prefix=()):
        """what it saves, its output the last"""

        def at(size, line, *inner):
            return self.at([*self.layer_frames(line, *inner), *prefix], size)

        linear = [frame("forward", TORCH + "nn/modules/linear.py", 134), *MODULE]
        saved = [at(self.activation, 30), at(self.activation, 31, *linear), at(self.activation, 32, *linear)]
        if self.workspace is None:
            self.workspace = at(CUBLAS_BYTES, 32, *linear)
        attention = frame("attention", "/home/me/net.py", 12)
        if self.attention == "eager":
            made = self.at([attention, *self.layer_frames(33), *prefix], self.scores)
            saved.append(
                self.at(
                    [
                        frame("softmax", TORCH + "nn/functional.py", 2161),
                        {**attention, "line": 14},
                        *self.layer_frames(33),
                        *prefix,
                    ],
                    self.scores,
                )
            )
            self.free(made)
        saved.append(self.at([{**attention, "line": 15}, *self.layer_frames(33), *prefix], self.activation))
        if self.caches:
            self.cached.append(at(self.activation, 33, frame("update", SITE + "transformers/cache_utils.py", 90)))
        passing = at(self.activation, 34, *linear)
        saved.append(at(self.activation, 35))
        self.free(passing)
        return saved

    def forward(self):
        saved, is_moved = [], "activations" in self.offload
        for number in range(self.layers):
            whole = self.gather(2 * number, 2)
            made = self.layer()
            self.free(*whole)
            if is_moved:  # to the host, but for what the next layer reads
                self.free(*made[:-1], *(saved[-1][-1:] if saved else []))
                made = [None] * (len(made) - 1) + made[-1:]
            elif self.is_checkpointed:
                self.free(*made[:-1])
                made = [None, made[-1]]
            saved.append(made)
        head = self.layer_frames(80, frame("forward", TORCH + "nn/modules/linear.py", 134), *MODULE)[:-5] + [
            *MODULE,
            *self.outer,
        ]
        whole = self.gather(len(self.sizes) - 1, 1)
        made = self.at(head, 2 * self.activation)
        if is_moved:
            self.free(saved[-1][-1])
        self.free(*whole)
        return saved, [made]

    def gather(self, first, count):
        """weights of other devices, while they are at work"""
        return [self.at([], size) for size in self.sizes[first : first + count]] if self.devices > 1 else []

    def brought(self, sizes):
        """from the host, one at a time"""
        for size in sizes:
            self.free(self.at([], size))

    # ---- backward ----

    def weight_gradient(self, number):
        """it stays, or is added to what is there"""
        made = self.at([], self.sizes[number])
        if self.devices > 1:
            whole, made = made, self.at([], self.sizes[number] // self.devices)
            self.free(whole)
        if len(self.gradients) < len(self.sizes):
            self.gradients.append(made)
        else:
            self.free(made)

    def backward(self, passes):
        saved, head = passes
        gradient = self.at([], self.activation)
        self.weight_gradient(len(self.sizes) - 1)
        self.free(*head)
        is_moved = "activations" in self.offload
        for number, made in reversed(list(enumerate(saved))):
            whole = self.gather(2 * number, 2)
            if is_moved:
                made.pop()
                self.brought([self.activation])
            else:
                self.free(made.pop())
            if made == [None] and not is_moved:
                made = self.layer(
                    [
                        frame("recompute_fn", TORCH + "utils/checkpoint.py", 1100),
                        frame("backward", TORCH + "_tensor.py", 600),
                    ]
                )
                self.free(made.pop())
            self.weight_gradient(2 * number)
            next_gradient = self.at([], self.activation)
            if self.attention == "eager":
                self.free(*[self.at([], self.scores) for _ in range(2)])
            self.weight_gradient(2 * number + 1)
            self.free(gradient, *whole)
            if is_moved:
                self.brought(
                    [self.activation] * 3 + ([self.scores] if self.attention == "eager" else []) + [self.activation]
                )
            else:
                self.free(*made)
            gradient = next_gradient
        self.free(gradient)

    def step(self):
        adam = TORCH + "optim/adamw.py"
        is_here = self.optimizer == "adamw" and "optimizer" not in self.offload
        if is_here and not self.states:
            self.states = [
                self.at([frame("_init_group", adam, 150), frame("step", adam, 220), *self.outer], size // self.devices)
                for size in self.sizes
                for _ in range(2)
            ]
        if is_here:
            self.free(
                *[
                    self.at(
                        [frame("_multi_tensor_adamw", adam, 500), frame("step", adam, 230), *self.outer],
                        size // self.devices,
                    )
                    for size in self.sizes
                ]
            )
        self.free(*self.cached)
        self.cached = []
        self.one.stack = lambda: [frame("zero_grad", TORCH + "optim/optimizer.py", 1066), *self.outer]
        if not self.keeps_gradients:
            self.free(*self.gradients)
            self.gradients = []


def snapshot(program):
    return made_allocator.snapshot(program.one)
