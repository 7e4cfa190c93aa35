# SPDX-License-Identifier: Apache-2.0
"""CSV into a table that `memviewd index --schema=postgresql` declares, as its first lines say."""

import os
import re

import writing
from harness import equal

LABELS = ('--label=note=a\tb\\c\n"é" \\N', "--label=job=2026-01-01", "--label=commit=NULL")


def test_copy_takes_csv_into_the_declared_table(t, database):
    path = os.path.join(t.folder("csv"), "rows.csv")
    equal(t.run("index", t.fixtures, *LABELS, "--format=csv", f"--out={path}").returncode, 0)
    schema = t.run("index", "--schema=postgresql").stdout
    (copy,) = re.findall(r"(?m)^-- (\\copy .*)$", schema)
    database.execute("DROP TABLE IF EXISTS memviewd_rows")
    database.execute(f"{schema}\n{copy.replace('rows.csv', path)}\n")
    writing.index(t, database, t.fixtures, *LABELS)
    (row,) = database.rows(
        "SELECT count(*) AS count, count(*) FILTER (WHERE c.row = r.row) AS same FROM "
        "(SELECT id, to_jsonb(m) AS row FROM memviewd_rows m) c FULL JOIN "
        "(SELECT id, to_jsonb(m) - 'point_id' AS row FROM memviewd.rows m) r USING (id)"
    )
    assert int(row["count"]) > 100 and row["count"] == row["same"], row
    equal(
        database.value("SELECT count(*) FROM pg_description WHERE objoid = 'memviewd_rows'::regclass"),
        str(len(t.run("index", "--format=csv", t.fixtures).stdout.splitlines()[0].split(","))),
    )
