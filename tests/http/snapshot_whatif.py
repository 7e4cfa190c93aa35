# SPDX-License-Identifier: Apache-2.0
"""memviewd whatif and the API on allocator snapshots: what other settings would have made of them; what is refused."""

import os
import pickle
import sys
import urllib.parse

from document import Document
from harness import ROOT, equal, loads

sys.path.append(os.path.join(ROOT, "tests", "golden"))  # behind our own: both have a module "verdict"
import made_allocator  # noqa: E402
import made_program  # noqa: E402
import made_snapshots  # noqa: E402

MIB = 1 << 20


def fragmented(t):
    """64 MiB of which half is free in holes of 2 MiB when 24 MiB fail"""
    return t.write("run/rank0.pickle", pickle.dumps(made_allocator.snapshot(made_allocator.fragmented()), 4))


def answer_of(t, path, *arguments):
    process = t.run("whatif", path, "--json", *arguments)
    equal((process.returncode, process.stderr), (0, ""))
    (answer,) = loads(process.stdout)["modules"]
    equal(answer.pop("file"), os.path.basename(path))
    return answer


def test_settings_in_a_terminal_and_as_json(t):
    path = fragmented(t)
    answer = answer_of(t, path, "--change", "roundup=4", "--change", "expandable_segments", "--capacity", "64MiB")
    equal([change["change"] for change in answer["changes"]], ["roundup=4", "expandable_segments"])
    equal((answer["capacity_bytes"], answer["fits_before"], answer["fits_after"]), (64 * MIB, False, False))
    equal(answer["failed_request"]["is_placed"], False)
    equal([answer_of(t, path, *more)["fits_after"] for more in (("--capacity", "64MiB"), ())], [False, None])
    text = t.run("whatif", path, "--change", "expandable_segments").stdout
    for words in (
        "GPU 0: expandable_segments ",
        "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True",
        "The request of 24.00 MiB that failed ",
        "Replayed exactly: the allocator's rules give the 3 segments that were recorded.",
    ):
        assert words in text, text


def test_what_a_recorded_run_did_not_confirm_is_not_exact(t):
    path = fragmented(t)
    for change, confidence in (("max_split_size=64MiB", "model"), ("expandable_segments", "exact")):
        equal(answer_of(t, path, "--change", change)["changes"][0]["confidence"], confidence, change)


def test_a_fraction_ends_the_job_sooner(t):
    answer = answer_of(t, fragmented(t), "--change", "memory_fraction=0.5", "--capacity", "64MiB")
    equal(answer["fails"], {"event": 10, "requested_bytes": 2 * MIB})
    equal(answer["request_word"], "another fails")
    equal((answer["reserved_bytes_after"], answer["failed_request"], answer["fits_after"]), (20 * MIB, None, False))


def trained(t, **more):
    return t.write("run/rank0.pickle", pickle.dumps(made_program.snapshot(made_program.Program(**more)), 4))


def test_another_batch(t):
    path = trained(t)
    answer = answer_of(t, path, "--change", "batch=0.5", "--capacity", "320MiB")
    smaller = made_program.Program(batch=4).peaks
    equal((answer["peak_bytes_after"], answer["allocated_bytes_after"]), (smaller["requested"], smaller["allocated"]))
    equal((answer["fits_before"], answer["fits_after"], answer["changes"][0]["confidence"]), (False, True, "model"))
    both = answer_of(t, path, "--change", "batch=0.5", "--change", "expandable_segments")
    equal(
        (both["peak_bytes_after"], [change["confidence"] for change in both["changes"]]),
        (smaller["requested"], ["model", "model"]),
    )
    back = answer_of(t, path, "--change", "batch=0.5", "--change", "batch=2")
    equal(back["peak_bytes_after"], answer["peak_bytes_before"])


