# SPDX-License-Identifier: Apache-2.0
"""Allocations of GPUs that the programs of the trace name, as the daemon tells them."""

import csv
import io
import os

import inputs
from harness import equal, wait_until

LAUNCHES = 5


def daemon_of(t, **how):
    t.write("plugins/profile/run/host0.xplane.pb", inputs.gpu_trace(LAUNCHES, **how))
    daemon = t.serve(t.folder())
    return daemon, daemon.get_json("/api/v1/sessions")["sessions"][0]["id"]


def view(daemon, name, **about):
    return daemon.get_json(f"/api/v1/memory_profile/{name}", **about)["data"]


def test_all_but_one_allocation_is_named_and_says_that_it_is_a_guess(t):
    daemon, session = daemon_of(t)
    rows = view(daemon, "events", session=session)["rows"]
    told = [(row["program"], row["role"], row["confidence"]) for row in rows]
    equal(told.count(("jit_step(1)", "output", "guess")), LAUNCHES)
    equal(told.count(("jit_step(1)", "temporaries", "guess")), LAUNCHES)
    equal(told.count(("jit_step(1)", "argument 0 params['w']", "guess")), 1)
    equal(told.count((None, None, None)), 1)
    equal(len(told), 2 * LAUNCHES + 2)
    event = view(daemon, "event", session=session, id=1)["event"]
    equal((event["program"], event["rule"]), ("jit_step(1)", "launch"))


def test_without_an_assignment_shapes_tell_arguments_and_outputs(t):
    daemon, session = daemon_of(t, has_assignment=False)
    told = [(row["program"], row["role"]) for row in view(daemon, "events", session=session)["rows"]]
    equal(told.count(("jit_step(1)", "output")), LAUNCHES)
    equal(told.count(("jit_step(1)", "argument 0 params['w']")), 1)
    equal(told.count((None, None)), LAUNCHES + 1, "temporaries have no shape")


def test_the_csv_and_filters_know_the_columns(t):
    daemon, session = daemon_of(t)
    answer = daemon.ask(f"/api/v1/memory_profile/live?session={session}&group=program,role&format=csv")
    rows = list(csv.DictReader(io.StringIO(answer.body.decode())))
    equal(
        {(row["program"], row["role"], row["confidence"]) for row in rows} >= {("jit_step(1)", "output", "guess")},
        True,
        rows,
    )
    equal(view(daemon, "events", session=session, filter="role:temporaries")["matched_count"], LAUNCHES)
    equal(
        view(daemon, "growth", session=session, filter="program:jit_step*")["matched_count"] > 0,
        False,
        "no steps, no launches",
    )


def test_the_summary_says_how_much_is_named(t):
    daemon, session = daemon_of(t)
    named = view(daemon, "summary", session=session)["pools"][0]["named"]
    equal((named["module"], named["module_count"], named["confidence"]), ("jit_step", 1, "guess"))
    equal(named["sentence"], "All 6.36 MiB named from the plan of jit_step (guess)")


def test_bands_of_the_timeline_are_what_is_in_use(t):
    daemon, session = daemon_of(t)
    for by in ("program", "op"):
        for window in ({}, {"from": 5001550, "to": 5003200}):
            data = view(daemon, "timeline", session=session, stack=by, **window)
            bands, columns = data["stacked"]["bands"], data["columns"]
            for at, heap in enumerate(columns["heap_bytes"]):
                equal(sum(band["bytes"][at] for band in bands), heap + columns["stack_bytes"][at], by)
            equal(sum(band["before_bytes"] for band in bands), data["before"]["in_use_bytes"], by)
            labels = {band["label"] for band in bands if band["confidence"] == "guess"}
            equal("jit_step(1)" in labels if by == "program" else "output of jit_step(1)" in labels, True, labels)
    equal(daemon.ask(f"/api/v1/memory_profile/timeline?session={session}&stack=colour").status, 400)


def test_programs_of_other_files_of_the_session_name_them_too(t):
    """of another host, and of an HLO proto beside the trace; a further file in the folder makes the names known"""
    folder = "plugins/profile/run"
    t.write(f"{folder}/host0.xplane.pb", inputs.gpu_trace(LAUNCHES, has_programs=False))
    daemon = t.serve(t.folder())
    session = daemon.get_json("/api/v1/sessions")["sessions"][0]["id"]
    hosts = daemon.get_json(f"/api/v1/sessions/{session}")["hosts"]

    def told():
        answer = daemon.get_json("/api/v1/memory_profile/events", session=session, host=hosts[0]["id"])
        rows = [(row["program"], row["role"], row["confidence"]) for row in answer["data"]["rows"]]
        return rows, [note["count"] for note in answer["notes"] if note["code"] == "programs_beside"]

    equal(told(), ([(None, None, None)] * (2 * LAUNCHES + 2), []))
    for name, content, program in (
        (f"{folder}/host1.xplane.pb", inputs.gpu_trace(1), "jit_step(1)"),
        (f"{folder}/jit_step(1).hlo_proto.pb", inputs.gpu_program(1 << 20, 1 << 19, 3000000), "jit_step"),
    ):
        path = t.write(name, content)
        wait_until(lambda: told()[1] != [], what="the names")
        rows, notes = told()
        equal(
            (rows.count((program, "output", "guess")), rows.count((program, "temporaries", "guess")), notes),
            (LAUNCHES, LAUNCHES, [1]),
        )
        pools = view(daemon, "summary", session=session)["pools"]
        named = next(pool for pool in pools if pool["host"] == hosts[0]["id"])["named"]
        equal(
            (named["module"], named["sentence"]), ("jit_step", "All 6.36 MiB named from the plan of jit_step (guess)")
        )
        os.remove(path)
        wait_until(lambda: told() == ([(None, None, None)] * (2 * LAUNCHES + 2), []), what="their end, with the file's")
