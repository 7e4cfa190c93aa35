# SPDX-License-Identifier: Apache-2.0
"""Allocator snapshots of PyTorch: found by their bytes, opened like traces, never run."""
import gzip
import os
import pickle
import sys

from document import Document
from harness import ROOT, equal
from uploads import add, sessions_of

sys.path.append(os.path.join(ROOT, "tests", "golden"))  # behind our own: both have a module "verdict"
import made_snapshots  # noqa: E402

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
    equal([(pool["host_name"], pool["memory"]) for pool in sorted(summary["pools"], key=lambda pool: (pool["host_name"], pool["memory"]))],
          [("rank0", "GPU 0"), ("rank0", "GPU 1"), ("rank1", "GPU 0"), ("rank1", "GPU 1")])
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


def test_every_view_follows_its_schema(t):
    t.write("run/h.pickle", snapshot())
    daemon = t.serve(t.folder())
    document = Document(DOCUMENT)
    session = daemon.session_id("run")
    for view in ("summary", "timeline", "lanes", "live", "events", "event?id=0", "growth", "addresses", "fragmentation", "holes"):
        path = f"/api/v1/memory_profile/{view}"
        answer = daemon.ask(f"{path}{'&' if '?' in path else '?'}session={session}")
        operation = document.tree["paths"][path.partition("?")[0]]["get"]
        equal(list(document.faults(answer.json, document.media(operation, 200)["application/json"])), [], view)
