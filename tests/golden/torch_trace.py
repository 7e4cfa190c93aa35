#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Memory events of torch.profiler's traces, held against the JSON itself.

  torch_trace.py --binary memviewd

rows     every "[memory]" event in the order of times: device, time, bytes, address, what is in use and in segments
         after it
stacks   at every event the spans of its thread that lie around it, found one by one; the op is the person's line, else
         the
         outermost operator; the region what the program names
steps    ProfilerStep#N and which of them an event is in; requests that failed
refused  traces without memory events; Chrome traces of others are what they were
Recorded: tests/fixtures/torch, by PyTorch 2.6 on a CPU; made here: two GPUs and a CPU, several threads, as 2.6 and as
1.11 write them. Ends with the counts; exit status 1 if one does not hold.
"""

import argparse
import collections
import decimal
import glob
import gzip
import json
import os
import random
import re
import subprocess
import tempfile

from daemon import Counts, Daemon

HERE = os.path.dirname(os.path.abspath(__file__))
DEVICE_BYTES = 85_029_158_912
SPANS = ("cpu_op", "Operator", "python_function", "user_annotation")
LIBRARY = re.compile(r"torch/|numpy/|enum\.py|logging/|typing\.py|<frozen|contextlib\.py|threading\.py")


# ---- made traces ----


class Maker:
    """a training loop on some threads, written as Kineto does; spans nest, and times have three digits"""

    def __init__(self, seed, is_old):
        self.random, self.is_old, self.events, self.now = random.Random(seed), is_old, [], 5_000_000_000.0
        self.total, self.live, self.next = collections.Counter(), [], 1 << 44

    def tick(self):
        self.now = round(self.now + self.random.randint(1, 900) / (1 if self.is_old else 1000), 3)
        return int(self.now) if self.is_old else self.now

    def span(self, thread, category, name, inside):
        begin = self.tick()
        inside()
        category = {"cpu_op": "Operator"}.get(category, category) if self.is_old else category
        self.events.append(
            {
                "ph": "X",
                "cat": category,
                "name": name,
                "pid": 7,
                "tid": thread,
                "ts": begin,
                "dur": round(self.tick() - begin, 3),
                "args": {"External id": len(self.events), "Input Dims": [[1, 2], []], "nested": [{"name": "x"}]},
            }
        )

    def memory(self, thread, device, size, address):
        self.total[device] += size
        self.instant(thread, "[memory]", device, size, address)

    def instant(self, thread, name, device, size, address):
        kind, number = device
        self.events.append(
            {
                "ph": "i",
                "cat": "cpu_instant_event",
                "s": "t",
                "name": name,
                "pid": 7,
                "tid": thread,
                "ts": self.tick(),
                "args": {
                    "Device Type": kind,
                    "Device Id": number,
                    "Bytes": size,
                    "Addr": address,
                    "Total Allocated": self.total[device],
                    "Total Reserved": (self.total[device] | 0xFFFFF) + 1 if kind else 0,
                },
            }
        )

    def work(self, thread):
        for _ in range(self.random.randint(0, 3)):
            if self.live and self.random.random() < 0.4:
                device, size, address = self.live.pop(self.random.randrange(len(self.live)))
                self.memory(thread, device, -size, address)
            else:
                device, size = self.random.choice(((1, 0), (1, 1), (0, -1))), self.random.choice((4, 512, 1 << 20))
                self.next += 1 << 20
                self.live.append((device, size, self.next))
                self.memory(thread, device, size, self.next)

    def layer(self, thread, at):
        def operator():
            self.span(
                thread,
                "cpu_op",
                "aten::linear",
                lambda: self.span(thread, "cpu_op", "aten::empty", lambda: self.work(thread)),
            )
            self.work(thread)

        self.span(
            thread,
            "python_function",
            f"model.py({at}): forward",
            lambda: self.span(
                thread,
                "python_function",
                "torch/nn/modules/linear.py(124): forward",
                lambda: self.span(thread, "python_function", "<built-in function linear>", operator),
            ),
        )

    def made(self, steps):
        for step in range(steps):

            def body():
                self.span(1, "user_annotation", "forward", lambda: [self.layer(1, at) for at in range(3)])
                self.span(2, "cpu_op", "autograd::engine::evaluate_function: MulBackward0", lambda: self.work(2))
                self.work(3)

            self.span(1, "user_annotation", f"ProfilerStep#{step + 7}", body)
            self.work(1)
        self.instant(1, "[OutOfMemory]", (1, 0), 1 << 33, 0)
        self.memory(1, (1, 0), 64, 1 << 50)
        self.random.shuffle(self.events)
        head = {
            "schemaVersion": 1,
            "deviceProperties": [{"id": 0, "name": "NVIDIA H100", "totalGlobalMem": DEVICE_BYTES}],
            "profile_memory": 1,
            "traceEvents": self.events,
        }
        return dict(head, **({} if self.is_old else {"baseTimeNanoseconds": 1_700_000_000_000_000_000}))


# ---- the same, by Python ----


def nanoseconds(value):
    return int(decimal.Decimal(repr(value)) * 1000)


def memory_rows(trace):
    rows = [event for event in trace["traceEvents"] if event["ph"] == "i" and event["name"] == "[memory]"]
    return sorted(rows, key=lambda event: nanoseconds(event["ts"]))


def device_name(event):
    kind, number = event["args"]["Device Type"], event["args"]["Device Id"]
    return {0: "CPU", 1: f"GPU {number}"}[kind]


def around(event, spans):
    """spans of the thread that the moment lies in, the innermost first"""
    at = nanoseconds(event["ts"])
    found = [span for span in spans[event["pid"], event["tid"]] if span[0] <= at <= span[1]]
    return [span[2] for span in sorted(found, key=lambda span: (-span[0], span[1]))]


def spans_of(trace):
    found = collections.defaultdict(list)
    for event in trace["traceEvents"]:
        if event["ph"] == "X" and event.get("cat") in SPANS and not event["name"].startswith("ProfilerStep#"):
            begin = nanoseconds(event["ts"])
            found[event["pid"], event["tid"]].append((begin, begin + nanoseconds(event["dur"]), event))
    return found


def frame(event):
    parts = re.fullmatch(r"(.*?)\((\d+)\): (.*)", event["name"]) if event["cat"] == "python_function" else None
    return (parts.group(1), parts.group(3), int(parts.group(2)) or None) if parts else ("", event["name"], None)


def op_and_region(stack):
    operators = [event["name"] for event in stack if event["cat"] in ("cpu_op", "Operator")]
    named = [event["name"] for event in stack if event["cat"] == "user_annotation"]
    python = [frame(event) for event in stack if event["cat"] == "python_function" and frame(event)[0]]
    own = [row for row in python if not LIBRARY.match(row[0])] or python
    operator = operators[-1] if operators else None
    if not own:
        return operator, named[0] if named else None
    file, function, line = own[0]
    return (f"{file.rpartition('/')[2]}:{line} {function}" if line else function), named[0] if named else operator


# ---- what is held ----


def rows_of(daemon, count, **place):
    """every event of a device, and whether there are no more of them"""
    rows = [daemon.json("/api/v1/memory_profile/event", id=at, **place)["data"]["event"] for at in range(count)]
    pool = daemon.json("/api/v1/memory_profile/summary", session=place["session"], host=place["host"])["data"]["pools"]
    return rows, next(one["event_count"] for one in pool if one["memory"] == place["memory"]) == count


def row_faults(own, wanted, origin):
    faults = []
    for at, (row, event) in enumerate(zip(own, wanted)):
        args = event["args"]
        told = (row["activity"] == "deallocation", row["size_bytes"], int(row["address"], 0), row["in_use_bytes"])
        right = (args["Bytes"] < 0, abs(args["Bytes"]), args["Addr"], args["Total Allocated"])
        late = abs(row["time_ps"] // 1000 - (nanoseconds(event["ts"]) - origin))
        if told != right or late > 1:
            faults.append(f"event {at}: {told}, {late} ns away, not {right}")
    return faults


def stack_faults(own, wanted, trace):
    spans, faults = spans_of(trace), []
    for row, event in zip(own, wanted):
        stack = around(event, spans)
        frames = [(one["file"] or "", one["function"], one["line"]) for one in row["stack"] or []]
        if frames != [frame(one) for one in stack]:
            faults.append(f"event {row['event']}: {frames[:3]} …, not {[frame(one) for one in stack][:3]} …")
        names = (row["op"] or None, row["region"] or None)
        if names != op_and_region(stack):
            faults.append(f"event {row['event']}: {names}, not {op_and_region(stack)}")
    return faults


def step_faults(summary, own, wanted, trace):
    steps = sorted(
        (nanoseconds(event["ts"]), nanoseconds(event["ts"]) + nanoseconds(event["dur"]))
        for event in trace["traceEvents"]
        if event["ph"] == "X" and event["name"].startswith("ProfilerStep#")
    )
    faults = (
        []
        if summary["hosts"][0]["step_count"] == len(steps)
        else [f"{summary['hosts'][0]['step_count']} steps, not {len(steps)}"]
    )
    for row, event in zip(own, wanted):
        at = nanoseconds(event["ts"])
        inside = [step for step, (begin, end) in enumerate(steps) if begin <= at <= end]
        if row["step"] != (inside[0] if inside else None):
            faults.append(f"event {row['event']}: step {row['step']}, not {inside}")
    return faults


def capacity_of(trace, memory):
    """what the trace tells of the device of that name, and who says so"""
    told = {f"GPU {one['id']}": one for one in trace["deviceProperties"] if "totalGlobalMem" in one}
    device = told.get(memory)
    return (device["totalGlobalMem"], f"{device['name']}, recorded in the trace") if device else (None, None)


def hold(daemon, counts, name, trace, host):
    summary = daemon.json("/api/v1/memory_profile/summary", session=host["session"], host=host["id"])["data"]
    rows = memory_rows(trace)
    origin = min(
        nanoseconds(event["ts"])
        for event in trace["traceEvents"]
        if event["ph"] == "i" and event["name"] in ("[memory]", "[OutOfMemory]")
    )
    by_device = collections.defaultdict(list)
    for event in rows:
        by_device[device_name(event)].append(event)
    counts.add(
        [] if {pool["memory"] for pool in summary["pools"]} == set(by_device) else [str(summary["pools"])],
        f"devices of {name}",
    )
    for pool in summary["pools"]:
        wanted, what = by_device[pool["memory"]], f"{name}, {pool['memory']}"
        place = {"session": host["session"], "host": host["id"], "memory": pool["memory"]}
        own, is_all = rows_of(daemon, len(wanted), **place)
        counts.add(row_faults(own, wanted, origin) + ([] if is_all else ["there are more"]), f"rows of {what}")
        counts.add(stack_faults(own, wanted, trace), f"stacks of {what}")
        counts.add(step_faults(summary, own, wanted, trace), f"steps of {what}")
        capacity = (pool.get("capacity_bytes"), pool.get("capacity_source"))
        counts.add([] if capacity == capacity_of(trace, pool["memory"]) else [str(capacity)], f"capacity of {what}")
        peak = max(event["args"]["Total Allocated"] for event in wanted)
        reserved = {
            event["args"]["Total Reserved"] or None for event in wanted if event["args"]["Total Allocated"] == peak
        }
        counts.add(
            []
            if pool["peak"]["in_use_bytes"] == peak
            and pool["reserved_bytes"] in reserved
            and pool["chain"]["break_count"] == 0
            else [f"{pool['peak']['in_use_bytes']}, {pool['reserved_bytes']}, {pool['chain']}, not {peak}, {reserved}"],
            f"peak of {what}",
        )


def refused(binary, counts, folder):
    head = {
        "schemaVersion": 1,
        "deviceProperties": [],
        "traceEvents": [{"ph": "X", "name": "x", "cat": "cpu_op", "ts": 1, "dur": 1}],
    }
    wrong = [
        {"ph": "i", "name": "[memory]", "ts": ts, "args": args}
        for ts, args in (
            (1, {}),
            ("x", {"Bytes": 1}),
            (1e300, {"Bytes": 1}),
            (1, {"Bytes": 1e30}),
            (1, {"Bytes": 1 << 62}),
            (1, []),
        )
    ]
    for name, trace in (("none", head), ("wrong ones alone", dict(head, traceEvents=wrong))):
        path = os.path.join(folder, "one.pt.trace.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(trace, file)
        done = subprocess.run([binary, "summary", path], capture_output=True, text=True, timeout=60)
        right = "profile_memory=True" in done.stdout + done.stderr
        counts.add([] if right else [f"status {done.returncode}: {done.stdout}{done.stderr}"], f"memory events: {name}")
    other = {
        "displayTimeUnit": "ns",
        "metadata": {"highres-ticks": True},
        "traceEvents": [{"ph": "i", "name": "[memory]", "ts": 1, "args": {"Bytes": 1}}],
    }
    path = os.path.join(folder, "perfetto_trace.json.gz")
    with gzip.open(path, "wt") as file:
        json.dump(other, file)
    with Daemon(binary, folder) as daemon:
        files = [session["name"] for session in daemon.json("/api/v1/sessions")["sessions"]]
        counts.add([] if files == ["one"] else [str(files)], "a Chrome trace of JAX is no session")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True)
    options = parser.parse_args()
    counts, traces = Counts(), {}
    with tempfile.TemporaryDirectory() as folder:
        for path in glob.glob(os.path.join(HERE, "..", "fixtures", "torch", "*.pt.trace.json.gz")):
            with gzip.open(path) as file:
                traces[os.path.basename(path).removesuffix(".pt.trace.json.gz")] = json.load(file)
        traces.update({f"made_{seed}": Maker(seed, seed == 3).made(6 * seed) for seed in (1, 2, 3)})
        for name, trace in traces.items():
            with gzip.open(os.path.join(folder, f"{name}.pt.trace.json.gz"), "wt") as file:
                json.dump(trace, file, indent=None if name == "made_1" else 2)
        with Daemon(options.binary, folder) as daemon:
            session = daemon.json("/api/v1/sessions")["sessions"][0]
            hosts = {host["name"]: {"session": session["id"], "id": host["id"]} for host in session["hosts"]}
            counts.add(
                [] if set(hosts) == set(traces) else [str(hosts)], "files of one folder are hosts of one session"
            )
            for name, trace in traces.items():
                hold(daemon, counts, name, trace, hosts[name])
    with tempfile.TemporaryDirectory() as folder:
        refused(options.binary, counts, folder)
    return counts.finish()


if __name__ == "__main__":
    raise SystemExit(main())
