# SPDX-License-Identifier: Apache-2.0
"""Regressions are told when all parts of the work have been done, once, whoever is killed meanwhile."""
import contextlib
import os
import random
import signal
import subprocess
import time

import fleet_story
from document import Document
from fleet_story import BAD_DAY, DAY_S, FIRST_S, GIB, commit_of
from folder_server import need_libcurl
from harness import ROOT, equal, wait_until
from receiver import Receiver

DAYS = 24 # so that each of two or three parts has a step


def write_job(folder, job, days, bad_day, first_day=1):
    """one dump a day, each of another commit; those since bad_day need a third more"""
    for day in range(first_day, days + 1):
        at_s, path = FIRST_S + day * DAY_S, f"{job}/{commit_of(day)}"
        fleet_story.labels(folder, path, at_s, job=job, commit=commit_of(day), user="ada")
        fleet_story.write(folder, f"{path}/module_0001.jit_step.after_optimizations.hlo.pb",
                          fleet_story.program("jit_step", (9 if day < bad_day else 12) * GIB), at_s)
    return folder


def command(t, database, receiver, *arguments):
    """of the test's folder, where the arguments name none"""
    folders = () if any(argument.startswith("/") for argument in arguments) else (t.folder(),)
    return [t.binary, "index", *folders, *arguments, f"--catalog={database.url}",
            *([f"--notify={receiver.url()}"] if receiver else [])]


def index(t, database, receiver, *arguments):
    done = subprocess.run(command(t, database, receiver, *arguments), capture_output=True, text=True, timeout=300)
    equal((done.returncode, done.stdout), (0, ""), done.stderr)
    return done.stderr


def settle_anew(database):
    """as it stood when the round was complete and nothing was found yet"""
    database.execute("DELETE FROM memviewd.regressions; INSERT INTO memviewd.series_changes (series_id, job, module, "
                     "kind, memory_space, configuration, run_id, changed_at, settled_at) "
                     "SELECT memviewd.series_id(job, module, kind, memory_space, configuration), job, module, kind, "
                     "memory_space, configuration, max(run_id), now(), now() "
                     "FROM memviewd.points, memviewd.index_runs GROUP BY 1, 2, 3, 4, 5, 6")


