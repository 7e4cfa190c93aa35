#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An allocator snapshot as PyTorch writes it, of any number of events.

  make_snapshot.py --events N [--stacks N] [--depth N] OUT

Allocations, and of each what frees it (requested, completed) in the order of a training step; each has its own list of
`depth` frames, of which there are as many as the stacks need. Written piece by piece: a snapshot of gigabytes needs
little memory here.
"""

import argparse
import random
import struct


class Writer:
    def __init__(self, file):
        self.file, self.memo, self.count = file, {}, 0
        file.write(b"\x80\x04")

    def keep(self):
        self.file.write(b"\x94")
        self.count += 1
        return self.count - 1

    def text(self, text):
        at = self.memo.get(text)
        if at is None:
            data = text.encode()
            self.file.write(
                (b"\x8c" + bytes([len(data)]) if len(data) < 256 else b"X" + struct.pack("<I", len(data))) + data
            )
            self.memo[text] = self.keep()
        else:
            self.get(at)

    def get(self, at):
        self.file.write(b"h" + bytes([at]) if at < 256 else b"j" + struct.pack("<I", at))

    def number(self, value):
        if 0 <= value < 1 << 31:
            self.file.write(b"J" + struct.pack("<i", value))
        else:
            data = value.to_bytes((value.bit_length() + 8) // 8, "little", signed=True)
            self.file.write(b"\x8a" + bytes([len(data)]) + data)

    def dict(self, pairs):
        """pairs: (key, what writes the value)"""
        self.file.write(b"}")
        at = self.keep()
        self.file.write(b"(")
        for key, write in pairs:
            self.text(key)
            write()
        self.file.write(b"u")
        return at


def frames_of(writer, count, files):
    """numbers of `count` frames in the memo"""
    writer.text("frames")
    writer.file.write(b"]")
    writer.keep()
    writer.file.write(b"(")
    found = [
        writer.dict(
            (
                (
                    "name",
                    lambda at=at: writer.text(
                        f"torch::autograd::function_{at}(at::Tensor const&)" if at % 3 else f"forward_{at}"
                    ),
                ),
                ("filename", lambda at=at: writer.text("??" if at % 3 else files[at % len(files)])),
                ("line", lambda at=at: writer.number(at % 900)),
            )
        )
        for at in range(count)
    ]
    writer.file.write(b"e")
    return found


def event(writer, action, address, size, time_us, stack):
    def write_stack():
        writer.file.write(b"]")
        writer.keep()
        writer.file.write(b"(")
        for at in stack:
            writer.get(at)
        writer.file.write(b"e")

    writer.dict(
        (
            ("action", lambda: writer.text(action)),
            ("addr", lambda: writer.number(address)),
            ("size", lambda: writer.number(size)),
            ("stream", lambda: writer.number(0)),
            ("time_us", lambda: writer.number(time_us)),
            ("compile_context", lambda: writer.text("N/A")),
            ("user_metadata", lambda: writer.text("")),
            ("frames", write_stack),
        )
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--events", type=int, required=True)
    parser.add_argument("--stacks", type=int, default=2000)
    parser.add_argument("--depth", type=int, default=44)
    parser.add_argument("out")
    options = parser.parse_args()
    random_ = random.Random(1)
    files = [f"/home/me/project/models/block_{at}.py" for at in range(40)] + [
        "/usr/lib/python3/dist-packages/torch/nn/modules/module.py"
    ]
    with open(options.out, "wb", buffering=1 << 20) as file:
        writer = Writer(file)
        file.write(b"}")
        writer.keep()
        file.write(b"(")
        writer.text("segments")
        file.write(b"]")
        writer.keep()
        frames = frames_of(writer, options.stacks, files)
        stacks = [random_.sample(frames, options.depth) for _ in range(options.stacks)]
        writer.text("device_traces")
        file.write(b"]")
        writer.keep()
        file.write(b"]")
        writer.keep()
        live, now, next_address, written = [], 1_700_000_000_000_000, 1 << 46, 0
        while written < options.events:
            file.write(b"(")
            for _ in range(min(1000, options.events - written)):
                now += 3
                written += 1
                stack = stacks[random_.randrange(len(stacks))]
                if len(live) > 4000 or (live and random_.random() < 0.45):
                    address, size = live.pop(random_.randrange(len(live)))
                    event(writer, "free_completed", address, size, now, stack)
                else:
                    size, next_address = random_.choice((512, 4096, 1 << 20, 25 << 20)), next_address + (32 << 20)
                    live.append((next_address, size))
                    event(writer, "alloc", next_address, size, now, stack)
            file.write(b"e")
        file.write(b"au.")


if __name__ == "__main__":
    main()
