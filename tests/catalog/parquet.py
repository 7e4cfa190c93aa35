# SPDX-License-Identifier: Apache-2.0
"""JSON lines as Parquet, by DuckDB with the line of docs/operate/fleet.md: the types are always the same, and the rows those of the catalog."""
import os
import re

import inputs
import tools
import writing
from harness import ROOT, equal

MAKE = """
import duckdb, json, sys
duckdb.sql(sys.argv[1])
table = duckdb.sql("FROM 'rows.parquet'")
print(json.dumps({"types": dict(zip(table.columns, map(str, table.types))), "rows": [dict(zip(table.columns, row)) for row in table.fetchall()]}))
"""


def documented():
    with open(os.path.join(ROOT, "docs", "operate", "fleet.md"), encoding="utf-8") as file:
        (sql,) = re.findall(r'(?m)^    duckdb -c "(.+)"$', file.read())
    return sql


def parquet(t, folder, *arguments):
    for at in range(3):
        done = t.run("index", *arguments, f"--shard={at}/3", f"--out={folder}/part-{at}.ndjson")
        equal(done.returncode, 0, done.stderr)
    return tools.ask(MAKE, documented(), folder=folder)


def test_parquet_has_the_rows_of_the_catalog(t, database):
    # Words that look like dates and numbers are words.
    labels = ("--label=job=2026-01-01", "--label=commit=12345678", "--label=user=1e5", "--label=is_last=true")
    made = parquet(t, t.folder("whole"), t.fixtures, *labels)
    writing.index(t, database, t.fixtures, *labels)
    kept = writing.by_id(writing.kept(database))
    rows = [{**row, "schema_version": row["schema_version"]} for row in made["rows"]]
    equal(writing.by_id(rows), kept)
    for name, kind in made["types"].items():
        equal(kind, "BIGINT" if name.endswith("_bytes") or name in ("schema_version", "failure") else "VARCHAR", name)
    # One file without most of it has the same types.
    t.write("one/h.xplane.pb", inputs.xspace({("jit_one", 5): inputs.hlo_proto("jit_one", 4)}))
    equal(parquet(t, t.folder("few"), t.folder())["types"], made["types"])
