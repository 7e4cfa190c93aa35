# SPDX-License-Identifier: Apache-2.0
"""Our own surface: lists of sessions and modules, parameters, errors, several questions at once."""

import os
from urllib.parse import urlencode

import inputs
from harness import equal
from memory_viewer import serve_dumps


def many(t, count=25):
    for at in range(count):
        path = t.write(f"plugins/profile/run{at:02}/h.xplane.pb", inputs.trace("jit_one", 1, 2 + at))
        os.utime(path, (1700000000 + at * (7 if at % 2 else 5),) * 2)
    return t.serve(t.folder())


def names(answer):
    return [row["name"] for row in answer["sessions"]]


def test_sessions_are_sorted_filtered_and_paged_by_the_server(t):
    daemon = many(t)
    everything = daemon.get_json("/api/v1/sessions", limit=1000)
    equal((everything["total_count"], everything["matched_count"], len(everything["sessions"])), (25, 25, 25))
    times = [row["modified_at_ms"] for row in everything["sessions"]]
    equal(times, sorted(times, reverse=True))
    by_name = daemon.get_json("/api/v1/sessions", sort="name", limit=1000)
    equal(names(by_name), sorted(names(everything)))
    by_size = daemon.get_json("/api/v1/sessions", sort="largest", limit=1000)
    sizes = [row["size_bytes"] for row in by_size["sessions"]]
    equal(sizes, sorted(sizes, reverse=True))
    pages = [daemon.get_json("/api/v1/sessions", sort="name", offset=at, limit=10) for at in (0, 10, 20, 30)]
    equal([len(page["sessions"]) for page in pages], [10, 10, 5, 0])
    equal(sum((names(page) for page in pages), []), names(by_name))
    found = daemon.get_json("/api/v1/sessions", filter="RUN1", sort="name")
    equal((found["total_count"], found["matched_count"], names(found)), (25, 10, [f"run{at}" for at in range(10, 20)]))


def test_lists_refuse_as_tables_do(t):
    daemon = many(t, 1)
    modules = f"sessions/{daemon.session_id('run00')}/modules"
    for path, sorts in (("sessions", "newest, name, largest, failed"), (modules, "-total, name")):
        for query, said in (
            ("sort=naem", f'sort: no order "naem"; did you mean "name"? Known: {sorts}'),
            ("format=jsn", 'format: no format "jsn"; did you mean "json"? Known: json'),
        ):
            answer = daemon.ask(f"/api/v1/{path}?{query}")
            equal((answer.status, answer.json["code"], answer.json["detail"]), (400, "argument", said))
        equal(daemon.ask(f"/api/v1/{path}?sort=name&format=json").status, 200)


def test_module_counts_are_known_once_read(t):
    daemon = many(t, 2)
    equal({row["module_count"] for row in daemon.sessions().values()}, {None})
    daemon.get_json(f"/api/v1/sessions/{daemon.session_id('run00')}/modules")
    equal({name: row["module_count"] for name, row in daemon.sessions().items()}, {"run00": 1, "run01": None})


def test_the_largest_total_is_known_once_the_modules_were_listed(t):
    daemon = serve_dumps(t)
    equal({row["largest_total_bytes"] for row in daemon.sessions().values()}, {None})
    daemon.get_json(f"/api/v1/sessions/{daemon.session_id('seed-matmul-327680')}/modules")
    known = {
        name: row["largest_total_bytes"]
        for name, row in daemon.sessions().items()
        if row["largest_total_bytes"] is not None
    }
    equal([(name.rsplit("/")[-1], value >> 30) for name, value in known.items()], [("seed-matmul-327680", 300)])


def test_modules_are_sorted_filtered_and_paged(t):
    programs = {
        (f"jit_{at:02}", at): inputs.hlo_proto(f"jit_{at:02}", 4, 100 * (at * 7 % 10 + 1)) for at in range(1, 11)
    }
    t.write("plugins/profile/run/h.xplane.pb", inputs.xspace(programs))
    daemon = t.serve(t.folder())
    path = f"/api/v1/sessions/{daemon.session_id('run')}/modules"
    rows = daemon.get_json(path)["modules"]
    totals = [row["largest_total_bytes"] for row in rows]
    equal(totals, sorted(totals, reverse=True))
    equal(totals[0], 2 * 4 * 1000)
    equal([row["name"] for row in daemon.get_json(path, sort="name")["modules"]], sorted(row["name"] for row in rows))
    page = daemon.get_json(path, offset=8, limit=5, filter="JIT_")
    equal((page["total_count"], page["matched_count"], len(page["modules"])), (10, 10, 2))
    equal([row["key"] for row in daemon.get_json(path, filter="(10)")["modules"]], ["jit_10(10)"])


