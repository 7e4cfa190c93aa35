# SPDX-License-Identifier: Apache-2.0
"""PyTorch trainings on the allocator of made_allocator.py, in small: steps that keep their graph or do not, layers that
compute activations."""

from made_allocator import MIB, TORCH, Caching, OutOfMemory, snapshot

PASS_BLOCKS, PASS_BLOCK = 4, 2 * MIB


class Training:
    """A device on which two layers are trained, with stacks as PyTorch writes them: what `saved` lists is held for the
    backward pass. It ends with a request of 17 GiB in a forward pass, which fails."""

    def __init__(self, capacity=2048 * MIB, schedule=None):
        self.one = Caching(3, capacity=capacity)
        self.outer = [{"name": "<module>", "filename": "/home/me/train.py", "line": 40}]
        self.outer += [{"name": "step", "filename": schedule, "line": 700}] if schedule else []
        self.do(TORCH + "nn/modules/linear.py", "__init__", 4 * MIB)

    def do(self, file, function, *sizes, through=()):
        module = [{"name": "forward", "filename": "/home/me/net.py", "line": 12}] if function == "forward" else []
        self.one.stack = lambda: [{"name": function, "filename": file, "line": 100}, *through, *module, *self.outer]
        return [self.one.allocate(size) for size in sizes]

    def operation(self, function, line, name, *sizes):
        """what a line of a model from a library asks of torch.nn.functional, and a copy that the line makes itself"""
        model = {
            "name": name,
            "filename": f"/usr/lib/python3/site-packages/transformers/models/llama/{line[0]}",
            "line": line[1],
        }
        through = [
            model,
            {"name": "_call_impl", "filename": TORCH + "nn/modules/module.py", "line": 1750},
            {"name": "forward", "filename": "/home/me/net.py", "line": 12},
        ]
        made = self.do(TORCH + "nn/functional.py", function, *sizes, through=through)
        self.one.stack = lambda: [*through, *self.outer]
        return made + [self.one.allocate(size // 2) for size in sizes]

    def forward(self):
        return self.do(TORCH + "nn/modules/linear.py", "forward", *[PASS_BLOCK] * PASS_BLOCKS)

    def backward(self, saved=()):
        """frees what was saved for it; what it makes itself is gone afterwards"""
        made = self.do(TORCH + "autograd/graph.py", "_engine_run_backward", MIB, MIB)
        for address in (*saved, *made):
            self.one.free(address)

    def fail(self):
        try:
            self.do(TORCH + "nn/modules/linear.py", "forward", 17 << 30)
        except OutOfMemory:
            pass
        return snapshot(self.one)


def trained(kind, steps=24):
    """`steps` steps that keep the graph of each ("retain": backward(retain_graph=True); "loss": of every other step
    nothing is asked back, and a sum of losses holds it), or as they should be: plain, two microbatches a step, two
    networks that train each other, a pipeline with eight passes on the way, and a last pass larger than all before."""
    training = Training(schedule=TORCH + "distributed/pipelining/schedules.py" if kind == "pipeline" else None)
    waiting = []
    for step in range(steps if kind != "pipeline" else 18):
        saved = training.forward()
        if kind == "retain":
            training.backward()
        elif kind == "loss" and step % 2:
            continue
        elif kind == "accumulate":
            training.backward(saved)
            training.backward(training.forward())
        elif kind == "two networks":
            training.backward(training.forward())
            training.backward(saved)
        elif kind == "pipeline":
            waiting.append(saved)
            if len(waiting) > 8:
                training.backward(waiting.pop(0))
        else:
            training.backward(saved)
    for _ in range(steps if kind == "large" else 1):
        training.forward()
    return training.fail()


def computed(scores, logits):
    """a training whose softmax makes `scores` bytes and whose cross entropy `logits`, half as much each time by their
    own lines, beside 32 MiB of other activations; it ends in its third forward pass"""
    training = Training()
    for step in range(3):
        saved = training.forward() + training.forward() + training.forward() + training.forward()
        saved += training.operation("softmax", ("modeling_llama.py", 208), "eager_attention_forward", scores)
        saved += training.operation("cross_entropy", ("loss_utils.py", 40), "fixed_cross_entropy", logits)
        if step < 2:
            training.backward(saved)
    return training.fail()


def sequential(last="softmax"):
    """a training of torch.nn.Sequential, all of whose memory one line of the person's own code asks for, and which ends
    in a small softmax"""
    training = Training()
    own = [
        {"name": "forward", "filename": TORCH + "nn/modules/container.py", "line": 250},
        {"name": "<module>", "filename": "/home/me/net.py", "line": 40},
    ]
    for _ in range(10):
        training.do(TORCH + "nn/modules/linear.py", "_forward", 8 * MIB, through=own)
    training.do(TORCH + "nn/functional.py", last, 8 * MIB, through=own)
    return training.fail()
