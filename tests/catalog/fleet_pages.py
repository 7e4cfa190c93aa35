# SPDX-License-Identifier: Apache-2.0
"""What the daemon's fleet says of a catalog: the same as of the files themselves, and what a database that fails makes
of it."""

import json
import os
import signal
import time

import fleet_story
import inputs
from fleet_story import BAD_DAY, DAYS, GIB, ODD_DAY, ODD_HOST, commit_of
from folder_server import FIRST_BLOCK_BYTES, FolderServer, need_libcurl
from harness import equal, wait_until

FLEET = "/api/v1/fleet/"
KEPT_SECONDS = 10  # KEPT_MS of server/api/api_fleet.c
VIEWS = ("series", "points", "regressions", "hosts")


def ask(daemon, view, **params):
    return daemon.get_json(FLEET + view, **params)["data"]


def filled(t, database, days=DAYS):
    """the story in the catalog; its folder"""
    folder = fleet_story.make(t.folder("story"), days)
    done = t.run("index", folder, f"--catalog={database.url}")
    equal(done.returncode, 0, done.stderr)
    return folder


def test_the_story_is_told_from_the_catalog(t, database):
    filled(t, database)
    daemon = t.serve(f"--catalog={database.url}")
    (step,) = ask(daemon, "regressions")["rows"]
    equal(
        (step["job"], step["commit"], step["commit_before"], step["change_bytes"]),
        ("bert", commit_of(BAD_DAY), commit_of(BAD_DAY - 1), 3 * GIB),
    )
    equal(
        (step["diff_sentence"], step["diff_unknown"]),
        (None, "the files of both commits are not below the folders that are looked at"),
    )
    (host,) = ask(daemon, "hosts")["rows"]
    equal(
        (host["job"], host["host"], host["commit"], host["difference_bytes"]), ("t5", ODD_HOST, commit_of(ODD_DAY), GIB)
    )
    rows = {row["job"]: row for row in ask(daemon, "series")["rows"]}
    equal(
        {job: row["trend"] for job, row in rows.items()},
        {"bert": "steady", "grows": "reaches", "over": "over", "t5": "steady"},
    )
    summary = ask(daemon, "summary")
    equal((summary["is_catalog"], summary["reading"]["is_complete"], summary["point_count"]), (True, True, 4 * DAYS))
    assert database.password not in daemon.ask(FLEET + "summary").text + daemon.log()


def test_a_catalog_and_the_files_say_the_same(t, database):
    folder = filled(t, database, 9)
    of_files, of_catalog = t.serve(folder), t.serve(folder, f"--catalog={database.url}")
    begin = (fleet_story.FIRST_S + 4 * fleet_story.DAY_S) * 1000
    for params in (
        {},
        {"job": "t5"},
        {"user": "ada"},
        {"host": "host2"},
        {"label": "day=3"},
        {"by": "host"},
        {"by": "host", "job": "t5"},
        {"commit": "c05", "kind": "module"},
        {"module": "jit_step"},
        {"since": begin},
        {"until": begin},
        {"since": begin, "until": begin + 1, "user": "bob"},
        {"job": "'; DROP TABLE memviewd.rows; --"},
    ):
        for view in VIEWS:
            equal(
                ask(of_catalog, view, limit=1000, **params)["rows"],
                ask(of_files, view, limit=1000, **params)["rows"],
                (view, params),
            )
        equal(ask(of_catalog, "chart", categories=1, **params), ask(of_files, "chart", categories=1, **params), params)


def test_the_sentence_of_a_step_is_known_where_its_files_are(t, database):
    folder = filled(t, database)
    (step,) = ask(t.serve(folder, f"--catalog={database.url}"), "regressions")["rows"]
    told = t.run(
        "diff", os.path.join(folder, "bert", step["commit_before"]), os.path.join(folder, "bert", step["commit"])
    ).stdout
    assert step["diff_sentence"] in told, (step, told)


def test_an_empty_catalog_is_empty(t, database):
    database.apply_schema()
    equal(ask(t.serve(f"--catalog={database.url}"), "summary")["sentence"], "There are no rows.")


def test_a_catalog_without_labels_is_not_empty(t, database):
    folder = t.folder()  # nothing above plugins/profile that would name a job
    for at in range(4):
        t.write(
            f"plugins/profile/run{at % 2}/host{at}.xplane.pb",
            inputs.xspace({("jit_one", 5): inputs.hlo_proto("jit_one", 4 + at)}),
        )
    done = t.run("index", folder, f"--catalog={database.url}")
    equal(done.returncode, 0, done.stderr)
    of_files, of_catalog = t.serve(folder), t.serve(folder, f"--catalog={database.url}")
    for params in ({}, {"host": "host2"}, {"job": "bert"}, {"kind": "module"}):
        told, expected = (ask(daemon, "summary", **params) for daemon in (of_catalog, of_files))
        equal(
            (told["sentence"], told["unlabelled_count"]), (expected["sentence"], expected["unlabelled_count"]), params
        )
    equal(ask(of_catalog, "summary")["sentence"], "No row says which job it is of.")


