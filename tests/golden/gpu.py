#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What memviewd says of jobs that ran on an H100, against what JAX and PyTorch printed there
(tests/fixtures/gpu/truth.json).

  gpu.py --binary build/release/memviewd [--shared ../shared]

The plan against compiled.memory_analysis(), the allocator's curve against Device.memory_stats(), device profiles
against jax.live_arrays(), a snapshot against torch.cuda.max_memory_allocated(). Each failure is explained by its
folder, alone: one verdict whose rows add up, and the cause that the job was written to have. With the shared data:
programs as they were before they were optimized, against the plans that the compiler made of them, and a job whose dump
holds no plan.
"""

import argparse
import glob
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from members import loads

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FOLDER = os.path.join(ROOT, "tests", "fixtures", "gpu")
BLOCK = 512  # PyTorch counts whole blocks of its allocator, the snapshot what was asked for
LINE_OF = {"jax-runtime": 47, "jax-array": 56, "jax-platform": 56, "jax-async": 56}
ASKED = {"jax-runtime": 2**28, "jax-array": 2**32, "jax-platform": 2**32, "jax-async": 2**32}


def run(binary, *arguments):
    done = subprocess.run([binary, *arguments], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0 and done.stderr == "", (arguments, done.returncode, done.stderr)
    return loads(done.stdout)


def answers(binary, name):
    return [found["answer"] for found in run(binary, "explain", "--json", os.path.join(FOLDER, name))]


def same(mine, truth, what):
    return [] if mine == truth else [f"{what}: {mine}, and it was {truth}"]


def where_of(answer):
    sums = {}
    for row in answer["where"]:
        sums[row["kind"]] = sums.get(row["kind"], 0) + row["bytes"]
    return sums


def adds_up(answer, what):
    return same(sum(row["bytes"] for row in answer["where"]), answer["where_bytes"], f"{what}: rows together")


def check_plan(binary, truth):
    """of a failure whose dump is there: what one run takes, and the chip out of topology.pb"""
    (answer,) = answers(binary, "jax-run")
    plan, where = truth["plan"], where_of(answer)
    lines = adds_up(answer, "plan")
    lines += same(where["arguments"], plan["argument_size_in_bytes"], "arguments")
    lines += same(where["outputs"], plan["output_size_in_bytes"], "outputs")
    lines += same(where["temporaries"] + where["fragmentation"], plan["temp_size_in_bytes"], "temporaries")
    total = sum(plan[key] for key in ("argument_size_in_bytes", "output_size_in_bytes", "temp_size_in_bytes"))
    lines += same(answer["where_bytes"], total, "the plan's total")
    lines += same(answer["peak"]["bytes"], total - where["fragmentation"], "live at the peak")
    lines += same(answer["fit"]["capacity_bytes"], 85017493504, "memory of the device, as topology.pb has it")
    lines += (
        []
        if "needs 18.88 GiB of Device memory" in answer["fit"]["sentence"]
        else [f"one run: {answer['fit']['sentence']}"]
    )
    notes = [note["text"] for note in answer["notes"]]
    lines += [f"a wrong note: {note}" for note in notes if "takes nothing" in note]
    lines += same(
        answer["advice"][0]["kind"], "leak", "the first advice, of a step that takes a third of what there is"
    )
    return lines + same(
        (answer["program"], answer["cause"]["kind"], answer["cause"]["confidence"]),
        ("jit_train_step", "live_arrays", "guess"),
        "program and cause",
    )


def check_changes(binary, truth):
    """where changes land, against the changed program, compiled; donation moves what lay in the memory of results"""
    lines = []
    for change, compiled in truth["compiled"].items():
        found = run(binary, "whatif", "--json", os.path.join(FOLDER, "jax-run"), "--change", change)
        lands = found["modules"][0]["total_bytes_after"]
        is_near = abs(lands - compiled) <= 0.05 * compiled
        lines += [] if is_near else [f"{change} lands at {lands}, compiled {compiled}"]
    return lines


def check_pairs(binary, _):
    """what changes of programs save, against the changed programs, compiled for an H100 (gpu_pairs.json; the programs
    are those of tests/programs/changed/gpu.py)"""
    with open(os.path.join(ROOT, "tests", "golden", "gpu_pairs.json"), encoding="utf-8") as opened:
        pairs = json.load(opened)
    errors, lines = [], []
    for name, pair in pairs.items():
        before, real = pair["total_bytes_before"], pair["total_bytes_before"] - pair["total_bytes_after"]
        changes = [part for change in pair["change"] for part in ("--change", change)]
        folder = os.path.join(ROOT, "tests", "fixtures", "gpu-pairs", pair["base"])
        (module,) = run(binary, "whatif", "--json", folder, *changes)["modules"]
        lines += same(module["total_bytes_before"], before, f"{name}: before")
        said = before - module["total_bytes_after"]
        errors.append(abs(said - real) / max(abs(real), before / 100))
        if said * real < 0 and abs(real) > before / 100:
            lines.append(f"{name}: {said} is saved, and {real}")
        if errors[-1] > 0.01 and all(change["confidence"] == "exact" for change in module["changes"]):
            lines.append(f"{name}: {said} is called exact, and it is {real}")
    within = sum(error <= 0.2 for error in errors)
    if statistics.median(errors) > 0.04 or within < 0.9 * len(errors):
        lines.append(f"median {100 * statistics.median(errors):.1f} %, {within} of {len(errors)} within 20 %")
    return lines


def check_allocator(binary, truth):
    """of a trace with events of XLA's BFC allocator"""
    (session,) = run(binary, "summary", "--json", os.path.join(FOLDER, "jax-trace"))["sessions"]
    (memory,) = session["memory"]
    stats = truth["memory_stats"]
    lines = same(memory["peak"]["in_use_bytes"], stats["peak_bytes_in_use"], "the allocator's peak")
    lines += same(memory["last_bytes"], stats["bytes_in_use"], "in use at the end")
    return lines + same(memory["capacity_bytes"], stats["bytes_limit"], "the allocator's limit")


