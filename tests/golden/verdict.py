#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `memviewd explain` says happened and what will make it fit, against dumps whose truth is known.

  verdict.py --binary build/release/memviewd [--shared ../shared]

Every dump of data/dumps: the cause that its README names, its advice first, bytes that balance, and where each change
lands against what the changed program took when it was compiled (reference/whose-memory.md, section 7). Every module of
data/modules and data/programs: that it fits a v5e, and by how much. Pairs of programs before and after what is advised.
Every log of data/oom-logs has a verdict whose rows add up. Without --shared what tests/fixtures has of these. The
largest of all is answered within a second of the daemon's time.
"""

import argparse
import glob
import os
import subprocess
import sys
import time

import inputs
from members import loads

GIB = 2**30
NEAR = 0.2  # of what the changed program took
V5E_BYTES = int(15.75 * GIB)

# cause, first advice, {change: GiB that were compiled}, kinds that would be wrong
DUMPS = {
    "seed-matmul-327680": ("one_buffer", "shard", {}, {"checkpoint", "larger_chip", "donate"}),
    "a-adam-state": (
        "optimizer_state",
        "optimizer_dtype",
        {"cast=mu:bf16": 14.09, "cast=*:bf16": 8.44, "offload=mu": 12.35, "checkpoint=*": 16.46},
        {"donate"},
    ),
    "b-activations-unrolled": (
        "saved_activations",
        "checkpoint",
        {"checkpoint=*": 7.96, "without=attention_scores": 14.59, "batch=0.25": 10.64},
        {"donate", "unpad", "optimizer_dtype"},
    ),
    "d-tile-padding": ("padding", "unpad", {"unpad=*": 14.25}, {"checkpoint", "donate"}),
    "e-no-donation": ("no_donation", "donate", {"donate=all": 9.39}, {"checkpoint"}),
    "h-long-context": (
        "attention_logits",
        "fused_attention",
        {"without=attention_scores": 4.95, "sequence=0.25": 5.58},
        {"checkpoint", "donate"},
    ),
    "f-vmem-pallas-scratch": ("kernel_scratch", "block_size", {}, None),
    "f2-vmem-pallas-whole-array": ("kernel_scratch", "block_size", {}, None),
    "f3-smem-pallas-scratch": ("kernel_scratch", "block_size", {}, None),
    "f5-vmem-matmul-blocks": ("kernel_scratch", "block_size", {}, None),
}
OF_KERNELS = {"block_size", "flags"}
# what a change that does not suffice lands at is in the dump's README too
DO_NOT_FIT = {"a-adam-state": {"checkpoint=*"}}


# a program, what is advised and how sure that is, and the program changed so, compiled
PAIRS = (
    ("programs/kv-decode-notdonated", "cache_in_place", "exact", "programs/kv-decode-donated"),
    ("whatif/kv.base", "cache_in_place", "exact", "whatif/kv.donate"),
    ("programs/fsdp8-scan", "sharding_constraint", "bound", "programs/fsdp8-scan-constrained"),
)
EXACT, GATHERED = 0.001, 0.1


def explain(binary, path, *arguments):
    done = subprocess.run([binary, "explain", "--json", *arguments, path], capture_output=True, text=True, timeout=120)
    return [found["answer"] for found in loads(done.stdout)], done.stderr


def unbalanced(answer):
    where, categories = (sum(row["bytes"] for row in answer[key]) for key in ("where", "categories"))
    lines = [f"where adds up to {where}, not {answer['where_bytes']}"] if where != answer["where_bytes"] else []
    if answer["categories"] and categories != answer["where_bytes"]:
        lines.append(f"categories add up to {categories}, not {answer['where_bytes']}")
    if answer["peak"]["bytes"] and answer["where_bytes"] != answer["fit"]["needed_bytes"]:
        lines.append(f"needed are {answer['fit']['needed_bytes']}, where adds up to {answer['where_bytes']}")
    return lines


def rank_faults(advice):
    """what may suffice alone stands first; within that the surer"""
    sureness = ["confirmed", "exact", "model", "bound", "guess"]
    keys = [
        (
            2 if one["fits"] == "no" else 1 if one["fits"] == "perhaps" and one["lands_at_bytes"] is None else 0,
            sureness.index(one["confidence"]),
        )
        for one in advice
    ]
    return [] if keys == sorted(keys) else [f"advice is not in order: {keys}"]


def check_dump(name, answers):
    cause, first, lands, wrong = DUMPS[name]
    if len(answers) != 1:
        return [f"{len(answers)} answers"]
    answer, advice = answers[0], answers[0]["advice"]
    lines = unbalanced(answer) + rank_faults(advice)
    lines += [f"cause {answer['cause']['kind']}, not {cause}"] if answer["cause"]["kind"] != cause else []
    lines += (
        [f"first advice {[one['kind'] for one in advice[:1]]}, not {first}"]
        if [one["kind"] for one in advice[:1]] != [first]
        else []
    )
    lines += [f"fits {answer['fits']}"] if answer["fits"] != "no" else []
    kinds = {one["kind"] for one in advice}
    unfit = kinds - OF_KERNELS if wrong is None else kinds & wrong
    lines += [f"wrong advice: {sorted(unfit)}"] if unfit else []
    if advice and advice[0]["fits"] not in ("yes", "perhaps"):
        lines.append(f"the first advice fits {advice[0]['fits']}")
    by_change = {one["change"]: one for one in advice if one["change"]}
    for change, real in lands.items():
        if change not in by_change:
            lines.append(f"{change} is not said")
        elif abs(by_change[change]["lands_at_bytes"] / GIB - real) > NEAR * real:
            lines.append(f"{change} lands at {by_change[change]['lands_at_bytes'] / GIB:.2f} GiB, compiled {real}")
    lines += [f"{change} is said to fit" for change in DO_NOT_FIT.get(name, ()) if by_change[change]["fits"] != "no"]
    lines += [f"{one['kind']}: no {key}" for one in advice for key in ("title", "reason") if not one[key]]
    lines += [f"{one['kind']}: no evidence" for one in advice if not one["evidence"]["sentence"]]
    return lines


def check_pair(answers, after, kind, confidence):
    """what is exact is the compiled figure; a bound saves at least so much, but for what is gathered again"""
    real = after[0]["fit"]["needed_bytes"]
    found = [one for one in answers[0]["advice"] if one["kind"] == kind]
    if [one["confidence"] for one in found] != [confidence]:
        return [f"{kind}: {found}"]
    lands = found[0]["lands_at_bytes"]
    is_good = real <= lands * (1 + GATHERED) if confidence == "bound" else abs(lands - real) <= EXACT * real
    twice = [one["kind"] for one in answers[0]["advice"] if one["change"] == found[0]["change"]]
    return ([] if is_good else [f"{kind} lands at {lands}, compiled {real}"]) + (
        [] if twice == [kind] else [f"said twice: {twice}"]
    )


def check_module(answers):
    lines = [] if len(answers) == 1 else [f"{len(answers)} answers"]
    for answer in answers[:1]:
        fit = answer["fit"]
        lines += unbalanced(answer) + rank_faults(answer["advice"])
        if answer["fits"] != "yes" or fit["free_bytes"] != V5E_BYTES - fit["needed_bytes"] or fit["over_bytes"] != 0:
            lines.append(f"fits {answer['fits']}: {fit}")
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True)
    inputs.add_argument(parser)
    options = parser.parse_args()
    data = inputs.data_of(options)
    passed = failed = 0
    slowest = (0, "")
    jobs = [
        (f"dumps/{name}", os.path.join(data, "dumps", name), (), lambda answers, name=name: check_dump(name, answers))
        for name in inputs.present(options, data, "dumps", DUMPS)
    ]
    for folder in ("modules", "programs"):
        jobs += [
            (f"{folder}/{os.path.basename(path[:-1])}", path[:-1], ("--capacity=v5e",), check_module)
            for path in sorted(glob.glob(os.path.join(data, folder, "*/")))
        ]
    jobs += [
        (
            f"oom-logs/{os.path.basename(path)}",
            path,
            (),
            lambda answers: [line for one in answers for line in unbalanced(one)],
        )
        for path in sorted(glob.glob(os.path.join(data, "oom-logs", "*.txt")))
    ]
    jobs += [
        (
            f"{before}: {kind}",
            os.path.join(data, before),
            ("--capacity=v5e",),
            lambda answers, after=after, kind=kind, confidence=confidence: check_pair(
                answers, explain(options.binary, os.path.join(data, after), "--capacity=v5e")[0], kind, confidence
            ),
        )
        for before, kind, confidence, after in PAIRS
        if options.shared
    ]
    for name, path, arguments, check in jobs:
        began = time.monotonic()
        answers, errors = explain(options.binary, path, *arguments)
        slowest = max(slowest, (time.monotonic() - began, name))
        lines = check(answers)
        passed, failed = passed + (not lines), failed + bool(lines)
        for line in lines:
            print(f"{name}: {line}" + (f" ({errors.strip()})" if errors.strip() else ""))
    missing = {os.path.basename(path[:-1]) for path in glob.glob(os.path.join(data, "dumps", "*/"))} - set(DUMPS)
    for name in sorted(missing):
        print(f"dumps/{name}: nothing is known of it here")
    failed += len(missing)
    print(f"slowest: {slowest[1]}, {slowest[0]:.2f} s with reading it")
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
