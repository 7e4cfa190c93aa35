# SPDX-License-Identifier: Apache-2.0
"""Traces, dumps and other files that a reader gives: opened like those of a folder, kept in memory alone."""

import concurrent.futures
import gzip
import hashlib
import os
import signal
import threading

import inputs
from harness import equal, wait_until

RAW = {"Content-Type": "application/octet-stream"}
DUMP = "dumps/seed-matmul-327680"
LINE = b"RESOURCE_EXHAUSTED: Out of memory allocating 12 bytes\n"


def add(daemon, name, data, before="", status=201):
    answer = daemon.ask(f"/api/v1/uploads?name={name}&with={before}", "POST", RAW, data)
    equal(answer.status, status, answer.text)
    return answer.json


def add_folder(t, daemon, folder, prefix=""):
    given = ""
    for name in sorted(os.listdir(os.path.join(t.fixtures, folder))):
        if not name.endswith((".txt", ".pb", ".pb.gz")) or "report.pb" in name:
            continue
        given = add(daemon, prefix + name, t.fixture(f"{folder}/{name}"), given)["id"]
    return given


def sessions_of(daemon, given):
    return daemon.get_json(f"/api/v1/uploads/{given}")["sessions"]


def files_below(folder):
    return [os.path.join(path, name) for path, _, names in os.walk(folder) for name in names]


def test_a_trace_answers_as_one_in_a_folder_does(t):
    trace = inputs.xspace(
        {("jit_one", 5): inputs.hlo_proto("jit_one", 40), ("jit_two", 6): inputs.hlo_proto("jit_two", 6)}
    )
    t.write("plugins/profile/run/h.xplane.pb", trace + inputs.memory_plane(40))
    daemon = t.serve(t.folder())
    watched = daemon.sessions()["run"]["id"]
    for name, data in (
        ("h.xplane.pb", trace + inputs.memory_plane(40)),
        ("h.xplane.pb.gz", gzip.compress(trace + inputs.memory_plane(40))),
        ("what.bin", trace + inputs.memory_plane(40)),
    ):
        given = add(daemon, name, data)["id"]
        session = sessions_of(daemon, given)[0]
        equal((session["kind"], session["modified_at_ms"]), ("trace", None), name)
        rows = [
            [(row["name"], row["spaces"]) for row in daemon.get_json(f"/api/v1/sessions/{session}/modules")["modules"]]
            for session in (watched, given)
        ]
        equal(rows[1], rows[0], name)
        for path in ("memory_viewer/buffers", "memory_profile/timeline", "memory_profile/live"):
            answers = [daemon.get_json(f"/api/v1/{path}", session=session)["data"] for session in (watched, given)]
            equal(answers[1], answers[0], f"{name} {path}")


def test_a_dump_with_its_error_text_is_one_session(t):
    daemon = t.serve(t.folder(), os.path.join(t.fixtures, DUMP))
    watched = next(iter(daemon.sessions().values()))["id"]
    given = add_folder(t, daemon, DUMP)
    sessions = sessions_of(daemon, given)
    equal([(row["id"], row["kind"], row["module_count"]) for row in sessions], [(given, "dump", 1)])
    failure = daemon.get_json(f"/api/v1/sessions/{watched}")["failure"]
    equal(sessions[0]["failure"], failure)
    verdicts = [daemon.get_json("/api/v1/oom", session=session)["failures"] for session in (watched, given)]
    equal(verdicts[1], verdicts[0])
    totals = [
        [row["spaces"] for row in daemon.get_json(f"/api/v1/sessions/{session}/modules")["modules"]]
        for session in (watched, given)
    ]
    equal(totals[1], totals[0])
    peaks = [
        daemon.get_json("/api/v1/memory_viewer/summary", session=session)["data"]["spaces"]
        for session in (watched, given)
    ]
    equal(peaks[1], peaks[0])


