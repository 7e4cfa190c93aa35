#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What torch.autocast makes of the memory that a forward pass saves, beside the only rule that a snapshot allows.

  torch_autocast.py          with a Python that has torch; no GPU is needed

A snapshot tells neither element types nor operations, so a prediction could only halve all that is saved. Three models
run on the CPU in float32 and below torch.autocast("cpu", torch.bfloat16), each storage that is made is counted in
blocks of 512 bytes for as long as it lives. Exit status 1 if halving is within 10 % on all: it should be offered then.
"""

import os
import sys
import weakref

os.environ.setdefault("OMP_NUM_THREADS", "1")

import torch  # noqa: E402
from torch import nn  # noqa: E402
from torch.utils._python_dispatch import TorchDispatchMode  # noqa: E402
from torch.utils._pytree import tree_map  # noqa: E402

BLOCK_BYTES, WITHIN = 512, 0.1


class Alive(TorchDispatchMode):
    """bytes of the storages that operations made and that are alive"""

    def __init__(self):
        super().__init__()
        self.bytes_of, self.bytes = {}, 0

    def add(self, value):
        if not isinstance(value, torch.Tensor):
            return
        storage = value.untyped_storage()
        if storage._cdata not in self.bytes_of:
            size = -(-storage.nbytes() // BLOCK_BYTES) * BLOCK_BYTES
            self.bytes_of[storage._cdata] = size
            self.bytes += size
            weakref.finalize(storage, self.drop, storage._cdata)

    def drop(self, key):
        self.bytes -= self.bytes_of.pop(key, 0)

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        result = function(*args, **(kwargs or {}))
        tree_map(self.add, result)
        return result


def perceptron():
    return nn.Sequential(*[nn.Sequential(nn.Linear(128, 128), nn.GELU()) for _ in range(4)]), torch.randn(512, 128)


def transformer():
    layer = nn.TransformerEncoderLayer(64, 4, 256, batch_first=True, norm_first=True)
    return nn.TransformerEncoder(layer, 2, enable_nested_tensor=False), torch.randn(4, 64, 64)


def convolutions():
    layers = [(nn.Conv2d(32 if at else 3, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU()) for at in range(3)]
    return nn.Sequential(*[each for layer in layers for each in layer]), torch.randn(2, 3, 32, 32)


def saved_bytes(make, is_cast):
    torch.manual_seed(0)
    model, inputs = make()
    alive = Alive()
    with alive, torch.autocast("cpu", torch.bfloat16, enabled=is_cast):
        output = model(inputs)
    saved = alive.bytes
    output.float().sum().backward()
    return saved


def main():
    is_near = True
    for make in (perceptron, transformer, convolutions):
        plain, cast = saved_bytes(make, False), saved_bytes(make, True)
        off = plain / 2 / cast - 1
        is_near &= abs(off) <= WITHIN
        print(f"{make.__name__}: {plain:,} B in float32, {cast:,} B below autocast; half is {100 * off:+.1f} % off")
    return 1 if is_near else 0


if __name__ == "__main__":
    sys.exit(main())
