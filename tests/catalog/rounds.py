# SPDX-License-Identifier: Apache-2.0
"""Regressions are told when all parts of the work have been done, once."""

import os
import subprocess

import fleet_story
from document import Document
from fleet_story import BAD_DAY, DAY_S, FIRST_S, GIB, commit_of
from folder_server import need_libcurl
from harness import ROOT, equal
from receiver import Receiver

DAYS = 24  # so that each of two or three parts has a step


def write_job(folder, job, days, bad_day, first_day=1):
    """one dump a day, each of another commit; those since bad_day need a third more"""
    for day in range(first_day, days + 1):
        at_s, path = FIRST_S + day * DAY_S, f"{job}/{commit_of(day)}"
        fleet_story.labels(folder, path, at_s, job=job, commit=commit_of(day), user="ada")
        fleet_story.write(
            folder,
            f"{path}/module_0001.jit_step.after_optimizations.hlo.pb",
            fleet_story.program("jit_step", (9 if day < bad_day else 12) * GIB),
            at_s,
        )
    return folder


def command(t, database, receiver, *arguments):
    """of the test's folder, where the arguments name none"""
    folders = () if any(argument.startswith("/") for argument in arguments) else (t.folder(),)
    return [
        t.binary,
        "index",
        *folders,
        *arguments,
        f"--catalog={database.url}",
        *([f"--notify={receiver.url()}"] if receiver else []),
    ]


def index(t, database, receiver, *arguments):
    done = subprocess.run(command(t, database, receiver, *arguments), capture_output=True, text=True, timeout=300)
    equal((done.returncode, done.stdout), (0, ""), done.stderr)
    return done.stderr


def settle_anew(database):
    """as it stood when the round was complete and nothing was found yet"""
    database.execute(
        "DELETE FROM memviewd.regressions; INSERT INTO memviewd.series_changes (series_id, job, module, "
        "kind, memory_space, configuration, run_id, changed_at, settled_at) "
        "SELECT memviewd.series_id(job, module, kind, memory_space, configuration), job, module, kind, "
        "memory_space, configuration, max(run_id), now(), now() "
        "FROM memviewd.points, memviewd.index_runs GROUP BY 1, 2, 3, 4, 5, 6"
    )


def told(receiver):
    """each message once: one whose answer was lost is sent again, with the same id"""
    equal(receiver.faults, [])
    return [
        (message["kind"], message["job"], message["commit"])
        for message in {message["id"]: message for message in receiver.taken}.values()
    ]


def test_a_regression_is_told_when_all_parts_have_finished(t, database):
    need_libcurl(t)
    write_job(t.folder(), "bert", DAYS, BAD_DAY)
    with Receiver().running() as receiver:
        for _ in range(2):
            index(t, database, receiver, "--shard=0/2")
        shown = t.serve(f"--catalog={database.url}").get_json("/api/v1/fleet/regressions")["data"]["rows"]
        equal([(row["job"], row["lasting"]) for row in shown], [("bert", "yes")], "a step that half of the work has")
        equal(
            (told(receiver), database.value("SELECT count(*) FROM memviewd.settled_series")),
            ([], "0"),
            "half of the work",
        )
        said = index(t, database, receiver, "--shard=1/2")
        assert "1 regression not known before, in 1 series whose points changed" in said, said
        equal(told(receiver), [("regression", "bert", commit_of(BAD_DAY))])
        for shard in (0, 1, 1, 0):
            index(t, database, receiver, f"--shard={shard}/2")
        index(t, database, receiver)
        equal(len(receiver.taken), 1, "told again")
        equal(database.value("SELECT count(*) FROM memviewd.series_changes"), "0")
        write_job(t.folder(), "later", DAYS, BAD_DAY)
        index(t, database, receiver, "--shard=0/2")
        equal(len(receiver.taken), 1, "what the other part did in the round before does not count")
        index(t, database, receiver, "--shard=1/2")
        equal(told(receiver)[1:], [("regression", "later", commit_of(BAD_DAY))])


