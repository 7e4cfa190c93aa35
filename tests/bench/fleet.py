#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A job of many hosts, made of a few real programs: as many traces as hosts, each with the same programs.

  fleet.py OUT FILE… [--hosts 64] [--modules 200] [--odd HOST]

FILE: HLO protos; each becomes as many programs of the trace as are needed, by another name in its module. The host
--odd holds a program of another size. `memviewd --logdir OUT` then has one session of all hosts.
"""

import argparse
import gzip
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "http"), os.path.join(HERE, "..")]
from inputs import block, hlo_proto, xspace  # noqa: E402
from wire import spans  # noqa: E402


def named(proto, name):
    """the same HloProto whose module has another name"""
    out = b""
    for field, wire, start, value, end in spans(proto):
        if field == 1 and wire == 2:
            module = proto[value:end]
            rest = b"".join(module[begin:stop] for number_, _, begin, _, stop in spans(module) if number_ != 1)
            out += block(1, block(1, name) + rest)
        else:
            out += proto[start:end]
    return out


def read(path):
    with (gzip.open if path.endswith(".gz") else open)(path, "rb") as file:
        return file.read()


def write_fleet(out, protos, host_count, module_count, odd=None, session="fleet"):
    """`protos`: {name: HloProto}; the folder of the session"""
    folder = os.path.join(out, "plugins", "profile", session)
    os.makedirs(folder, exist_ok=True)
    names = list(protos)
    programs = {}
    for at in range(module_count):
        name = f"{names[at % len(names)]}_{at}"
        programs[(name, 1000 + at)] = named(protos[names[at % len(names)]], name)
    usual = xspace(programs)
    for host in range(host_count):
        data = usual
        if host == odd:
            first = next(iter(programs))
            data = xspace({**programs, first: hlo_proto(first[0], 64, 1 << 20)})
        with open(os.path.join(folder, f"host{host:03d}.xplane.pb"), "wb") as file:
            file.write(data)
    return folder


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out")
    parser.add_argument("files", nargs="+")
    parser.add_argument("--hosts", type=int, default=64)
    parser.add_argument("--modules", type=int, default=200)
    parser.add_argument("--odd", type=int)
    args = parser.parse_args()
    protos = {f"jit_{os.path.basename(os.path.dirname(path)).replace('-', '_')}": read(path) for path in args.files}
    write_fleet(args.out, protos, args.hosts, args.modules, args.odd)


if __name__ == "__main__":
    main()
