# SPDX-License-Identifier: Apache-2.0
"""Allocator snapshots of PyTorch: found by their bytes, opened like traces, never run."""

import gzip
import json
import os
import pickle
import sys

from document import Document
from harness import ROOT, equal
from uploads import add, sessions_of

sys.path.append(os.path.join(ROOT, "tests", "golden"))  # behind our own: both have a module "verdict"
import made_allocator  # noqa: E402
import made_snapshots  # noqa: E402

MIB = 1 << 20

DOCUMENT = os.path.join(ROOT, "docs", "openapi.yaml")


def snapshot(devices=2):
    return pickle.dumps(made_snapshots.annotated(made_snapshots.made(1, devices, 120, 100)), 4)


def test_files_of_a_folder_are_ranks_of_one_session(t):
    t.write("job/rank0.pickle", snapshot())
    t.write("job/rank1.pkl.gz", gzip.compress(snapshot()))
    daemon = t.serve(t.folder())
    session = daemon.sessions()["job"]
    equal((session["kind"], [host["name"] for host in session["hosts"]]), ("trace", ["rank0", "rank1"]))
    summary = daemon.get_json("/api/v1/memory_profile/summary", session=session["id"])["data"]
    equal(
        [
            (pool["host_name"], pool["memory"])
            for pool in sorted(summary["pools"], key=lambda pool: (pool["host_name"], pool["memory"]))
        ],
        [("rank0", "GPU 0"), ("rank0", "GPU 1"), ("rank1", "GPU 0"), ("rank1", "GPU 1")],
    )
    equal({host["step_count"] for host in summary["hosts"]}, {4})


def test_other_pickles_of_a_folder_are_none(t):
    t.write("model.pkl", made_snapshots.REFUSED["an ordered dict, as models are"].replace(b"segments", b"weights0"))
    t.write("run/h.pickle", snapshot())
    daemon = t.serve(t.folder())
    equal(sorted(daemon.sessions()), ["run"])


def test_what_begins_as_a_snapshot_and_calls_is_refused_with_its_place(t):
    for name, data in made_snapshots.REFUSED.items():
        t.write(f"{name}/s.pickle", data)
    daemon = t.serve(t.folder())
    for name in made_snapshots.REFUSED:
        answer = daemon.ask(f"/api/v1/memory_profile/summary?session={daemon.session_id(name)}")
        said = answer.json["data"]["hosts"][0]["error"] if answer.status == 200 else answer.json
        assert "opcode" in str(said) and "byte" in str(said), f"{name}: {answer.status} {said}"


def test_an_uploaded_one_answers_as_one_in_a_folder(t):
    t.write("run/h.pickle", snapshot(1))
    daemon = t.serve(t.folder())
    watched = daemon.sessions()["run"]["id"]
    given = add(daemon, "h.pickle", snapshot(1))["id"]
    session = sessions_of(daemon, given)[0]
    equal(session["kind"], "trace")
    for view in ("summary", "live", "events", "growth", "timeline"):
        ours = daemon.get_json(f"/api/v1/memory_profile/{view}", session=watched)["data"]
        theirs = daemon.get_json(f"/api/v1/memory_profile/{view}", session=session["id"])["data"]
        if view == "summary":
            ours, theirs = ([{**pool, "host": ""} for pool in one["pools"]] for one in (ours, theirs))
        equal(theirs, ours, view)


def test_a_failed_request_is_told_first(t):
    one = made_allocator.fragmented()
    t.write(
        "run/h.pickle",
        pickle.dumps(made_allocator.snapshot(one, made_allocator.run(made_allocator.Caching(2, 1), 50)), 4),
    )
    daemon = t.serve(t.folder())
    place = {"session": daemon.session_id("run")}
    worst = daemon.get_json("/api/v1/memory_profile/summary", **place)["data"]["pools"][0]
    equal((worst["memory"], worst["failure_count"], worst["failures"][0]["kind"]), ("GPU 0", 1, "fragmentation"))
    assert worst["capacity_sentence"].startswith("The snapshot does not record the capacity; it is at least "), worst
    equal((worst["is_peak_free_in_pieces"], worst["is_fragmentation_shown"]), (False, True))
    assert (
        "a request of 24.00 MiB failed" in worst["finding"]["sentence"]
        and "2.00 MiB: fragmentation" in worst["finding"]["sentence"]
    ), worst["finding"]
    opened = daemon.get_json("/api/v1/memory_profile/holes", **place)["data"]
    equal((opened["failure"], opened["request_bytes"], opened["largest_hole"]["size_bytes"]), (0, 24 << 20, 2 << 20))
    at_time = daemon.get_json("/api/v1/memory_profile/holes", **place, time=worst["failures"][0]["time_ps"])["data"]
    equal(at_time, opened, "the holes at its time")
    equal(daemon.get_json("/api/v1/memory_profile/holes", **place, time=0)["data"]["failure"], None, "at another time")
    equal(
        daemon.ask(f"/api/v1/memory_profile/holes?session={place['session']}&failure=1").status,
        400,
        "a failure that is not there",
    )
    said = t.run("summary", os.path.join(t.folder(), "run")).stdout
    assert "a request of 24.00 MiB failed" in said, said