def check_live(binary, truth, name):
    """of a request that failed beside a device profile: one verdict, which the line that keeps results leads"""
    found = answers(binary, name)
    live, path = truth["live_arrays"][name], f"/srv/examples/on-gpu/jax_oom.py:{LINE_OF[name]}"
    lines = same(len(found), 1, f"{name}: verdicts") + adds_up(found[0], name)
    answer, first = found[0], found[0]["advice"][0]
    lines += same(
        (answer["cause"]["kind"], answer["cause"]["bytes"], answer["cause"]["confidence"]),
        ("live_arrays", live["bytes"], "exact"),
        f"{name}: cause",
    )
    lines += same(answer["where_bytes"], live["bytes"] + ASKED[name], f"{name}: live arrays and the request")
    lines += same((first["kind"], first["confidence"]), ("leak", "bound"), f"{name}: first advice")
    of_failed = live.get("of_the_step_that_failed_bytes", 0)  # JAX counts them; the allocator had no room
    limit = truth["memory_stats"]["bytes_limit"]
    lines += (
        [f"{name}: results of the step that failed are counted, too"]
        if of_failed and not live["bytes"] - of_failed <= limit < live["bytes"]
        else []
    )
    lines += same(answer["where"][0]["bytes"], first["saves_bytes"], f"{name}: what the line holds")
    by_line = live.get("by_line", {})
    lines += same(first["saves_bytes"], by_line[path], f"{name}: {path}") if by_line else []
    for row in answer["where"] if by_line else []:
        file = f"/srv/examples/on-gpu/{row['label'].split()[-1]}"
        lines += same(row["bytes"], by_line[file], f"{name}: {file}") if row["kind"] == "arrays" else []
    lines += [
        f"{name}: the profile is asked for" for step in answer["next_steps"] if "device_memory_profile" in step["text"]
    ]
    top = run(binary, "top", "--json", os.path.join(FOLDER, name, "memory-000001.prof"))["data"]
    return lines + same(top["total"], live["bytes"], f"{name}: top")


