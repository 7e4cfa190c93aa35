# SPDX-License-Identifier: Apache-2.0
"""Every reader has the same types and values, whatever the rows hold."""

import json
import os

import duckdb
import pandas
import polars
import pyarrow
import pyarrow.csv
import pyarrow.json
import pyarrow.parquet
from chdb import session

import inputs
from harness import equal

# Words that look like dates and numbers are words.
LABELS = (
    "--label=job=2026-01-01",
    "--label=commit=12345678",
    "--label=user=1e5",
    "--label=is_last=true",
    "--label=quote='\"\\\n",
)
HUGE = 2**64 - 1


def tree(t):
    """fixtures have texts, figures and sentences of every kind; one program has the largest id"""
    t.write("one/h.xplane.pb", inputs.xspace({("jit_one", HUGE): inputs.hlo_proto("jit_one", 4)}))
    t.write('odd "name",\n\t/error.txt', b"RESOURCE_EXHAUSTED: Out of memory while trying to allocate 123456789 bytes.")
    t.write(
        b"bytes \xff\xfe/module_0001.jit_f.after_optimizations.hlo.pb".decode(errors="surrogateescape"),
        inputs.hlo_proto(),
    )
    return (t.fixtures, t.folder(), *LABELS)


def made(t, form, *arguments):
    path = os.path.join(t.folder("made"), f"rows.{form}")
    done = t.run("index", f"--format={form}", f"--out={path}", *arguments)
    equal(done.returncode, 0, done.stderr)
    return path


