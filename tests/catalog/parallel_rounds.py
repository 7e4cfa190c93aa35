# SPDX-License-Identifier: Apache-2.0
"""Rounds of several processes: at the same time, killed, late, waiting for each other's locks."""

import contextlib
import random
import signal
import subprocess
import time

from fleet_story import BAD_DAY, commit_of
from folder_server import need_libcurl
from harness import equal, wait_until
from receiver import Receiver
from rounds import DAYS, command, index, settle_anew, told, write_job


@contextlib.contextmanager
def connection(database):
    """what it yields has statements done by one connection, which may hold locks meanwhile"""
    psql = subprocess.Popen(
        ["psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-d", database.url],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )

    def execute(sql):
        psql.stdin.write(f"{sql};\n\\echo done\n")
        psql.stdin.flush()
        assert "done\n" in iter(psql.stdout.readline, ""), sql

    try:
        yield execute
    finally:
        psql.communicate()


def test_both_parts_at_the_same_time_tell_once(t, database):
    need_libcurl(t)
    for at in range(6):
        write_job(t.folder(), f"job{at}", DAYS, BAD_DAY)
    with Receiver().running() as receiver:
        running = [
            subprocess.Popen(command(t, database, receiver, f"--shard={at % 2}/2"), stderr=subprocess.PIPE, text=True)
            for at in range(4)
        ]
        for process in running:
            said = process.communicate(timeout=300)[1]
            equal(process.returncode, 0, said)
        for shard in range(2):
            index(t, database, receiver, f"--shard={shard}/2")
        equal(sorted(told(receiver)), [("regression", f"job{at}", commit_of(BAD_DAY)) for at in range(6)])
        equal(sorted(row["id"] for row in database.rows("SELECT id FROM memviewd.regressions")), sorted(receiver.ids()))


def test_a_part_that_is_killed_does_not_count(t, database):
    need_libcurl(t)
    write_job(t.folder(), "bert", DAYS, BAD_DAY)
    with Receiver().running() as receiver:
        index(t, database, receiver, "--shard=0/2")
        # It waits for the lock of a row of its batch until it is killed, and has written nothing.
        with connection(database) as execute:
            execute("BEGIN; LOCK TABLE memviewd.rows IN EXCLUSIVE MODE")
            part = subprocess.Popen(command(t, database, receiver, "--shard=1/2"), stderr=subprocess.DEVNULL)
            wait_until(
                lambda: database.value("SELECT count(*) FROM memviewd.index_runs WHERE finished_at IS NULL") == "1",
                what="that the other part began",
            )
            part.send_signal(signal.SIGKILL)
            part.wait()
        index(t, database, receiver, "--shard=0/2")
        equal(told(receiver), [])
        index(t, database, receiver, "--shard=1/2")
        equal(told(receiver), [("regression", "bert", commit_of(BAD_DAY))])


def test_what_a_killed_process_changed_is_looked_at_after_a_later_round(t, database):
    need_libcurl(t)
    write_job(t.folder(), "bert", DAYS, BAD_DAY)
    with Receiver().running() as receiver:
        index(t, database, receiver, "--shard=0/2")
        index(t, database, receiver, "--shard=2/3")
        # As if those had been killed after their last batch.
        database.execute("UPDATE memviewd.index_runs SET finished_at = NULL")
        index(t, database, receiver, "--shard=1/2")
        equal((told(receiver), database.value("SELECT count(*) FROM memviewd.settled_series")), ([], "0"))
        index(t, database, receiver)  # one part, of which the work is all
        equal(told(receiver), [("regression", "bert", commit_of(BAD_DAY))])


def test_what_a_process_changes_while_a_round_is_under_way_waits_for_the_next(t, database):
    need_libcurl(t)
    for job, part, works in (("other", "1/3", [()]), ("same", "0/2", [("--shard=0/2",), ("--shard=1/2",)])):
        write_job(t.folder(), job, DAYS, BAD_DAY)
        with Receiver().running() as receiver:
            index(t, database, receiver, f"--shard={part}")
            # As if that were killed, having written after the next ones had begun.
            database.execute("UPDATE memviewd.index_runs SET finished_at = NULL, is_round_end = false")
            database.execute("UPDATE memviewd.series_changes SET changed_at = now() + interval '1 hour'")
            for work in works:
                index(t, database, receiver, *work)
            equal(told(receiver), [], job)
            database.execute("UPDATE memviewd.series_changes SET changed_at = now()")
            for work in works:
                index(t, database, receiver, *work)
            equal(told(receiver), [("regression", job, commit_of(BAD_DAY))])


def test_the_end_of_a_process_between_a_round_and_the_search_loses_nothing(t, database):
    need_libcurl(t)
    write_job(t.folder(), "bert", DAYS, BAD_DAY)
    with Receiver().running() as receiver:
        index(t, database, None)
        kept = database.rows("SELECT * FROM memviewd.regressions")
        settle_anew(database)
        index(t, database, receiver)
        equal(told(receiver), [("regression", "bert", commit_of(BAD_DAY))])
        equal([row["id"] for row in kept], receiver.ids())


