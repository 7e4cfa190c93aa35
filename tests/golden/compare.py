#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""memviewd diff against programs whose equal buffers are known: how many bytes find their partner, and do sums add up.

  compare.py --binary build/release/memviewd [--shared ../shared] [--list PAIR] [--least PERCENT]

Truth is programs/diff-truth.json of the recorded inputs: groups of buffers that are the same value in A and in B. A
pair is right when both are of one group. A buffer without a partner is right when its group is on one side only, or
when all that the other side has of the group is taken. Counted are the bytes of both sides that are live and that truth
names. Exit status 1 when the worst comparison has less than the least share of its bytes right, or a sum is not exact.
"""

import argparse
import json
import os
import subprocess
import sys
from members import loads

SUMS = [("dumps/e-no-donation", "modules/e-with-donation")]
SIDES = ("a", "b")


def diff(binary, a, b):
    done = subprocess.run([binary, "diff", a, b, "--json"], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"diff {a} {b}: {done.stderr.strip()}")
    return loads(done.stdout)


def sum_fault(answer):
    """what does not add up to the byte, or None"""
    parts = sum(row["bytes"] for row in answer["waterfall"])
    if answer["total_before"] + parts != answer["total_after"]:
        return f"{answer['total_before']} + {parts} is not {answer['total_after']}"
    by_category = {}
    for match in answer["matches"]:
        by_category[match["category"]] = by_category.get(match["category"], 0) + match["delta_bytes"]
    for row in answer["waterfall"]:
        if row["category"] != "fragmentation" and by_category.get(row["category"], 0) != row["bytes"]:
            return f"the pairs of {row['category']} make {by_category.get(row['category'], 0)}, not {row['bytes']}"
    return None


def groups_of(truth):
    """{buffer: (group, is of both)} for each side, and what each group is"""
    sides, labels = ({}, {}), []
    for a, b, label in truth["matched"]:
        for names, side in ((a, sides[0]), (b, sides[1])):
            side.update((name, (len(labels), True)) for name in names)
        labels.append(label)
    for key, side in (("only_a", sides[0]), ("only_b", sides[1])):
        for names, label in truth[key]:
            side.update((name, (len(labels), False)) for name in names)
            labels.append(label)
    return sides, labels


def score(truth, answer):
    """right and all bytes, and the faults as (bytes, group, match)"""
    sides, labels = groups_of(truth)
    alone = [{}, {}]
    for match in answer["matches"]:
        for side in range(2):
            known = sides[side].get(match[SIDES[side]])
            if known and match[SIDES[1 - side]] is None:
                alone[side][known[0]] = alone[side].get(known[0], 0) + match[SIDES[side] + "_bytes"]
    right, whole, faults = 0, 0, []
    for match in answer["matches"]:
        known = [sides[side].get(match[SIDES[side]]) for side in range(2)]
        for side in range(2):
            if known[side] is None:
                continue
            group, is_of_both = known[side]
            if match[SIDES[1 - side]] is None:
                is_right = not is_of_both or group not in alone[1 - side]
            else:
                is_right = known[1 - side] is not None and known[1 - side][0] == group
            size = match[SIDES[side] + "_bytes"]
            whole += size
            right += size if is_right else 0
            if not is_right:
                faults.append((size, labels[group], match))
    return right, whole, sorted(faults, key=lambda fault: -fault[0])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--shared")
    parser.add_argument("--list", metavar="PAIR", help="print what is wrong in comparisons whose name holds this")
    parser.add_argument("--least", type=float, default=96.0, metavar="PERCENT")
    options = parser.parse_args()
    if options.shared is None:
        print("0 passed, 0 failed, 1 skipped")
        return 0
    data = os.path.join(options.shared, "data")
    programs = os.path.join(data, "programs")
    with open(os.path.join(programs, "diff-truth.json"), encoding="utf-8") as file:
        truth = json.load(file)
    passed, failed, worst = 0, 0, 100.0
    for name in truth:
        a, b = name.split(" -> ")
        answer = diff(options.binary, os.path.join(programs, a), os.path.join(programs, b))
        right, whole, faults = score(truth[name], answer)
        share = 100.0 * right / whole if whole else 100.0
        worst = min(worst, share)
        fault = sum_fault(answer)
        is_good = fault is None and share >= options.least
        passed, failed = passed + is_good, failed + (not is_good)
        matched = 100.0 * answer["matched_bytes"] / answer["compared_bytes"]
        print(f"{share:6.2f} % right  {matched:6.2f} % matched  {name}{': ' + fault if fault else ''}")
        if options.list is not None and options.list in name:
            for size, label, match in faults:
                print(f"    {size:>12}  {label}: {match['a']} {match['b']} {match['key']}")
    for a, b in SUMS:
        fault = sum_fault(diff(options.binary, os.path.join(data, a), os.path.join(data, b)))
        passed, failed = passed + (fault is None), failed + (fault is not None)
        print(f"{'sum is exact' if fault is None else fault}  {a} -> {b}")
    print(f"{worst:6.2f} % of the bytes right in the worst; wanted are {options.least} %")
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