def test_other_programs(t):
    path = trained(t)
    for change, other in (("optimizer=sgd", {"optimizer": "sgd"}), ("checkpoint", {"checkpoint": True})):
        answer, peaks = answer_of(t, path, "--change", change), made_program.Program(**other).peaks
        equal(
            (answer["peak_bytes_after"], answer["allocated_bytes_after"]),
            (peaks["requested"], peaks["allocated"]),
            change,
        )
    answer, peaks = answer_of(t, path, "--change", "attention=sdpa"), made_program.Program(attention="sdpa").peaks
    # a float for each row
    assert 0 <= answer["peak_bytes_after"] - peaks["requested"] < MIB, answer["peak_bytes_after"]
    plain, state = answer_of(t, path), sum(made_program.Program().sizes) * 2
    for change, most in (("optimizer=8bit", state * 3 // 10), ("optimizer=adafactor", state // 100)):
        answer = answer_of(t, path, "--change", change)
        assert 0 < answer["peak_bytes_after"] - made_program.Program(optimizer="sgd").peaks["requested"] <= most, change
    equal(answer["changes"][0]["confidence"], "guess")
    assert answer["changes"][0]["reason"].endswith("So the job may take more or less."), answer["changes"]
    equal(plain["changes"], [])


def test_parts_of_a_pass(t):
    answer, parts = answer_of(t, trained(t), "--change", "accumulate=2"), made_program.Program(batch=4, parts=2).peaks
    equal((answer["peak_bytes_after"], answer["allocated_bytes_after"]), (parts["requested"], parts["allocated"]))


def test_changes_of_the_program_together(t):
    path = trained(t)
    both = made_program.Program(batch=4, checkpoint=True).peaks
    for changes in (("batch=0.5", "checkpoint"), ("checkpoint", "batch=0.5")):
        answer = answer_of(t, path, "--change", changes[0], "--change", changes[1], "--capacity", "1GiB")
        equal((answer["peak_bytes_after"], answer["fits_after"]), (both["requested"], True), changes)
    text = t.run("whatif", path, "--change", "batch=0.5", "--change", "optimizer=sgd").stdout
    assert ": These changes together save " in text, text


def test_what_does_not_apply_is_refused_and_why(t):
    plain = made_program.Program()
    for more, change, words in (
        ({"optimizer": "sgd"}, "optimizer=sgd", "no optimizer state is seen"),
        ({"attention": "sdpa"}, "attention=sdpa", "fused already"),
        ({"checkpoint": True}, "checkpoint", "checkpointed already"),
        ({"layers": 1}, "checkpoint", "called more than once"),
        ({}, "accumulate=1", "write accumulate=2"),
        ({}, "optimizer=lion", "write optimizer=sgd"),
        ({}, "attention=flash", "write attention=sdpa"),
        ({}, "checkpoint=net.py", "write checkpoint"),
        ({}, "zero_grad", "freed already"),
        ({"keeps_gradients": True, "optimizer": "sgd"}, "zero_grad", "no step of an optimizer is seen"),
        ({}, "no_cache", "no cache of keys and values"),
        ({}, "offload=weights", "write offload=activations"),
        ({"optimizer": "sgd"}, "offload=optimizer", "no optimizer state is seen"),
        ({}, "shard=1", "write shard=4"),
        ({}, "dtype=bf16", "`python -m memviewd estimate SCRIPT`"),
        ({}, "autocast", "snapshots hold no element types and no operations"),
    ):
        process = t.run("whatif", trained(t, **more), "--change", change)
        equal((process.returncode, process.stdout), (2, ""), change)
        assert words in process.stderr, f"{change}: {process.stderr}"
    for changes, words in (
        (("checkpoint", "checkpoint"), "an earlier change checkpoints it already"),
        (("checkpoint", "offload=activations"), "an earlier change"),
        (("offload=activations", "checkpoint"), "an earlier change moves its activations to the host's memory"),
        (("optimizer=8bit", "offload=optimizer"), "an earlier change replaces the optimizer already"),
    ):
        process = t.run("whatif", trained(t), *(word for change in changes for word in ("--change", change)))
        assert words in process.stderr, (changes, process.stderr)
    process = t.run("whatif", trained(t), "--fit")
    equal((process.returncode, process.stdout), (2, ""))
    assert "say what the device has: capacity_bytes (--capacity)" in process.stderr, process.stderr
    equal(plain.failed, False)


AS_RUN = {
    "attention=sdpa": {"attention": "sdpa"},
    "checkpoint": {"checkpoint": True},
    "accumulate=2": {"parts": 2, "batch": 4},
    "accumulate=4": {"parts": 4, "batch": 2},
    "batch=0.5": {"batch": 4},
    "sequence=0.5": {"sequence": 0.5},
    "optimizer=sgd": {"optimizer": "sgd"},
}


def changes_of(fit_set):
    return [change["change"] for change in fit_set["changes"]]


def test_sets_that_fit_are_run(t):
    """a set that is said to fit does, when the training is run with its changes"""
    seen = set()
    for optimizer, capacity in (("adamw", 320), ("sgd", 180), ("sgd", 160)):
        path = trained(t, optimizer=optimizer)
        fit = answer_of(t, path, "--fit", "--capacity", f"{capacity}MiB")["fit"]
        assert fit["sets"] and fit["nearest"] == [] and fit["sentence"].endswith(f" {capacity}.00 MiB, by replay."), fit
        for fit_set in fit["sets"]:
            changes = changes_of(fit_set)
            assert fit_set["total_bytes"] <= capacity * MIB and fit_set["extra_flops_percent"] is None, fit_set
            equal(
                answer_of(t, path, *(word for change in changes for word in ("--change", change)))[
                    "reserved_bytes_after"
                ],
                fit_set["total_bytes"],
                changes,
            )
            if not set(changes) <= set(AS_RUN):
                continue
            more = {"optimizer": optimizer}
            for change in changes:
                more |= AS_RUN[change]
            reserved = made_program.Program(**more).peaks["reserved"]
            assert abs(reserved - fit_set["total_bytes"]) <= reserved * 6 // 100, (changes, reserved, fit_set)
            seen.add(tuple(changes))
    assert len(seen) >= 4 and any(len(changes) > 1 for changes in seen), seen


def test_settings_come_first_and_another_program_last(t):
    """what is free in pieces: the first set is the setting alone; a training: what leaves its numbers as they are is
    first"""
    fit = answer_of(t, trained(t), "--fit", "--capacity", "320MiB")["fit"]
    tiers = [
        max(
            0
            if change.startswith(("expandable", "max_split"))
            else 1
            if change.startswith(("attention", "checkpoint", "accumulate"))
            else 2
            for change in changes_of(each)
        )
        for each in fit["sets"]
    ]
    equal((tiers, tiers[0]), (sorted(tiers), 1))
    text = t.run("whatif", trained(t), "--fit", "--capacity", "320MiB").stdout
    assert " would make it fit 320.00 MiB, by replay.\n  " + changes_of(fit["sets"][0])[0] in text, text


def test_why_nothing_fits(t):
    path = trained(t)
    fit = answer_of(t, path, "--fit", "--capacity", "20MiB")["fit"]
    equal((fit["sets"], len(fit["nearest"])), ([], 1))
    assert (
        fit["sentence"].startswith("Nothing that was tried is enough: the best leaves ")
        and "optimizer state, which changes to activations do not shrink" in fit["sentence"]
    ), fit["sentence"]
    fit = answer_of(t, path, "--fit", "--capacity", "4GiB")["fit"]
    assert (fit["sets"], fit["nearest"]) == ([], []) and fit["sentence"].startswith("It fits as it is: "), fit
    fit = answer_of(t, path, "--fit", "--capacity", "320MiB", "--change", "checkpoint")["fit"]
    assert fit["sentence"].startswith("It fits with what is changed: "), fit


def test_a_job_that_failed_is_to_get_past_its_request(t):
    """what the process could take says the request; a set is a bound, for nobody knows what comes behind it"""
    path = trained(t, capacity=300 * MIB)
    answer = answer_of(t, path, "--fit")
    equal(answer["capacity_bytes"], 300 * MIB)
    assert "would get it past the request that failed" in answer["fit"]["sentence"], answer["fit"]
    equal({fit_set["confidence"] for fit_set in answer["fit"]["sets"]} <= {"bound", "guess"}, True)
    for fit_set in answer["fit"]["sets"]:
        changed = answer_of(t, path, *(word for change in changes_of(fit_set) for word in ("--change", change)))
        equal(
            (changed["failed_request"]["is_placed"], changed["reserved_bytes_after"]),
            (True, fit_set["total_bytes"]),
            fit_set,
        )


def test_a_bound_on_the_other_side_does_not_fit(t):
    """twice the batch takes at least so much: nothing says that it is within the device"""
    one = made_program.Program()
    one.at([made_program.frame("load", "/home/me/train.py", 7)], 200 * MIB)
    path = t.write("run/rank0.pickle", pickle.dumps(made_program.snapshot(one), 4))
    for change, fits in (("batch=2", None), ("batch=1", True)):
        answer = answer_of(t, path, "--change", change, "--capacity", "4GiB")
        equal(
            (answer["fits_after"], answer["changes"][0]["fits"], "within" in answer["sentence"]),
            (fits, fits, bool(fits)),
            answer["sentence"],
        )


def test_a_request_that_failed_and_another_program(t):
    """in its second forward pass the scores find no room"""
    path = trained(t, capacity=300 * MIB)
    asked = answer_of(t, path)["failed_request"]
    equal(asked["is_placed"], False)
    for change in ("batch=0.5", "attention=sdpa", "checkpoint"):
        answer = answer_of(t, path, "--change", change, "--capacity", "301MiB")
        equal((answer["failed_request"]["is_placed"], answer["changes"][0]["confidence"]), (True, "bound"), change)
        equal(
            (answer["fits_before"], answer["fits_after"], answer["changes"][0]["fits"], "within" in answer["sentence"]),
            (False, None, None, False),
            change,
        )
        words = "is not made any more." if change == "attention=sdpa" else "gets its memory."
        equal(answer["request_word"], "not made" if change == "attention=sdpa" else "gets its memory", change)
        assert answer["sentence"].endswith(words) and answer["failed_request"]["is_left_out"] == (
            change == "attention=sdpa"
        ), answer["sentence"]
        assert "is not known. So the job takes at least this." in answer["changes"][0]["reason"], answer["changes"]


def test_a_job_that_fails_does_not_fit(t):
    path = trained(t, capacity=300 * MIB)
    for change in ("batch=1", "batch=2"):  # the request fails all the same; one before it fails
        answer = answer_of(t, path, "--change", change, "--capacity", "1GiB")
        equal(
            (answer["fits_after"], answer["changes"][0]["fits"], "within" in answer["sentence"]),
            (False, False, False),
            change,
        )
    equal(answer_of(t, path, "--change", "attention=sdpa", "--capacity", "64MiB")["fits_after"], False)


def test_advice_of_a_long_recording_leaves_the_figure_to_whatif(t):
    """a training, and behind it half a million small requests: no replay within a verdict"""
    snapshot = made_program.snapshot(made_program.Program())
    trace, own = snapshot["device_traces"][0], [made_program.frame("log", "/home/me/train.py", 3)]
    now, end = trace[-1]["time_us"], 1 << 50
    for at in range(280_000):
        for action in ("alloc", "free_completed"):
            trace.append(
                {
                    "action": action,
                    "addr": end + 512 * (at % 7),
                    "size": 512,
                    "stream": 0,
                    "time_us": now + at,
                    "frames": own,
                }
            )
    path = t.write("long/rank0.pickle", pickle.dumps(snapshot, 4))
    (answer,) = [one["answer"] for one in loads(t.run("explain", "--json", path).stdout)]
    row = next(row for row in answer["advice"] if row["change"] == "checkpoint")
    equal((row["lands_at_bytes"], row["allocated_bytes"], row["confidence"]), (None, None, "bound"))
    assert "The recording is too long for a replay here: memviewd whatif says the figure." in row["reason"], row
    assert "memviewd whatif PATH --change='checkpoint'" in t.run("explain", path).stdout


def test_advice_says_what_whatif_says(t):
    """of a training that fits, and of one whose request failed"""
    for more, capacity in (({}, "300MiB"), ({"capacity": 300 * MIB}, None)):
        path = trained(t, **more)
        about = ("--capacity", capacity) if capacity else ()
        (answer,) = [one["answer"] for one in loads(t.run("explain", "--json", path, *about).stdout)]
        rows = {row["change"]: row for row in answer["advice"] if row["change"]}
        assert {"checkpoint", "attention=sdpa"} <= set(rows), rows.keys()
        for change, row in rows.items():
            said = answer_of(t, path, "--change", change, *about)
            failed = said["failed_request"]
            asked = failed["requested_bytes"] if failed and not failed["is_placed"] else 0
            equal(
                (row["lands_at_bytes"], row["allocated_bytes"], row["confidence"]),
                (said["reserved_bytes_after"] + asked, said["allocated_bytes_after"], said["changes"][0]["confidence"]),
                change,
            )
            if failed:
                equal(row["fits"], "perhaps" if failed["is_placed"] else "no", change)
            elif row["fits"] in ("yes", "no"):
                equal(row["fits"], "yes" if said["fits_after"] else "no", change)
        ranks = [row["fits"] == "no" for row in answer["advice"]]
        equal(ranks, sorted(ranks), "what does not fit comes last")


def test_the_same_program_saves_nothing(t):
    """where the replay places what was there before anew, or a segment is of no request, it reserves less than was
    recorded"""
    late, apart = made_program.Program().one, made_program.Program().one
    apart.write("segment_alloc", apart.next, 400 * MIB, 0, [])
    for name, snapshot in (
        ("late", made_allocator.snapshot(late, keeps=120)),
        ("apart", made_allocator.snapshot(apart)),
    ):
        path = t.write(f"{name}/rank0.pickle", pickle.dumps(snapshot, 4))
        plain, answer = answer_of(t, path), answer_of(t, path, "--change", "batch=1", "--change", "roundup=1")
        assert plain["reserved_bytes_before"] != answer["reserved_bytes_before"], (name, plain)
        equal([change["saving_bytes"] for change in answer["changes"]], [0, 0], name)
        assert answer["sentence"].startswith("These changes together change nothing: "), answer["sentence"]
        for change in answer["changes"]:
            assert "The unchanged program, replayed in the same way, reserves " in change["reason"], (
                name,
                change["reason"],
            )


def test_what_the_rules_leave_out_is_no_saving(t):
    """a segment of no request, which no replay reserves: a set is enough by what its changes save, not by that"""
    apart = made_program.Program().one
    apart.write("segment_alloc", apart.next, 400 * MIB, 0, [])
    path = t.write("apart/rank0.pickle", pickle.dumps(made_allocator.snapshot(apart), 4))
    plain = answer_of(t, path)
    capacity = plain["reserved_bytes_before"] // MIB - 60
    fit = answer_of(t, path, "--fit", "--capacity", f"{capacity}MiB")["fit"]
    assert fit["sets"], fit
    for fit_set in fit["sets"]:
        changes = changes_of(fit_set)
        changed = answer_of(t, path, *(word for change in changes for word in ("--change", change)))
        before = (
            plain["replay"]["made_reserved_bytes"]
            if set(changes) <= {"expandable_segments", "max_split_size=512MiB"}
            else changed["reserved_bytes_before"]
        )
        equal(fit_set["saving_bytes"], before - changed["reserved_bytes_after"], changes)
        assert fit_set["saving_bytes"] >= 60 * MIB and fit_set["total_bytes"] <= capacity * MIB, fit_set
    answer = answer_of(t, path, "--change", "batch=1", "--capacity", f"{capacity}MiB")
    equal((answer["fits_before"], answer["fits_after"]), (None, None))


def test_of_what_begins_late_nothing_is_said_to_fit(t):
    path = t.write("late/rank0.pickle", pickle.dumps(made_allocator.snapshot(made_program.Program().one, keeps=200), 4))
    equal(answer_of(t, path)["replay"]["is_whole"], False)
    for capacity, fits, words in (("4GiB", None, "device"), ("64MiB", False, " over 64.00 MiB")):
        answer = answer_of(t, path, "--change", "batch=0.5", "--capacity", capacity)
        equal((answer["fits_before"], answer["fits_after"]), (fits, fits))
        equal(words in answer["sentence"], fits is False, answer["sentence"])


def test_what_is_wrong_is_told(t):
    path = fragmented(t)
    for change, words in (
        (
            "cast=*:bf16",
            "memory_fraction, batch, sequence, accumulate, optimizer, attention, "
            "checkpoint, zero_grad, no_cache, offload, shard",
        ),
        ("batch=0.5", "no forward pass"),
        ("batch=0", "0.001 to 1000"),
        ("max_split_size=8MiB", "more than 20"),
        ("gc_threshold=2", "below 1"),
        ("roundup=3", "powers of two"),
        ("memory_fraction=0.5", "--capacity"),
        ("expandable_segments=maybe", "False"),
    ):
        process = t.run("whatif", path, "--change", change)
        equal((process.returncode, process.stdout), (2, ""), change)
        assert words in process.stderr, f"{change}: {process.stderr}"
    alone = t.write(
        "end/rank0.pickle", pickle.dumps(made_snapshots.without_history(pickle.loads(open(path, "rb").read())), 4)
    )
    process = t.run("whatif", alone, "--change", "expandable_segments")
    equal(process.returncode, 2)
    assert "no history" in process.stderr, process.stderr
    process = t.run("whatif", alone)
    equal(
        (process.returncode, process.stdout), (0, "rank0.pickle, GPU 0: Not replayed: the snapshot has no history.\n")
    )


def test_the_api_gives_the_same(t):
    path = fragmented(t)
    daemon = t.serve(os.path.dirname(os.path.dirname(path)))
    session = daemon.session_id("run")
    document = Document(os.path.join(ROOT, "docs", "openapi.yaml"))
    for changes in ((), ("expandable_segments",), ("max_split_size=64MiB", "roundup=[1:4,>:2]")):
        query = urllib.parse.urlencode([("session", session), *(("change", change) for change in changes)])
        answer = daemon.ask(f"/api/v1/memory_profile/whatif?{query}")
        equal(answer.status, 200, answer.json)
        operation = document.tree["paths"]["/api/v1/memory_profile/whatif"]["get"]
        equal(list(document.faults(answer.json, document.media(operation, 200)["application/json"])), [], changes)
        equal(answer.json["data"], answer_of(t, path, *(word for change in changes for word in ("--change", change))))
    fitted = daemon.ask(f"/api/v1/memory_profile/whatif?session={session}&fit=1&capacity_bytes={80 * MIB}").json
    equal(
        (list(document.faults(fitted, document.media(operation, 200)["application/json"])), fitted["data"]),
        ([], answer_of(t, path, "--fit", "--capacity", "80MiB")),
    )
    equal(daemon.ask(f"/api/v1/memory_profile/whatif?session={session}&change=batch%3D0.5").status, 400)
    drawn = daemon.ask(f"/api/v1/memory_profile/whatif?session={session}&change=expandable_segments&width=64").json
    equal(list(document.faults(drawn, document.media(operation, 200)["application/json"])), [])
    curve, data = drawn["data"]["curve"], drawn["data"]
    equal((len(curve["reserved_bytes"]), len(curve["allocated_bytes"])), (64, 64))
    equal(
        (max(curve["reserved_bytes"]), max(curve["allocated_bytes"])),
        (data["reserved_bytes_after"], data["allocated_bytes_after"]),
    )
    equal(data["offered"][0], "expandable_segments")
    assert all(
        reserved >= allocated for reserved, allocated in zip(curve["reserved_bytes"], curve["allocated_bytes"])
    ), curve
