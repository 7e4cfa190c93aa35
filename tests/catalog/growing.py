# SPDX-License-Identifier: Apache-2.0
"""Points that grow by the rows of new files are those that all rows make, and most of these are not read for it."""

import random

from harness import equal

REFRESHED = (
    "SELECT memviewd.points_refresh(array(SELECT point_id FROM memviewd.points UNION "
    "SELECT point_id FROM memviewd.rows))"
)
ADDED = (
    "SELECT memviewd.points_add(array(SELECT file_id FROM memviewd.files WHERE state = '{0}'), array(SELECT DISTINCT "
    "point_id FROM memviewd.rows AS r JOIN memviewd.files AS f USING (file_id) WHERE f.state = '{0}'))"
)
COLUMNS = (
    "schema_version id file_id logdir file modified_at job commit kind host module verdict memory_space needed_bytes "
    "peak_bytes labels"
).split()


def value(one):
    return "NULL" if one is None else str(one) if isinstance(one, int) else "'" + str(one) + "'"


def random_row(chance, at):
    """of few values, so that there are ties of all kinds; some are not known"""

    def pick(*among):
        return chance.choice((None, *among))

    second = chance.randrange(3)
    return {
        "schema_version": 1,
        "id": f"r{chance.randrange(10**6)}-{at}",
        "logdir": "/profiles",
        "file": "host.xplane.pb",
        "modified_at": pick(f"2026-01-01 00:00:0{second}+00"),
        "job": pick("bert"),
        "commit": pick("c1", "c2"),
        "kind": "module",
        "host": pick("host0", "host1", "host2", "host3"),
        "module": "jit_step",
        "verdict": pick("Needs so much.", "Needs so much."),
        "memory_space": "HBM",
        "needed_bytes": pick(1, 2, 3),
        "peak_bytes": pick(1, 2, 3),
        "labels": "{}",
    }


def write_batch(database, batch, rows_of_files):
    lines = ["BEGIN;"]
    for at, rows in enumerate(rows_of_files):
        file_id = f"{batch}-{at}"
        lines.append(
            "INSERT INTO memviewd.files (file_id, logdir, file, state, row_count) VALUES "
            f"('{file_id}', '/profiles', 'x', '{batch}', {len(rows)});"
        )
        for row in rows:
            cells = ", ".join(value({**row, "file_id": file_id}[name]) for name in COLUMNS)
            lines.append(f"INSERT INTO memviewd.rows ({', '.join(COLUMNS)}) VALUES ({cells});")
    database.execute("\n".join([*lines, ADDED.format(batch) + "; COMMIT;"]))


def points_of(database):
    return {row["point_id"]: row for row in database.rows("SELECT * FROM memviewd.points")}


def test_points_that_grow_are_those_that_all_rows_make(t, database):
    t.run("index", t.folder(), f"--catalog={database.url}")
    chance = random.Random(20)
    for batch in range(30):
        files = chance.randrange(1, 6)
        write_batch(
            database, batch, [[random_row(chance, batch) for _ in range(chance.randrange(4))] for _ in range(files)]
        )
        grown = points_of(database)
        database.execute(REFRESHED)
        equal(grown, points_of(database), f"after batch {batch}")


def test_a_point_of_many_rows_grows_without_reading_them(t, database):
    t.run("index", t.folder(), f"--catalog={database.url}")
    chance, many = random.Random(21), 3000
    row = {**random_row(chance, "x"), "job": None, "commit": None, "verdict": "Needs so much.", "needed_bytes": 1}
    write_batch(
        database,
        "many",
        [[{**row, "id": f"m{at}", "host": f"host{at % 8}", "needed_bytes": at % 7}] for at in range(many)],
    )
    database.execute("ANALYZE memviewd.rows, memviewd.points, memviewd.files")
    read = "SELECT seq_tup_read + idx_tup_fetch AS read FROM pg_stat_xact_user_tables WHERE relname = 'rows'"
    insert = (
        "BEGIN; INSERT INTO memviewd.files (file_id, logdir, file, state, row_count) VALUES "
        "('few', '/p', 'x', 'few', 1); "
        f"INSERT INTO memviewd.rows ({', '.join(COLUMNS)}) VALUES "
        f"({', '.join(value({**row, 'id': 'few', 'file_id': 'few', 'host': 'host9'}[name]) for name in COLUMNS)}); "
    )
    point = database.value("SELECT point_id FROM memviewd.points")
    added = f"SELECT memviewd.points_add('{{few}}', '{{{point}}}'); "
    told = database.execute(insert + added + read + "; COMMIT;")
    read_rows = int([line for line in told.split() if line.isdigit()][-1])
    equal(read_rows < many / 10, True, f"{read_rows} of {many} rows were read")
    equal(
        database.rows("SELECT row_count, host_count, needed_bytes FROM memviewd.points"),
        [{"row_count": str(many + 1), "host_count": "9", "needed_bytes": "6"}],
    )
