# SPDX-License-Identifier: Apache-2.0
"""A caching allocator as PyTorch's is, in small: segments by stream and size of requests, blocks that are split and
joined, frees that wait for a stream, segments that grow, requests that fail. It writes down of itself what PyTorch
would, and keeps beside it what was true at each moment. Rules: c10/cuda/CUDACachingAllocator.cpp of PyTorch 2.6."""

import random

KIB, MIB = 1 << 10, 1 << 20
SMALL, SMALL_SEGMENT, LARGE_SEGMENT, GRAIN = MIB, 2 * MIB, 20 * MIB, 2 * MIB
ACTIVE, PENDING, INACTIVE = "active_allocated", "active_pending_free", "inactive"
TORCH = "/usr/lib/python3/site-packages/torch/"


class OutOfMemory(Exception):
    pass


def rounded(size):
    return max(512, -(-size // 512) * 512)


class Segment:
    def __init__(self, address, size, stream, is_large, is_expandable, pool, frames):
        self.address, self.stream, self.is_large, self.is_expandable = address, stream, is_large, is_expandable
        self.pool, self.frames = pool, frames
        self.blocks = [[address, size, INACTIVE, 0, []]]  # address, size, state, requested, frames

    @property
    def size(self):
        return sum(block[1] for block in self.blocks)


class Caching:
    """One device of `capacity` bytes. Each event is written to `trace`; `failures` holds what each failed request
    met."""

    def __init__(self, seed, device=0, capacity=256 * MIB, expandable=False, others=0):
        self.random, self.device, self.capacity, self.is_expandable, self.others = (
            random.Random(seed),
            device,
            capacity,
            expandable,
            others,
        )
        self.segments, self.trace, self.failures, self.states = [], [], [], []
        self.now, self.next = 1_700_000_000_000_000, (device + 1) << 40
        self.frames = [
            {"name": name, "filename": file, "line": at + 10}
            for at, (name, file) in enumerate(
                [
                    ("forward", "/home/me/model.py"),
                    ("train_step", "/home/me/train.py"),
                    ("attention", "/home/me/model.py"),
                    ("step", "/usr/lib/python3/dist-packages/torch/optim/adam.py"),
                    ("at::_ops::empty_like::call(at::Tensor const&)", "??"),
                ]
            )
        ]

    # ---- what it writes down ----

    def stack(self):
        return self.random.sample(self.frames, self.random.randint(1, len(self.frames)))

    def write(self, action, address, size, stream, frames):
        self.now += self.random.randint(1, 40)
        place = {"device_free": address} if action == "oom" else {"addr": address}
        self.trace.append(
            {
                "action": action,
                **place,
                "size": size,
                "stream": stream,
                "time_us": self.now,
                "compile_context": "N/A",
                "user_metadata": "",
                "frames": frames,
            }
        )

    # ---- figures that are true now ----

    @property
    def reserved(self):
        return sum(segment.size for segment in self.segments)

    @property
    def device_free(self):
        return self.capacity - self.others - self.reserved

    def holes(self, is_usable=lambda segment: True):
        return [
            block[1]
            for segment in self.segments
            if is_usable(segment)
            for block in segment.blocks
            if block[2] == INACTIVE
        ]

    def requested(self):
        return sum(block[3] for segment in self.segments for block in segment.blocks if block[2] != INACTIVE)

    def figures(self):
        """of this moment: what segments and blocks there are"""
        return self.figures_of(lambda segment: True)

    def figures_of(self, is_wanted):
        return [
            (
                segment.address,
                segment.size,
                segment.stream,
                [tuple(block[:4]) for block in segment.blocks if block[2] != INACTIVE],
            )
            for segment in sorted(self.segments, key=lambda one: one.address)
            if is_wanted(segment)
        ]

    # ---- what it does ----

    def find(self, size, stream, pool):
        is_large = size > SMALL
        fitting = [
            (block[1], block[0], segment, block)
            for segment in self.segments
            if (segment.stream, segment.is_large, segment.pool) == (stream, is_large, pool)
            for block in segment.blocks
            if block[2] == INACTIVE and block[1] >= size
        ]
        return min(fitting, key=lambda one: one[:2])[2:] if fitting else None

    def grow(self, size, stream, pool, frames):
        is_large = size > SMALL
        if self.is_expandable:
            return self.expand(size, stream, is_large, pool, frames)
        whole = SMALL_SEGMENT if not is_large else LARGE_SEGMENT if size < 10 * MIB else -(-size // (2 * MIB)) * 2 * MIB
        if whole > self.device_free:
            return None
        segment = Segment(self.next, whole, stream, is_large, False, pool, frames)
        self.next += whole + 8 * MIB
        self.segments.append(segment)
        self.write("segment_alloc", segment.address, whole, stream, frames)
        return segment, segment.blocks[0]

    def expand(self, size, stream, is_large, pool, frames):
        own = [one for one in self.segments if (one.stream, one.is_large, one.pool) == (stream, is_large, pool)]
        last = own[-1].blocks[-1] if own else None
        held = last[1] if last and last[2] == INACTIVE else 0
        grain = GRAIN if not is_large else 20 * MIB
        more = -(-(size - held) // grain) * grain
        if more > self.device_free:
            return None
        if not own:
            own = [Segment(self.next, 0, stream, is_large, True, pool, frames)]
            own[0].blocks = []
            self.next += 1 << 32
            self.segments.append(own[0])
        address = own[0].address + own[0].size
        self.write("segment_map", address, more, stream, frames)
        if held:
            last[1] += more
        else:
            own[0].blocks.append([address, more, INACTIVE, 0, []])
        return own[0], own[0].blocks[-1]

    def release(self):
        """what is wholly free goes back to the device, as before a request fails; of what can grow its free end"""
        for segment in list(self.segments):
            if segment.is_expandable and segment.blocks[-1][2] == INACTIVE:
                last = segment.blocks[-1]
                less = last[1] // GRAIN * GRAIN
                if less:
                    last[1] -= less
                    self.write("segment_unmap", last[0] + last[1], less, segment.stream, [])
                    if last[1] == 0:
                        segment.blocks.pop()
                    if not segment.blocks:
                        self.segments.remove(segment)
            elif len(segment.blocks) == 1 and segment.blocks[0][2] == INACTIVE:
                self.segments.remove(segment)
                self.write("segment_free", segment.address, segment.size, segment.stream, [])

    def fail(self, size, stream, frames):
        is_usable = lambda one: (one.stream, one.is_large, one.pool) == (stream, size > SMALL, (0, 0))
        self.write("oom", self.device_free, size, stream, frames)
        unsplit = sum(
            block[1] - rounded(block[3])
            for segment in self.segments
            for block in segment.blocks
            if block[2] != INACTIVE
        )
        self.failures.append(
            {
                "at": self.now,
                "unsplit": unsplit,
                "segments": self.figures_of(is_usable),
                "requested": size,
                "device_free": self.device_free,
                "reserved": self.reserved,
                "active": self.requested(),
                "free": sum(self.holes()),
                "usable": sum(self.holes(is_usable)),
                "largest": max(self.holes(is_usable), default=0),
                "largest_any": max(self.holes(), default=0),
            }
        )
        raise OutOfMemory(size)

    def allocate(self, requested, stream=0, pool=(0, 0)):
        size, frames = rounded(requested), self.stack()
        found = self.find(size, stream, pool) or self.grow(size, stream, pool, frames)
        if not found:
            self.release()
            found = self.grow(size, stream, pool, frames)
        if not found:
            self.fail(size, stream, frames)
        segment, block = found
        rest, is_split = block[1] - size, segment.is_expandable or not segment.is_large
        if rest >= 512 and is_split or rest > SMALL:
            segment.blocks.insert(segment.blocks.index(block) + 1, [block[0] + size, rest, INACTIVE, 0, []])
            block[1] = size
        block[2:] = [ACTIVE, requested, frames]
        self.write("alloc", block[0], requested, stream, frames)
        self.mark()
        return block[0]

    def locate(self, address):
        return next(
            (segment, block)
            for segment in self.segments
            for block in segment.blocks
            if block[0] == address and block[2] != INACTIVE
        )

    def free(self, address, waits=False):
        segment, block = self.locate(address)
        self.write("free_requested", address, block[3], segment.stream, self.stack())
        block[2] = PENDING
        if not waits:
            self.complete(address)

    def complete(self, address):
        segment, block = self.locate(address)
        self.write("free_completed", address, block[3], segment.stream, self.stack())
        block[2:] = [INACTIVE, 0, []]
        at = segment.blocks.index(block)
        for one in (at + 1, at):
            if 0 < one < len(segment.blocks) and segment.blocks[one][2] == segment.blocks[one - 1][2] == INACTIVE:
                segment.blocks[one - 1][1] += segment.blocks.pop(one)[1]
        self.mark()

    def mark(self):
        self.states.append(self.figures())

    # ---- the whole of it ----

    def rows(self):
        def block(one):
            return {"address": one[0], "size": one[1], "requested_size": one[3], "state": one[2], "frames": one[4]}

        return [
            {
                "device": self.device,
                "address": one.address,
                "total_size": one.size,
                "allocated_size": sum(each[1] for each in one.blocks if each[2] == ACTIVE),
                "active_size": sum(each[1] for each in one.blocks if each[2] != INACTIVE),
                "requested_size": sum(each[3] for each in one.blocks),
                "stream": one.stream,
                "segment_type": "large" if one.is_large else "small",
                "segment_pool_id": one.pool,
                "is_expandable": one.is_expandable,
                "frames": one.frames,
                "blocks": [block(each) for each in one.blocks],
            }
            for one in self.segments
        ]


def run(allocator, steps, streams=(0,), largest=24 * MIB):
    """`steps` random allocations and frees; what fails is counted and does not end it"""
    live, waiting, random_ = [], [], allocator.random
    for _ in range(steps):
        if waiting and random_.random() < 0.3:
            allocator.complete(waiting.pop(random_.randrange(len(waiting))))
        elif live and random_.random() < 0.46:
            address = live.pop(random_.randrange(len(live)))
            waits = random_.random() < 0.2
            allocator.free(address, waits)
            waiting += [address] if waits else []
        else:
            size = random_.choice((100, 512, 5000, 300 * KIB, 2 * MIB, 3 * MIB + 1, 7 * MIB, largest))
            try:
                live.append(allocator.allocate(size, random_.choice(streams)))
            except OutOfMemory:
                pass
    return allocator


def snapshot(*allocators, keeps=None):
    """of devices, of which the last `keeps` events each are remembered"""
    return {
        "segments": [row for one in allocators for row in one.rows()],
        "device_traces": [one.trace[-keeps:] if keeps else one.trace for one in allocators],
        "allocator_settings": {"expandable_segments": allocators[0].is_expandable},
        "external_annotations": [],
    }


def growing(steps=6, word="ProfilerStep#"):
    """A device on which each step frees what it allocates but 1 MiB; its steps are annotated, as torch.profiler
    does."""
    one, marks = Caching(1), []
    leak, work = (
        [{"name": name, "filename": "/home/me/train.py", "line": line}]
        for name, line in (("log_metrics", 31), ("train_step", 54))
    )
    for step in range(steps):
        mark = {"name": f"{word}{step}", "device": 0}
        marks.append({"stage": "START", **mark, "time_us": one.now})
        one.stack = lambda: work
        address = one.allocate(8 * MIB)
        one.stack = lambda: leak
        one.allocate(MIB)
        one.stack = lambda: work
        one.free(address)
        one.now += 5
        marks.append({"stage": "END", **mark, "time_us": one.now})
        one.now += 5
    return {**snapshot(one), "external_annotations": marks}


def fragmented():
    """One device of 64 MiB on which every other one of 30 blocks of 2 MiB was freed, and then 24 MiB are asked for."""
    one = Caching(1, capacity=64 * MIB)
    live = [one.allocate(2 * MIB) for _ in range(30)]
    for address in live[::2]:
        one.free(address)
    try:
        one.allocate(24 * MIB)
    except OutOfMemory:
        pass
    return one


def size(bytes_):
    """format_size of c10"""
    for unit, name in ((1 << 30, "GiB"), (MIB, "MiB"), (KIB, "KiB")):
        if bytes_ >= unit:
            return f"{bytes_ / unit:.2f} {name}"
    return f"{bytes_} bytes"


def text_of(one, failed, device=0, **other):
    """what PyTorch 2.5 says of a failed request, with the figures of `other` in place of those that are true"""
    request = failed["requested"]
    segment = 2 * MIB if request <= MIB else 20 * MIB if request < 10 * MIB else -(-request // (2 * MIB)) * 2 * MIB
    allocated = failed["reserved"] - failed["free"]
    is_ = {
        "asked": segment,
        "free": failed["device_free"],
        "allocated": allocated,
        "rest": failed["free"],
        "own": failed["reserved"] + 5 * MIB,
        "process": True,
        **other,
    }
    process = f"Process 4711 has {size(one.others - 5 * MIB)} memory in use. " if one.others and is_["process"] else ""
    return (
        f"Traceback (most recent call last):\ntorch.OutOfMemoryError: CUDA out of memory. Tried to allocate "
        f"{size(is_['asked'])}. GPU {device} has a "
        f"total capacity of {size(one.capacity)} of which {size(is_['free'])} is free. {process}Including non-PyTorch "
        f"memory, this process has "
        f"{size(is_['own'])} memory in use. Of the allocated memory {size(is_['allocated'])} is allocated by PyTorch, "
        f"and {size(is_['rest'])} is "
        "reserved by PyTorch but unallocated. If reserved but unallocated memory is large try setting "
        "PYTORCH_CUDA_ALLOC_CONF="
        "expandable_segments:True to avoid fragmentation.  See documentation for Memory Management  "
        "(https://pytorch.org/docs/stable/notes/cuda.html#environment-variables)\n"
    ).encode()


def filled(asked, others=21 * MIB, count=60, every=2):
    """a device of 256 MiB of which others have some, filled with blocks of 3.5 MiB, of which each `every`th was
    freed"""
    one = Caching(2, capacity=256 * MIB, others=others)
    live = []
    try:
        for _ in range(count):
            live.append(one.allocate(7 * MIB // 2 + 100))
    except OutOfMemory:
        pass
    for address in live[::every]:
        one.free(address)
    try:
        one.allocate(asked)
    except OutOfMemory:
        pass
    return one, one.failures[-1]
