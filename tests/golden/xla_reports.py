#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds the daemon's figures against what the compiler wrote beside each program.

  xla_reports.py --binary memviewd [--shared DIR]

totals    per memory space: ours and the thread-local allocations are XLA's "Total bytes" exactly
          (XProf's total leaves thread-local ones out, XLA's report counts them)
ranges    every value's live range is that of XLA's -live-range.txt, and so are the unpadded bytes
peak      peak_memory_bytes is JAX's peak_memory_in_bytes, parameters its argument_size_in_bytes
scoped    the program of f5, which was refused, records no scoped VMEM; the size is in its error text,
          which the session shows (answers with scoped VMEM: fixtures.py)
example   300 GiB at peak: fusion.31 200, xor_convert_fusion 100
Ends with the counts; exit status 1 if one differs.
"""

import argparse
import glob
import json
import os
import re
import sys

import inputs
import live_range
from daemon import Counts, Daemon

GIB = 1 << 30
ENDING = ".after_optimizations.hlo.pb"
# XLA counts this much more than we do for a-adam-state: 672 thread-local allocations of 512 bytes.
ADAM_THREAD_LOCAL_BYTES = 344_064


def report_totals(path):
    """{space: total bytes} of a memory-usage-report.txt"""
    with open(path, encoding="utf-8") as file:
        found = re.findall(r"^Memory Space: .* \(color=(-?\d+)\)\nTotal bytes: (\d+) ", file.read(), re.M)
    return {int(space): int(total) for space, total in found}


def total_faults(summary, totals):
    mine = {space["space"]: space["total_bytes"] + space["thread_local_bytes"] for space in summary["spaces"]}
    for space, total in totals.items():
        if mine.get(space, 0) != total:
            yield f"space {space}: {mine.get(space, 0)}, XLA {total}"
    for space in mine.keys() - totals.keys():
        if mine[space]:
            yield f"space {space}: {mine[space]}, XLA does not name it"


def analysis_faults(summary, analysis):
    if summary["peak_memory_bytes"] != analysis["peak_memory_in_bytes"]:
        yield f"peak_memory_bytes {summary['peak_memory_bytes']}, JAX {analysis['peak_memory_in_bytes']}"
    parameters = sum(space["parameter_bytes"] for space in summary["spaces"] if space["space"] == 0)
    if parameters != analysis["argument_size_in_bytes"]:
        yield f"parameter_bytes {parameters}, JAX {analysis['argument_size_in_bytes']}"


def check_program(daemon, path, counts):
    folder, file = os.path.basename(os.path.dirname(path)), os.path.basename(path)
    session, module = daemon.find(folder, file)
    if not module:
        counts.add(["not found"], folder)
        return
    summary = daemon.view("summary", session, module)
    report = path[: -len(".hlo.pb")] + "-memory-usage-report.txt"
    if os.path.exists(report):
        counts.add(list(total_faults(summary, report_totals(report))), f"{folder} totals")
    ranges = path[: -len(".hlo.pb")] + "-live-range.txt"
    if os.path.exists(ranges):
        counts.add(list(live_range.faults(daemon.view("live_range", session, module), ranges)), f"{folder} live ranges")
    analysis = os.path.join(os.path.dirname(path), "memory_analysis.json")
    if os.path.exists(analysis):
        with open(analysis, encoding="utf-8") as text:
            counts.add(list(analysis_faults(summary, json.load(text))), f"{folder} peak")


def space_zero(daemon, folder, path):
    session, module = daemon.find(folder, os.path.basename(path))
    summary = daemon.view("summary", session, module)
    return session, module, summary, next(row for row in summary["spaces"] if row["space"] == 0)


def check_examples(daemon, options, data, counts):
    def path(folder):
        return glob.glob(f"{data}/dumps/{folder}/*{ENDING}")[0]

    session, module, _, hbm = space_zero(daemon, "seed-matmul-327680", path("seed-matmul-327680"))
    rows = daemon.view("buffers", session, module, space=0)["rows"]
    largest = [(row["name"], row["bytes"]) for row in rows]
    wanted = [("fusion.31", 200 * GIB), ("xor_convert_fusion", 100 * GIB)]
    counts.add([] if hbm["peak_bytes"] == 300 * GIB else [f"peak {hbm['peak_bytes']}"], "example peak")
    counts.add([] if largest == wanted else [f"buffers {largest}"], "example buffers")

    for name in inputs.present(options, data, "dumps", ["a-adam-state"]):
        more = space_zero(daemon, name, path(name))[3]["thread_local_bytes"]
        counts.add([] if more == ADAM_THREAD_LOCAL_BYTES else [f"thread-local {more}"], name)

    session, _, f5, _ = space_zero(daemon, "f5-vmem-matmul-blocks", path("f5-vmem-matmul-blocks"))
    scoped = {row["scoped_vmem_bytes"] for row in f5["spaces"]}
    texts = daemon.json(f"/api/v1/sessions/{session['id']}")["error_texts"]
    told = any("Scoped allocation with size 96.00M" in text["text"] for text in texts)
    counts.add([] if scoped == {None} and told else [f"{scoped}, texts {texts}"], "f5 scoped VMEM")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True)
    inputs.add_argument(parser)
    options = parser.parse_args()
    counts, data = Counts(), inputs.data_of(options)
    for root in inputs.present(options, data, "", ("dumps", "modules", "whatif")):
        with Daemon(options.binary, os.path.join(data, root)) as daemon:
            for path in inputs.programs_of(data, root, ENDING):
                check_program(daemon, path.removesuffix(".gz"), counts)
            if root == "dumps":
                check_examples(daemon, options, data, counts)
    return counts.finish()


if __name__ == "__main__":
    sys.exit(main())