def test_the_message_says_what_the_page_shows(t, database):
    need_libcurl(t)
    write_job(t.folder(), 'be"rt & co', DAYS, BAD_DAY)
    with Receiver().running() as receiver:
        index(t, database, receiver)
        (message,) = receiver.taken
    document = Document(os.path.join(ROOT, "docs", "openapi.yaml"))
    equal(list(document.faults(message, document.tree["components"]["schemas"]["RegressionNotice"])), [])
    daemon = t.serve(t.folder(), f"--catalog={database.url}")
    (row,) = daemon.get_json("/api/v1/fleet/regressions")["data"]["rows"]
    equal(message["regression"], row)
    assert row["diff_sentence"] and row["lasting"] == "yes" and row["commit_before"] == commit_of(BAD_DAY - 1), row
    equal(
        {name: message[name] for name in message.keys() - {"id", "regression"}},
        {
            "schema_version": 1,
            "kind": "regression",
            "logdir": t.folder(),
            "file": f'be"rt & co/{commit_of(BAD_DAY)}/module_0001.jit_step.after_optimizations.hlo.pb',
            "job": 'be"rt & co',
            "commit": commit_of(BAD_DAY),
            "user_name": "ada",
            "page": "?tool=fleet&view=regressions&filter=job%3A%22bert%20%26%20co%22",
        },
    )
    (kept,) = database.rows("SELECT * FROM memviewd.regressions")
    equal(
        [
            kept[name]
            for name in (
                "id",
                "job",
                "commit",
                "commit_before",
                "before_bytes",
                "after_bytes",
                "threshold_bytes",
                "noise_bytes",
            )
        ],
        [
            message["id"],
            'be"rt & co',
            commit_of(BAD_DAY),
            commit_of(BAD_DAY - 1),
            *(str(row[name]) for name in ("before_bytes", "after_bytes", "threshold_bytes", "noise_bytes")),
        ],
    )


def test_what_is_found_without_a_receiver_is_not_told_later(t, database):
    need_libcurl(t)
    write_job(t.folder(), "bert", DAYS, BAD_DAY)
    for shard in range(2):
        index(t, database, None, f"--shard={shard}/2")
    equal(
        database.rows("SELECT job, commit FROM memviewd.regressions"), [{"job": "bert", "commit": commit_of(BAD_DAY)}]
    )
    with Receiver().running() as receiver:
        write_job(t.folder(), "bert", DAYS + 1, BAD_DAY, DAYS + 1)
        write_job(t.folder(), "new", 8, 6)
        index(t, database, receiver)
        equal(told(receiver), [("regression", "new", commit_of(6))])


def test_one_that_is_not_sure_or_a_gain_is_not_told(t, database):
    need_libcurl(t)
    with Receiver().running() as receiver:
        write_job(t.folder(), "bert", BAD_DAY, BAD_DAY)
        for day in range(1, 9):
            at_s = FIRST_S + day * DAY_S
            fleet_story.labels(t.folder(), f"less/{day}", at_s, job="less", commit=commit_of(day))
            fleet_story.write(
                t.folder(),
                f"less/{day}/module_0001.jit_f.after_optimizations.hlo.pb",
                fleet_story.program("jit_f", (9 if day < 5 else 6) * GIB),
                at_s,
            )
        index(t, database, receiver)
        equal(told(receiver), [])
        write_job(t.folder(), "bert", BAD_DAY + 1, BAD_DAY, BAD_DAY + 1)
        index(t, database, receiver)
        equal(told(receiver), [("regression", "bert", commit_of(BAD_DAY))])
        # Its commit needs less for a while, and then as much as before: the same regression.
        path = f"bert/{commit_of(BAD_DAY)}/module_0001.jit_step.after_optimizations.hlo.pb"
        for size in (9, 12):
            fleet_story.write(t.folder(), path, fleet_story.program("jit_step", size * GIB), FIRST_S + BAD_DAY * DAY_S)
            os.utime(os.path.join(t.folder(), path))
            os.utime(os.path.join(t.folder(), path), (FIRST_S + BAD_DAY * DAY_S, FIRST_S + BAD_DAY * DAY_S))
            index(t, database, receiver)
        equal(
            told(receiver),
            [(kind, "bert", commit_of(BAD_DAY)) for kind in ("regression", "regression_gone")],
            "back again is not told",
        )
        first, gone = receiver.taken
        equal(
            (gone["regression_id"], gone["regression"], gone["id"] == first["id"]),
            (first["id"], first["regression"], False),
        )
        equal(gone["gone_at"][:10], database.value("SELECT (now() AT TIME ZONE 'UTC')::date"))


