#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Causes that the verdict of an allocator snapshot names: of each a program that has it and a twin that does the same
without it (made_causes.py). With the cause come evidence that a page shows, and the first advice, with code; the twin
tells neither.

    torch_causes.py --binary MEMVIEWD
"""

import argparse
import os
import pickle
import subprocess
import tempfile

from daemon import Counts
import made_causes
from made_allocator import MIB, TORCH
from made_causes import frame, of_frames
from members import loads
from torch_categories import verdict_of

CASES = {
    # name: program, cause, kind of the first advice, a piece of its code, bytes of the cause in MiB
    "steps that keep a tensor": (made_causes.steps_keep, "leak", "leak", "detach().cpu()", 24 * 10),
    "outputs that are kept where nothing is learned": (
        made_causes.outputs_kept,
        "leak",
        "leak",
        "detach().cpu()",
        24 * 10,
    ),
    "layers of one pass are no steps": (made_causes.one_pass, "leak", "leak", "detach().cpu()", 24 * 10),
    "weights that are there twice": (
        made_causes.weights_twice,
        "weights_twice",
        "load_on_host",
        "map_location",
        32 * 16,
    ),
    "an evaluation with a graph": (made_causes.evaluation, "evaluation", "no_gradients", "torch.no_grad()", 25 * 16),
    "the optimizer's first step": (
        made_causes.first_step,
        "optimizer_state",
        "shard",
        "fully_shard",
        (17 << 10) + 32 * 8,
    ),
    "temporaries of the optimizer's step": (
        made_causes.step_temporaries,
        "step_temporaries",
        "fused_step",
        "fused=True",
        17 << 10,
    ),
    "private pools": (made_causes.graph_pools, "graph_pools", "shared_pool", "pool=", None),
    "kernels that are tried out": (
        of_frames(frame("benchmark", TORCH + "_inductor/runtime/benchmarking.py", 90)),
        "autotuning",
        "workspace",
        "torch.compile(model)",
        512,
    ),
    "workspace of cuDNN": (
        of_frames(frame("at::native::raw_cudnn_convolution_forward_out(at::Tensor const&)", "??", 0)),
        "workspace",
        "workspace",
        "cudnn.benchmark",
        512,
    ),
    "workspace of cuBLAS": (
        of_frames(frame("at::cuda::getNewWorkspace()", "??", 0)),
        "workspace",
        "workspace",
        "CUBLAS_WORKSPACE_CONFIG",
        512,
    ),
    "buckets of gradients": (
        of_frames(frame("_ddp_init_helper", TORCH + "nn/parallel/distributed.py", 1188)),
        "collectives",
        "communication",
        "gradient_as_bucket_view",
        512,
    ),
    "averaged weights": (made_causes.averaged, "averaged_weights", "average_on_host", "AveragedModel", 512),
    "gradients wider than their weights": (
        made_causes.wide_gradients,
        "wide_gradients",
        "cast",
        "reduce_dtype",
        2 * 200,
    ),
    "gradients of the step before": (
        made_causes.late_gradients,
        "gradients",
        "gradients_freed",
        "zero_grad(set_to_none=True)",
        64 * 8,
    ),
    "a cache in a training": (made_causes.training_cache, "cache", "no_cache", "use_cache=False", 24 * 16),
    "what was there before the recording": (
        made_causes.unknown,
        "unknown",
        "record_earlier",
        "_record_memory_history",
        64 * 8,
    ),
}


def explained(binary, folder, snapshot):
    path = os.path.join(folder, "rank0.pickle")
    with open(path, "wb") as file:
        pickle.dump(snapshot, file, 4)
    return verdict_of(
        loads(subprocess.run([binary, "explain", "--json", path], capture_output=True, check=True, text=True).stdout)
    )


def positive_faults(verdict, cause, kind, code, mebibytes):
    faults, found = [], verdict["cause"]
    if found["kind"] != cause or (mebibytes is not None and found["bytes"] != mebibytes * MIB):
        faults.append(f"cause {found['kind']} of {found['bytes'] / MIB} MiB: {found['text']}")
    evidence = found["evidence"]
    if evidence["kind"] == "none" or evidence["sum_bytes"] + (evidence["rest_bytes"] or 0) != found["bytes"]:
        faults.append(f"evidence {evidence} of {found['bytes']}")
    first = verdict["advice"][0] if verdict["advice"] else {"kind": None, "do": ""}
    if first["kind"] != kind or code not in first["do"]:
        faults.append(f"first advice {first['kind']}: {first['do']}")
    return faults


def twin_faults(verdict, cause, kind, code):
    """optimizer state, caches, gradients and the like may well be what a twin's memory holds most: then in the words of
    the category"""
    first = verdict["advice"][0] if verdict["advice"] else {"kind": None, "do": ""}
    is_of_category = verdict["cause"]["text"].count(" hold") == 1 and verdict["cause"]["text"].count(" of ") == 1
    is_told = verdict["cause"]["kind"] == cause and not is_of_category
    return (
        [f"the twin: {verdict['cause']['text']}"]
        if is_told
        else [f"the twin's first advice: {first['do']}"]
        if kind == first["kind"] and code in first["do"] and not is_of_category
        else []
    )


def gradients_faults(binary, folder):
    """no_grad is not told where an optimizer is at work, and told where nothing says that anything is learned"""
    faults = []
    for is_training in (True, False):
        kinds = [row["kind"] for row in explained(binary, folder, made_causes.first_pass(is_training))["advice"]]
        if ("no_gradients" in kinds) == is_training:
            faults.append(f"{'with' if is_training else 'without'} an optimizer: {kinds}")
    return faults


def held_of(verdict):
    return {row["category"]: row["bytes"] for row in verdict["categories"]}


def unwound_faults(binary, folder):
    """what an exception frees is judged as what the request met"""
    faults = []
    with_it, twin = (held_of(explained(binary, folder, made_causes.unwound(is_so))) for is_so in (True, False))
    if with_it != twin or twin.get("saved_activation") != (24 * 16 + 1) * MIB:
        faults.append(f"{with_it}, not {twin}")
    summary = subprocess.run(
        [binary, "summary", os.path.join(folder, "rank0.pickle")], capture_output=True, check=True, text=True
    ).stdout
    told = subprocess.run(
        [binary, "summary", "--json", os.path.join(folder, "rank0.pickle")], capture_output=True, check=True, text=True
    ).stdout
    (pool,) = loads(told)["sessions"][0]["memory"]
    at_failure = {row["category"]: row["size_bytes"] for row in pool["failure_categories"]}
    if at_failure != {name: size for name, size in twin.items() if size}:
        faults.append(f"summary says {at_failure} of the failure, not {twin}")
    explained(binary, folder, made_causes.passing())
    passing = subprocess.run(
        [binary, "summary", os.path.join(folder, "rank0.pickle")], capture_output=True, check=True, text=True
    ).stdout
    if "saved activations" not in summary or "saved activations" in passing:
        faults.append(f"of what is freed without a failure: {passing}")
    explained(binary, folder, made_causes.unwound_elsewhere())
    both = subprocess.run(
        [binary, "summary", os.path.join(folder, "rank0.pickle")], capture_output=True, check=True, text=True
    ).stdout
    if both.count("saved activations (guess)") != 2:
        faults.append(f"of two devices: {both}")
    return faults


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--shared", help="nothing of it is needed")
    options = parser.parse_args()
    counts = Counts()
    with tempfile.TemporaryDirectory() as folder:
        for name, (program, cause, kind, code, mebibytes) in CASES.items():
            counts.add(
                positive_faults(explained(options.binary, folder, program(True)), cause, kind, code, mebibytes), name
            )
            counts.add(
                twin_faults(explained(options.binary, folder, program(False)), cause, kind, code), f"{name}: the twin"
            )
        counts.add(gradients_faults(options.binary, folder), "no_grad")
        counts.add(unwound_faults(options.binary, folder), "what an exception frees")
    return counts.finish()


if __name__ == "__main__":
    raise SystemExit(main())
