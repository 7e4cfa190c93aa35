#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Predictions of `memviewd whatif` against programs that were really changed and compiled.

  whatif.py --binary FILE --shared DIR
  whatif.py --binary FILE --pairs DIR      those of `scripts/make-programs DIR --pairs`

Prints, for each pair, the saving that is predicted and the real one. The error is |predicted - real| / max(|real|, 1 %
of the total before). Exit status 1 where the median is above 3 %, fewer than 90 % of the pairs are within 20 %, or a
sign is wrong where |real| is above that 1 %. Of changes together the order must not matter, as it does not to the
compiler, and layers that are computed again follow a batch: the total is within 8 % of what it makes of the program.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
from members import loads

PAIRS = [("whatif", "actual.json"), ("programs", "whatif.json")]
# Bases, and the total in MiB of checkpoint=* and batch=0.5 together, by libtpu 0.0.52 (--confirm).
TOGETHER = {"gpt4-wide.base": 4526, "mlp.base": 887, "cnn.base": 1321, "gptscan.base": 2867}
SECOND = ["batch=0.5", "cast=*:bf16", "shard=*:4"]


def predict(binary, folder, changes):
    run = subprocess.run(
        [binary, "whatif", folder, "--json"] + [part for change in changes for part in ("--change", change)],
        capture_output=True,
        text=True,
        check=False,
    )
    modules = loads(run.stdout)["modules"] if run.stdout else []
    return (modules[0], "") if modules else (None, run.stderr.strip())


def together_faults(options):
    faults = []
    for base, real in TOGETHER.items():
        for second in SECOND:
            orders = [["checkpoint=*", second], [second, "checkpoint=*"]]
            totals = [
                predict(options.binary, os.path.join(options.shared, "data", "whatif", base), order)[0][
                    "total_bytes_after"
                ]
                / 2**20
                for order in orders
            ]
            print(
                f"{base:22} {' '.join(orders[0]):26} {totals[0]:10.1f} {totals[1]:10.1f}"
                + (f" {real:10.1f}" if second == "batch=0.5" else "")
            )
            if abs(totals[0] - totals[1]) > 0.005 * totals[0] or (
                second == "batch=0.5" and abs(totals[0] - real) > 0.08 * real
            ):
                faults.append(f"{base} {second}")
    return faults


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", required=True)
    parser.add_argument("--shared")
    parser.add_argument("--pairs")
    options = parser.parse_args()
    if (options.shared is None) == (options.pairs is None):
        parser.error("--shared or --pairs")
    errors, wrong = [], []
    print(f"{'pair':22} {'change':26} {'before':>10} {'predicted':>10} {'real':>10} {'error':>7}")
    folders = [(os.path.join(options.shared, "data", folder), name) for folder, name in PAIRS] if options.shared else []
    for folder, name in folders or [(options.pairs, "whatif.json")]:
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            pairs = json.load(file)
        for pair, truth in pairs.items():
            if truth["change"][0].startswith("advice="):  # of a verdict; whatif has no name for it
                continue
            module, said = predict(options.binary, os.path.join(folder, truth["base"]), truth["change"])
            saving = module["total_bytes_before"] - module["total_bytes_after"] if module else 0
            real, smallest = truth["saving_bytes"], truth["total_bytes_before"] / 100
            error = abs(saving - real) / max(abs(real), smallest)
            errors.append(error)
            if saving * real < 0 and abs(real) > smallest:
                wrong.append(pair)
            print(
                f"{pair:22} {' '.join(truth['change']):26} {truth['total_bytes_before'] / 2**20:10.1f} "
                f"{saving / 2**20:10.1f} {real / 2**20:10.1f} {100 * error:6.1f}%  {said[-90:]}"
            )
    within = sum(error <= 0.2 for error in errors)
    median = statistics.median(errors)
    print(f"median {100 * median:.1f} %, {within} of {len(errors)} within 20 %, {len(wrong)} wrong signs")
    faults = together_faults(options) if options.shared else []
    print(f"{len(faults)} of changes together are wrong {faults}")
    is_bad = bool(faults) or median > 0.03 or within < 0.9 * len(errors) or bool(wrong)
    print(f"{int(not is_bad)} passed, {int(is_bad)} failed, 0 skipped")
    return int(is_bad)


if __name__ == "__main__":
    sys.exit(main())