def test_a_process_that_is_killed_while_it_sends_is_stood_in_for(t, database):
    need_libcurl(t)
    write_job(t.folder(), "bert", DAYS, BAD_DAY)
    with Receiver(refusals=[None] * 1000).running() as receiver:
        sender = subprocess.Popen(command(t, database, receiver), stderr=subprocess.DEVNULL)
        wait_until(lambda: receiver.refused_ids, what="that it is being sent")
        sender.send_signal(signal.SIGKILL)
        sender.wait()
        receiver.refusals.clear()
        equal(database.rows("SELECT kind, sent_at FROM memviewd.notices"), [{"kind": "regression", "sent_at": None}])
        database.execute("UPDATE memviewd.notices SET not_before = now()")  # the two minutes are over
        index(t, database, receiver)
        equal(
            (told(receiver), set(receiver.refused_ids)),
            ([("regression", "bert", commit_of(BAD_DAY))], set(receiver.ids())),
        )


def test_killed_at_any_moment(t, database):
    need_libcurl(t)
    chance, killed, longest_seconds = random.Random(2), 0, 0.5
    for at in range(20):
        write_job(t.folder(), f"job{at}", DAYS, BAD_DAY)
    with Receiver().running() as receiver:
        for _ in range(16):
            parts = [
                subprocess.Popen(command(t, database, receiver, f"--shard={at}/3"), stderr=subprocess.DEVNULL)
                for at in range(3)
            ]
            for part in parts:
                time.sleep(chance.uniform(0, longest_seconds))
                part.send_signal(signal.SIGKILL)
            hit = sum(part.wait() == -signal.SIGKILL for part in parts)
            killed += hit
            if hit < 2:  # a fast machine is done before
                longest_seconds /= 2
        database.execute("UPDATE memviewd.notices SET not_before = now() WHERE sent_at IS NULL")
        for at in range(3):
            index(t, database, receiver, f"--shard={at}/3")
        assert killed >= 5, f"only {killed} were killed before their end"
        equal(len(set(receiver.ids())), 20)
        equal(sorted(set(told(receiver))), sorted(("regression", f"job{at}", commit_of(BAD_DAY)) for at in range(20)))
        equal(database.value("SELECT count(*) FROM memviewd.notices"), "20")


def test_folders_and_numbers_of_parts_are_works_of_their_own(t, database):
    need_libcurl(t)
    first, second = write_job(t.folder("first"), "bert", DAYS, BAD_DAY), write_job(t.folder("second"), "bert", 7, 99)
    with Receiver().running() as receiver:
        index(t, database, receiver, first, second, "--shard=0/3")
        index(t, database, receiver, first, "--shard=1/3")
        index(t, database, receiver, second, "--shard=2/3")
        index(t, database, receiver, second)
        equal(told(receiver), [], "three works with a part each, and one that is done, of the other folder")
        index(t, database, receiver, second, first)
        equal(told(receiver), [("regression", "bert", commit_of(BAD_DAY))], "all before it is in both folders")
        for shard in range(2):
            index(t, database, receiver, first, second, f"--shard={shard + 1}/3")
        equal(
            database.rows(
                "SELECT shard_count, count(*) AS count FROM memviewd.index_runs WHERE is_round_end GROUP "
                "BY 1 ORDER BY 1"
            ),
            [{"shard_count": "1", "count": "2"}, {"shard_count": "3", "count": "1"}],
        )


def test_a_part_that_never_comes_back_holds_up_for_a_day(t, database):
    need_libcurl(t)
    write_job(t.folder(), "bert", DAYS, BAD_DAY)
    with Receiver().running() as receiver:
        away = write_job(t.folder("away"), "bert", 3, 99)
        index(t, database, receiver, away, "--shard=0/2")
        index(t, database, receiver, away, "--shard=1/2")
        database.execute("UPDATE memviewd.index_runs SET finished_at = NULL, is_round_end = false")
        database.execute(
            "INSERT INTO memviewd.series_changes (series_id, job, module, kind, memory_space, "
            "configuration, logdir, run_id, changed_at) "
            "SELECT memviewd.series_id(job, module, kind, memory_space, configuration), job, module, "
            "kind, memory_space, configuration, logdirs[1], "
            "run_id, now() FROM (SELECT DISTINCT job, module, kind, memory_space, configuration FROM "
            "memviewd.points) AS series, memviewd.index_runs"
        )
        index(t, database, receiver)
        equal(told(receiver), [])
        database.execute(
            "UPDATE memviewd.series_changes SET changed_at = changed_at - interval '25 hours' WHERE settled_at IS NULL"
        )
        index(t, database, receiver)
        equal(told(receiver), [("regression", "bert", commit_of(BAD_DAY))])
        # Parts that finished more than a day apart are no round.
        index(t, database, receiver, "--shard=0/2")
        database.execute(
            "UPDATE memviewd.index_runs SET finished_at = finished_at - interval '25 hours' WHERE shard_count = 2"
        )
        index(t, database, receiver, "--shard=1/2")
        equal(database.value("SELECT count(*) FROM memviewd.index_runs WHERE is_round_end AND shard_count = 2"), "0")


