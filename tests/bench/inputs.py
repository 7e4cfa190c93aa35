# SPDX-License-Identifier: Apache-2.0
"""What is measured: one session each, laid into a fresh folder, and the requests about it."""

import glob
import gzip
import os
import shutil
import subprocess
import urllib.parse

PREFIX = "/data/plugin/profile"
MODULE_LIST, MEMORY_VIEWER, MEMORY_PROFILE = "module list", "memory viewer", "memory profile"


def varint(value):
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes(out + bytes([value]))


def message(number, data):
    return varint(number << 3 | 2) + varint(len(data)) + data


def wrapped(name, hlo):
    """an XSpace with one program, as the JAX profiler writes it"""
    stat = b"\x08\x01" + message(6, hlo)
    metadata = b"\x08\x01" + message(2, f"{name}(1)".encode()) + message(5, stat)
    stat_names = b"\x08\x01" + message(2, b"\x08\x01" + message(2, b"Hlo Proto"))
    plane = message(2, b"/host:metadata") + message(4, b"\x08\x01" + message(2, metadata)) + message(5, stat_names)
    return message(1, plane)


class Input:
    """run: its name on XProf's surface; goals: least ratio XProf / ours by figure; is_large: XProf alone fills 22 GB"""

    def __init__(self, name, run, requests, goals, lay, host="host0", is_large=False):
        self.name, self.run, self.requests, self.goals, self.lay, self.host = name, run, requests, goals, lay, host
        self.is_large = is_large

    def module_list_path(self):
        return f"{PREFIX}/module_list?" + urllib.parse.urlencode({"run": self.run})

    def memory_viewer_path(self, module, host):
        return f"{PREFIX}/data?" + urllib.parse.urlencode(
            {"run": self.run, "tag": "memory_viewer", "host": host, "module_name": module, "memory_space": 0}
        )

    def memory_profile_path(self):
        return f"{PREFIX}/data?" + urllib.parse.urlencode({"run": self.run, "tag": "memory_profile", "host": self.host})


def session_folder(logdir, run):
    folder = os.path.join(logdir, os.path.dirname(run), "plugins", "profile", os.path.basename(run))
    os.makedirs(folder)
    return folder


def lay_trace(source, run):
    def lay(logdir):
        shutil.copy(source, session_folder(logdir, run))

    return lay


def lay_packed(source, run):
    def lay(logdir):
        into = os.path.join(session_folder(logdir, run), os.path.basename(source)[:-3])
        with gzip.open(source) as packed, open(into, "wb") as out:
            shutil.copyfileobj(packed, out, 1 << 20)

    return lay


def lay_dump(source, run):
    def lay(logdir):
        with open(source, "rb") as file:
            data = wrapped("jit_train_step", file.read())
        with open(os.path.join(session_folder(logdir, run), "host0.xplane.pb"), "wb") as out:
            out.write(data)

    return lay


class Page:
    """a dump folder as the compiler left it, which XProf does not open: what our first page asks for"""

    def __init__(self, name, source):
        self.name, self.source = name, source

    def lay(self, logdir):
        shutil.copytree(self.source, os.path.join(logdir, os.path.basename(self.source)))


def all_pages(shared):
    for name in ("a-adam-state", "b-activations-unrolled", "seed-matmul-327680"):
        yield Page(f"dumps/{name} (as it is)", os.path.join(shared, "data", "dumps", name))


def lay_made(events, run):
    """a trace that scripts/make-trace writes; nothing that large is kept"""

    def lay(logdir):
        subprocess.run(
            [
                "scripts/make-trace",
                os.path.join(session_folder(logdir, run), "host0.xplane.pb"),
                "--events",
                str(events),
                "--lines",
                "8",
                "--allocators",
                "2",
                "--seed",
                "1",
            ],
            check=True,
            stdout=subprocess.DEVNULL,
        )

    return lay


def all_inputs(shared):
    data = os.path.join(shared, "data")
    profile = "plugins/profile"
    yield Input(
        "tpu/large-transformer-64l (23.5 MB)",
        "tpu/large-transformer-64l",
        (MODULE_LIST, MEMORY_VIEWER),
        {"first": 15, "further": 300, "memory": 15},
        lay_trace(f"{data}/logdir/tpu/{profile}/large-transformer-64l/host0.xplane.pb", "tpu/large-transformer-64l"),
    )
    yield Input(
        "tf/large (103 MB)",
        "tf/large",
        (MODULE_LIST,),
        {"first": 15, "memory": 30},
        lay_packed(f"{data}/logdir-packed/tf/{profile}/large/vm.xplane.pb.gz", "tf/large"),
    )
    yield Input(
        "tf/large (103 MB, 549,999 memory events)",
        "tf/large",
        (MEMORY_PROFILE,),
        {"first": 30, "memory": 15},
        lay_packed(f"{data}/logdir-packed/tf/{profile}/large/vm.xplane.pb.gz", "tf/large"),
        "vm",
    )
    yield Input(
        "jax-cpu/transformer (16 MB, no memory event; goal 20 ms)",
        "jax-cpu/transformer",
        (MEMORY_PROFILE,),
        {},
        lay_trace(f"{data}/logdir/jax-cpu/{profile}/transformer/vm.xplane.pb", "jax-cpu/transformer"),
        "vm",
    )
    for million in (1, 10):
        yield Input(
            f"made, {million} M memory events",
            f"made/{million}m",
            (MEMORY_PROFILE,),
            {"first": 30, "memory": 15},
            lay_made(million * 1000000, f"made/{million}m"),
            is_large=million == 10,
        )
    for name in ("a-adam-state", "b-activations-unrolled", "seed-matmul-327680"):
        source = glob.glob(f"{data}/dumps/{name}/*.after_optimizations.hlo.pb")[0]
        size = os.path.getsize(source) / 1e6
        yield Input(
            f"dumps/{name} ({size:.1f} MB, wrapped)", name, (MODULE_LIST, MEMORY_VIEWER), {}, lay_dump(source, name)
        )