def test_folders_of_what_was_given_are_sessions_each(t):
    daemon = t.serve(t.folder())
    given = add_folder(t, daemon, DUMP, "all/one/")
    given = add(daemon, "all/two/memory1.prof", t.fixture("memprof/memory1.prof"), given)["id"]
    given = add(daemon, "all/two/memory2.prof", t.fixture("memprof/memory2.prof"), given)["id"]
    rows = sessions_of(daemon, given)
    equal(
        {row["name"]: (row["kind"], row["profile_count"]) for row in rows},
        {"all/one": ("dump", 0), "all/two": ("profiles", 2)},
    )
    equal({row["id"] for row in rows}, {given, given + "-1"})
    series = next(row["id"] for row in rows if row["kind"] == "profiles")
    data = daemon.get_json("/api/v1/device_memory/series", session=series)["data"]
    equal([row["name"] for row in data["profiles"]], ["memory1.prof", "memory2.prof"])
    equal(daemon.ask(f"/api/v1/sessions/{given}-2").status, 404)


def test_a_set_is_named_by_what_is_in_it(t):
    daemon, one, two = t.serve(t.folder()), inputs.hlo_proto("jit_a"), inputs.hlo_proto("jit_b")
    first = add(daemon, "a.hlo.pb", one)
    equal(first["files"][0]["sha256"], hashlib.sha256(one).hexdigest())
    equal(add(daemon, "a.hlo.pb", one)["id"], first["id"])
    both = add(daemon, "b.hlo.pb", two, first["id"])["id"]
    equal(add(daemon, "a.hlo.pb", one, add(daemon, "b.hlo.pb", two)["id"])["id"], both)
    assert add(daemon, "c.hlo.pb", one)["id"] != first["id"]
    replaced = add(daemon, "a.hlo.pb", two, first["id"])
    equal(
        [(file["name"], file["sha256"]) for file in replaced["files"]], [("a.hlo.pb", hashlib.sha256(two).hexdigest())]
    )
    equal(len(sessions_of(daemon, first["id"])), 1, "the earlier set stays as it was")


def test_nothing_is_stored_and_nothing_is_listed(t):
    t.write("run/a.hlo.pb", inputs.hlo_proto())
    daemon = t.serve(t.folder())
    before = files_below(t.folder())
    given = add(daemon, "secret.hlo.pb", inputs.hlo_proto("jit_secret"))["id"]
    daemon.get_json("/api/v1/memory_viewer/summary", session=given)
    equal(files_below(t.folder()), before)
    assert "secret" not in daemon.ask("/api/v1/sessions").text
    assert "secret" not in daemon.ask("/runs").text
    equal(t.serve(t.folder()).ask(f"/api/v1/uploads/{given}").status, 404, "another daemon")


def test_hostile_names_mean_no_other_place(t):
    daemon, program = t.serve(t.folder()), inputs.hlo_proto()
    for name in (
        "..",
        "a/..",
        "../a.hlo.pb",
        "/etc/passwd",
        "a//b",
        "a/",
        ".hidden",
        "a/.b",
        "x/" * 16 + "a.hlo.pb",
        "a" * 256,
    ):
        equal(add(daemon, name, program, status=400)["code"], "argument", name)
    for name in (
        "%3Cimg%20src=x%3E.hlo.pb",
        "%1b%5B31m.hlo.pb",
        "%F0%9F%98%80.hlo.pb",
        "a%5Cb.hlo.pb",
        "%ff%fe.hlo.pb",
    ):
        given = add(daemon, name, program)["id"]
        equal(daemon.get_json(f"/api/v1/sessions/{given}/modules")["total_count"], 1, name)


