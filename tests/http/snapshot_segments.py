# SPDX-License-Identifier: Apache-2.0
"""What a snapshot's verdict says of its segments: a process takes them, whatever lies in them, and what is lost in
pieces is a cause where segments that grow would do without."""

import os
import pickle
import sys

from document import Document
from evidence import Held
from harness import ROOT, equal, loads

sys.path.append(os.path.join(ROOT, "tests", "golden"))  # behind our own: both have a module "verdict"
import made_allocator as made  # noqa: E402

MIB = made.MIB
GROW = "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True"


def lengthening(steps=20, **settings):
    """each step asks for a little more than all before it: what they left free is too small"""
    one = made.Caching(1, capacity=1 << 40, **settings)
    for step in range(steps):
        for address in [one.allocate((12 + 2 * step) * MIB) for _ in range(4)]:
            one.free(address)
    return one


def of_streams():
    """as much is free, but each stream has its own"""
    one = made.Caching(1, capacity=1 << 40)
    for stream in (0, 7, 9):
        for address in [one.allocate(40 * MIB, stream) for _ in range(5)]:
            one.free(address)
    return one


def steady():
    one = made.Caching(1, capacity=1 << 40)
    for _ in range(20):
        for address in [one.allocate(40 * MIB) for _ in range(5)]:
            one.free(address)
    return one


def reserved_peak(one):
    held = peak = 0
    for event in one.trace:
        sign = {"segment_alloc": 1, "segment_map": 1, "segment_free": -1, "segment_unmap": -1}.get(event["action"], 0)
        held += sign * event["size"]
        peak = max(peak, held)
    return peak


def verdict_of(t, one, keeps=None):
    path = t.write("run/rank0.pickle", pickle.dumps(made.snapshot(one, keeps=keeps), 4))
    process = t.run("explain", path, "--json")
    equal((process.returncode, process.stderr), (0, ""))
    (printed,) = loads(process.stdout)
    return path, printed["answer"]


def calls_of(answer):
    return [item["do"] for item in answer["advice"]]


def test_sizes_that_vary_are_a_cause_and_growing_segments_come_first(t):
    one = lengthening()
    path, answer = verdict_of(t, one)
    peak, grown = reserved_peak(one), reserved_peak(lengthening(expandable=True))
    equal(answer["fit"]["needed_bytes"], peak)
    equal(
        [(row["kind"], row["bytes"]) for row in answer["where"]],
        [("arrays", 200 * MIB), ("reserved", peak - 200 * MIB)],
    )
    equal(
        (answer["cause"]["kind"], answer["cause"]["bytes"], answer["cause"]["confidence"]),
        ("fragmentation", peak - 200 * MIB, "exact"),
    )
    first = answer["advice"][0]
    equal(
        (first["do"], first["saves_bytes"], first["lands_at_bytes"], first["confidence"]),
        (GROW, peak - grown, grown, "exact"),
    )
    text = t.run("explain", path).stdout
    assert (
        "of it are in use at the peak. What the process holds outside of its allocator (CUDA context, libraries) is "
        "not recorded." in text
    ), text


def test_what_growing_segments_would_not_save_is_no_cause(t):
    """of other streams; of a process that has them already; of sizes that come again"""
    for one, bytes_ in ((of_streams(), 600 * MIB), (lengthening(expandable=True), None), (steady(), 200 * MIB)):
        _, answer = verdict_of(t, one)
        equal(answer["fit"]["needed_bytes"], bytes_ or reserved_peak(one))
        assert answer["cause"]["kind"] != "fragmentation", answer["cause"]
        assert GROW not in calls_of(answer), calls_of(answer)


def test_a_replay_that_is_not_exact_is_called_so(t):
    """the first events are lost"""
    _, answer = verdict_of(t, lengthening(), keeps=120)
    equal(
        (answer["cause"]["kind"], answer["cause"]["confidence"], answer["advice"][0]["confidence"]),
        ("fragmentation", "model", "model"),
    )
    assert "by a replay that is not exact" in answer["cause"]["text"], answer["cause"]["text"]
    assert answer["advice"][0]["evidence"]["sentence"].startswith("By a replay that is not exact, "), answer["advice"][
        0
    ]["evidence"]


def test_of_a_request_that_failed_it_says_whether_growing_segments_would_have_helped(t):
    """holes of 6 MiB join; of 20 MiB of pages no half goes back"""
    _, answer = verdict_of(t, made.filled(25 * MIB)[0])
    first = answer["advice"][0]
    equal(
        (first["do"], first["evidence"]["sentence"].split(". ")[-1]),
        (GROW, "By replay, with segments that grow the request succeeds."),
    )
    _, answer = verdict_of(t, made.fragmented())
    assert GROW not in calls_of(answer), calls_of(answer)
    assert (
        "Nor does expandable_segments:True: by replay the request fails with it as well." in answer["advice_sentence"]
    ), answer["advice_sentence"]


def test_the_figures_are_those_of_the_pages(t):
    path, printed = verdict_of(t, lengthening())
    daemon = t.serve(os.path.dirname(os.path.dirname(path)))
    session = daemon.session_id("run")
    answer = daemon.ask(f"/api/v1/verdict?session={session}")
    document = Document(os.path.join(ROOT, "docs", "openapi.yaml"))
    schema = document.media(document.tree["paths"]["/api/v1/verdict"]["get"], 200)["application/json"]
    equal(list(document.faults(answer.json, schema)), [])
    equal(answer.json["fit"]["needed_bytes"], printed["fit"]["needed_bytes"])
    held = Held(daemon, answer.json, session)
    held.hold()
    assert "reserved" in held.columns, held.columns