def rows_of(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def printed(t, form):
    return t.run("index", f"--schema={form}").stdout


def arrow_schema(t):
    types = {"utf8": pyarrow.string(), "int": pyarrow.int64(), "timestamp": pyarrow.timestamp("us", "UTC")}
    return pyarrow.schema(
        [
            pyarrow.field(one["name"], types[one["type"]["name"]], one["nullable"])
            for one in json.loads(printed(t, "arrow"))["schema"]["fields"]
        ]
    )


def as_lines(rows):
    """values of a reader as NDJSON has them"""
    for row in rows:
        row["modified_at"] = row["modified_at"] and row["modified_at"].strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    return rows


def without_metadata(schema):
    return schema.remove_metadata()


def test_parquet_is_the_lines_for_every_reader(t):
    arguments = tree(t)
    rows = rows_of(made(t, "ndjson", *arguments))
    assert any(row["program_id"] == str(HUGE) for row in rows), "the largest id"
    path = made(t, "parquet", *arguments)
    table = pyarrow.parquet.read_table(path)
    table.validate(full=True)
    equal(without_metadata(table.schema), without_metadata(arrow_schema(t)))
    equal(table.schema.metadata[b"memviewd.schema_version"], b"3")
    equal(as_lines(table.to_pylist()), rows)
    found = duckdb.sql(
        f"SELECT * REPLACE (strftime(modified_at AT TIME ZONE 'UTC', '%Y-%m-%dT%H:%M:%S.%fZ') AS modified_at) FROM "
        f"'{path}'"
    )
    equal([dict(zip(found.columns, row)) for row in found.fetchall()], rows)
    equal(as_lines(polars.read_parquet(path).to_dicts()), rows)
    frame = pandas.read_parquet(path, dtype_backend="pyarrow")
    equal({str(kind) for kind in frame.dtypes}, {"string[pyarrow]", "int64[pyarrow]", "timestamp[us, tz=UTC][pyarrow]"})
    equal(as_lines(frame.astype(object).where(frame.notna(), None).to_dict("records")), rows)


def test_types_are_the_same_whatever_the_rows_hold(t):
    whole = pyarrow.parquet.read_schema(made(t, "parquet", *tree(t)))
    t.write("few/h.xplane.pb", inputs.xspace({("jit_one", 5): inputs.hlo_proto("jit_one", 4)}))
    few = pyarrow.parquet.read_table(made(t, "parquet", os.path.join(t.folder(), "few")))
    equal((few.schema, few.num_rows), (whole, 1))
    os.makedirs(os.path.join(t.folder("empty"), "nothing"))
    none = made(t, "parquet", t.folder("empty"))
    equal((pyarrow.parquet.read_schema(none), pyarrow.parquet.read_metadata(none).num_rows), (whole, 0))
    equal(duckdb.sql(f"SELECT count(*) FROM '{none}'").fetchall(), [(0,)])
    equal(polars.read_parquet(none).height, 0)


# Of the types of Parquet, as BigQuery's documentation says what becomes of them.
BIGQUERY_TYPES = {
    ("INT64", "None"): "INTEGER",
    ("BYTE_ARRAY", "String"): "STRING",
    ("INT64", "Timestamp(isAdjustedToUTC=true, timeUnit=microseconds"): "TIMESTAMP",
}


def test_parquet_has_the_types_of_the_bigquery_schema(t):
    columns = pyarrow.parquet.ParquetFile(made(t, "parquet", t.fixtures)).schema
    told = []
    for at in range(len(columns)):
        column = columns.column(at)
        kind = (column.physical_type, str(column.logical_type).split(", is_from")[0])
        mode = "NULLABLE" if column.max_definition_level else "REQUIRED"
        told.append((column.name, BIGQUERY_TYPES.get(kind, kind), mode))
    wanted = [(one["name"], one["type"], one["mode"]) for one in json.loads(printed(t, "bigquery"))]
    equal(told, wanted)


def test_shards_are_one_table(t):
    arguments = tree(t)
    whole = pyarrow.parquet.read_table(made(t, "parquet", *arguments))
    for at in range(3):
        done = t.run(
            "index", "--format=parquet", f"--shard={at}/3", f"--out={t.folder('parts')}/part-{at}.parquet", *arguments
        )
        equal(done.returncode, 0, done.stderr)
    parts = f"{t.folder('parts')}/part-*.parquet"
    equal(sorted(duckdb.sql(f"SELECT id FROM '{parts}'").fetchall()), sorted((row["id"],) for row in whole.to_pylist()))
    equal(polars.read_parquet(parts).height, whole.num_rows)


def test_lines_with_the_printed_schema_have_its_types(t):
    arguments = tree(t)
    path = made(t, "ndjson", *arguments)
    rows, schema = rows_of(path), arrow_schema(t)
    # pyarrow reads times of lines as texts of ISO 8601 when it is told their type.
    table = pyarrow.json.read_json(path, parse_options=pyarrow.json.ParseOptions(explicit_schema=schema))
    equal([field.type for field in table.schema], [field.type for field in schema])
    equal(as_lines(table.to_pylist()), rows)
    types = {
        name: str if "string" in one["type"] else "Int64"
        for name, one in json.loads(printed(t, "json"))["properties"].items()
    }
    types.pop("modified_at")
    frame = pandas.read_json(path, lines=True, dtype=types)
    equal(str(frame.dtypes["modified_at"]), "datetime64[us, UTC]")
    equal(
        [value for value in frame["program_id"] if isinstance(value, str)],
        [row["program_id"] for row in rows if row["program_id"]],
    )
    polar = polars.read_ndjson(
        path,
        schema={
            name: polars.String if kind is str else polars.Int64 for name, kind in {**types, "modified_at": str}.items()
        },
    )
    equal(polar["program_id"].to_list(), [row["program_id"] for row in rows])
    found = duckdb.sql(f"DESCRIBE SELECT * FROM read_json('{path}')").fetchall()
    equal({name: kind for name, kind, *_ in found}["modified_at"], "TIMESTAMP WITH TIME ZONE")


def test_clickhouse_takes_its_schema_and_both_formats(t):
    arguments = tree(t)
    rows = rows_of(made(t, "ndjson", *arguments))
    server = session.Session()
    try:
        for name, form, settings in (
            ("rows.parquet", "Parquet", ""),
            ("rows.ndjson", "JSONEachRow", "SETTINGS date_time_input_format = 'best_effort'"),
        ):
            path = made(t, name.split(".")[1], *arguments)
            server.query("DROP TABLE IF EXISTS memviewd_rows")
            server.query(printed(t, "clickhouse"))
            server.query(f"INSERT INTO memviewd_rows SELECT * FROM file('{path}', {form}) {settings}")
            told = server.query(
                "SELECT * REPLACE (formatDateTime(modified_at, '%Y-%m-%dT%H:%i:%S.%fZ') AS modified_at) FROM "
                "memviewd_rows "
                "SETTINGS output_format_json_quote_64bit_integers = 0",
                "JSONEachRow",
            )
            equal(
                {row["id"]: row for row in map(json.loads, str(told).splitlines())},
                {row["id"]: row for row in rows},
                form,
            )
    finally:
        server.close()


def test_a_file_that_was_not_finished_is_refused(t):
    path = made(t, "parquet", *tree(t))
    with open(path, "rb") as file:
        whole = file.read()
    for length in (0, 4, len(whole) // 2, len(whole) - 1):
        with open(path, "wb") as file:
            file.write(whole[:length])
        try:
            pyarrow.parquet.read_table(path)
        except (pyarrow.ArrowInvalid, OSError):
            continue
        raise AssertionError(f"{length} bytes are read")