def is_waited_for(database, relation):
    return (
        database.value(
            f"SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = 'memviewd.{relation}'::regclass"
        )
        != "0"
    )


def test_series_are_locked_in_order(t, database):
    for at in range(12):
        write_job(t.folder(), f"job{at}", 1, 99)
    index(t, database, None)
    database.execute(
        'CREATE TABLE memviewd.asked (place serial, series_id text COLLATE "C");'
        "CREATE FUNCTION memviewd.ask() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO "
        "memviewd.asked (series_id) VALUES (NEW.series_id); RETURN NEW; END $$;"
        "CREATE TRIGGER ask BEFORE INSERT ON memviewd.series_changes FOR EACH ROW EXECUTE FUNCTION "
        "memviewd.ask();"
        "UPDATE memviewd.files SET state = ''"
    )
    index(t, database, None)
    asked = [row["series_id"] for row in database.rows("SELECT series_id FROM memviewd.asked ORDER BY place")]
    equal((asked, len(asked)), (sorted(asked), 12), "by a batch")
    # What a run that was killed had changed, the last one first in the table.
    database.execute(
        "INSERT INTO memviewd.series_changes (series_id, job, kind, logdir, run_id, changed_at) SELECT "
        "lpad(n::text, 32, '0'), 'killed', 'module', logdirs[1], run_id, "
        "now() - interval '1 hour' FROM memviewd.index_runs, generate_series(99, 0, -1) AS n WHERE "
        "run_id = 1"
    )
    with connection(database) as execute:
        execute("BEGIN; SELECT 1 FROM memviewd.series_changes ORDER BY series_id LIMIT 1 FOR UPDATE")
        process = subprocess.Popen(command(t, database, None), stderr=subprocess.PIPE, text=True)
        wait_until(
            lambda: (
                database.value(
                    "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND "
                    "query LIKE '%index_run_finish%'"
                )
                == "1"
            ),
            what="that it waits",
        )
        free = database.value(
            "SELECT count(*) FROM (SELECT 1 FROM memviewd.series_changes FOR UPDATE SKIP LOCKED) AS free"
        )
        execute("ROLLBACK")
        said = process.communicate(timeout=300)[1]
    equal((process.returncode, free), (0, "99"), said)
    equal(database.value("SELECT count(*) FROM memviewd.series_changes"), "0")


def test_half_of_a_commit_that_comes_while_steps_are_looked_for_is_not_told(t, database):
    need_libcurl(t)
    for job, settled_at in (("open", "NULL::timestamptz"), ("settled", "now()")):
        write_job(t.folder(), job, DAYS, 99)
        index(t, database, None)
        settle_anew(database)
        with Receiver().running() as receiver:
            with connection(database) as execute:
                execute("BEGIN; LOCK TABLE memviewd.points IN ACCESS EXCLUSIVE MODE")
                process = subprocess.Popen(command(t, database, receiver), stderr=subprocess.PIPE, text=True)
                wait_until(
                    lambda: is_waited_for(database, "points"),
                    what="that it has the series, and is about to read their points",
                )
                commits = ", ".join(f"'{commit_of(day)}'" for day in range(BAD_DAY, DAYS + 1))
                execute(
                    f"UPDATE memviewd.points SET needed_bytes = needed_bytes / 3 * 4 WHERE job = '{job}' AND "
                    f"commit IN ({commits});"
                    "INSERT INTO memviewd.series_changes (series_id, job, module, kind, memory_space, "
                    "configuration, logdir, run_id, changed_at, settled_at) "
                    f"SELECT DISTINCT memviewd.series_id(job, module, kind, memory_space, configuration), job, "
                    f"module, kind, memory_space, configuration, '/elsewhere', 1, now(), {settled_at} "
                    f"FROM memviewd.points WHERE job = '{job}'; COMMIT"
                )
                said = process.communicate(timeout=300)[1]
            equal(
                (
                    process.returncode,
                    told(receiver),
                    database.value(f"SELECT count(*) FROM memviewd.regressions WHERE job = '{job}'"),
                ),
                (0, [], "0"),
                said,
            )
            # It is not taken for looked at: neither when whoever changed it never comes back.
            database.execute(
                "UPDATE memviewd.series_changes SET changed_at = changed_at - interval '25 hours' WHERE "
                "settled_at IS NULL"
            )
            index(t, database, receiver)
            equal(told(receiver), [("regression", job, commit_of(BAD_DAY))])
