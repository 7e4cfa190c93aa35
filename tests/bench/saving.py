#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the savings of all buffers and groups of the largest program cost, beside adding its curve up again without
each.

  saving.py --binary PATH --shared DIR [--looks N]

Every question is a new one, so that no kept answer is measured. "added up again" is tests/golden/marginal.py, for all
rows.
"""

import argparse
import os
import statistics
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "golden"))
from daemon import Daemon  # noqa: E402
from marginal import Space, pages  # noqa: E402

QUESTIONS = [
    ("buffers", {}),
    ("groups", {"by": "whose"}),
    ("groups", {"by": "shape"}),
    ("groups", {"by": "line"}),
    ("groups", {"by": "category"}),
    ("groups", {"by": "scope"}),
    ("tree", {"nodes": 20000}),
]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", required=True)
    parser.add_argument("--shared", required=True)
    parser.add_argument("--looks", type=int, default=7)
    options = parser.parse_args()
    with Daemon(options.binary, os.path.join(options.shared, "data", "logdir", "tpu")) as daemon:
        session = next(row for row in daemon.json("/api/v1/sessions")["sessions"] if "64l" in row["name"])
        module = daemon.json(f"/api/v1/sessions/{session['id']}/modules")["modules"][0]
        total = 0
        for space in daemon.view("summary", session, module)["spaces"][:2]:
            number = space["space"]
            print(f"\nsavings in {module['name']}, {space['name']}: {space['step_count']:,} steps")
            for view, more in QUESTIONS:
                seconds = []
                for look in range(options.looks):
                    begin = time.perf_counter()
                    daemon.view(view, session, module, space=number, filter=f"size:<{1 << 60}" + " " * look, **more)
                    seconds.append(time.perf_counter() - begin)
                total += statistics.median(seconds)
                print(f"  {view + ' ' + more.get('by', ''):16} memviewd {statistics.median(seconds) * 1e3:10.3f} ms")
            rows = pages(
                lambda view, **asked: daemon.view(view, session, module, **asked),
                "buffers",
                "rows",
                space=number,
                step="all",
                sort="size",
            )
            summed, begin = Space(rows, space["step_count"]), time.perf_counter()
            for row in rows:
                summed.saving_of_one(row)
            print(f"  {len(rows):,} rows added up again {(time.perf_counter() - begin) * 1e3:10.3f} ms")
        print(f"  all answers: {total * 1e3:.1f} ms, goal 200: {'met' if total < 0.2 else 'MISSED'}")


if __name__ == "__main__":
    main()