def test_without_a_module_the_one_with_the_largest_total_answers(t):
    programs = {
        ("jit_small", 1): inputs.hlo_proto("jit_small", 4, 10),
        ("jit_large", 2): inputs.hlo_proto("jit_large", 4, 999),
    }
    t.write("plugins/profile/run/h.xplane.pb", inputs.xspace(programs))
    daemon = t.serve(t.folder())
    session = daemon.session_id("run")
    equal(daemon.get_json("/api/v1/memory_viewer/summary", session=session)["data"]["module"]["name"], "jit_large")
    rows = {row["name"]: row["id"] for row in daemon.get_json(f"/api/v1/sessions/{session}/modules")["modules"]}
    answer = daemon.get_json("/api/v1/memory_viewer/summary", session=session, module=rows["jit_small"])
    equal(answer["data"]["module"]["name"], "jit_small")


def test_64_bit_program_ids_are_text(t):
    t.write("plugins/profile/run/h.xplane.pb", inputs.trace("jit_f", (1 << 64) - 6))
    daemon = t.serve(t.folder())
    row = daemon.get_json(f"/api/v1/sessions/{daemon.session_id('run')}/modules")["modules"][0]
    equal((row["program_id"], row["key"]), ("18446744073709551610", "jit_f(18446744073709551610)"))


def test_an_unknown_name_is_refused_with_the_nearest(t):
    daemon = serve_dumps(t)
    session = daemon.session_id("h-long-context")
    for view, query, said in (
        ("buffers", "sort=siez", 'sort: no column "siez"; did you mean "size"?'),
        ("groups", "sort=-cuont", 'sort: no column "cuont"; did you mean "count"?'),
        ("buffers", "format=cvs", 'format: no format "cvs"; did you mean "csv"?'),
        ("groups", "by=shap", 'by: no group "shap"; did you mean "shape"?'),
        ("buffers", "filter=kin:x", 'filter: unknown field "kin". Did you mean kind?'),
    ):
        answer = daemon.ask(f"/api/v1/memory_viewer/{view}?session={session}&{query}")
        equal(answer.status, 400, query)
        assert answer.json["detail"].startswith(said), answer.json


def test_unknown_and_broken_parameters_are_400(t):
    daemon = serve_dumps(t)
    session = daemon.session_id("seed-matmul-327680")
    viewer = f"/api/v1/memory_viewer/%s?session={session}&%s"
    addresses = [
        f"/api/v1/{path}"
        for path in (
            "about?x=1",
            "tools?x=1",
            "sessions?x=1",
            "sessions?sort=size",
            "sessions?offset=-1",
            "sessions?offset=x",
            "sessions?offset=",
            "sessions?limit=0",
            "sessions?limit=1001",
            "sessions?limit=99999999999999999999",
            f"sessions/{session}?x=1",
            f"sessions/{session}/modules?sort=x",
            f"sessions/{session}/modules?limit=x",
            "memory_viewer/summary",
            "memory_viewer/summary?module=x",
        )
    ]
    addresses += [
        viewer % pair
        for pair in (
            ("summary", "x=1"),
            ("curve", "width=0"),
            ("curve", "width=x"),
            ("curve", "from=-1"),
            ("curve", "space=x"),
            ("strips", "step=x"),
            ("buffers", "sort=x"),
            ("buffers", "limit=x"),
            ("buffers", "format=xml"),
            ("buffer", "y=1"),
        )
    ]
    for path in addresses:
        answer = daemon.ask(path)
        equal((answer.status, answer.headers["content-type"]), (400, "application/problem+json"), path)
        equal(answer.json["code"], "argument", path)


def test_unknown_things_are_404(t):
    daemon = serve_dumps(t)
    session = daemon.session_id("seed-matmul-327680")
    for path in (
        "sessions/000000000000",
        "sessions/x/modules",
        f"sessions/{session}/modules?host=000000000000",
        "memory_viewer/summary?session=x",
        f"memory_viewer/summary?session={session}&module=000000000000",
        f"memory_viewer/summary?session={session}&host=x",
        f"memory_viewer/nothing?session={session}",
        f"nothing/summary?session={session}",
        f"memory_viewer/curve?session={session}&space=99",
        f"memory_viewer/buffer?session={session}&id=999999",
    ):
        answer = daemon.ask("/api/v1/" + path)
        equal((answer.status, answer.json["code"]), (404, "notfound"), path)


def test_the_root_says_what_it_is(t):
    daemon = many(t, 3)
    about = daemon.get_json("/api/v1/about")
    root = about["roots"][0]
    equal(
        (root["path"], root["readable"], root["reason"], root["file_count"], root["depth"]),
        (t.folder(), True, "", 3, 3),
    )
    assert abs(root["last_scan_ms"] - about["started_at_ms"]) < 60000, about


def test_the_first_answer_right_after_the_start_is_complete(t):
    for at in range(300):
        t.write(f"a{at}/b/plugins/profile/run/h.xplane.pb", b"\x0a\x00")
    for _ in range(5):
        daemon = t.serve(t.folder())
        equal(len(daemon.get_json("/runs")), 300)
        equal(daemon.get_json("/api/v1/sessions")["total_count"], 300)
        daemon.stop()


