# SPDX-License-Identifier: Apache-2.0
"""An error text of PyTorch with an allocator snapshot of the same failure: one verdict of both, or why not."""

import os
import pickle
import sys

from evidence import Held
from harness import ROOT, equal, loads
from uploads import add, sessions_of

sys.path.append(os.path.join(ROOT, "tests", "golden"))  # behind our own: both have a module "verdict"
import made_allocator as made  # noqa: E402

MIB = made.MIB


def dumped(one):
    return pickle.dumps(made.snapshot(one), 4)


def rows_of(answer):
    return {row["kind"]: row for row in answer["together"]["rows"]}


def check_figures(answer, one, failed):
    rows = rows_of(answer)
    equal(
        {kind: row["bytes"] for kind, row in rows.items()},
        {
            "asked": failed["requested"],
            "free": failed["device_free"],
            "in_use": failed["reserved"] - failed["free"],
            "free_in_segments": failed["free"],
            "largest_hole": failed["largest"],
            **({"others": one.others - 5 * MIB} if one.others else {}),
        },
    )
    equal((answer["fit"]["needed_bytes"], answer["fit"]["free_bytes"]), (failed["requested"], failed["device_free"]))
    where = {row["label"]: row["bytes"] for row in answer["where"]}
    equal(sum(where.values()), one.capacity)
    equal(where["blocks in use"], failed["active"])
    equal(where["free on the device"], failed["device_free"])


def explained(t, *paths):
    process = t.run("explain", "--json", *paths)
    equal((process.returncode, process.stderr), (0, ""))
    return loads(process.stdout)


