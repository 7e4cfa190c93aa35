# SPDX-License-Identifier: Apache-2.0
"""25 series whose regressions are known: what the page, SQL, the dashboard and `memviewd index` call a regression is
the same, and true."""

import datetime
import json
import os
import random

import planted
import queries
from harness import equal

MIB, GIB = 1 << 20, 1 << 30
COMMITS = 40


def flat(level, noise, seed):
    chance = random.Random(seed)
    return [int(level * (1 + chance.gauss(0, noise))) for _ in range(COMMITS)]


def stepped(level, noise, seed, at, by):
    return [value + (by if commit >= at else 0) for commit, value in enumerate(flat(level, noise, seed))]


# Name: (bytes by commit, the commit from which on it needs more; None: no regression).
STEPS = {
    "exact, 3 GiB of 8": (stepped(8 * GIB, 0, 1, 12, 3 * GIB), 12),
    "exact, 2 MiB of 40 MiB": (stepped(40 * MIB, 0, 2, 20, 2 * MIB), 20),
    "exact, 1.1 % of 10 GiB": (stepped(10 * GIB, 0, 3, 25, 10 * GIB * 11 // 1000), 25),
    "early, after 3 commits": (stepped(8 * GIB, 0, 4, 3, GIB), 3),
    "late, 2 commits of it": (stepped(8 * GIB, 0, 5, COMMITS - 2, GIB), COMMITS - 2),
    "noise of 0.01 %": (stepped(12 * GIB, 0.0001, 6, 17, GIB // 4), 17),
    "noise of 0.1 %": (stepped(12 * GIB, 0.001, 7, 21, GIB), 21),
    "noise of 0.3 %, 20 %": (stepped(8 * GIB, 0.003, 8, 14, 16 * GIB // 10), 14),
    "noise of 1 %, 30 %": (stepped(8 * GIB, 0.01, 9, 30, 24 * GIB // 10), 30),
    "down before, then up": (
        [value - (GIB if 10 <= commit < 24 else 0) for commit, value in enumerate(flat(8 * GIB, 0, 10))],
        24,
    ),
    "after a lone peak": (
        [value + (2 * GIB if commit == 9 else 0) for commit, value in enumerate(stepped(8 * GIB, 0, 11, 22, GIB))],
        22,
    ),
    "on slow growth": ([value + commit * MIB for commit, value in enumerate(stepped(8 * GIB, 0, 12, 18, 2 * GIB))], 18),
    "small program": (stepped(5 * MIB, 0, 13, 15, 3 * MIB), 15),
    "huge program": (stepped(900 * GIB, 0.0005, 14, 26, 90 * GIB), 26),
    "back after a while": (
        [value + (3 * GIB if 15 <= commit < 28 else 0) for commit, value in enumerate(flat(8 * GIB, 0, 15))],
        15,
    ),
}
OTHERS = {
    "calm": (flat(8 * GIB, 0, 20), None),
    "noise of 1 percent": (flat(8 * GIB, 0.01, 21), None),
    "noise of 5 percent": (flat(8 * GIB, 0.05, 22), None),
    "lone peaks": (
        [value + (4 * GIB if commit in (5, 13, 31) else 0) for commit, value in enumerate(flat(8 * GIB, 0, 23))],
        None,
    ),
    "slow growth": ([value + commit * 4 * MIB for commit, value in enumerate(flat(8 * GIB, 0, 24))], None),
    "every other commit more": (
        [value + (commit % 2) * GIB for commit, value in enumerate(flat(8 * GIB, 0, 25))],
        None,
    ),
    "less since": (stepped(8 * GIB, 0, 26, 19, -2 * GIB), None),
    "below 1 MiB": (stepped(30 * MIB, 0, 27, 19, MIB - 1), None),
    "below 1 percent": (stepped(10 * GIB, 0, 28, 19, 10 * GIB * 9 // 1000), None),
    "noise of some KiB": ([8 * GIB + (commit * 7919) % 8192 for commit in range(COMMITS)], None),
}


def plant(database, series):
    lines = ["BEGIN;"]
    for job, values in series.items():
        for commit, needed in enumerate(values):
            lines.append(
                f"INSERT INTO memviewd.files (file_id, logdir, file, state, row_count) VALUES ('{job}-{commit}', "
                f"'/profiles', 'x', '', 1) ON CONFLICT DO NOTHING;"
            )
            one = (
                planted.row("calm", 0, 0)
                .replace("'calm-0-0-module'", f"'{job}-{commit}'")
                .replace("'calm-0-0'", f"'{job}-{commit}'")
            )
            one = (
                one.replace("'calm'", f"'{job}'")
                .replace("'c0'", f"'c{commit}'")
                .replace(f"interval '{planted.DAYS} days'", f"interval '{COMMITS - commit} days'")
            )
            lines.append(
                one.replace(f"{planted.needed('calm', 0, 0)},", f"{needed},", 1).replace(
                    ";", f" ON CONFLICT (id) DO UPDATE SET needed_bytes = {needed};"
                )
            )
    lines.append("SELECT memviewd.points_refresh(array(SELECT DISTINCT point_id FROM memviewd.rows));")
    database.execute("\n".join([*lines, "COMMIT; ANALYZE;"]))


def by_page(t, database):
    rows = t.serve(f"--catalog={database.url}").get_json("/api/v1/fleet/regressions")["data"]["rows"]
    return {(row["job"], row["commit"]) for row in rows if row["change_bytes"] > 0 and row["lasting"] == "yes"}


def by_sql(database):
    return {(row["job"], row["commit"]) for row in queries.ask(database, "grew")}


def by_dashboard(database):
    with open(os.path.join(queries.FOLDER, "grafana.json"), encoding="utf-8") as file:
        (sql,) = [
            panel["targets"][0]["rawSql"]
            for panel in json.load(file)["panels"]
            if panel["title"] == "Grown with a commit"
        ]
    until = datetime.datetime.now(datetime.timezone.utc)
    variables = {"job": [*STEPS, *OTHERS], "module": ["jit_train_step"]}
    return {
        (row["job"], row["commit"])
        for row in database.rows(queries.expand(sql, variables, until - datetime.timedelta(days=90), until))
    }


def test_what_is_a_regression_is_the_same_everywhere_and_true(t, database):
    equal((len(STEPS), len(OTHERS)), (15, 10))
    database.apply_schema()
    plant(database, {job: values for job, (values, _) in {**STEPS, **OTHERS}.items()})
    queries.known_regressions(t, database)
    found, truth = by_sql(database), {(job, f"c{at}") for job, (_, at) in STEPS.items()}
    equal((by_page(t, database), by_dashboard(database)), (found, found))
    equal(found - truth, set(), "false alarms")
    assert len(found & truth) >= 14, sorted(truth - found)
    print(f"{len(found & truth)} of {len(truth)} steps are found, {len(found - truth)} more")


def test_what_is_kept_has_no_regression_that_all_had_not(t, database):
    """a commit a month: whatever is removed, no step is found that was not, none is told as gone, and those with three
    commits before them are found as ever"""
    database.apply_schema()
    plant(database, {job: values for job, (values, _) in {**STEPS, **OTHERS}.items()})
    for table, own in (("rows", "id"), ("files", "file_id")):
        database.execute(
            f"UPDATE memviewd.{table} SET modified_at = now() - make_interval(months => {COMMITS} - "
            f"substring({own} from '[0-9]+$')::integer, days => -2)"
        )
    everything = "SELECT memviewd.points_refresh(array(SELECT DISTINCT point_id FROM memviewd.rows)); ANALYZE"
    database.execute(everything)
    queries.known_regressions(t, database)
    current = "SELECT job, commit FROM memviewd.regressions WHERE gone_at IS NULL"
    found = {(row["job"], row["commit"]) for row in database.rows(current)}
    assert len(found) >= 14, found
    for months in (COMMITS - 1, 36, 31, 27, 22, 17, 12, 8, 5, 3):
        database.execute(f"CALL memviewd.keep({months})")
        database.execute(everything)
        queries.known_regressions(t, database)
        kept = {(row["job"], row["commit"]) for row in database.rows(current)}
        first = min(
            int(row["commit"][1:])
            for row in database.rows("SELECT DISTINCT commit FROM memviewd.points WHERE commit <> ''")
        )
        equal(first, COMMITS - months, "the oldest commit that is kept")
        equal(kept - found, set(), f"false alarms of the last {months} months")
        equal(
            kept,
            {(job, commit) for job, commit in found if int(commit[1:]) - first >= 3},
            f"steps of the last {months} months",
        )
        equal(database.value("SELECT count(*) FROM memviewd.regressions WHERE gone_at IS NOT NULL"), "0", months)


def test_two_configurations_of_one_job_are_no_regression(t, database):
    """twice the batch beside the old one from commit 20 on: points, steps and the page are those of each"""
    database.apply_schema()
    steady, step = "calm", "exact, 3 GiB of 8"
    plant(database, {steady: OTHERS[steady][0], step: STEPS[step][0]})
    for job in (steady, step):
        database.execute(f"UPDATE memviewd.rows SET configuration = '8 devices, batch 64x1024' WHERE job = '{job}'")
        names = database.value(
            "SELECT string_agg(quote_ident(column_name), ', ') FROM information_schema.columns WHERE table_schema = "
            "'memviewd' AND table_name = 'rows' "
            "AND is_generated = 'NEVER' AND column_name NOT IN ('id', 'needed_bytes', 'configuration')"
        )
        database.execute(
            f"INSERT INTO memviewd.rows (id, needed_bytes, configuration, {names}) SELECT id || '-large', "
            f"needed_bytes + {5 * GIB}, '8 devices, batch 128x1024', {names} "
            f"FROM memviewd.rows WHERE job = '{job}' AND substr(commit, 2)::integer >= 20"
        )
    database.execute(
        "SELECT memviewd.points_refresh(array(SELECT point_id FROM memviewd.rows UNION SELECT point_id FROM "
        "memviewd.points)); ANALYZE"
    )
    queries.known_regressions(t, database)
    equal((by_sql(database), by_page(t, database)), ({(step, "c12")}, {(step, "c12")}))
    (found,) = queries.ask(database, "grew")
    equal(found["configuration"], "8 devices, batch 64x1024")
    daemon = t.serve(f"--catalog={database.url}")
    series = daemon.get_json("/api/v1/fleet/series", job=steady)["data"]["rows"]
    equal(
        sorted((row["configuration"], row["commit_count"], row["needed_bytes"]) for row in series),
        [("8 devices, batch 128x1024", 20, 13 * GIB), ("8 devices, batch 64x1024", 40, 8 * GIB)],
    )
    (row,) = daemon.get_json("/api/v1/fleet/regressions")["data"]["rows"]
    assert row["sentence"].startswith(
        f"{step}: jit_train_step (8 devices, batch 64x1024) needs 3.00 GiB more since c12"
    ), row["sentence"]


def test_a_host_with_another_batch_is_odd(t, database):
    """although its point is another one; with another mesh it is another configuration of the job"""
    database.apply_schema()
    planted.plant(database)
    database.execute(
        "UPDATE memviewd.rows SET configuration = '8 devices, batch ' || CASE WHEN job = 'calm' AND commit = 'c7' AND "
        "host = 'host1' THEN 4 ELSE 8 END;"
        "UPDATE memviewd.rows SET needed_bytes = needed_bytes / 2 WHERE job = 'calm' AND commit = 'c7' AND host = "
        "'host1';"
        "UPDATE memviewd.rows SET needed_bytes = needed_bytes / 2, configuration = '4 devices, batch 8' WHERE job = "
        "'calm' AND commit = 'c9' AND host = 'host1';"
        "SELECT memviewd.points_refresh(array(SELECT point_id FROM memviewd.rows UNION SELECT point_id FROM "
        "memviewd.points)); ANALYZE"
    )
    for params in ({}, {"job": "calm"}):
        found = t.serve(f"--catalog={database.url}").get_json("/api/v1/fleet/hosts", **params)["data"]["rows"]
        equal(
            [(row["commit"], row["host"], row["host_count"]) for row in found if row["job"] == "calm"],
            [("c7", "host1", 4)],
        )
        equal(
            {(row["commit"], row["host"]) for row in queries.ask(database, "hosts") if row["job"] == "calm"},
            {("c7", "host1")},
        )


def test_rows_of_before_configurations_keep_their_points(t, database):
    """the ids that point_id and series_id gave then"""
    database.apply_schema()
    equal(
        database.value(
            "SELECT memviewd.point_id('j', 'm', 'module', 'HBM', 'c', NULL) = memviewd.point_id('j', 'm', 'module', "
            "'HBM', 'c') AND "
            "memviewd.series_id('j', NULL, 'module', 'HBM', NULL) = memviewd.series_id('j', NULL, 'module', 'HBM') AND "
            "memviewd.point_id('j', 'm', 'module', 'HBM', 'c', '') <> memviewd.point_id('j', 'm', 'module', 'HBM', 'c')"
        ),
        "t",
    )


def test_a_regression_that_goes_away_is_gone_everywhere_and_may_come_back(t, database):
    database.apply_schema()
    job = "exact, 3 GiB of 8"
    plant(database, {job: STEPS[job][0], "calm": OTHERS["calm"][0]})
    queries.known_regressions(t, database)
    equal(by_sql(database), {(job, "c12")})
    first = database.rows("SELECT id, found_at, gone_at FROM memviewd.regressions")
    plant(database, {job: OTHERS["calm"][0]})
    queries.known_regressions(t, database)
    equal((by_sql(database), by_page(t, database)), (set(), set()))
    equal(database.value("SELECT count(*) FROM memviewd.regressions WHERE gone_at IS NOT NULL"), "1")
    plant(database, {job: STEPS[job][0]})
    queries.known_regressions(t, database)
    equal(database.rows("SELECT id, found_at, gone_at FROM memviewd.regressions"), first)
    equal((by_sql(database), by_page(t, database)), ({(job, "c12")}, {(job, "c12")}))
