#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds docs/reference/xprof-differences.md: each function is named there and shows one difference on a real input.

  differences.py --binary memviewd --shared DIR --logdir DIR

--logdir is what DIR/tools/make-logdir makes. Ends with the counts; exit status 1 if one does not hold.
"""

import argparse
import glob
import gzip
import json
import os
import sys
import urllib.error
import urllib.parse
import urllib.request

from daemon import Counts, Daemon
from members import loads

MODULE = "jit__lambda(16171982243519715633)"


class Ground:
    """the daemon on the log directory, another on the dumps, and XProf's answers"""

    def __init__(self, options):
        self.options = options
        self.logs = Daemon(options.binary, options.logdir)
        self.dumps = Daemon(options.binary, os.path.join(options.shared, "data", "dumps"))
        self.modules = Daemon(options.binary, os.path.join(options.shared, "data", "modules"))
        with gzip.open(os.path.join(options.shared, "golden", "logdir.json.gz"), "rt") as golden:
            self.answers = json.load(golden)["answers"]

    def close(self):
        for daemon in (self.logs, self.dumps, self.modules):
            daemon.__exit__()

    def get(self, path, headers=None, **arguments):
        query = "?" + urllib.parse.urlencode(arguments) if arguments else ""
        request = urllib.request.Request(self.logs.url + path + query, headers=headers or {})
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return answer.status, answer.headers, answer.read()
        except urllib.error.HTTPError as error:
            return error.code, error.headers, error.read()

    def viewer(self, space, **more):
        return self.get(
            "/data", tag="memory_viewer", run="tpu/small", host="host0", module_name=MODULE, memory_space=space, **more
        )

    def xprof(self, run, module, space):
        """XProf's recorded answer"""
        found = [
            answer["body"]
            for url, answer in self.answers.items()
            if "tag=memory_viewer" in url
            and f"run={urllib.parse.quote(run, '')}&" in url
            and urllib.parse.quote(module, "") in url
            and url.endswith(f"memory_space={space}")
        ]
        return found[0]

    def recorded_profile(self, run, host):
        """XProf's memory profile"""
        return next(
            answer["body"]
            for url, answer in self.answers.items()
            if "tag=memory_profile" in url
            and f"run={urllib.parse.quote(run, '')}&" in url
            and url.endswith(f"host={host}")
        )

    def profile(self, view, session, **arguments):
        """`data` of a view of ours"""
        found = loads(self.get("/api/v1/sessions", filter=session)[2])["sessions"]
        session_id = next(row["id"] for row in found if row["name"] == session)
        return loads(self.get(f"/api/v1/memory_profile/{view}", session=session_id, **arguments)[2])["data"]

    def view(self, daemon, folder, name, ending=".after_optimizations.hlo.pb", **arguments):
        root = "dumps" if daemon is self.dumps else "modules"
        file = os.path.basename(glob.glob(os.path.join(self.options.shared, "data", root, folder, "*" + ending))[0])
        session, module = daemon.find(folder, file)
        return daemon.view(name, session, module, **arguments)

    def space(self, daemon, folder, number):
        return next(row for row in self.view(daemon, folder, "summary")["spaces"] if row["space"] == number)


def data_without_module_list(ground):
    return ground.viewer(0)[0] == 200  # the first request of all


def nothing_is_written(ground):
    def listing():
        return sorted((path, os.stat(path).st_mtime_ns) for path, _, _ in os.walk(ground.options.logdir))

    before = listing()
    ground.get("/module_list", run="tpu/small")
    ground.viewer(1)
    return listing() == before and not glob.glob(f"{ground.options.logdir}/**/*.hlo_proto.pb", recursive=True)


def unknown_paths(ground):
    return ground.get("/data/plugin/profile/nope")[0] == 404


def paths_outside(ground):
    return ground.get("/runs", session_path="/etc")[0] == 403 and ground.get("/runs", run_path="/")[0] == 403


