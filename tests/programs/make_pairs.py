# SPDX-License-Identifier: Apache-2.0
"""Compiles programs before and after one real change for TPU v5e, without a TPU.

  scripts/make-programs OUT --pairs [OPTION…] [NAME…]

OUT/NAME/ holds the dump: the module before optimizations, the one after with its buffers, and what the compiler was
told of chip and options. OUT/whatif.json names each pair, its change as `memviewd whatif --change` takes it, and the
totals (arguments + outputs - aliased + temporaries) before and after. A NAME is a pair's (resnet.half-batch) and may
hold * and ?; its base is made too. Without names every pair of tests/programs/changed is made that OUT does not have
yet.

  --list          print names, changes and notes, compile nothing
  --again         also those that are there
  --finish        let the compiler go on to its end, and take the totals from JAX's memory_analysis(): takes minutes
  --gpu           for an H100, with JAX's CUDA plug-in and without a GPU: the families gpu-*, unless others are named
  --target FILE   for the GPU that this *.gpu_target_config.pbtxt describes
  --binary FILE   memviewd, for the totals (build/release/memviewd)
"""
import argparse
import fnmatch
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

import catalog
from make import HERE, ROOT, NotMade, compile_until_assigned

LEFT = "*_buffer_assignment.hlo.pb"  # of the dump, not kept: the same module once more, perhaps half written
ANALYSIS = "memory_analysis.json"
# What the compiler's count has beside the temporaries of the assignment, wherever there are any: seen with libtpu
# 0.0.52.
BESIDE_BYTES = 15872
H100 = os.path.join(HERE, "h100.gpu_target_config.pbtxt")
GPU_FAMILIES = "gpu-*"


def is_left_of_gpu(file):
    """of the dump of a GPU all but both modules and what describes the GPU is left out"""
    return not any(fnmatch.fnmatch(file, kept) for kept in (
        "*.before_optimizations.hlo.pb", "*_after_optimizations.hlo.pb", "*.gpu_target_config.pbtxt"))


def make(chosen, into, does_finish, target):
    with tempfile.TemporaryDirectory() as folder:
        compile_until_assigned(chosen, folder, ANALYSIS if does_finish else None, target)
        fresh = os.path.join(folder, chosen.name)
        os.mkdir(fresh)
        for file in os.listdir(os.path.join(folder, "dump")):
            if not fnmatch.fnmatch(file, LEFT) and not (target and is_left_of_gpu(file)):
                shutil.move(os.path.join(folder, "dump", file), fresh)
        if does_finish:
            shutil.move(os.path.join(folder, ANALYSIS), fresh)
        shutil.rmtree(into, ignore_errors=True)
        shutil.move(fresh, into)


def is_of_gpu(folder):
    return any(file.endswith(".gpu_target_config.pbtxt") for file in os.listdir(folder))


def total_bytes(binary, folder):
    """arguments + outputs - aliased + temporaries, by the compiler's own count"""
    analysis = os.path.join(folder, ANALYSIS)
    if os.path.exists(analysis):
        with open(analysis, encoding="utf-8") as text:
            counted = json.load(text)
        return (counted["argument_size_in_bytes"] + counted["output_size_in_bytes"] - counted["alias_size_in_bytes"]
                + counted["temp_size_in_bytes"])
    answer = json.loads(subprocess.run([binary, "summary", folder, "--json"], stdout=subprocess.PIPE,
                                       check=True).stdout)
    space = answer["sessions"][0]["modules"][0]["summary"]["data"]["spaces"][0]
    return (space["parameter_bytes"] + space["output_bytes"] - space["output_reused_bytes"] + space["temporary_bytes"]
            + (BESIDE_BYTES if space["temporary_bytes"] and not is_of_gpu(folder) else 0))


def write_pairs(out, programs, binary):
    """whatif.json: the pairs of which both sides are in the folder; how many"""
    pairs, totals = {}, {}
    for chosen in programs.values():
        sides = (*chosen.change[:1], chosen.name)
        if not chosen.change or not all(os.path.exists(os.path.join(out, side)) for side in sides):
            continue
        for side in sides:
            if side not in totals:
                totals[side] = total_bytes(binary, os.path.join(out, side))
        before, after = (totals[side] for side in sides)
        change = chosen.change[1]
        pairs[chosen.name] = {"after": chosen.name, "base": chosen.change[0], "change": [change]
                              if isinstance(change, str) else list(change),
                              "saving_bytes": before - after, "total_bytes_after": after, "total_bytes_before": before}
    with open(os.path.join(out, "whatif.json"), "w", encoding="utf-8") as text:
        json.dump(dict(sorted(pairs.items())), text, indent=1)
        text.write("\n")
    return len(pairs)


def is_wanted(name, options):
    if options.names:
        return any(fnmatch.fnmatch(name, wanted) for wanted in options.names)
    return fnmatch.fnmatch(name, GPU_FAMILIES) == bool(options.gpu)


def main():
    parser = argparse.ArgumentParser(usage=__doc__, add_help=False)
    parser.add_argument("out", nargs="?")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--pairs", action="store_true", required=True)
    parser.add_argument("--finish", action="store_true")
    parser.add_argument("--gpu", action="store_true")
    parser.add_argument("--target", default=H100)
    parser.add_argument("--binary", default=os.path.join(ROOT, "build", "release", "memviewd"))
    options = parser.parse_intermixed_args()
    programs = catalog.load(folder="changed")
    if options.list:
        for chosen in programs.values():
            if chosen.change:
                print(chosen.name, chosen.change[1], chosen.note, sep="\t")
        return 0
    if not options.out:
        parser.error("where to?")
    os.makedirs(options.out, exist_ok=True)
    names = [chosen.name for chosen in programs.values() if chosen.change and is_wanted(chosen.name, options)]
    failed = 0
    for name in dict.fromkeys(side for name in names for side in (programs[name].change[0], name)):
        into = os.path.join(options.out, name)
        if os.path.exists(into) and not options.again:
            continue
        begun = time.monotonic()
        try:
            make(programs[name], into, options.finish,
                 options.target if options.gpu else None)
            print(f"{name}: {total_bytes(options.binary, into) / 2**20:.1f} MiB, {time.monotonic() - begun:.1f} s",
                  flush=True)
        except NotMade as error:
            failed += 1
            print(f"  {name}: {error}", flush=True)
    print(f"{write_pairs(options.out, programs, options.binary)} pairs")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
