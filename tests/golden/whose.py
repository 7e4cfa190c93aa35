#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whose memory it is, against programs whose truth is known.

  whose.py --binary PATH [--shared DIR] [FOLDER…]

Each FOLDER (without one: data/programs of DIR, without that tests/fixtures/programs) holds programs, each a folder with
a module and truth.json: what the author of the program says its arguments are, and which patterns were planted.
Counted: argument bytes with the right category, peak bytes that are not unknown, planted patterns that are found,
patterns in the twin made to remove them. For data/dumps the first sentence has to name what really filled the memory.
"""

import argparse
import glob
import json
import os
import subprocess
import sys

import inputs
from members import loads

MIN_RIGHT, MIN_KNOWN, MIN_FOUND = 0.99, 0.98, 0.95
# the twins of the programs of ../shared, which were made to be without a pattern
TWINS = {
    "p-chunked-ce": ["logits"],
    "p-flash": ["attention_scores"],
    "p-no-clip": ["all_gradients"],
    "kv-decode-donated": ["cache_copy", "no_donation"],
    "maxtext-scan-remat": ["attention_scores"],
    "fsdp8-scan-constrained": ["batch_not_split", "gathered_activation"],
}
FIRST_SENTENCES = {
    "a-adam-state": "Optimizer state: 10.54 GiB (63 % of the peak)",
    "b-activations-unrolled": "Saved activations: 27.80 GiB (83 % of the peak), of it 24.00 GiB attention scores",
    "h-long-context": "Attention scores: 64.00 GiB (88 % of the peak)",
    "e-no-donation": "Results that could reuse the memory of arguments: 8.69 GiB (50 % of the peak)",
    "d-tile-padding": "Padding: 500.00 GiB (96 % of the peak)",
}


class Counts:
    def __init__(self):
        self.passed = self.failed = 0

    def check(self, is_right, what):
        if is_right:
            self.passed += 1
        else:
            self.failed += 1
            print(f"FAILED {what}")


def whose(binary, folder):
    answer = subprocess.run([binary, "whose", "--json", folder], capture_output=True, text=True, check=False)
    if answer.returncode != 0:
        raise SystemExit(f"{folder}: {answer.stderr}")
    return max(loads(answer.stdout)["modules"], key=lambda module: module["peak"]["bytes"])


def is_right(argument, ours):
    return argument["number"] in ours and ours[argument["number"]]["category"] in [
        argument["role"],
        *(argument.get("also") or []),
    ]


def check_program(counts, binary, folder, sums):
    name = os.path.basename(folder)
    with open(os.path.join(folder, "truth.json"), encoding="utf-8") as file:
        truth = json.load(file)
    module = whose(binary, folder)
    ours = {argument["number"]: argument for argument in module["arguments"]}
    arguments = [argument for argument in truth["args"] if argument["number"] is not None]
    total = sum(argument["bytes"] for argument in arguments)
    right = sum(argument["bytes"] for argument in arguments if is_right(argument, ours))
    categories = {entry["category"]: entry["bytes"] for entry in module["peak"]["categories"]}
    peak = module["peak"]["bytes"]
    kinds = {pattern["kind"] for pattern in module["patterns"]}
    missing = [kind for kind in truth["patterns"] if kind not in kinds]
    wrong = [kind for kind in truth.get("absent", TWINS.get(name, [])) if kind in kinds]
    sums["planted"] += len(truth["patterns"])
    sums["found"] += len(truth["patterns"]) - len(missing)
    for argument in arguments:
        if not is_right(argument, ours) and argument["bytes"] * 1000 > total:
            print(
                f"  {name}: {argument['path']} is {argument['role']}, "
                f"we say {ours.get(argument['number'], {}).get('category')}"
            )
    for kind in missing:
        print(f"  {name}: {kind} was planted and is not found")
    counts.check(right >= MIN_RIGHT * total, f"{name}: {100 * right / max(total, 1):.2f} % of the argument bytes")
    counts.check(peak - categories.get("unknown", 0) >= MIN_KNOWN * peak, f"{name}: too much is unknown")
    counts.check(peak == truth["peak_bytes"], f"{name}: the peak is {peak}, not {truth['peak_bytes']}")
    counts.check(sum(categories.values()) == peak, f"{name}: categories add up to {sum(categories.values())}")
    counts.check(sum(group["bytes"] for group in module["groups"]) == peak, f"{name}: groups do not add up")
    counts.check(not wrong, f"{name}: {', '.join(wrong)} in the twin without")


def check_story(counts, binary, folder, wanted):
    answer = subprocess.run([binary, "summary", "--json", folder], capture_output=True, text=True, check=False)
    modules = [module for session in loads(answer.stdout)["sessions"] for module in session["modules"]]
    spaces = [space for module in modules for space in module["summary"]["data"]["spaces"]]
    largest = max(spaces, key=lambda space: space["total_bytes"])
    words = "".join(
        word if isinstance(word, str) else word.get("name", word.get("text")) for word in largest["culprit"]["sentence"]
    )
    counts.check(words.startswith(wanted + "."), f"{os.path.basename(folder)}: {words}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", required=True)
    inputs.add_argument(parser)
    parser.add_argument("folders", nargs="*")
    options = parser.parse_args()
    counts, sums = Counts(), {"planted": 0, "found": 0}
    data = inputs.data_of(options)
    for folder in options.folders or [os.path.join(data, "programs")]:
        for truth in sorted(glob.glob(os.path.join(folder, "*", "truth.json"))):
            check_program(counts, options.binary, os.path.dirname(truth), sums)
    counts.check(sums["found"] >= MIN_FOUND * sums["planted"], f"{sums['found']} of {sums['planted']} patterns")
    if not options.folders:
        for name in inputs.present(options, data, "dumps", FIRST_SENTENCES):
            check_story(counts, options.binary, os.path.join(data, "dumps", name), FIRST_SENTENCES[name])
    print(f"{sums['found']} of {sums['planted']} planted patterns found")
    print(f"{counts.passed} passed, {counts.failed} failed, 0 skipped")
    return 1 if counts.failed else 0


if __name__ == "__main__":
    sys.exit(main())