def unknown_run(ground):
    return [ground.get(path, run="nope")[0] for path in ("/hosts", "/module_list", "/run_tools")] == [404] * 3


def gzip_and_etag(ground):
    plain, packed = ground.viewer(0)[1], ground.get("/runs", {"Accept-Encoding": "gzip"})[1]
    again = ground.get("/runs", {"If-None-Match": packed["ETag"]})
    return plain["Content-Encoding"] is None and packed["ETag"] and again[0] == 304 and again[2] == b""


def space_not_a_number(ground):
    return ground.viewer("x")[2] == ground.viewer(0)[2]


def no_graphviz_page(ground):
    return ground.viewer(0, view_memory_allocation_timeline="true")[0] == 404


def run_tools(ground):
    return [loads(ground.get("/run_tools", run=run)[2]) for run in ("tpu/small", "tf/small", "jax-cpu/small")] == [
        ["memory_viewer"],
        ["memory_profile"],
        ["memory_viewer"],
    ]


def series_is_shifted(ground):
    curve = ground.view(ground.dumps, "seed-matmul-327680", "curve", space=0)
    theirs = ground.xprof("tpu/small", "jit_f(11662149652335390786)", 0)  # the same program
    ours = [value / 2**20 for value in curve["columns"]["bytes"]]
    return ours == theirs["heapSizes"][1:] and curve["peak"]["step"] == theirs.get("peakHeapSizePosition", 0)


def parameters_unpadded(ground):
    """the padding of arguments is in the figure, and the padding strip shows it byte for byte"""
    space = ground.space(ground.modules, "decode-kv-cache", 0)
    bars = ground.view(ground.modules, "decode-kv-cache", "strips", space=0)["orders"]["padding"]
    return space["padding_bytes"] == sum(bar["padding_bytes"] for bar in bars) > 0


def small_buffers(ground):
    space = ground.space(ground.dumps, "a-adam-state", 0)
    rows = ground.view(ground.dumps, "a-adam-state", "buffers", space=0, filter="size:<16K", limit=1)
    return rows["matched_count"] > 100 and rows["total_bytes"] == space["peak_bytes"]


def host_arguments(ground):
    spaces = ground.view(ground.modules, "g-host-offload", "summary")["spaces"]
    host = next(row for row in spaces if row["name"] == "Host")
    rows = ground.view(ground.modules, "g-host-offload", "buffers", space=host["space"])
    return rows["total_count"] > 0 and rows["total_bytes"] == host["peak_bytes"] > 0


def donated_outputs(ground):
    with_donation = ground.space(ground.modules, "e-with-donation", 0)
    without = ground.space(ground.dumps, "e-no-donation", 0)
    return with_donation["output_reused_bytes"] > 8 * 2**30 and without["output_reused_bytes"] < 2**20


def vmem_above_allocation(ground):
    space = ground.space(ground.dumps, "a-adam-state", 1)
    return (space["peak_bytes"], space["total_bytes"]) == (176 * 2**20, 112 * 2**20)


def space_names(ground):
    names = {row["space"]: row["name"] for row in ground.view(ground.dumps, "a-adam-state", "summary")["spaces"]}
    return names == {0: "HBM", 1: "VMEM", 2: "Sflag", 6: "Workspace register"}


def thread_local(ground):
    return ground.space(ground.dumps, "a-adam-state", 0)["thread_local_bytes"] == 344064


def three_ways(ground):
    """d-tile-padding: 520.25 GiB allocated, as much live in the trace, 18.25 GiB of values at XLA's moment"""
    space = ground.space(ground.dumps, "d-tile-padding", 0)
    ranges = ground.view(ground.dumps, "d-tile-padding", "live_range")
    at_13 = sum(value["unpadded_bytes"] for value in ranges["values"] if value["start"] <= 13 <= value["end"])
    return round(space["total_bytes"] / 2**30, 2) == 520.25 and round(at_13 / 2**30, 2) == 18.25


