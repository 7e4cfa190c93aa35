#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Predictions of `memviewd whatif` against programs that were really changed and compiled.

  whatif.py --binary FILE --shared DIR

Prints, for each pair, the saving that is predicted and the real one. The error is |predicted - real| / max(|real|, 1 % of
the total before). Exit status 1 where the median is above 3 %, fewer than 90 % of the pairs are within 20 %, or a sign
is wrong where |real| is above that 1 %.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys

PAIRS = [("whatif", "actual.json"), ("programs", "whatif.json")]


def predict(binary, folder, changes):
    run = subprocess.run([binary, "whatif", folder, "--json"] + [part for change in changes for part in ("--change", change)],
                         capture_output=True, text=True, check=False)
    modules = json.loads(run.stdout)["modules"] if run.stdout else []
    return (modules[0], "") if modules else (None, run.stderr.strip())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", required=True)
    parser.add_argument("--shared", required=True)
    options = parser.parse_args()
    errors, wrong = [], []
    print(f"{'pair':22} {'change':26} {'before':>10} {'predicted':>10} {'real':>10} {'error':>7}")
    for folder, name in PAIRS:
        with open(os.path.join(options.shared, "data", folder, name), encoding="utf-8") as file:
            pairs = json.load(file)
        for pair, truth in pairs.items():
            module, said = predict(options.binary, os.path.join(options.shared, "data", folder, truth["base"]), truth["change"])
            saving = module["total_bytes_before"] - module["total_bytes_after"] if module else 0
            real, smallest = truth["saving_bytes"], truth["total_bytes_before"] / 100
            error = abs(saving - real) / max(abs(real), smallest)
            errors.append(error)
            if saving * real < 0 and abs(real) > smallest:
                wrong.append(pair)
            print(f"{pair:22} {' '.join(truth['change']):26} {truth['total_bytes_before'] / 2**20:10.1f} "
                  f"{saving / 2**20:10.1f} {real / 2**20:10.1f} {100 * error:6.1f}%  {said[-90:]}")
    within = sum(error <= 0.2 for error in errors)
    median = statistics.median(errors)
    print(f"median {100 * median:.1f} %, {within} of {len(errors)} within 20 %, {len(wrong)} wrong signs")
    is_bad = median > 0.03 or within < 0.9 * len(errors) or bool(wrong)
    print(f"{int(not is_bad)} passed, {int(is_bad)} failed, 0 skipped")
    return int(is_bad)


if __name__ == "__main__":
    sys.exit(main())
