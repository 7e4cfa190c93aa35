# SPDX-License-Identifier: Apache-2.0
"""What many jobs took over their commits: the commit, the host and the day that were planted are found; filters; what
is not known is said; files that come, change and go."""

import concurrent.futures
import csv
import io
import json
import os

import fleet_story
import inputs
from fleet_story import BAD_DAY, DAYS, GIB, ODD_DAY, ODD_HOST, commit_of
from harness import equal, loads, wait_until

FLEET = "/api/v1/fleet/"


def ask(daemon, view, **params):
    return daemon.get_json(FLEET + view, **params)["data"]


def serve(t, days=DAYS):
    return t.serve(fleet_story.make(t.folder("story"), days))


def test_the_commit_and_the_host_that_were_planted_are_found(t):
    daemon = serve(t)
    (step,) = ask(daemon, "regressions")["rows"]
    equal(
        (step["job"], step["commit"], step["commit_before"], step["change_bytes"], step["direction"], step["lasting"]),
        ("bert", commit_of(BAD_DAY), commit_of(BAD_DAY - 1), 3 * GIB, "regression", "yes"),
    )
    (host,) = ask(daemon, "hosts")["rows"]
    equal(
        (host["job"], host["host"], host["commit"], host["difference_bytes"], host["usual_bytes"]),
        ("t5", ODD_HOST, commit_of(ODD_DAY), GIB, 5 * GIB),
    )


def test_each_host_has_lines_of_its_own_when_asked_for(t):
    daemon = serve(t)
    chart = ask(daemon, "chart", job="t5", rows="series", by="host", categories=1)
    equal([(line["host"], line["module"]) for line in chart["lines"]], [(f"host{at}", "jit_step") for at in range(4)])
    equal(
        ask(daemon, "chart", job="t5", by="host", categories=1)["lines"],
        chart["lines"],
        "each host by its module that needs most",
    )
    bert = ask(daemon, "chart", job="bert", by="host")["lines"]
    equal([(line["host"], line["module"]) for line in bert], [("host0", "jit_train_step")])
    for line in chart["lines"]:
        most = max(zip(line["needed_bytes"], line["commits"]))
        equal(most, (6 * GIB, commit_of(ODD_DAY)) if line["host"] == ODD_HOST else (5 * GIB, commit_of(DAYS)))
        equal(set(line["host_counts"]), {1})
    equal({row["host"] for row in ask(daemon, "points", by="host")["rows"]} - {None}, {f"host{at}" for at in range(4)})
    equal({line["host"] for line in ask(daemon, "chart")["lines"]}, {None})
    equal(daemon.ask(FLEET + "summary?by=module").status, 400)