@contextlib.contextmanager
def connection(database):
    """what it yields has statements done by one connection, which may hold locks meanwhile"""
    psql = subprocess.Popen(["psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-d", database.url],
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def execute(sql):
        psql.stdin.write(f"{sql};\n\\echo done\n")
        psql.stdin.flush()
        assert "done\n" in iter(psql.stdout.readline, ""), sql
    try:
        yield execute
    finally:
        psql.communicate()


def told(receiver):
    """each message once: one whose answer was lost is sent again, with the same id"""
    equal(receiver.faults, [])
    return [(message["kind"], message["job"], message["commit"])
            for message in {message["id"]: message for message in receiver.taken}.values()]


def test_a_regression_is_told_when_all_parts_have_finished(t, database):
    need_libcurl(t)
    write_job(t.folder(), "bert", DAYS, BAD_DAY)
    with Receiver().running() as receiver:
        for _ in range(2):
            index(t, database, receiver, "--shard=0/2")
        shown = t.serve(f"--catalog={database.url}").get_json("/api/v1/fleet/regressions")["data"]["rows"]
        equal([(row["job"], row["lasting"]) for row in shown], [("bert", "yes")], "a step that half of the work has")
        equal((told(receiver), database.value("SELECT count(*) FROM memviewd.settled_series")), ([], "0"),
              "half of the work")
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
    equal({name: message[name] for name in message.keys() - {"id", "regression"}},
          {"schema_version": 1, "kind": "regression", "logdir": t.folder(),
           "file": f'be"rt & co/{commit_of(BAD_DAY)}/module_0001.jit_step.after_optimizations.hlo.pb',
           "job": 'be"rt & co', "commit": commit_of(BAD_DAY), "user_name": "ada",
           "page": "?tool=fleet&view=regressions&filter=job%3A%22bert%20%26%20co%22"})
    (kept,) = database.rows("SELECT * FROM memviewd.regressions")
    equal([kept[name]
           for name in ("id", "job", "commit", "commit_before", "before_bytes", "after_bytes", "threshold_bytes",
                        "noise_bytes")],
          [message["id"], 'be"rt & co', commit_of(BAD_DAY), commit_of(BAD_DAY - 1),
           *(str(row[name]) for name in ("before_bytes", "after_bytes", "threshold_bytes", "noise_bytes"))])


def test_what_is_found_without_a_receiver_is_not_told_later(t, database):
    need_libcurl(t)
    write_job(t.folder(), "bert", DAYS, BAD_DAY)
    for shard in range(2):
        index(t, database, None, f"--shard={shard}/2")
    equal(database.rows("SELECT job, commit FROM memviewd.regressions"),
          [{"job": "bert", "commit": commit_of(BAD_DAY)}])
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
            fleet_story.write(t.folder(), f"less/{day}/module_0001.jit_f.after_optimizations.hlo.pb",
                              fleet_story.program("jit_f", (9 if day < 5 else 6) * GIB), at_s)
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
        equal(told(receiver), [(kind, "bert", commit_of(BAD_DAY)) for kind in ("regression", "regression_gone")],
              "back again is not told")
        first, gone = receiver.taken
        equal((gone["regression_id"], gone["regression"], gone["id"] == first["id"]),
              (first["id"], first["regression"], False))
        equal(gone["gone_at"][:10], database.value("SELECT (now() AT TIME ZONE 'UTC')::date"))


def test_both_parts_at_the_same_time_tell_once(t, database):
    need_libcurl(t)
    for at in range(6):
        write_job(t.folder(), f"job{at}", DAYS, BAD_DAY)
    with Receiver().running() as receiver:
        running = [subprocess.Popen(command(t, database, receiver, f"--shard={at % 2}/2"), stderr=subprocess.PIPE,
                                    text=True) for at in range(4)]
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
            wait_until(lambda: database.value("SELECT count(*) FROM memviewd.index_runs WHERE finished_at IS NULL")
                       == "1", what="that the other part began")
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
        index(t, database, receiver) # one part, of which the work is all
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
        database.execute("UPDATE memviewd.notices SET not_before = now()") # the two minutes are over
        index(t, database, receiver)
        equal((told(receiver), set(receiver.refused_ids)),
              ([("regression", "bert", commit_of(BAD_DAY))], set(receiver.ids())))


def test_killed_at_any_moment(t, database):
    need_libcurl(t)
    chance, killed, longest_seconds = random.Random(2), 0, 0.5
    for at in range(20):
        write_job(t.folder(), f"job{at}", DAYS, BAD_DAY)
    with Receiver().running() as receiver:
        for _ in range(16):
            parts = [subprocess.Popen(command(t, database, receiver, f"--shard={at}/3"), stderr=subprocess.DEVNULL)
                     for at in range(3)]
            for part in parts:
                time.sleep(chance.uniform(0, longest_seconds))
                part.send_signal(signal.SIGKILL)
            hit = sum(part.wait() == -signal.SIGKILL for part in parts)
            killed += hit
            if hit < 2: # a fast machine is done before
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
        equal(database.rows("SELECT shard_count, count(*) AS count FROM memviewd.index_runs WHERE is_round_end GROUP "
                            "BY 1 ORDER BY 1"),
              [{"shard_count": "1", "count": "2"}, {"shard_count": "3", "count": "1"}])


def test_a_part_that_never_comes_back_holds_up_for_a_day(t, database):
    need_libcurl(t)
    write_job(t.folder(), "bert", DAYS, BAD_DAY)
    with Receiver().running() as receiver:
        away = write_job(t.folder("away"), "bert", 3, 99)
        index(t, database, receiver, away, "--shard=0/2")
        index(t, database, receiver, away, "--shard=1/2")
        database.execute("UPDATE memviewd.index_runs SET finished_at = NULL, is_round_end = false")
        database.execute("INSERT INTO memviewd.series_changes (series_id, job, module, kind, memory_space, "
                         "configuration, logdir, run_id, changed_at) "
                         "SELECT memviewd.series_id(job, module, kind, memory_space, configuration), job, module, "
                         "kind, memory_space, configuration, logdirs[1], "
                         "run_id, now() FROM (SELECT DISTINCT job, module, kind, memory_space, configuration FROM "
                         "memviewd.points) AS series, memviewd.index_runs")
        index(t, database, receiver)
        equal(told(receiver), [])
        database.execute("UPDATE memviewd.series_changes SET changed_at = changed_at - interval '25 hours' WHERE "
                         "settled_at IS NULL")
        index(t, database, receiver)
        equal(told(receiver), [("regression", "bert", commit_of(BAD_DAY))])
        # Parts that finished more than a day apart are no round.
        index(t, database, receiver, "--shard=0/2")
        database.execute("UPDATE memviewd.index_runs SET finished_at = finished_at - interval '25 hours' WHERE "
                         "shard_count = 2")
        index(t, database, receiver, "--shard=1/2")
        equal(database.value("SELECT count(*) FROM memviewd.index_runs WHERE is_round_end AND shard_count = 2"), "0")


def test_a_scan_that_could_not_see_all_does_not_count(t, database):
    need_libcurl(t)
    write_job(t.folder(), "bert", DAYS, BAD_DAY)
    with Receiver().running() as receiver:
        said = index(t, database, receiver, t.folder(), t.folder("empty"))
        assert "regressions in what changed wait, because not all could be listed" in said, said
        equal((told(receiver),
               database.value("SELECT count(*) FROM memviewd.index_runs WHERE finished_at IS NOT NULL")), ([], "0"))
        # Where no round is ever complete, what is old is removed all the same.
        database.execute("UPDATE memviewd.index_runs SET began_at = began_at - interval '31 days' WHERE run_id = 1")
        write_job(t.folder(), "new", 8, 6)
        index(t, database, receiver, t.folder(), t.folder("empty"))
        equal(database.rows("SELECT run_id, (SELECT string_agg(job, ' ') FROM memviewd.series_changes AS change WHERE "
                            "change.run_id = run.run_id) AS jobs FROM memviewd.index_runs AS run"),
              [{"run_id": "2", "jobs": "new"}])
        said = index(t, database, receiver)
        assert "wait, because" not in said, said
        equal(told(receiver), [("regression", "new", commit_of(6))])


def is_waited_for(database, relation):
    return database.value(f"SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = "
                          f"'memviewd.{relation}'::regclass") != "0"


def test_series_are_locked_in_order(t, database):
    for at in range(12):
        write_job(t.folder(), f"job{at}", 1, 99)
    index(t, database, None)
    database.execute("CREATE TABLE memviewd.asked (place serial, series_id text COLLATE \"C\");"
                     "CREATE FUNCTION memviewd.ask() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO "
                     "memviewd.asked (series_id) VALUES (NEW.series_id); RETURN NEW; END $$;"
                     "CREATE TRIGGER ask BEFORE INSERT ON memviewd.series_changes FOR EACH ROW EXECUTE FUNCTION "
                     "memviewd.ask();"
                     "UPDATE memviewd.files SET state = ''")
    index(t, database, None)
    asked = [row["series_id"] for row in database.rows("SELECT series_id FROM memviewd.asked ORDER BY place")]
    equal((asked, len(asked)), (sorted(asked), 12), "by a batch")
    # What a run that was killed had changed, the last one first in the table.
    database.execute("INSERT INTO memviewd.series_changes (series_id, job, kind, logdir, run_id, changed_at) SELECT "
                     "lpad(n::text, 32, '0'), 'killed', 'module', logdirs[1], run_id, "
                     "now() - interval '1 hour' FROM memviewd.index_runs, generate_series(99, 0, -1) AS n WHERE "
                     "run_id = 1")
    with connection(database) as execute:
        execute("BEGIN; SELECT 1 FROM memviewd.series_changes ORDER BY series_id LIMIT 1 FOR UPDATE")
        process = subprocess.Popen(command(t, database, None), stderr=subprocess.PIPE, text=True)
        wait_until(lambda: database.value("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND "
                                          "query LIKE '%index_run_finish%'") == "1", what="that it waits")
        free = database.value("SELECT count(*) FROM (SELECT 1 FROM memviewd.series_changes FOR UPDATE SKIP LOCKED) AS "
                              "free")
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
                wait_until(lambda: is_waited_for(database, "points"),
                           what="that it has the series, and is about to read their points")
                commits = ", ".join(f"'{commit_of(day)}'" for day in range(BAD_DAY, DAYS + 1))
                execute(f"UPDATE memviewd.points SET needed_bytes = needed_bytes / 3 * 4 WHERE job = '{job}' AND "
                        f"commit IN ({commits});"
                        "INSERT INTO memviewd.series_changes (series_id, job, module, kind, memory_space, "
                        "configuration, logdir, run_id, changed_at, settled_at) "
                        f"SELECT DISTINCT memviewd.series_id(job, module, kind, memory_space, configuration), job, "
                        f"module, kind, memory_space, configuration, '/elsewhere', 1, now(), {settled_at} "
                        f"FROM memviewd.points WHERE job = '{job}'; COMMIT")
                said = process.communicate(timeout=300)[1]
            equal((process.returncode, told(receiver), database.value(f"SELECT count(*) FROM memviewd.regressions "
                                                                      f"WHERE job = '{job}'")), (0, [], "0"), said)
            # It is not taken for looked at: neither when whoever changed it never comes back.
            database.execute("UPDATE memviewd.series_changes SET changed_at = changed_at - interval '25 hours' WHERE "
                             "settled_at IS NULL")
            index(t, database, receiver)
            equal(told(receiver), [("regression", job, commit_of(BAD_DAY))])


def test_a_job_with_more_points_than_are_read_at_once_is_looked_at_by_module(t, database):
    need_libcurl(t)
    write_job(t.folder(), "bert", DAYS, BAD_DAY)
    index(t, database, None)
    database.execute("INSERT INTO memviewd.points (point_id, job, commit, kind, module, memory_space, verdict, "
                     "needed_bytes, needed_min_bytes, row_id, first_at, last_at, row_count, host_count) "
                     "SELECT memviewd.point_id(job, 'jit_many', kind, memory_space, n::text), job, n::text, kind, "
                     "'jit_many', memory_space, verdict, needed_bytes, needed_bytes, row_id, "
                     "now() + n * interval '1 second', now() + n * interval '1 second', 1, 1 "
                     f"FROM memviewd.points, generate_series(1, 10001) AS n WHERE commit = '{commit_of(1)}'")
    settle_anew(database)
    with Receiver().running() as receiver:
        said = index(t, database, receiver)
        equal(told(receiver), [("regression", "bert", commit_of(BAD_DAY))])
    assert (
        "1 module of a job with more than 10000 points: regressions were looked for in the newest alone" in said), said
    equal(database.value("SELECT count(*) FROM memviewd.series_changes"), "0")


def as_of_version(database, version):
    """the catalog as an older memviewd would have filled it"""
    database.execute("CREATE SCHEMA kept; CREATE TABLE kept.files AS TABLE memviewd.files; CREATE TABLE kept.rows AS "
                     "TABLE memviewd.rows; DROP SCHEMA memviewd CASCADE")
    database.apply_schema(version)
    files, rows = (database.value("SELECT string_agg(quote_ident(column_name), ', ') FROM information_schema.columns "
                                  "WHERE table_schema = 'memviewd' "
                                  f"AND table_name = '{table}' AND is_generated = 'NEVER'")
                   for table in ("files", "rows"))
    database.execute(f"INSERT INTO memviewd.files ({files}) SELECT {files} FROM kept.files; INSERT INTO memviewd.rows "
                     f"({rows}) SELECT {rows} FROM kept.rows; DROP SCHEMA kept CASCADE; "
                     "SELECT memviewd.points_refresh(array(SELECT point_id FROM memviewd.rows))")
    equal(database.value("SELECT max(version) FROM memviewd.schema_version"), str(version))


def test_a_catalog_of_before_is_brought_up_to_date_and_nobody_is_told_of_it(t, database):
    need_libcurl(t)
    write_job(t.folder(), "bert", DAYS, BAD_DAY)
    index(t, database, None)
    as_of_version(database, 3)
    write_job(t.folder(), "new", 8, 6)
    with Receiver().running() as receiver:
        running = [subprocess.Popen(command(t, database, receiver, f"--shard={at}/2"), stderr=subprocess.PIPE,
                                    text=True) for at in range(2)]
        for process in running:
            said = process.communicate(timeout=300)[1]
            equal(process.returncode, 0, said)
        equal(told(receiver), [("regression", "new", commit_of(6))])
        equal(database.rows("SELECT job, commit FROM memviewd.regressions ORDER BY job"),
              [{"job": "bert", "commit": commit_of(BAD_DAY)}, {"job": "new", "commit": commit_of(6)}])
        newest = len(os.listdir(os.path.join(ROOT, "server", "fleet", "catalog", "schema")))
        equal(database.value("SELECT max(version) FROM memviewd.schema_version"), str(newest))