def test_what_grows_from_step_to_step_is_told(t):
    for name, word in (("profiler", "ProfilerStep#"), ("optimizer", "Optimizer.step#AdamW.step")):
        t.write(f"{name}/h.pickle", pickle.dumps(made_allocator.growing(6, word), 4))
    daemon = t.serve(t.folder())
    for name, steps in (("profiler", 6), ("optimizer", 4)):  # of the optimizer from one whole step to the next
        session = daemon.session_id(name)
        summary = daemon.get_json("/api/v1/memory_profile/summary", session=session)["data"]
        equal(summary["hosts"][0]["step_count"], steps, name)
        finding = summary["pools"][0]["finding"]
        equal(finding["kind"], "grows", name)
        assert "grows 1.00 MiB a step" in finding["sentence"] and "train.py:31 log_metrics" in finding["sentence"], (
            finding
        )
        row = daemon.get_json("/api/v1/memory_profile/growth", session=session)["data"]["rows"][0]
        equal(
            (row["op"], row["verdict"], row["slope_bytes_per_step"]),
            ("train.py:31 log_metrics", "grows", 1 << 20),
            name,
        )


def test_a_device_that_allocates_nothing_ends_nothing(t):
    failed = {"action": "oom", "device_free": 1 << 20, "size": 1 << 30, "stream": 0, "time_us": 1000, "frames": []}
    whole = made_allocator.snapshot(made_allocator.run(made_allocator.Caching(2), 50))
    t.write("alone/h.pickle", pickle.dumps({"segments": whole["segments"], "device_traces": [[failed]]}, 4))
    t.write("beside/h.pickle", pickle.dumps({**whole, "device_traces": [[failed], *whole["device_traces"]]}, 4))
    daemon = t.serve(t.folder())
    for name, reason, pools in (("alone", None, ["GPU 0"]), ("beside", None, ["GPU 1"])):
        summary = daemon.get_json("/api/v1/memory_profile/summary", session=daemon.session_id(name))["data"]
        equal(
            ((summary["reason"] or {}).get("code"), [pool["memory"] for pool in summary["pools"]]),
            (reason, pools),
            name,
        )
        notes = {note["code"]: note["count"] for note in summary["hosts"][0]["notes"]}
        equal(notes.get("failure_without_history"), 1, name)


def test_a_ring_of_one_event_has_no_peak(t):
    whole = made_allocator.snapshot(made_allocator.run(made_allocator.Caching(2), 50))
    last = [
        next(event for event in reversed(trace) if event["action"] in ("alloc", "free_completed"))
        for trace in whole["device_traces"]
        if trace
    ]
    path = t.write("run/h.pickle", pickle.dumps({**whole, "device_traces": [[event] for event in last]}, 4))
    printed = t.run("summary", path).stdout
    equal(
        (
            "in use after the only event" in printed,
            "the peak is not known" in printed,
            "peak " in printed.replace("the peak is", ""),
        ),
        (True, True, False),
        printed,
    )
    ledger = t.run("explain", path).stdout.partition("\nLedger\n")[2]
    assert "in use at the end" in ledger and "peak" not in ledger, ledger


def test_a_snapshot_without_a_history_tells_of_its_end(t):
    whole = made_allocator.snapshot(made_allocator.run(made_allocator.Caching(2), 50))
    path = t.write("run/h.pickle", pickle.dumps(made_snapshots.without_history(whole), 4))
    session = (daemon := t.serve(t.folder())).session_id("run")
    summary = daemon.get_json("/api/v1/memory_profile/summary", session=session)["data"]
    (pool,) = summary["pools"]
    reserved = sum(segment["total_size"] for segment in whole["segments"])
    equal(
        (summary["reason"], summary["hosts"][0]["event_count"], pool["event_count"], pool["finding"]["kind"]),
        (None, 0, 0, "no_history"),
    )
    equal((pool["end"]["reserved_bytes"], pool["end"]["in_use_bytes"]), (reserved, pool["peak"]["in_use_bytes"]))
    assert "_record_memory_history()" in pool["finding"]["sentence"], pool["finding"]
    printed = t.run("summary", path)
    equal(
        (
            printed.returncode,
            "in use at the end" in printed.stdout,
            "has no history" in printed.stdout,
            "frees" in printed.stdout,
        ),
        (0, True, True, False),
    )
    answer = daemon.get_json("/api/v1/verdict", session=session)
    assert "at the end of the snapshot, which has no history" in answer["verdict"], answer["verdict"]


def test_every_view_follows_its_schema(t):
    for name, kept in (
        ("run", snapshot()),
        ("end", pickle.dumps(made_snapshots.without_history(pickle.loads(snapshot())), 4)),
    ):
        t.write(f"{name}/h.pickle", kept)
    daemon = t.serve(t.folder())
    for name in ("run", "end"):
        views_follow(daemon, daemon.session_id(name))


def views_follow(daemon, session):
    document = Document(DOCUMENT)
    for view in (
        "summary",
        "timeline",
        "lanes",
        "live",
        "events",
        "event?id=0",
        "growth",
        "addresses",
        "fragmentation",
        "holes",
        "segments",
        "whose",
    ):
        path = f"/api/v1/memory_profile/{view}"
        answer = daemon.ask(f"{path}{'&' if '?' in path else '?'}session={session}")
        operation = document.tree["paths"][path.partition("?")[0]]["get"]
        equal(list(document.faults(answer.json, document.media(operation, 200)["application/json"])), [], view)


def test_rows_tell_what_was_taken_and_how_often_it_was_given_back(t):
    one = made_allocator.Caching(1, capacity=100 * MIB)
    one.free(one.allocate(60 * MIB))
    one.allocate(80 * MIB)
    t.write("run/rank3.pickle", pickle.dumps(made_allocator.snapshot(one), 4))
    t.write("run/error.txt", b"no failure\n")
    rows = [json.loads(line) for line in t.run("index", t.folder()).stdout.splitlines()]
    told = {
        row["file"]: [row[key] for key in ("host", "snapshot_reserved_bytes", "snapshot_retry_count")] for row in rows
    }
    equal(told["run/rank3.pickle"], ["rank3", 80 * MIB, 1])
    equal([row["snapshot_retry_count"] for row in rows if row["file"] != "run/rank3.pickle"], [None] * (len(rows) - 1))