def check_both(binary, truth):
    """the same failure with its plan and its profile: what one run takes explains a part of what was live"""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(os.path.join(FOLDER, "jax-run"), os.path.join(folder, "run"))
        shutil.copy(os.path.join(FOLDER, "jax-runtime", "memory-000001.prof"), os.path.join(folder, "run"))
        (answer,) = answers(binary, folder)
    live, arguments = truth["live_arrays"]["jax-runtime"]["bytes"], truth["plan"]["argument_size_in_bytes"]
    lines = adds_up(answer, "both") + same(
        (answer["cause"]["kind"], answer["cause"]["bytes"]), ("live_arrays", live), "both: cause"
    )
    lines += same([bar["bytes"] for bar in answer["ledger"]["bars"]], [20266889028, live], "both: plan and live arrays")
    kinds = [advice["kind"] for advice in answer["advice"]]
    lines += same(kinds[:2], ["leak", "donate"], "both: advice")
    lines += (
        []
        if answer["advice"][0]["saves_bytes"] <= live - arguments
        else ["both: arguments of the program are let go of"]
    )
    said = [note["text"] for note in answer["notes"] if note["kind"] == "profile"] + [
        answer["fit"]["sentence"],
        answer["ledger"]["sentence"],
    ]
    for words in (
        "of jit_train_step up to 9.00 GiB",
        "One run of jit_train_step needs 18.88 GiB",
        "at least 54.00 GiB are others",
    ):
        lines += [] if any(words in text for text in said) else [f"both: nobody says {words}: {said}"]
    return lines


def check_compile(binary, truth):
    """asked for while compiling, more than all that was live"""
    (answer,) = answers(binary, "jax-compile")
    live = truth["live_arrays"]["jax-compile"]["bytes"]
    lines = (
        [] if any("autotuning" in note["text"] for note in answer["notes"]) else ["jax-compile: no word of autotuning"]
    )
    lines += adds_up(answer, "jax-compile") + same(answer["cause"]["kind"], "one_buffer", "jax-compile: cause")
    return lines + same(answer["where_bytes"] - answer["fit"]["needed_bytes"], live, "jax-compile: live arrays")


def check_series(binary, _):
    """arrays that grow by 256 MiB from one profile to the next"""
    (answer,) = answers(binary, "jax-watch")
    lines = same((answer["cause"]["kind"], answer["cause"]["bytes"]), ("leak", 4 * 2**28), "watch: growth")
    return lines + ([] if "jax_oom.py:41" in answer["cause"]["text"] else [f"watch: {answer['cause']['text']}"])


def check_snapshot(binary, truth):
    (session,) = run(binary, "summary", "--json", os.path.join(FOLDER, "torch-snapshot"))["sessions"]
    (memory,) = session["memory"]
    peak = memory["peak"]["in_use_bytes"]
    rounding = truth["torch_snapshot"]["max_allocated_bytes"] - peak
    return [] if 0 <= rounding < BLOCK else [f"PyTorch's peak is {rounding} more than {peak}"]


def check_torch_failure(binary, _, name):
    found = answers(binary, name)
    answer = found[0]
    lines = same(len(found), 1, f"{name}: verdicts") + adds_up(answer, name)
    lines += [
        f"{name}: text and snapshot disagree on {row['kind']}"
        for row in answer["together"]["rows"]
        if not row["agrees"]
    ]
    lines += same(answer["where_bytes"], answer["fit"]["capacity_bytes"], f"{name}: rows are the device")
    sums = {row["category"]: row["bytes"] for row in answer["categories"]}
    lines += same(
        (sums.get("unknown", 0), sums["input"]),
        (0, 2**31),
        f"{name}: nothing is unknown, torch.randn(batch, …) is input",
    )
    lines += same(sums["parameter"] * 2, sums["optimizer_state"], f"{name}: Adam keeps two of each parameter")
    return lines + same(answer["cause"]["kind"], "saved_activations", f"{name}: cause")


