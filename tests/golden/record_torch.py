#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a small training with PyTorch itself, on the CPU, and writes it down as CUDA's allocator would, with what each
block really is.

  record_torch.py OUT.json.gz        (needs torch)

Each storage that an operator makes is an allocation with the Python stack of that moment, and its end a free. On a GPU
the backward pass has a thread of its own, which has no Python frame where all functions are PyTorch's: "threaded" runs
are written so. What a block is, PyTorch tells: the module's parameters and buffers, their .grad, the optimizer's state,
what autograd saved, batches of the data loader; all else is a temporary. It takes some minutes. OUT: {"torch": version,
"runs": {name: {"snapshot": as _dump_snapshot has it, "truth": {event of the device's trace: category}, "before":
{category: bytes}}}}, `before` of blocks that are older than the trace; categories: parameter, gradient,
optimizer_state, saved_activation, input, temporary. torch_categories.py holds the daemon's categories against these.
"""

import gzip
import json
import os
import sys

import torch
from torch.utils._python_dispatch import TorchDispatchMode

WIDTH, DEPTH, BATCH = 64, 3, 16
ENGINE = "_engine_run_backward"

# The training is a program of its own, so that its frames are not ours.
PROGRAM = """
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)

    def forward(self, x):
        return x + self.down(torch.nn.functional.gelu(self.up(self.norm(x))))


class Model(nn.Module):
    def __init__(self, width, depth, is_checkpointed):
        super().__init__()
        self.blocks = nn.ModuleList(Block(width) for _ in range(depth))
        self.is_checkpointed = is_checkpointed

    def forward(self, x):
        for block in self.blocks:
            x = torch.utils.checkpoint.checkpoint(block, x, use_reentrant=False) if self.is_checkpointed else block(x)
        return x


def loss_of(out, wanted):
    difference = out - wanted
    return (difference * difference).mean()


def step(model, optimizer, x, wanted, told):
    loss = loss_of(model(x), wanted)
    loss.backward()
    told(model, optimizer)
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    told(model, optimizer)
    optimizer.zero_grad(set_to_none=True)