def test_a_folder_may_be_named_in_any_way(t):
    one, failed = made.filled(25 * MIB + MIB // 2)
    t.write("job/error.log", made.text_of(one, failed))
    t.write("job/rank0.pickle", dumped(one))
    job = os.path.join(t.folder(), "job")
    os.symlink(job, os.path.join(t.folder(), "link"))
    for name in (
        job,
        job + "/",
        job + "/.",
        os.path.join(t.folder(), ".", "job"),
        os.path.join(job, "..", "job"),
        os.path.join(t.folder(), "link"),
    ):
        answers = explained(t, name)
        equal((name, len(answers), "together" in answers[0]["answer"]), (name, 1, True))


def test_a_text_beside_the_snapshot_of_its_failure(t):
    one, failed = made.filled(25 * MIB + MIB // 2)
    t.write("job/error.log", made.text_of(one, failed))
    t.write("job/rank0.pickle", dumped(one))
    daemon = t.serve(t.folder())
    session = daemon.session_id("job/error.log")
    answer = daemon.get_json("/api/v1/verdict", session=session)
    check_figures(answer, one, failed)
    equal((answer["cause"]["kind"], answer["cause"]["bytes"]), ("fragmentation", failed["free"]))
    rows = rows_of(answer)
    equal([kind for kind, row in rows.items() if not row["agrees"]], [])
    equal((rows["asked"]["text_bytes"], "segment" in rows["asked"]["why"]), (26 * MIB, True))
    equal(answer["peak"]["groups"] != [] and all(row["source"] for row in answer["peak"]["groups"]), True)
    saves = {row["do"]: row["saves_bytes"] for row in answer["advice"]}
    assert 0 < saves["PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True"] <= failed["free"], (
        saves
    )  # by replay; evidence.py holds it
    equal(len(answer["advice"]), len({row["kind"] for row in answer["advice"]}))
    equal(answer["next_steps"], [])
    equal(
        [answer["fit"][key] for key in ("sureness", "sureness_of", "sureness_reason")],
        ["exact", "in the snapshot", None],
    )
    equal((answer["where_bytes"], answer["where_over_bytes"]), (one.capacity, 0))
    equal((answer["trace_session"], answer["trace_host"] is not None), (daemon.session_id("job"), True))
    held = Held(daemon, answer, session).hold()
    equal(
        (
            held.columns >= {"requested", "device_free", "free", "reserved", "largest_hole"},
            [words for words, sentence in held.unmarked if not sentence.startswith("Others hold")],
        ),
        (True, []),
    )
    for row in held.answer["together"]["rows"]:
        if row["evidence"]["kind"] == "trace":
            held.snapshot(row["label"], row["evidence"])
        if row["text_bytes"] is not None:
            held.text(row["label"], row["text_evidence"])
    printed = explained(t, t.folder() + "/job/error.log")
    equal(
        [one["answer"] for one in explained(t, t.folder() + "/job")], [printed[0]["answer"]]
    )  # the snapshot is told once
    equal(
        [printed[0]["answer"][key] for key in ("together", "where", "cause", "advice", "notes")],
        [answer[key] for key in ("together", "where", "cause", "advice", "notes")],
    )


def test_shortage_is_told_from_fragmentation_and_blames_others(t):
    one, failed = made.filled(100 * MIB, others=150 * MIB, every=50)
    t.write("job/error.log", made.text_of(one, failed))
    t.write("job/rank0.pickle", dumped(one))
    answer = explained(t, t.folder() + "/job/error.log")[0]["answer"]
    check_figures(answer, one, failed)
    missing = failed["requested"] - failed["free"] - failed["device_free"]
    equal((answer["fit"]["over_bytes"], answer["cause"]["kind"]), (missing, "other_process"))
    equal([row for row in answer["advice"] if "expandable" in row["do"]], [])
    t.write("alone/error.log", made.text_of(one, failed, process=False))
    t.write("alone/rank0.pickle", dumped(one))
    alone = explained(t, t.folder() + "/alone/error.log")[0]["answer"]
    # nobody is listed, as in containers: what is neither free nor this process's is of others all the same
    equal(alone["cause"]["kind"], "other_process")


def test_of_several_the_one_that_shares_most_is_taken(t):
    one, failed = made.filled(25 * MIB)
    other, _ = made.filled(25 * MIB, every=3)
    t.write("job/error.log", made.text_of(one, failed))
    t.write("job/a.pickle", dumped(other))
    t.write("job/b.pickle", dumped(one))
    answer = explained(t, t.folder() + "/job/error.log")[0]["answer"]
    check_figures(answer, one, failed)
    equal(
        "b.pickle belongs to this failure" in answer["notes"][0]["text"]
        and "Several match" in answer["notes"][0]["text"],
        True,
    )
    t.write("job/c.log", made.text_of(one, failed))
    t.write("job/c.pickle", dumped(one))
    named = explained(t, t.folder() + "/job/c.log")[0]["answer"]
    equal("c.pickle belongs to this failure" in named["notes"][0]["text"], True)


def test_what_is_of_another_failure_is_not_used_and_said(t):
    one, failed = made.filled(25 * MIB)
    t.write("job/error.log", made.text_of(one, failed, asked=64 * MIB))
    t.write("job/rank0.pickle", dumped(one))
    t.write("device/error.log", made.text_of(one, failed, device=3))
    t.write("device/rank0.pickle", dumped(one))
    for folder, why in (("job", "64.00 MiB"), ("device", "GPU 3")):
        answer = explained(t, t.folder() + f"/{folder}/error.log")[0]["answer"]
        equal((answer["together"], answer["where"][0]["source"]), (None, "error text"), folder)
        equal(
            (answer["fit"]["sureness"], answer["fit"]["sureness_of"]),
            ("as printed", "in the error text, rounded there"),
        )
        note = next(note["text"] for note in answer["notes"] if note["kind"] == "snapshot")
        assert "was not used" in note and why in note, note
        equal(answer["ledger"]["bars"], [])


def test_where_they_disagree_both_figures_stand(t):
    one, failed = made.filled(25 * MIB)
    t.write("job/error.log", made.text_of(one, failed, free=failed["device_free"] + 3 * MIB))
    t.write("job/rank0.pickle", dumped(one))
    answer = explained(t, t.folder() + "/job/error.log")[0]["answer"]
    equal([kind for kind, row in rows_of(answer).items() if not row["agrees"]], ["free"])
    note = next(note["text"] for note in answer["notes"] if note["kind"] == "disagreement")
    assert made.size(failed["device_free"]) in note and made.size(failed["device_free"] + 3 * MIB) in note, note


def test_one_that_is_named_with_the_text_lies_anywhere(t):
    one, failed = made.filled(25 * MIB)
    t.write("logs/error.log", made.text_of(one, failed))
    t.write("logs/other.pickle", dumped(made.filled(64 * MIB)[0]))
    t.write("far/away.pickle", dumped(one))
    for paths in (("logs/error.log", "far/away.pickle"), ("far/away.pickle", "logs/error.log")):
        answers = explained(t, *(f"{t.folder()}/{path}" for path in paths))
        equal(len(answers), 1)
        check_figures(answers[0]["answer"], one, failed)
    refused = explained(t, t.folder() + "/logs/error.log", t.folder() + "/logs/other.pickle")
    equal(
        (
            len(refused),
            refused[0]["answer"]["together"],
            refused[1]["answer"]["report"] if "report" in refused[1]["answer"] else None,
        ),
        (2, None, None),
    )


def test_a_snapshot_without_the_failure_is_joined_by_what_it_holds(t):
    one, failed = made.filled(25 * MIB)
    kept = made.snapshot(one)
    kept["device_traces"] = [[event for event in trace if event["action"] != "oom"] for trace in kept["device_traces"]]
    t.write("job/error.log", made.text_of(one, failed))
    t.write("job/rank0.pickle", pickle.dumps(kept, 4))
    answer = explained(t, t.folder() + "/job/error.log")[0]["answer"]
    equal((answer["together"]["rows"], "records no failed request" in answer["together"]["reason"]), ([], True))
    equal(answer["peak"]["bytes"], failed["active"])


def test_a_failed_request_alone_did_not_fit(t):
    one, failed = made.filled(25 * MIB + MIB // 2)
    (found,) = explained(t, t.write("rank0.pickle", dumped(one)))
    answer = found["answer"]
    equal(
        (answer["fits"], answer["fit"]["needed_bytes"], answer["fit"]["free_bytes"]),
        ("no", failed["requested"], failed["device_free"]),
    )
    equal([advice for advice in answer["advice"] if "larger chip" in advice["title"]], [])


def test_what_is_not_recorded_of_a_failed_request_is_no_figure(t):
    one, _ = made.filled(25 * MIB + MIB // 2)
    kept = made.snapshot(one)
    kept["segments"] = []
    kept["device_traces"] = [
        [event for event in trace if not event["action"].startswith("segment")] for trace in kept["device_traces"]
    ]
    answer = explained(t, t.write("bare.pickle", pickle.dumps(kept, 4)))[0]["answer"]
    equal((answer["fits"], answer["fit"]["over_bytes"]), ("no", None))
    assert "what PyTorch had free is not recorded" in answer["fit"]["sentence"], answer["fit"]["sentence"]


def test_a_snapshot_of_the_name_of_the_text_is_looked_at_first(t):
    one, failed = made.filled(25 * MIB + MIB // 2)
    other = dumped(made.filled(64 * MIB)[0])
    for rank in range(20):
        t.write(f"job/rank{rank:02}.pickle", other)
    t.write("job/rank30.pickle", dumped(one))
    t.write("job/rank30.log", made.text_of(one, failed))
    note = next(
        note["text"]
        for note in explained(t, t.folder() + "/job/rank30.log")[0]["answer"]["notes"]
        if note["kind"] == "snapshot"
    )
    assert "rank30.pickle belongs to this failure" in note and "5 more were not examined" in note, note


def test_both_dropped_on_the_page(t):
    one, failed = made.filled(25 * MIB)
    daemon = t.serve(t.folder())
    first = add(daemon, "error.log", made.text_of(one, failed))["id"]
    given = add(daemon, "rank0.pickle", dumped(one), first)["id"]
    text = next(row for row in sessions_of(daemon, given) if row["kind"] == "text")
    check_figures(daemon.get_json("/api/v1/verdict", session=text["id"]), one, failed)