def test_hostile_bodies_are_refused_or_say_why_when_opened(t):
    daemon, good = t.serve(t.folder()), inputs.hlo_proto()
    for body in (b"\0" * 100, os.urandom(4096), b"\x1f\x8b" + b"x" * 100, b"\xff" * 4096):
        equal(add(daemon, "a.hlo.pb", body, status=422)["code"] in ("unsupported", "malformed", "truncated"), True)
    equal(add(daemon, "h.xplane.pb.gz", inputs.gzip_bomb(), status=413)["code"], "limit")
    equal(add(daemon, "a.hlo.pb.gz", gzip.compress(good)[:-20], status=422)["code"], "truncated")
    for name, body, status in (("a.hlo.pb", good[:-20], 422), ("h.xplane.pb", inputs.trace()[:40], 422)):
        given = add(daemon, name, body)["id"]
        equal(daemon.ask(f"/api/v1/memory_viewer/summary?session={given}").status, status, name)
    equal(
        daemon.get_json("/api/v1/memory_viewer/summary", session=add(daemon, "a.hlo.pb", good)["id"])["view"], "summary"
    )


def test_who_waits_until_the_texts_of_a_set_are_read_leaves_room(t):
    daemon = t.serve(t.folder())
    given = add(daemon, "slow.log.gz", gzip.compress(LINE * 100000) * (2 if t.is_sanitized else 4))["id"]
    before = daemon.cpu_seconds()
    with concurrent.futures.ThreadPoolExecutor(40) as pool:
        waiting = [pool.submit(daemon.ask, f"/api/v1/sessions/{given}-{at}") for at in range(1, 41)]
        wait_until(lambda: waiting[0].done() or daemon.cpu_seconds() - before > 0.1, what="the reading")
        for path in ("/api/v1/tools", "/api/v1/sessions", "/api/v1/about"):
            equal(daemon.ask(path).status, 200, path)
        assert not any(answer.done() for answer in waiting), "others waited for them, or the texts are quick to read"
        told = {answer.result().status for answer in waiting}
        assert told <= {404, 503}, f"{told}: 503 where a sanitizer reads for more than two minutes"


def test_a_log_beyond_the_limit_is_named_with_the_reason(t):
    """it inflates to more than 256 times its size: dropped alone, beside a program, and in a watched folder"""
    packed = gzip.compress(LINE + b"." * (10 << 20)) * 12
    t.write("job/big.log.gz", packed)
    daemon = t.serve(t.folder())
    alone = daemon.get_json(f"/api/v1/uploads/{add(daemon, 'big.log.gz', packed)['id']}")
    equal([(row["file"], row["code"]) for row in alone["not_read"]], [("big.log.gz", "limit")])
    assert "256 times" in alone["not_read"][0]["reason"], alone
    equal(alone["sessions"], [])
    beside = add(daemon, "run/a.hlo.pb", inputs.hlo_proto(), add(daemon, "run/big.log.gz", packed)["id"])["id"]
    equal([row["file"] for row in daemon.get_json(f"/api/v1/uploads/{beside}")["not_read"]], ["run/big.log.gz"])
    equal([row["file"] for row in daemon.get_json(f"/api/v1/sessions/{beside}")["not_read"]], ["run/big.log.gz"])
    wait_until(lambda: daemon.get_json("/api/v1/sessions")["not_read"], what="the reading of the folder's log")
    equal(
        [(row["file"], row["code"]) for row in daemon.get_json("/api/v1/sessions")["not_read"]],
        [("job/big.log.gz", "limit")],
    )
    equal(daemon.get_json(f"/api/v1/uploads/{add(daemon, 'small.log', LINE)['id']}")["not_read"], [])