"""


class Recorder(TorchDispatchMode):
    def __init__(self, is_threaded):
        super().__init__()
        self.is_threaded, self.trace, self.live, self.now = is_threaded, [], {}, 1_700_000_000_000_000
        self.address, self.truth = 1 << 40, {}

    def frames(self):
        found, frame = [], sys._getframe(1)
        while frame is not None:
            code = frame.f_code
            name = code.co_filename
            if (
                os.path.realpath(name) != os.path.realpath(__file__)
                and "_python_dispatch" not in name
                and "weakref" not in name
            ):
                if self.is_threaded and code.co_name == ENGINE:
                    return []
                if "site-packages/" in name:
                    name = "/usr/lib/python3/site-packages/" + name.split("site-packages/", 1)[1]
                elif name.startswith("<"):
                    name = "/home/me/train.py"
                found.append({"filename": name, "name": code.co_name, "line": frame.f_lineno})
            frame = frame.f_back
        return found

    def write(self, action, address, size):
        self.now += 7
        self.trace.append(
            {
                "action": action,
                "addr": address,
                "size": size,
                "stream": 0,
                "time_us": self.now,
                "compile_context": "N/A",
                "user_metadata": "",
                "frames": self.frames(),
            }
        )

    def tensor(self, tensor):
        storage = tensor.untyped_storage()
        key = storage._cdata
        self.poll()
        if key in self.live or storage.nbytes() == 0:
            return
        self.live[key] = (
            torch.multiprocessing.reductions.StorageWeakRef(storage),
            self.address,
            storage.nbytes(),
            len(self.trace),
            self.frames(),
        )
        self.write("alloc", self.address, storage.nbytes())
        self.address += -(-storage.nbytes() // 512) * 512

    def poll(self, _=None, what="return", __=None):
        if what != "return":
            return
        for key in [key for key, (reference, *_) in self.live.items() if reference.expired()]:
            _, address, size, *_ = self.live.pop(key)
            self.write("free_requested", address, size)
            self.write("free_completed", address, size)

    def event_of(self, tensor):
        found = self.live.get(tensor.untyped_storage()._cdata)
        return None if found is None else found[3]

    def tell(self, tensor, category):
        event = None if tensor is None else self.event_of(tensor)
        if event is not None:
            self.truth.setdefault(event, category)

    def __torch_dispatch__(self, function, types, arguments=(), keywords=None):
        out = function(*arguments, **(keywords or {}))
        for one in out if isinstance(out, (tuple, list)) else [out]:
            if isinstance(one, torch.Tensor):
                self.tensor(one)
        return out

    def snapshot(self, has_stacks):
        self.poll()
        blocks = [
            {
                "address": address,
                "size": -(-size // 512) * 512,
                "requested_size": size,
                "state": "active_allocated",
                "frames": frames if has_stacks else [],
            }
            for _, address, size, _, frames in self.live.values()
        ]
        segments = [
            {
                "device": 0,
                "address": block["address"],
                "total_size": block["size"],
                "allocated_size": block["size"],
                "active_size": block["size"],
                "stream": 0,
                "segment_type": "large",
                "is_expandable": False,
                "frames": [],
                "blocks": [block],
            }
            for block in blocks
        ]
        return {
            "segments": segments,
            "device_traces": [self.trace],
            "allocator_settings": {},
            "external_annotations": [],
        }


def run(make_optimizer, steps, is_threaded, is_checkpointed=False, from_step=None, has_stacks=False):
    program = {"__name__": "train"}
    exec(compile(PROGRAM, "<train>", "exec"), program)
    torch.manual_seed(0)
    recorder = Recorder(is_threaded)
    data = torch.utils.data.DataLoader(
        torch.utils.data.TensorDataset(torch.randn(64, WIDTH), torch.randn(64, WIDTH)), BATCH
    )
    saved = []

    def pack(tensor):
        saved.append(recorder.event_of(tensor))
        return tensor

    def told(model, optimizer):
        for tensor in [*model.parameters(), *model.buffers()]:
            recorder.tell(tensor, "parameter")
            recorder.tell(tensor.grad, "gradient")
        for state in optimizer.state.values():
            for tensor in state.values():
                if isinstance(tensor, torch.Tensor):
                    recorder.tell(tensor, "optimizer_state")

    with recorder:
        model = program["Model"](WIDTH, DEPTH, is_checkpointed)
        for tensor in model.parameters():
            recorder.tell(tensor, "parameter")
        optimizer = make_optimizer(model.parameters())
        sys.setprofile(recorder.poll)
        first = 0
        for at, (x, wanted) in zip(range(steps), data):
            if at == from_step:
                first = len(recorder.trace)
            recorder.tell(x, "input")
            recorder.tell(wanted, "input")
            with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
                program["step"](model, optimizer, x, wanted, told)
            del x, wanted
        sys.setprofile(None)
    for event in saved:
        if event is not None:
            recorder.truth.setdefault(event, "saved_activation")
    allocations = [at for at, event in enumerate(recorder.trace) if event["action"] == "alloc"]
    truth = {at - first: recorder.truth.get(at, "temporary") for at in allocations if at >= first}
    before = {}
    for _, _, size, at, _ in recorder.live.values():
        if at < first:
            category = recorder.truth.get(at, "temporary")
            before[category] = before.get(category, 0) + size
    found = recorder.snapshot(has_stacks)
    found["device_traces"][0] = found["device_traces"][0][first:]
    return {"snapshot": found, "truth": truth, "before": before}


def main():
    adam = lambda values: torch.optim.AdamW(values, lr=1e-3)
    runs = {
        "adamw": run(adam, 2, is_threaded=False),
        "adamw-threaded": run(adam, 2, is_threaded=True),
        "adamw-foreach": run(
            lambda values: torch.optim.AdamW(values, lr=1e-3, foreach=True), 2, is_threaded=True, from_step=0
        ),
        "sgd-momentum": run(
            lambda values: torch.optim.SGD(values, lr=1e-3, momentum=0.9), 2, is_threaded=True, from_step=0
        ),
        "checkpointed": run(adam, 2, is_threaded=False, is_checkpointed=True),
        "late": run(adam, 2, is_threaded=True, from_step=1),
        "late-stacks": run(adam, 2, is_threaded=True, from_step=1, has_stacks=True),
    }
    text = json.dumps({"torch": torch.__version__, "runs": runs}, separators=(",", ":")).encode()
    with open(sys.argv[1], "wb") as out, gzip.GzipFile(fileobj=out, mode="wb", mtime=0) as packed:
        packed.write(text)
    for name, one in runs.items():
        sums = {}
        for at, category in one["truth"].items():
            sums[category] = sums.get(category, 0) + one["snapshot"]["device_traces"][0][at]["size"]
        print(name, len(one["snapshot"]["device_traces"][0]), sums)


if __name__ == "__main__":
    main()
