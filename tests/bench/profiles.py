#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Device profiles: memviewd top beside `pprof -top`, the first flame graph, a series of 1,000 profiles.

  profiles.py --binary build/release/memviewd --shared ../shared [--pprof CMD] [--check]

Goals: 100,000 samples of depth 60 at least 20 times less processor time than pprof and at most a
quarter of its memory; the first flame graph in 1 s and 2 MB; the series in 2 s. Of three runs of
ours the cheapest counts. pprof: GOPATH=DIR go install github.com/google/pprof@latest.
"""

import argparse
import gzip
import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "golden"))
from daemon import Daemon  # noqa: E402

RUNS, SERIES = 3, 1000


def cost(command, runs=RUNS):
    """(seconds of processor, MiB at most) of the cheapest of some runs"""
    best = None
    for _ in range(runs):
        with open(os.devnull, "wb") as nowhere:
            process = subprocess.Popen(command, stdout=nowhere, stderr=nowhere)
            _, status, usage = os.wait4(process.pid, 0)
        if status:
            raise ValueError(f"{command[0]} failed")
        one = (usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)
        best = min(best, one) if best else one
    return best


def ask(daemon, path):
    """(seconds, bytes as sent, data) of an answer"""
    request = urllib.request.Request(daemon.url + path, headers={"Accept-Encoding": "gzip"})
    begin = time.monotonic()
    with urllib.request.urlopen(request, timeout=120) as answer:
        body = answer.read()
    took = time.monotonic() - begin
    return took, len(body), json.loads(gzip.decompress(body) if body[:2] == b"\x1f\x8b" else body)["data"]


def session_of(daemon):
    return next(row["id"] for row in daemon.json("/api/v1/sessions")["sessions"] if row["kind"] == "profiles")


def measure(options, folder):
    path, goals = os.path.join(folder, "large", "memory.prof"), []
    os.makedirs(os.path.dirname(path))
    subprocess.run([os.path.join(options.shared, "tools", "make-pprof"), path], check=True)
    seconds, mib = cost([options.binary, "top", "--by=function", path])
    print(f"memviewd top, 100,000 samples × 60: {seconds:.2f} s of processor, {mib:.0f} MiB")
    if options.pprof:
        theirs, their_mib = cost([options.pprof, "-symbolize=none", "-top", path], 1)
        print(
            f"pprof -top, the same file: {theirs:.2f} s, {their_mib:.0f} MiB: {theirs / seconds:.0f} times, "
            f"{their_mib / mib:.0f} times"
        )
        goals += [theirs >= 20 * seconds, their_mib >= 4 * mib]
    with Daemon(options.binary, os.path.dirname(path)) as daemon:
        took, size, data = ask(daemon, f"/api/v1/device_memory/flame?session={session_of(daemon)}")
        print(f"first flame graph: {took:.2f} s, {size / 1e6:.2f} MB sent, {len(data['nodes']['depth'])} nodes")
        goals += [took < 1, size < 2e6]
    os.makedirs(os.path.join(folder, "series"))
    for at in range(SERIES):
        source = os.path.join(options.shared, "data", "memprof", f"memory{at % 9 + 1}.prof")
        with open(source, "rb") as old, open(os.path.join(folder, "series", f"memory{at}.prof"), "wb") as new:
            new.write(old.read())
    with Daemon(options.binary, os.path.join(folder, "series")) as daemon:
        took, size, data = ask(daemon, f"/api/v1/device_memory/series?session={session_of(daemon)}")
        print(f"series of {len(data['profiles'])} profiles: {took:.2f} s, {size / 1e6:.2f} MB sent")
        goals += [took < 2, len(data["profiles"]) == SERIES]
    return goals


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--shared", required=True)
    parser.add_argument("--pprof")
    parser.add_argument("--check", action="store_true", help="exit status 1 if a goal is missed")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        goals = measure(options, folder)
    return 1 if options.check and not all(goals) else 0


if __name__ == "__main__":
    sys.exit(main())
