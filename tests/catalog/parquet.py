# SPDX-License-Identifier: Apache-2.0
"""Parquet, as DuckDB reads it, has the rows of the catalog: what docs/operate/fleet.md says of both."""

import os
import re

import tools
import writing
from harness import ROOT, equal

READ = """
import duckdb, json, sys
as_text = "strftime(modified_at AT TIME ZONE 'UTC', '%Y-%m-%dT%H:%M:%S.%fZ') AS modified_at"
table = duckdb.sql(sys.argv[1].replace("SELECT", f"SELECT * REPLACE ({as_text})", 1))
print(json.dumps([dict(zip(table.columns, row)) for row in table.fetchall()]))
"""


def documented():
    with open(os.path.join(ROOT, "docs", "operate", "fleet.md"), encoding="utf-8") as file:
        (sql,) = re.findall(r"""(?m)^    duckdb -c "SELECT \* (FROM 'part-\*\.parquet')"$""", file.read())
    return f"SELECT {sql}"


def test_parquet_has_the_rows_of_the_catalog(t, database):
    labels = ("--label=job=2026-01-01", "--label=commit=12345678", "--label=user=1e5", "--label=is_last=true")
    folder = t.folder("parts")
    for at in range(3):
        done = t.run(
            "index", t.fixtures, *labels, "--format=parquet", f"--shard={at}/3", f"--out={folder}/part-{at}.parquet"
        )
        equal(done.returncode, 0, done.stderr)
    writing.index(t, database, t.fixtures, *labels)
    equal(writing.by_id(tools.ask(READ, documented(), folder=folder)), writing.by_id(writing.kept(database)))