def explained_alone(binary, paths, *options):
    with tempfile.TemporaryDirectory() as folder:
        for path in paths:
            shutil.copy(path, folder)
        return [found["answer"] for found in run(binary, "explain", "--json", *options, folder)]


def check_least(binary, shared):
    """what arguments and results alone take is never more than the plan; half of the plans are close to it"""
    lines, count, close = [], 0, 0
    for before in sorted(glob.glob(os.path.join(shared, "data", "**", "*before_optimizations.hlo.pb"), recursive=True)):
        after = glob.glob(before.replace("before_optimizations", "*after_optimizations"))
        if not after:
            continue
        (bare,), (planned,) = explained_alone(binary, [before]), explained_alone(binary, after[:1])
        least, needed = bare["arrays"]["least_bytes"], planned["fit"]["needed_bytes"]
        lines += [] if least <= needed else [f"{before}: at least {least}, and the plan takes {needed}"]
        lines += same((planned["arrays"], bare["fit"]["needed_bytes"]), (None, None), before)
        count, close = count + 1, close + (2 * least >= needed)
    return lines + (
        []
        if count >= 80 and 2 * close >= count
        else [f"{close} of {count} programs take at most twice their arguments and results"]
    )


def check_unplanned(binary, shared):
    """autotuning died, and the dump holds the program alone: an array larger than the device, and no advice beside
    it"""
    data = os.path.join(shared, "data", "gpu-h200")
    dump = [path for path in glob.glob(os.path.join(data, "dumps", "seed", "*")) if "after" not in path]
    (answer,) = explained_alone(binary, [*dump, os.path.join(data, "runs", "seed", "output.log")])
    said, items = answer["cause"]["text"], answer["arrays"]["items"]
    lines = same(answer["cause"]["kind"], "one_buffer", "seed: cause")
    lines += [
        f"seed: nobody says {words}: {said}"
        for words in ("bf16[327680,327680]", "oomjob.py:10", "200.00 GiB", "139.80 GiB")
        if words not in said
    ]
    lines += same(
        [(item["role"], item["shape"], item["source"]) for item in items],
        [("result", "bf16[327680,327680]", "oomjob.py:10"), ("between", "bf16[327680,327680]", "oomjob.py:9")],
        "seed: arrays",
    )
    lines += same([advice["kind"] for advice in answer["advice"]], ["limit", "shard"], "seed: advice")
    lines += same(
        [step["text"] for step in answer["next_steps"] if "device_memory_profile" in step["text"]],
        [],
        "seed: the profile is asked for",
    )
    (bare,) = explained_alone(binary, dump)
    lines += same((bare["fits"], bare["fit"]["needed_bytes"]), ("no", None), "seed without its text")
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--shared")
    options = parser.parse_args()
    with open(os.path.join(FOLDER, "truth.json"), encoding="utf-8") as opened:
        truth = json.load(opened)
    checks = [
        ("plan", check_plan),
        ("changes", check_changes),
        ("pairs", check_pairs),
        ("allocator", check_allocator),
        ("both", check_both),
        ("compile", check_compile),
        ("series", check_series),
        ("snapshot", check_snapshot),
    ]
    checks += [(name, lambda binary, truth, name=name: check_live(binary, truth, name)) for name in LINE_OF]
    checks += [
        (name, lambda binary, truth, name=name: check_torch_failure(binary, truth, name))
        for name in ("torch-oom", "torch-expandable")
    ]
    if options.shared:
        checks += [
            (name, lambda binary, truth, check=check: check(binary, options.shared))
            for name, check in (("least", check_least), ("unplanned", check_unplanned))
        ]
    failed = 0
    for name, check in checks:
        lines = check(options.binary, truth)
        failed += bool(lines)
        for line in lines:
            print(f"FAILED {name}: {line}")
    print(f"{len(checks) - failed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
