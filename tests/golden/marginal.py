#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What buffers and groups would save, against adding the curve up again without them, on every program of ../shared, or
of tests/fixtures.

  marginal.py --binary PATH [--shared DIR] [--only TEXT]

Of each memory space all rows are read; the curve is their sum. Without a buffer (all rows of its id) or a group (all
rows of its key, by shape, category and whose memory it is; a pattern's buffers) the sum is made again, step by step.
"""

import argparse
import itertools
import operator
import os
import sys

import inputs
from daemon import Counts, Daemon
from members import Members

FOLDERS = ("modules", "dumps", "programs", "whatif", "chips", "logdir")
GROUPS = {"shape": "shape", "category": "category", "whose": "group"}
PAGE = 1000


def pages(ask, view, member, **arguments):
    """all rows of a table"""
    rows, offset = [], 0
    while True:
        data = ask(view, limit=PAGE, offset=offset, **arguments)
        rows += data[member]
        offset += PAGE
        if len(data[member]) < PAGE:
            return rows


class Space:
    def __init__(self, rows, step_count):
        self.rows, self.count = rows, max(step_count, 1)
        self.curve = self.sum_of(rows)
        self.peak = max(self.curve)

    def sum_of(self, rows):
        changes = [0] * (self.count + 1)
        for row in rows:
            born, dies = row["born_step"] or 0, self.count if row["dies_step"] is None else row["dies_step"]
            changes[born] += row["bytes"]
            changes[dies] -= row["bytes"]
        return list(itertools.accumulate(changes[:-1]))

    def is_alive(self, row, step):
        return row["is_indefinite"] or row["born_step"] <= step < (
            self.count if row["dies_step"] is None else row["dies_step"]
        )

    def saving(self, rows):
        """(bytes, first step of the new peak) without these rows"""
        left = list(map(operator.sub, self.curve, self.sum_of(rows)))
        peak = max(left)
        return self.peak - peak, left.index(peak)

    def saving_of_one(self, row):
        """the same of a single row, quicker"""
        if row["is_indefinite"]:
            return row["bytes"], self.curve.index(self.peak)
        born, dies = row["born_step"], self.count if row["dies_step"] is None else row["dies_step"]
        parts = [
            (part, at, less)
            for part, at, less in (
                (self.curve[:born], 0, 0),
                (self.curve[born:dies], born, row["bytes"]),
                (self.curve[dies:], dies, 0),
            )
            if part
        ]
        peaks = [(max(part) - less, at + part.index(max(part))) for part, at, less in parts]
        peak = max(each for each, _ in peaks)
        return self.peak - peak, next(step for each, step in peaks if each == peak)


def compare(faults, what, said, made, has_step):
    saves, step = made
    if said["saves_bytes"] != saves or said["next_peak_step"] != (step if has_step else None):
        faults.append(
            f"{what}: saves {said['saves_bytes']}, next peak at {said['next_peak_step']}; "
            f"added up again {saves}, {step}"
        )


def check_space(ask, summary):
    """(faults, buffers, groups)"""
    faults, number = [], summary["space"]
    rows = pages(ask, "buffers", "rows", space=number, step="all", sort="size")
    space, has_step = Space(rows, summary["step_count"]), summary["peak_step"] is not None and summary["step_count"] > 0
    if space.peak != summary["peak_bytes"]:
        return [f"the rows add up to {space.peak}, not {summary['peak_bytes']}"], 0, 0
    has_step = has_step and any(not row["is_indefinite"] and row["bytes"] > 0 for row in rows)
    by_id = {}
    for row in rows:
        by_id.setdefault(row["id"], []).append(row)
    for own in by_id.values():
        made = space.saving_of_one(own[0]) if len(own) == 1 else space.saving(own)
        for row in own:
            compare(faults, row["name"], row, made, has_step)
    group_count = 0
    for by, member in GROUPS.items():
        of_key = {}
        for row in rows:
            of_key.setdefault(row[member], []).append(row)
        for group in pages(ask, "groups", "groups", space=number, by=by):
            group_count += 1
            compare(faults, f"{by} {group['key'][:60]}", group, space.saving(of_key[group["key"]]), has_step)
    for pattern in ask("whose", space=number)["patterns"]:
        group_count += 1
        own = [row for each in pattern["buffers"] for row in by_id[each] if space.is_alive(row, summary["peak_step"])]
        if pattern["kind"] == "padding":
            own = [Members(row, bytes=row["padding_bytes"]) for row in own]
        compare(faults, f"pattern {pattern['kind']}", pattern, space.saving(own), has_step)
    order = [row["saves_bytes"] for row in ask("buffers", space=number, limit=PAGE)["rows"]]
    if order != sorted(order, reverse=True):
        faults.append("the first of the default order does not save most")
    return faults, len(by_id), group_count


def check_folder(counts, binary, folder, only):
    buffers = groups = 0
    with Daemon(binary, folder) as daemon:
        for session in daemon.json("/api/v1/sessions", limit=1000)["sessions"]:
            name = f"{os.path.basename(folder)}/{session['name']}"
            if only and only not in name:
                continue
            for module in daemon.json(f"/api/v1/sessions/{session['id']}/modules", limit=1000)["modules"]:
                if module.get("error"):
                    continue
                ask = lambda view, module=module, **arguments: daemon.view(view, session, module, **arguments)
                for summary in ask("summary")["spaces"]:
                    if summary["replay_error"]:
                        continue
                    faults, more_buffers, more_groups = check_space(ask, summary)
                    counts.add(faults, f"{name} {module['name']} space {summary['space']}")
                    buffers, groups = buffers + more_buffers, groups + more_groups
    return buffers, groups


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", required=True)
    inputs.add_argument(parser)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    counts, buffers, groups = Counts(), 0, 0
    data = inputs.data_of(options)
    for name in inputs.present(options, data, "", FOLDERS):
        folder = os.path.join(data, name)
        if not os.path.isdir(folder):
            counts.skip(f"{folder} is not there")
            continue
        more_buffers, more_groups = check_folder(counts, options.binary, folder, options.only)
        buffers, groups = buffers + more_buffers, groups + more_groups
    print(f"{buffers} buffers, {groups} groups added up again")
    return counts.finish()


if __name__ == "__main__":
    sys.exit(main())