def test_a_label_of_any_letters_is_found(t, database):
    key, value = "what.for", "x'\"\\\n{}$1"
    folder = t.folder()
    for at, labels in enumerate(({key: value}, {key: value + "y"}, {})):
        t.write(f"run{at}/memviewd.json", json.dumps({"job": f"job{at}", "commit": "c1", **labels}).encode())
        t.write(f"run{at}/plugins/profile/s/h.xplane.pb", inputs.xspace({("jit_f", 5): inputs.hlo_proto("jit_f", 4)}))
    done = t.run("index", folder, f"--catalog={database.url}")
    equal(done.returncode, 0, done.stderr)
    for daemon in (t.serve(folder), t.serve(f"--catalog={database.url}")):
        equal([row["job"] for row in ask(daemon, "series", label=f"{key}={value}")["rows"]], ["job0"])
        equal([row["job"] for row in ask(daemon, "hosts", label=f"{key}={value}")["rows"]], [])


def test_a_database_that_fails_is_told_and_asked_again(t, database):
    daemon = t.serve(f"--catalog={database.url}")
    answer = daemon.ask(FLEET + "summary")
    equal(answer.status, 503, "no schema")
    filled(t, database, 3)
    asked_at = time.monotonic()
    equal(ask(daemon, "summary")["job_count"], 4)
    database.stop(signal.SIGQUIT)
    answer = daemon.ask(FLEET + "chart")
    if time.monotonic() - asked_at < KEPT_SECONDS:
        equal((answer.status, answer.json["data"]["line_count"]), (200, 4), "kept for the page")
    answer = daemon.ask(FLEET + "summary?job=bert")
    equal((answer.status, answer.json["code"]), (503, "io"))
    assert database.password not in answer.text
    database.start()
    equal(ask(daemon, "summary", job="bert")["job_count"], 1)


def test_more_points_than_are_looked_at_are_told(t, database):
    filled(t, database, 2)
    columns = database.rows(
        "SELECT string_agg(quote_ident(column_name), ', ') AS names FROM information_schema.columns "
        "WHERE table_schema = 'memviewd' AND table_name = 'points' AND column_name NOT IN ('point_id', 'job')"
    )[0]["names"]
    database.execute(
        f"INSERT INTO memviewd.points (point_id, job, {columns}) SELECT point_id || n, 'many' || n % 100, {columns} "
        "FROM memviewd.points, generate_series(1, 1500) AS n"
    )
    database.execute("UPDATE memviewd.points SET first_at = NULL, last_at = NULL WHERE job = 'many5'")
    answer = t.serve(f"--catalog={database.url}").get_json(FLEET + "summary")
    equal([note["code"] for note in answer["notes"]], ["left_out"])
    assert answer["data"]["record_count"] == 10000, answer["data"]
    assert "many6" in answer["data"]["jobs"] and "many5" not in answer["data"]["jobs"], (
        "of no known time: not among the newest"
    )


def test_of_folders_what_was_read_before_stands_while_it_cannot_be_read(t, database):
    need_libcurl(t)

    def write(commit, buffers):
        t.write(f"{commit}/memviewd.json", json.dumps({"job": "one", "commit": commit}).encode())
        return t.write(
            f"{commit}/plugins/profile/run/host.xplane.pb",
            inputs.xspace({("jit_train", 5): inputs.hlo_proto("jit_train", buffers)}, padding=4 * FIRST_BLOCK_BYTES),
        )

    write("c1", 4)
    with FolderServer(t.folder()) as server:
        daemon = t.serve(server.url, "--list-every=1")

        def needed():
            summary = ask(daemon, "summary")
            equal(summary["reading"]["read_count"], summary["reading"]["file_count"])
            return [row["needed_bytes"] for row in sorted(ask(daemon, "points")["rows"], key=lambda row: row["commit"])]

        first = needed()
        equal(len(first), 1)
        server.refuses = 403
        write("c1", 8)
        write("c2", 4)
        wait_until(
            lambda: ask(daemon, "summary")["unknown_count"] == 1, what="the second commit, of which nothing is known"
        )
        equal(needed(), first, "what was read of the first before")