def first_host_answers(ground):
    """(a session of which no host has memory events: the modules are those of the recorded first host)"""
    recorded = ground.recorded_profile("tpu/multihost-4", "t1v-n-abcdef-w-0")
    return loads(ground.get("/data", tag="memory_profile", run="tpu/multihost-4")[2]) == recorded


def true_times(ground):
    """mi300/gemm: XProf's remainder is not 0, ours is, and the events follow each other"""
    pool = ground.profile("summary", "mi300/gemm")["pools"][0]
    live = ground.profile("live", "mi300/gemm", memory="GPU_0_bfc")
    return pool["memory"] == "GPU_0_bfc" and pool["chain"]["break_count"] == 0 and live["remainders"] == []


def every_event(ground):
    """tf/large: all events of a window of 2000 are given, not 1000 of the whole"""
    answer = ground.profile("timeline", "tf/large", width=1024)
    times = answer["columns"]["time_ps"]
    window = ground.profile(
        "timeline", "tf/large", width=1024, to=ground.profile("event", "tf/large", id=1999)["event"]["time_ps"]
    )
    recorded = ground.recorded_profile("tf/large", "vm")["memoryProfilePerAllocator"]["bfc_cpu_allocator_for_gpu"]
    return (
        len(recorded["sampledTimelineSnapshots"]) == 1000 < len(times)
        and answer["event_count"] == 549999
        and window["event_count"] == 2000 == len(window["columns"]["event"])
        and not window["is_thinned"]
    )


def any_step(ground):
    """synthetic/10k-bfc: the 16 largest rows at the peak are of the steps in which they were allocated"""
    rows = ground.profile("live", "synthetic/10k-bfc", limit=1000)["rows"]
    special = ground.recorded_profile("synthetic/10k-bfc", "host0")["memoryProfilePerAllocator"]["GPU_0_bfc"][
        "specialAllocations"
    ]
    return len({row["step"] for row in rows}) > 1 and special[0]["tfOpName"] == "unused preallocated device memory"


def tpu_frees(ground):
    live = ground.profile("live", "synthetic/10k-tpu", memory="0", limit=1)
    return live["matches_curve"] and live["rows_bytes"] == live["in_use_bytes"] == 2132639744


def no_step(ground):
    steps = ground.profile("timeline", "mi300/gemm", memory="GPU_0_bfc")["columns"]["step"]
    recorded = ground.recorded_profile("mi300/gemm", "host0")["memoryProfilePerAllocator"]["GPU_0_bfc"]
    return set(steps) == {None} and recorded["sampledTimelineSnapshots"][0]["activityMetadata"]["stepId"] == "0"


TESTS = (
    first_host_answers,
    true_times,
    every_event,
    any_step,
    tpu_frees,
    no_step,
    data_without_module_list,
    nothing_is_written,
    unknown_paths,
    paths_outside,
    unknown_run,
    gzip_and_etag,
    space_not_a_number,
    no_graphviz_page,
    run_tools,
    series_is_shifted,
    parameters_unpadded,
    small_buffers,
    host_arguments,
    donated_outputs,
    vmem_above_allocation,
    space_names,
    thread_local,
    three_ways,
)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("binary", "shared", "logdir"):
        parser.add_argument(f"--{name}", required=True)
    counts, ground = Counts(), Ground(parser.parse_args())
    page = os.path.join(
        os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs", "reference", "xprof-differences.md"
    )
    with open(page, encoding="utf-8") as text:
        listed = text.read()
    try:
        for test in TESTS:
            holds = test(ground) and f"[`{test.__name__}`]" in listed
            counts.add([] if holds else ["does not hold, or is not listed"], test.__name__)
    finally:
        ground.close()
    return counts.finish()


if __name__ == "__main__":
    sys.exit(main())