def test_a_repeated_parameter_is_refused_by_name(t):
    t.write("plugins/profile/run/h.xplane.pb", inputs.trace())
    daemon = t.serve(t.folder())
    session = daemon.session_id("run")
    for path, name in (
        ("/api/v1/sessions?sort=name&sort=newest", "sort"),
        (f"/api/v1/sessions/{session}/modules?limit=1&offset=0&limit=1", "limit"),
        (f"/api/v1/memory_viewer/summary?session={session}&session={session}", "session"),
        (f"/api/v1/memory_viewer/summary?session={session}&host=&host=", "host"),
        (f"/api/v1/memory_viewer/buffers?session={session}&space=0&space=1", "space"),
    ):
        answer = daemon.ask(path)
        equal((answer.status, answer.json["code"]), (400, "argument"), path)
        assert f'"{name}"' in answer.json["detail"], (path, answer)


def batch(daemon, *asked):
    return daemon.ask("/api/v1/batch?" + urlencode([("ask", each) for each in asked]))


def test_several_questions_are_answered_as_each_alone(t):
    daemon = serve_dumps(t)
    session = daemon.session_id("seed-matmul-327680")
    asked = [
        "sessions?limit=2",
        f"sessions/{session}/modules",
        f"memory_viewer/summary?session={session}",
        f"memory_viewer/buffers?session={session}&filter=%3E1GiB",
        "sessions?limit=2",
    ]
    alone = {each: daemon.ask("/api/v1/" + each).json for each in asked}  # the last stands: the list knows more by then
    answer = batch(daemon, *asked)
    equal(answer.status, 200)
    equal([part["status"] for part in answer.json["answers"]], [200] * len(asked))
    for part, each in zip(answer.json["answers"], asked):
        assert part["body"] == alone[each], each
    equal(
        daemon.ask(
            "/api/v1/batch?ask=tools", headers={"If-None-Match": daemon.ask("/api/v1/batch?ask=tools").headers["etag"]}
        ).status,
        304,
    )


def test_a_text_is_answered_together_with_others(t):
    daemon = serve_dumps(t)
    session = daemon.session_id("seed-matmul-327680")
    path = f"oom/text?session={session}&file=error.txt&from=0&to=50"
    alone = daemon.ask("/api/v1/" + path)
    equal((alone.status, len(alone.body)), (200, 50))
    first, second = batch(daemon, "about", path).json["answers"]
    equal(sorted(first), ["body", "status"])
    equal(second, {"status": 200, "text": alone.body.decode()})


def test_the_newest_session_with_programs_needs_no_id(t):
    daemon = serve_dumps(t)
    named = next(each for each in daemon.get_json("/api/v1/sessions?sort=newest")["sessions"] if each["kind"] == "dump")
    equal(daemon.get_json("/api/v1/sessions/newest")["id"], named["id"])
    told = daemon.get_json("/api/v1/memory_viewer/summary?session=newest")
    equal(told, daemon.get_json(f"/api/v1/memory_viewer/summary?session={named['id']}"))
    equal(t.serve(t.folder()).ask("/api/v1/sessions/newest").status, 404)


def test_of_a_session_that_nobody_reads_there_are_no_readings(t):
    daemon = serve_dumps(t)
    session = daemon.session_id("seed-matmul-327680")
    daemon.get_json(f"/api/v1/memory_viewer/summary?session={session}")
    equal(daemon.get_json(f"/api/v1/readings?session={session}"), {"session": session, "readings": []})
    equal(daemon.ask("/api/v1/readings").status, 400)
    equal(daemon.ask("/api/v1/readings?session=000000000000").status, 404)


def test_a_question_that_fails_does_not_fail_the_others(t):
    daemon = serve_dumps(t)
    session = daemon.session_id("seed-matmul-327680")
    refused = {
        "sessions?limit=x": 400,
        "sessions/000000000000": 404,
        f"memory_viewer/summary?session={session}&x=1": 400,
        f"memory_viewer/buffers?session={session}&format=csv": 400,
        "nothing": 404,
        "": 404,
        "%zz": 400,
        "batch?ask=sessions": 404,
        "login": 404,
        "rescan": 404,
        "../../runs": 404,
        "../../data/plugin/profile/runs": 404,
        "sessions?filter=": 200,
    }
    answer = batch(daemon, "about", *refused, "tools")
    equal(answer.status, 200)
    parts = answer.json["answers"]
    equal([part["status"] for part in parts], [200, *refused.values(), 200])
    for asked, part in zip(refused, parts[1:]):
        if part["status"] != 200:
            equal(part["body"]["status"], part["status"], asked)


def test_what_is_asked_together_is_limited(t):
    daemon = t.serve(t.folder())
    equal(batch(daemon, *["about"] * 16).status, 200)
    for asked in ([], ["about"] * 17):
        equal(batch(daemon, *asked).status, 400, asked)
    equal(daemon.ask("/api/v1/batch?ask=about&other=1").status, 400)
    equal(daemon.ask("/api/v1/batch", method="POST", body="").status, 405)