def test_what_will_fail_and_what_does_is_told(t):
    rows = {row["job"]: row for row in ask(serve(t), "series")["rows"]}
    equal(
        {job: row["trend"] for job, row in rows.items()},
        {"bert": "steady", "grows": "reaches", "over": "over", "t5": "steady"},
    )
    equal(rows["grows"]["growth_bytes_per_day"], GIB // 4)
    left = rows["grows"]["capacity_bytes"] - rows["grows"]["needed_bytes"]
    equal(round(rows["grows"]["fails_in_days"], 6), round(left / (GIB // 4), 6))
    equal([row["fails_in_days"] is None for row in rows.values()].count(False), 1)


def test_the_sentence_of_a_step_is_that_of_diff(t):
    """the daemon has both files: it says of them what the command line does"""
    daemon = serve(t)
    (step,) = ask(daemon, "regressions")["rows"]
    folder = os.path.join(t.folder("story"), "bert")
    told = t.run("diff", os.path.join(folder, step["commit_before"]), os.path.join(folder, step["commit"])).stdout
    assert step["diff_sentence"] in told, (step["diff_sentence"], told)
    answer = daemon.get_json("/api/v1/compare/summary", a=step["reference_before"], b=step["reference"])
    equal(answer["data"]["sentence"], step["diff_sentence"])
    equal(step["diff_unknown"], None)


def test_every_figure_is_that_of_index(t):
    daemon = serve(t, 5)
    index = [loads(line) for line in t.run("index", t.folder("story")).stdout.splitlines()]
    points = {(row["job"], row["commit"]): row for row in ask(daemon, "points", limit=1000)["rows"]}
    equal(len(points), len({(row["job"], row["commit"]) for row in index}))
    for (job, commit), point in points.items():
        rows = [row for row in index if (row["job"], row["commit"]) == (job, commit)]
        most = max(rows, key=lambda row: row["needed_bytes"])
        equal(
            (
                point["needed_bytes"],
                point["least_bytes"],
                point["row_count"],
                point["host_count"],
                point["capacity_bytes"],
            ),
            (
                most["needed_bytes"],
                min(row["needed_bytes"] for row in rows),
                len(rows),
                len({row["host"] for row in rows}),
                most["capacity_bytes"],
            ),
            (job, commit),
        )
        equal(
            {row["category"]: row["bytes"] for row in point["categories"]},
            {
                name.removeprefix("category_").removesuffix("_bytes"): value
                for name, value in most.items()
                if name.startswith("category_") and value
            },
        )


def test_filters_take_what_they_say(t):
    daemon = serve(t, 6)
    begin = (fleet_story.FIRST_S + 3 * fleet_story.DAY_S) * 1000
    for params, jobs, count in (
        ({"job": "bert"}, ["bert"], 6),
        ({"job": "none"}, [], 0),
        ({"commit": "c03"}, ["bert", "grows", "over", "t5"], 4),
        ({"module": "jit_step"}, ["t5"], 6),
        ({"host": "host3"}, ["t5"], 6),
        ({"user": "bob"}, ["grows", "over"], 12),
        ({"kind": "memory"}, [], 0),
        ({"label": "day=2"}, ["bert", "grows", "over"], 3),
        ({"since": begin}, ["bert", "grows", "over", "t5"], 16),
        ({"until": begin}, ["bert", "grows", "over", "t5"], 8),
        ({"since": begin, "until": begin + 1, "job": "t5"}, ["t5"], 1),
    ):
        summary = ask(daemon, "summary", **params)
        equal((summary["jobs"], summary["point_count"]), (jobs, count), params)


def test_tables_are_files_too(t):
    daemon = serve(t, 6)
    for view in ("series", "points", "regressions", "hosts"):
        rows = ask(daemon, view, limit=1000)["rows"]
        lines = daemon.ask(FLEET + view + "?format=ndjson").text.splitlines()
        table = list(csv.DictReader(io.StringIO(daemon.ask(FLEET + view + "?format=csv").text)))
        equal((len(lines), len(table)), (len(rows), len(rows)), view)
        for row, line, cells in zip(rows, lines, table):
            equal(set(loads(line)), set(cells))
            for name, value in row.items():
                if name in cells and isinstance(value, (int, str)):
                    equal(cells[name], str(value), (view, name))


def test_the_chart_has_a_line_for_each_job(t):
    daemon = serve(t)
    chart = ask(daemon, "chart", categories=1)
    equal([line["job"] for line in chart["lines"]], ["over", "grows", "bert", "t5"], "those that need most first")
    for line in chart["lines"]:
        lists = [
            line[name]
            for name in (
                "at_ms",
                "needed_bytes",
                "peak_bytes",
                "capacity_bytes",
                "host_counts",
                "commits",
                "references",
            )
        ]
        equal({len(one) for one in lists}, {DAYS})
        equal(line["at_ms"], sorted(line["at_ms"]))
        for at in range(DAYS):
            equal(sum(one["bytes"][at] or 0 for one in line["categories"]), line["needed_bytes"][at])
    (step,) = chart["lines"][2]["steps"]
    equal((chart["lines"][2]["commits"][step["point"]], step["change_bytes"]), (commit_of(BAD_DAY), 3 * GIB))
    equal(len(ask(daemon, "chart", lines=2)["lines"]), 2)


def test_each_point_leads_to_its_program(t):
    daemon = serve(t, 3)
    for row in ask(daemon, "points")["rows"]:
        session, host, module = row["reference"].split("/")
        (found,) = [
            one for one in daemon.get_json(f"/api/v1/sessions/{session}/modules")["modules"] if one["id"] == module
        ]
        equal(found["name"], row["module"])
        equal(
            daemon.get_json("/api/v1/memory_viewer/summary", session=session, host=host, module=module)["data"][
                "module"
            ]["name"],
            row["module"],
        )


def test_without_labels_it_is_said_what_is_missing(t):
    t.write("plugins/profile/run/h.xplane.pb", inputs.trace())
    daemon = t.serve(t.folder())
    answer = daemon.get_json(FLEET + "summary")
    equal(
        (answer["data"]["sentence"], answer["data"]["unlabelled_count"], answer["data"]["point_count"]),
        ("No row says which job it is of.", 1, 0),
    )
    assert "memviewd.json" in answer["notes"][0]["text"], answer["notes"]
    equal(ask(t.serve(t.folder("empty")), "summary")["sentence"], "There are no rows.")


def test_labels_come_from_paths(t):
    """by --label-path, as of index; else by where known programs put files"""
    t.write("ann/bert/c1/h.xplane.pb", inputs.xspace({("jit_one", 5): inputs.hlo_proto("jit_one", 4)}))
    t.write("exp/run1/plugins/profile/a/h.xplane.pb", inputs.xspace({("jit_one", 5): inputs.hlo_proto("jit_one", 4)}))
    rows = ask(t.serve(t.folder(), "--label-path={user}/{job}/c{commit}/h.xplane.pb"), "points")["rows"]
    equal(sorted((row["job"], row.get("commit")) for row in rows), [("bert", "1"), ("exp", None)])
    done = t.run("--port=0", t.folder(), "--label-path=none")
    equal(done.returncode, 2)
    assert "--label-path=none: it is a path with names in it" in done.stderr, done.stderr


def test_labels_that_are_not_understood_end_the_start(t):
    done = t.run("--port=0", t.folder(), environ={"MEMVIEWD_LABELS": "job=a,broken"})
    equal((done.returncode, done.stdout), (2, ""))
    assert "MEMVIEWD_LABELS=job=a,broken: it is KEY=VALUE,KEY=VALUE" in done.stderr, done.stderr


def test_a_file_of_no_known_time_is_of_none(t):
    path = t.write("plugins/profile/run/h.xplane.pb", inputs.trace())
    t.write("memviewd.json", b'{"job": "a"}')
    os.utime(path, ns=(0, 0))
    daemon = t.serve(t.folder())
    (point,) = ask(daemon, "points")["rows"]
    equal((point["first_at_ms"], point["last_at_ms"]), (None, None))
    equal(ask(daemon, "points", until=1 << 40)["rows"], [])


def test_files_that_come_change_and_go_are_seen(t):
    folder = fleet_story.make(t.folder("story"), 2)
    daemon = t.serve(folder)
    equal(ask(daemon, "summary")["point_count"], 8)
    fleet_story.make(folder, 3)
    wait_until(lambda: ask(daemon, "summary")["point_count"] == 12, what="the third day")
    path = os.path.join(folder, "bert/c03/plugins/profile/day03/host0.xplane.pb")
    fleet_story.write(
        folder, os.path.relpath(path, folder), fleet_story.trace("jit_train_step", 3, 2 * GIB), fleet_story.FIRST_S
    )
    wait_until(
        lambda: any(row["needed_bytes"] == 2 * GIB for row in ask(daemon, "points", job="bert")["rows"]),
        what="another program",
    )
    os.remove(path)
    wait_until(lambda: ask(daemon, "summary", job="bert")["point_count"] == 2, what="its end")


def test_labels_that_change_are_seen(t):
    folder = fleet_story.make(t.folder("story"), 2)
    daemon = t.serve(folder)
    equal(ask(daemon, "summary")["jobs"], ["bert", "grows", "over", "t5"])
    fleet_story.labels(folder, "bert/c02", fleet_story.FIRST_S, job="another", commit="c02")
    wait_until(lambda: "another" in ask(daemon, "summary")["jobs"], what="the other label")


def test_it_is_read_piece_by_piece(t):
    daemon = serve(t, 10)
    seen = []
    while True:
        reading = ask(daemon, "summary", within_ms=1)["reading"]
        seen.append(reading["read_count"])
        if reading["is_complete"]:
            break
        assert len(seen) < 200, seen
    equal((seen, seen[-1]), (sorted(seen), reading["file_count"]))
    equal(ask(daemon, "summary", within_ms=0)["reading"]["is_complete"], True)


def test_many_ask_at_once_while_files_change(t):
    """each answer is whole, whoever reads the files; in the end all are read"""
    folder = fleet_story.make(t.folder("story"), 6)
    daemon = t.serve(folder)
    questions = [
        f"{FLEET}{view}?{extra}"
        for view in ("summary", "chart", "series", "points", "regressions", "hosts")
        for extra in ("within_ms=1", "within_ms=0", "job=t5")
    ]
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        asked = [pool.submit(daemon.ask, question) for question in questions * 3]
        for day in (7, 8):
            fleet_story.make(folder, day)
        for one in asked:
            equal(one.result().status, 200, one.result())
    wait_until(lambda: ask(daemon, "summary")["point_count"] == 4 * 8, what="the last day")


def test_wrong_questions_are_refused_before_anything_is_read(t):
    daemon = serve(t, 2)
    for wrong in (
        "since=x",
        "since=-1",
        "until=1e9",
        "within_ms=10001",
        "label=day",
        "label==3",
        "nothing=1",
        "job=a&job=b",
        "rows=host",
        "sort=none",
        "filter=nothing:3",
        "format=xml",
        "lines=0",
    ):
        view = "chart" if wrong == "lines=0" else "series"
        answer = daemon.ask(f"{FLEET}{view}?{wrong}")
        equal((answer.status, answer.json["code"]), (400, "argument"), wrong)


def test_hostile_labels_are_texts(t):
    name = "<b>\u202e\n=1+1"
    t.write("a/memviewd.json", json.dumps({"job": name, "commit": "'; DROP TABLE rows; --"}).encode())
    t.write("a/plugins/profile/run/h.xplane.pb", inputs.trace())
    daemon = t.serve(t.folder())
    (row,) = ask(daemon, "points", job=name)["rows"]
    equal((row["job"], row["commit"]), (name, "'; DROP TABLE rows; --"))
