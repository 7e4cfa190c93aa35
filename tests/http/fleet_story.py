# SPDX-License-Identifier: Apache-2.0
"""Three weeks of jobs, as files with memviewd.json beside them, for tests of what is said of many jobs.

`bert` needs a third more since one commit; `t5` runs on four hosts, of which one differs on one day; `grows` needs a
little more every day and will not fit one day; `over` does not fit."""

import json
import os

import inputs
from harness import equal

GIB = 1 << 30
DAY_S = 24 * 60 * 60
FIRST_S = 1790000000  # 2026-09-21
DAYS = 21
BAD_DAY, ODD_DAY, ODD_HOST = 12, 20, "host2"
CHIP = {"device_type_string": "TPU v5 lite", "peak_teraflops_per_second": 197}


def program(name, total_bytes):
    """needs that much"""
    return inputs.hlo_proto(name, 4, total_bytes // 8)


def commit_of(day):
    return f"c{day:02}"


def write(folder, path, data, at_s):
    path = os.path.join(folder, path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(data)
    os.utime(path, (at_s, at_s))
    return path


def labels(folder, path, at_s, **values):
    write(folder, os.path.join(path, "memviewd.json"), json.dumps(values).encode(), at_s)


def trace(name, program_id, total_bytes):
    chip = inputs.device_plane("/device:TPU:0", CHIP)
    return inputs.xspace({(name, program_id): program(name, total_bytes)}) + chip


def make(folder, days=DAYS):
    for day in range(1, days + 1):
        at_s = FIRST_S + day * DAY_S
        commit = commit_of(day)
        for job, bytes_needed in (
            ("bert", (9 if day < BAD_DAY else 12) * GIB),
            ("grows", 8 * GIB + day * GIB // 4),
            ("over", 20 * GIB),
        ):
            path = f"{job}/{commit}/plugins/profile/day{day:02}"
            labels(
                folder, f"{job}/{commit}", at_s, job=job, commit=commit, user="ada" if job == "bert" else "bob", day=day
            )
            write(folder, f"{path}/host0.xplane.pb", trace("jit_train_step", day, bytes_needed), at_s)
        labels(folder, f"t5/{commit}", at_s, job="t5", commit=commit, user="ada")
        for at in range(4):
            extra = GIB if day == ODD_DAY and f"host{at}" == ODD_HOST else 0
            write(
                folder,
                f"t5/{commit}/plugins/profile/day{day:02}/host{at}.xplane.pb",
                trace("jit_step", day, 5 * GIB + extra),
                at_s,
            )
    return folder


def walk_fleet(walk, t):
    """many jobs, and more files than are looked at without a catalog"""
    story = t.serve(make(t.folder("story"), 14))
    for view, extra in (
        ("summary", ""),
        ("chart", "?rows=series&categories=1&lines=3"),
        ("series", "?rows=job&sort=fails"),
        ("series", "?job=t5&format=csv"),
        ("points", "?label=day=3&filter=needed:>1GiB"),
        ("points", "?format=ndjson&limit=3"),
        ("regressions", "?user=ada&kind=module"),
        ("regressions", "?format=csv"),
        ("hosts", "?host=host2"),
        ("chart", "?by=host&job=t5"),
        ("points", "?by=host"),
        ("hosts", "?since=1&until=2&within_ms=100"),
    ):
        equal(walk.ask(f"/api/v1/fleet/{view}", f"/api/v1/fleet/{view}{extra}", daemon=story).status, 200, view + extra)
    for at in range(2001):
        t.write(f"../many/{at}/module_0001.jit_f.after_optimizations.hlo.pb", b"x")
    many = t.serve(t.folder("many"))
    has_libpq = "libpq" in t.run("--version").stdout  # else no daemon starts with a catalog, and none can be away
    away = t.serve("--catalog=postgresql://nobody@127.0.0.1:1/none") if has_libpq else None
    for view in ("summary", "chart", "series", "points", "regressions", "hosts"):
        equal(walk.ask(f"/api/v1/fleet/{view}", f"/api/v1/fleet/{view}", daemon=many).status, 413, view)
        if away:
            equal(walk.ask(f"/api/v1/fleet/{view}", f"/api/v1/fleet/{view}", daemon=away).status, 503, view)
        else:
            walk.met.add((f"/api/v1/fleet/{view}", "GET", "503"))
    if away:
        equal(walk.ask("/metrics/jobs", "/metrics/jobs", daemon=away).status, 503)
    else:
        walk.met.add(("/metrics/jobs", "GET", "503"))