def test_a_scan_that_could_not_see_all_does_not_count(t, database):
    need_libcurl(t)
    write_job(t.folder(), "bert", DAYS, BAD_DAY)
    with Receiver().running() as receiver:
        said = index(t, database, receiver, t.folder(), t.folder("empty"))
        assert "regressions in what changed wait, because not all could be listed" in said, said
        equal(
            (told(receiver), database.value("SELECT count(*) FROM memviewd.index_runs WHERE finished_at IS NOT NULL")),
            ([], "0"),
        )
        # Where no round is ever complete, what is old is removed all the same.
        database.execute("UPDATE memviewd.index_runs SET began_at = began_at - interval '31 days' WHERE run_id = 1")
        write_job(t.folder(), "new", 8, 6)
        index(t, database, receiver, t.folder(), t.folder("empty"))
        equal(
            database.rows(
                "SELECT run_id, (SELECT string_agg(job, ' ') FROM memviewd.series_changes AS change WHERE "
                "change.run_id = run.run_id) AS jobs FROM memviewd.index_runs AS run"
            ),
            [{"run_id": "2", "jobs": "new"}],
        )
        said = index(t, database, receiver)
        assert "wait, because" not in said, said
        equal(told(receiver), [("regression", "new", commit_of(6))])


def test_a_job_with_more_points_than_are_read_at_once_is_looked_at_by_module(t, database):
    need_libcurl(t)
    write_job(t.folder(), "bert", DAYS, BAD_DAY)
    index(t, database, None)
    database.execute(
        "INSERT INTO memviewd.points (point_id, job, commit, kind, module, memory_space, verdict, "
        "needed_bytes, needed_min_bytes, row_id, first_at, last_at, row_count, host_count) "
        "SELECT memviewd.point_id(job, 'jit_many', kind, memory_space, n::text), job, n::text, kind, "
        "'jit_many', memory_space, verdict, needed_bytes, needed_bytes, row_id, "
        "now() + n * interval '1 second', now() + n * interval '1 second', 1, 1 "
        f"FROM memviewd.points, generate_series(1, 10001) AS n WHERE commit = '{commit_of(1)}'"
    )
    settle_anew(database)
    with Receiver().running() as receiver:
        said = index(t, database, receiver)
        equal(told(receiver), [("regression", "bert", commit_of(BAD_DAY))])
    assert "1 module of a job with more than 10000 points: regressions were looked for in the newest alone" in said, (
        said
    )
    equal(database.value("SELECT count(*) FROM memviewd.series_changes"), "0")


def as_of_version(database, version):
    """the catalog as an older memviewd would have filled it"""
    database.execute(
        "CREATE SCHEMA kept; CREATE TABLE kept.files AS TABLE memviewd.files; CREATE TABLE kept.rows AS "
        "TABLE memviewd.rows; DROP SCHEMA memviewd CASCADE"
    )
    database.apply_schema(version)
    files, rows = (
        database.value(
            "SELECT string_agg(quote_ident(column_name), ', ') FROM information_schema.columns "
            "WHERE table_schema = 'memviewd' "
            f"AND table_name = '{table}' AND is_generated = 'NEVER'"
        )
        for table in ("files", "rows")
    )
    database.execute(
        f"INSERT INTO memviewd.files ({files}) SELECT {files} FROM kept.files; INSERT INTO memviewd.rows "
        f"({rows}) SELECT {rows} FROM kept.rows; DROP SCHEMA kept CASCADE; "
        "SELECT memviewd.points_refresh(array(SELECT point_id FROM memviewd.rows))"
    )
    equal(database.value("SELECT max(version) FROM memviewd.schema_version"), str(version))


def test_a_catalog_of_before_is_brought_up_to_date_and_nobody_is_told_of_it(t, database):
    need_libcurl(t)
    write_job(t.folder(), "bert", DAYS, BAD_DAY)
    index(t, database, None)
    as_of_version(database, 3)
    write_job(t.folder(), "new", 8, 6)
    with Receiver().running() as receiver:
        running = [
            subprocess.Popen(command(t, database, receiver, f"--shard={at}/2"), stderr=subprocess.PIPE, text=True)
            for at in range(2)
        ]
        for process in running:
            said = process.communicate(timeout=300)[1]
            equal(process.returncode, 0, said)
        equal(told(receiver), [("regression", "new", commit_of(6))])
        equal(
            database.rows("SELECT job, commit FROM memviewd.regressions ORDER BY job"),
            [{"job": "bert", "commit": commit_of(BAD_DAY)}, {"job": "new", "commit": commit_of(6)}],
        )
        newest = len(os.listdir(os.path.join(ROOT, "server", "fleet", "catalog", "schema")))
        equal(database.value("SELECT max(version) FROM memviewd.schema_version"), str(newest))