def test_sigterm_does_not_wait_for_the_text_of_what_was_given(t):
    """four million failures take some twenty seconds"""
    packed = gzip.compress(LINE * 100000) * 40
    for method, path, body in (("GET", "/api/v1/uploads/{}", None), ("POST", "/api/v1/oom", packed)):
        daemon, answers = t.serve(t.folder()), []
        given = add(daemon, "slow.log.gz", packed)["id"]
        before = daemon.cpu_seconds()
        asking = threading.Thread(target=lambda: answers.append(daemon.ask(path.format(given), method, RAW, body)))
        asking.start()
        wait_until(lambda: daemon.cpu_seconds() - before > 0.5, what="the reading")
        daemon.process.send_signal(signal.SIGTERM)
        asking.join()
        equal(daemon.process.wait(), 0, path)
        is_listed = (
            "not_read" in answers[0].json
        )  # else it took too long to come out of the text: the request itself is ended
        told = answers[0].json["not_read"][0]["reason"] if is_listed else answers[0].json["detail"]
        assert "the daemon ends" in told or "is being stopped" in told, answers


def test_only_the_id_of_a_set_names_it(t):
    daemon = t.serve(t.folder())
    given = add(daemon, "a.hlo.pb", inputs.hlo_proto())["id"]
    for other in (given + "-1", given + "-9999", given + "-0", given[:-1], given + "0", "f" * 40):
        equal(daemon.ask(f"/api/v1/uploads/{other}").status, 404, other)
    equal(daemon.ask(f"/api/v1/uploads/{given}").status, 200)


def test_a_set_that_is_not_there_is_404_for_the_next_file(t):
    """the daemon was started anew in the middle: the page then begins again"""
    equal(add(t.serve(t.folder()), "b.hlo.pb", inputs.hlo_proto(), "a" * 40, status=404)["code"], "notfound")


def test_small_files_count_against_the_memory_too(t):
    daemon = t.serve(t.folder(), "--memory-limit=1")
    first = add(daemon, "0.hlo.pb", inputs.hlo_proto("jit_0", 1))["id"]
    equal(daemon.ask(f"/api/v1/uploads/{first}").status, 200)
    for at in range(1, 400):
        last = add(daemon, f"{at}.hlo.pb", inputs.hlo_proto(f"jit_{at}", 1))["id"]
    equal(daemon.ask(f"/api/v1/uploads/{first}").status, 404, "400 of them take more than 1 MiB")
    equal(daemon.ask(f"/api/v1/uploads/{last}").status, 200)


def test_given_files_count_against_the_memory(t):
    daemon = t.serve(t.folder(), "--memory-limit=8")
    for at in range(6):
        answer = daemon.ask(
            f"/api/v1/uploads?name={at}.xplane.pb", "POST", RAW, inputs.trace(f"jit_{at}", padding=3 << 20)
        )
        equal(answer.status, 201, f"the earlier ones make room: {answer.text}")
    equal(daemon.ask(f"/api/v1/uploads/{answer.json['id']}").status, 200)
    big = daemon.ask("/api/v1/uploads?name=big.hlo.pb", "POST", RAW, b"x" * (9 << 20))
    equal((big.status, big.json["code"]), (503, "busy"))


def test_sets_of_many_files_count_too(t):
    """each of them has a tree of all its files, which takes more than these files do"""
    daemon, profile = t.serve(t.folder(), "--memory-limit=16"), t.fixture("memprof/memory1.prof")
    ids = [""]
    for at in range(240):
        ids.append(add(daemon, f"{at}.prof", profile, ids[-1])["id"])
        daemon.get_json(f"/api/v1/uploads/{ids[-1]}")
    equal([daemon.ask(f"/api/v1/uploads/{given}").status for given in (ids[1], ids[-2], ids[-1])], [404, 200, 200])


def test_many_at_once_are_not_mixed_up(t):
    daemon, found = t.serve(t.folder()), {}

    def one(at):
        given = add(daemon, f"{at}.hlo.pb", inputs.hlo_proto(f"jit_{at}", 4 + at % 3))["id"]
        found[at] = [row["name"] for row in daemon.get_json(f"/api/v1/sessions/{given}/modules")["modules"]]

    threads = [threading.Thread(target=one, args=(at,)) for at in range(32)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    equal(found, {at: [f"jit_{at}"] for at in range(32)})
