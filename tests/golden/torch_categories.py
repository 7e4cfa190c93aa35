#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Categories of blocks of allocator snapshots of PyTorch, held against what the blocks really are.

  torch_categories.py --binary memviewd [--shared DIR]

runs     tests/fixtures/torch/trainings.json.gz, of record_torch.py: PyTorch itself says of each allocation what it is;
         so
         many bytes have to be right, none may be unknown, and of what is older than the recording the sums hold, too
scripts  the recorded snapshots of --shared: the parameters are those of the model's sizes, and what is known at the
         peak
verdict  of a request that failed for pieces, and with segments that grow: cause, advice, where its evidence leads; of
         steps
         that keep what earlier ones saved, and of steps that hold several passes as they should; of attention scores
         and logits, also against what a GPU measured
sums     at moments the categories add up to what is in use, in live, in bands and in summary alike
Ends with the counts; exit status 1 if one does not hold.
"""

import argparse
import collections
import gzip
import json
import os
import pickle
import random
import subprocess
import tempfile

from daemon import Counts, Daemon
import made_allocator
import made_trainings
from members import loads, with_evidence

RECORDED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fixtures", "torch", "trainings.json.gz")
PAGE, MOMENTS, MIB = 1000, 25, 1 << 20
TEMPORARY = ("workspace", "optimizer_temporary")
# Least share of the bytes whose category is right. The rest is what the program's own variables hold until after the
# backward pass although autograd saved it not: that is called an activation.
RIGHT = 0.99
# What sizes the sums of blocks that are older than the recording are told from; of the others nothing tells them.
TOLD_BEFORE = {
    "adamw-foreach": ("parameter",),
    "sgd-momentum": ("parameter",),
    "late-stacks": ("parameter", "optimizer_state"),
}


def transformer(vocabulary, width=768, layers=12, inner=3072):
    """bytes of the parameters of the model of systems-*: fp32, no biases, one RMSNorm before each half and at the
    end"""
    return 4 * (2 * vocabulary * width + layers * (4 * width * width + 3 * width * inner + 2 * width) + width)


# parameters, and the least share of the peak that is known
SCRIPTS = {"systems-train": (transformer(50257), 0.999), "systems-ddp": (transformer(10000), 0.999)}


def rows_of(daemon, place):
    for offset in range(0, 1 << 30, PAGE):
        rows = daemon.json("/api/v1/memory_profile/events", offset=offset, limit=PAGE, sort="event", **place)["data"][
            "rows"
        ]
        yield from rows
        if len(rows) < PAGE:
            return


def run_faults(daemon, place, name, run):
    trace = run["snapshot"]["device_traces"][0]
    places = [at for at, event in enumerate(trace) if event["action"] in ("alloc", "free_completed")]
    sums = collections.Counter()
    for row in rows_of(daemon, place):
        if row["kind"] != "before_window":
            own = "temporary" if row["category"] in TEMPORARY else row["category"]
            sums[run["truth"][str(places[row["event"]])], own] += row["size_bytes"]
    right = sum(value for (wanted, own), value in sums.items() if wanted == own)
    wrong = {f"{own} for {wanted}": value for (wanted, own), value in sums.items() if wanted != own}
    faults = [] if right >= RIGHT * sum(sums.values()) else [f"{right / sum(sums.values()):.2%} right: {wrong}"]
    before = {
        row["category"]: row["size_bytes"]
        for row in daemon.json("/api/v1/memory_profile/live", event=0, group="category", limit=100, **place)["data"][
            "rows"
        ]
        if row["origin"] == "before_recording"
    }
    for category in TOLD_BEFORE.get(name, ()):
        if before.get(category, 0) != run["before"].get(category, 0):
            faults.append(
                f"before the recording {before.get(category, 0)} of {category}, not {run['before'].get(category, 0)}"
            )
    return faults + ([f"{sums}: unknown"] if any(own == "unknown" for _, own in sums) else [])


def script_faults(pool, name):
    parameters, known = SCRIPTS[name]
    sums = {one["category"]: one["size_bytes"] for one in pool["categories"]}
    faults = [] if sums.get("parameter") == parameters else [f"parameters {sums.get('parameter')}, not {parameters}"]
    share = 1 - sums.get("unknown", 0) / pool["peak"]["in_use_bytes"]
    return faults + ([] if share >= known else [f"only {share:.2%} known at the peak"])


def sum_faults(daemon, place, pool):
    faults = []
    if sum(one["size_bytes"] for one in pool["categories"]) != pool["peak"]["in_use_bytes"]:
        faults.append(f"summary: {pool['categories']} are not {pool['peak']['in_use_bytes']}")
    timeline = daemon.json("/api/v1/memory_profile/timeline", stack="category", width=4000, **place)["data"]
    at_event = {event: at for at, event in enumerate(timeline["columns"]["event"])}
    for event in random.Random(1).sample(sorted(at_event), min(MOMENTS, len(at_event))):
        live = daemon.json("/api/v1/memory_profile/live", event=event, group="category", limit=100, **place)["data"]
        sums = {one["category"]: one["size_bytes"] for one in live["categories"]}
        parts = collections.Counter()
        for row in live["rows"]:
            parts[row["category"]] += row["size_bytes"]
        for remainder in live["remainders"]:
            parts.update(
                {
                    one["category"]: one["size_bytes"]
                    for one in remainder["categories"]
                    or [{"category": "unknown", "size_bytes": remainder["size_bytes"]}]
                }
            )
        at = at_event[event]
        bands = {
            band["label"]: band["bytes"][at]
            for band in timeline["stacked"]["bands"]
            if band["kind"] != "before" and band["bytes"][at]
        }
        if sum(sums.values()) != live["in_use_bytes"]:
            faults.append(f"event {event}: {sums} are not {live['in_use_bytes']}")
        if {name: value for name, value in parts.items() if value} != sums:
            faults.append(f"event {event}: rows and remainders {dict(parts)}, not {sums}")
        if bands != sums:
            faults.append(f"event {event}: bands {bands}, not {sums}")
        largest = max(
            (row["category"] for row in live["rows"]),
            key=lambda one: sum(row["size_bytes"] for row in live["rows"] if row["category"] == one),
            default=None,
        )
        if largest:
            kept = daemon.json(
                "/api/v1/memory_profile/live", event=event, group="none", limit=1, filter=f"cat:{largest}", **place
            )["data"]
            wanted = sum(row["size_bytes"] for row in live["rows"] if row["category"] == largest)
            if kept["matched_bytes"] != wanted:
                faults.append(f"event {event}: cat:{largest} keeps {kept['matched_bytes']}, not {wanted}")
    return faults


def explained(binary, folder, snapshot):
    path = os.path.join(folder, "asked.pickle")
    with open(path, "wb") as file:
        pickle.dump(snapshot, file, 4)
    return loads(subprocess.run([binary, "explain", "--json", path], capture_output=True, check=True, text=True).stdout)


def verdict_of(answer):
    """the verdict, wherever the answer of the command line has it"""
    if isinstance(answer, dict):
        if "cause" in answer and "advice" in answer:
            return with_evidence(answer)
        answer = list(answer.values())
    return (
        next((found for one in answer for found in [verdict_of(one)] if found), None)
        if isinstance(answer, list)
        else None
    )


def fragmentation_faults(binary, folder):
    one = made_allocator.fragmented()
    snapshot, failed = made_allocator.snapshot(one), one.failures[0]
    verdict, faults = verdict_of(explained(binary, folder, snapshot)), []
    calls = [row["do"] for row in verdict["advice"]]
    if verdict["cause"]["kind"] != "fragmentation" or verdict["cause"]["bytes"] != failed["free"]:
        faults.append(f"cause {verdict['cause']['kind']} of {verdict['cause']['bytes']}, not of {failed['free']}")
    # Each page of 20 MiB holds a block in use, so that segments which grow give none back to the device either.
    if any("expandable_segments" in call for call in calls):
        faults.append(f"advice {calls}")
    for part in (
        "empty_cache() does not help",
        "expandable_segments:True: by replay the request fails with it as well",
    ):
        if part not in (verdict.get("advice_sentence") or ""):
            faults.append(f"nothing of {part}: {verdict.get('advice_sentence')}")
    if (
        sum(row["bytes"] for row in verdict["categories"]) != failed["active"]
        or verdict["fit"]["needed_bytes"] != failed["requested"]
    ):
        faults.append("categories do not add up")
    for row in verdict["categories"]:
        evidence = row["evidence"]
        if evidence["sum_bytes"] + (evidence["rest_bytes"] or 0) != row["bytes"] or evidence["time_ps"] is None:
            faults.append(f"evidence {evidence} of {row['bytes']}")
    snapshot["allocator_settings"] = dict(snapshot.get("allocator_settings") or {}, expandable_segments=True)
    again = [row["do"] for row in verdict_of(explained(binary, folder, snapshot))["advice"]]
    if any("expandable_segments" in call for call in again) or not any("max_split_size_mb" in call for call in again):
        faults.append(f"with segments that grow: {again}")
    return faults if calls else faults + ["no advice"]


def retained_faults(binary, folder, kind):
    """what earlier steps saved is the cause where they are held, and there alone"""
    verdict, is_retained = (
        verdict_of(explained(binary, folder, made_trainings.trained(kind))),
        kind in ("retain", "loss"),
    )
    faults = [] if (verdict["cause"]["kind"] == "earlier_steps") == is_retained else [f"cause {verdict['cause']}"]
    if is_retained:
        first, rest = verdict["advice"][0], {row["kind"] for row in verdict["advice"][1:]}
        passes = {"retain": 23, "loss": 11}[kind]
        if first["kind"] != "leak" or "loss.item()" not in first["do"] or rest & {"checkpoint", "batch"}:
            faults.append(f"advice {first}, then {rest}")
        saves = first["saves_bytes"] / (made_trainings.PASS_BLOCK * made_trainings.PASS_BLOCKS)
        if saves not in (passes - 1, passes, passes + 1) or "net.py:12" not in verdict["cause"]["text"]:
            faults.append(f"{saves} passes, not about {passes}: {verdict['cause']['text']}")
    return faults


def operation_faults(binary, folder, scores, logits, cause, first):
    """what a softmax and a cross entropy hold, with what their lines make of it"""
    verdict = verdict_of(explained(binary, folder, made_trainings.computed(scores, logits)))
    by_kind, faults = {row["kind"]: row for row in verdict["advice"]}, []
    if verdict["cause"]["kind"] != cause or verdict["advice"][0]["kind"] not in first:
        faults.append(f"cause {verdict['cause']['kind']}, advice {list(by_kind)}")
    saves = by_kind.get("chunked_loss", {}).get("saves_bytes")
    if saves != (logits * 3 // 2 if logits >= MIB * 4 else None):
        faults.append(f"chunked_loss saves {saves} of {logits}")
    fused = by_kind.get("fused_attention")
    if (fused is not None) != (scores >= MIB * 4):
        faults.append(f"fused_attention of {scores}: {fused}")
    return faults + (replayed_faults(binary, folder, fused) if fused else [])


def replayed_faults(binary, path, advice):
    """what is advised has the figures of memviewd whatif"""
    process = subprocess.run(
        [binary, "whatif", "--json", path, "--change", advice["change"]], capture_output=True, check=True, text=True
    )
    (answer,) = loads(process.stdout)["modules"]
    got = [advice[key] for key in ("saves_bytes", "lands_at_bytes", "allocated_bytes", "confidence")]
    failed = answer["failed_request"]
    asked = failed["requested_bytes"] if failed and not failed["is_placed"] else 0
    wanted = [
        answer["changes"][0]["saving_bytes"],
        answer["reserved_bytes_after"] + asked,
        answer["allocated_bytes_after"],
        answer["changes"][0]["confidence"],
    ]
    return [] if got == wanted else [f"{advice['change']}: {got}, by whatif {wanted}"]


def sequential_faults(binary, folder):
    """a line that calls a whole model holds no more scores than its softmax makes"""
    verdict = verdict_of(explained(binary, folder, made_trainings.sequential()))
    saves = [row["saves_bytes"] for row in verdict["advice"] if row["kind"] == "fused_attention"]
    return (
        []
        if saves == [8 * MIB] and verdict["cause"]["kind"] == "saved_activations"
        else [f"{verdict['cause']}, {saves}"]
    )


def measured_faults(binary, shared):
    """what is advised of a model that was trained without and with it, on a GPU: within a twentieth of what was saved
    of the device, and as whatif says it"""
    folder = os.path.join(shared, "data", "torch-h200")
    with open(os.path.join(folder, "peaks.json"), encoding="utf-8") as file:
        peaks = json.load(file)
    path, faults = os.path.join(folder, "llama.pickle.gz"), []
    process = subprocess.run([binary, "explain", "--json", path], capture_output=True, check=True, text=True)
    by_change = {row["change"]: row for row in verdict_of(loads(process.stdout))["advice"] if row["change"]}
    for change, name, part in (("attention=sdpa", "llama.sdpa", 0.01), ("checkpoint", "llama.ckpt", 0.01)):
        saved = peaks["llama"]["peak_reserved"] - peaks[name]["peak_reserved"]
        said = by_change[change]["saves_bytes"]
        faults += [] if abs(said - saved) < saved * part else [f"{change}: {said}, measured {saved}"]
        faults += replayed_faults(binary, path, by_change[change])
    return faults


def training_faults(binary, folder, run):
    verdict = verdict_of(explained(binary, folder, run["snapshot"]))
    by_kind = {row["kind"]: row for row in verdict["advice"]}
    held = {row["category"]: row["bytes"] for row in verdict["categories"]}
    wanted = {
        "optimizer_dtype": held["optimizer_state"] // 4 * 3,
        "shard": (held["optimizer_state"] + held["parameter"] + held.get("gradient", 0)) // 2,
    }
    return [
        f"{kind}: {by_kind.get(kind, {}).get('saves_bytes')}, not {value}"
        for kind, value in wanted.items()
        if by_kind.get(kind, {}).get("saves_bytes") != value
    ] + (["no lines"] if not verdict["peak"]["groups"] else [])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--shared")
    options = parser.parse_args()
    counts = Counts()
    with gzip.open(RECORDED) as file:
        runs = json.load(file)["runs"]
    with tempfile.TemporaryDirectory() as folder:
        for name, run in runs.items():
            with open(os.path.join(folder, f"{name}.pickle"), "wb") as file:
                pickle.dump(run["snapshot"], file, 4)
        for name in SCRIPTS if options.shared else ():
            with (
                gzip.open(os.path.join(options.shared, "data", "torch", f"{name}.pickle.gz")) as packed,
                open(os.path.join(folder, f"{name}.pickle"), "wb") as file,
            ):
                file.write(packed.read())
        if options.shared:
            counts.add(measured_faults(options.binary, options.shared), "fused attention as measured")
        else:
            counts.skip("recorded snapshots: without --shared")
        with tempfile.TemporaryDirectory() as other:
            counts.add(fragmentation_faults(options.binary, other), "verdict of a request that failed for pieces")
            counts.add(training_faults(options.binary, other, runs["adamw"]), "verdict of a training")
            for scores, logits, cause, first in (
                (96 * MIB, MIB // 8, "attention_logits", ["fused_attention"]),
                (MIB // 8, 96 * MIB, "logits", ["chunked_loss"]),
                (MIB // 8, MIB // 8, "saved_activations", ["checkpoint"]),
                (16 * MIB, 8 * MIB, "saved_activations", ["fused_attention"]),
            ):
                counts.add(
                    operation_faults(options.binary, other, scores, logits, cause, first),
                    f"verdict of {scores} bytes of scores, {logits} of logits",
                )
            counts.add(sequential_faults(options.binary, other), "verdict of one line for a whole model")
            for kind in ("retain", "loss", "plain", "accumulate", "two networks", "pipeline", "large"):
                counts.add(retained_faults(options.binary, other, kind), f"verdict of steps: {kind}")
        with Daemon(options.binary, folder) as daemon:
            session = daemon.json("/api/v1/sessions")["sessions"][0]
            for host in session["hosts"]:
                place = {"session": session["id"], "host": host["id"]}
                pool = daemon.json("/api/v1/memory_profile/summary", **place)["data"]["pools"][0]
                name = host["name"]
                counts.add(
                    run_faults(daemon, place, name, runs[name]) if name in runs else script_faults(pool, name),
                    f"categories of {name}",
                )
                counts.add(sum_faults(daemon, place, pool), f"sums of {name}")
    return counts.finish()


if __name__ == "__main__":
    raise SystemExit(main())
