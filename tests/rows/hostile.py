# SPDX-License-Identifier: Apache-2.0
"""The worst values, and more rows than one row group holds."""

import subprocess

import duckdb
import polars
import pyarrow.compute
import pyarrow.parquet

from harness import equal

TEXTS = ["", "a\0b", "'\"\\,;\r\n\t", "\U0001f600", "NULL", "PAR1"]
INTEGERS = [0, -(2**63), 2**63 - 1, -1, 2**53 + 1]
TIMES = [0, -62135596800000000, 253402300799999999, 1700000000123456]  # the years 1 and 9999
GROUP_ROWS = 1 << 17


def wanted(count):
    return {
        "number": list(range(count)),
        "text": [None if at % 7 == 6 else TEXTS[at % len(TEXTS)] for at in range(count)],
        "word": ["w"] * count,
        "integer": [None if at % 3 == 2 else INTEGERS[at % len(INTEGERS)] for at in range(count)],
        "time": [TIMES[at % len(TIMES)] for at in range(count)],
        "nothing": [None] * count,
    }


def made(t, count):
    path = f"{t.folder('hostile')}/{count}.parquet"
    with open(path, "wb") as out:
        subprocess.run([t.hostile, str(count)], stdout=out, check=True)
    return path


def test_hostile_values_come_back(t):
    for count in (0, 1, 2, 1000):
        path, rows = made(t, count), wanted(count)
        table = pyarrow.parquet.read_table(path)
        table.validate(full=True)
        table = table.set_column(4, "time", table["time"].cast("int64"))
        equal(table.to_pydict(), rows, count)
        equal(
            polars.read_parquet(path).with_columns(polars.col("time").dt.epoch("us")).to_dict(as_series=False),
            rows,
            count,
        )
        found = duckdb.sql(f"SELECT * REPLACE (epoch_us(time) AS time) FROM '{path}'")
        equal([list(column) for column in zip(*found.fetchall())] or [[]] * 6, list(rows.values()), count)


def test_row_groups_have_figures_that_readers_skip_by(t):
    count = 2 * GROUP_ROWS + 5
    path, rows = made(t, count), wanted(count)
    metadata = pyarrow.parquet.read_metadata(path)
    equal([metadata.row_group(at).num_rows for at in range(metadata.num_row_groups)], [GROUP_ROWS, GROUP_ROWS, 5])
    for at in range(3):
        figures = metadata.row_group(at).column(0).statistics
        equal(
            (figures.min, figures.max, figures.null_count), (at * GROUP_ROWS, min((at + 1) * GROUP_ROWS, count) - 1, 0)
        )
    equal(
        pyarrow.parquet.read_table(path, columns=["number", "text"]).to_pydict(),
        {"number": rows["number"], "text": rows["text"]},
    )
    equal(
        duckdb.sql(f"SELECT count(*), sum(number) FROM '{path}' WHERE number >= {GROUP_ROWS}").fetchall(),
        [(GROUP_ROWS + 5, sum(range(GROUP_ROWS, count)))],
    )
    equal(
        polars.scan_parquet(path).filter(polars.col("number") > count - 3).collect()["number"].to_list(),
        [count - 2, count - 1],
    )
