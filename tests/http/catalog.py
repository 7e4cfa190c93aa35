# SPDX-License-Identifier: Apache-2.0
"""memviewd index: rows that say what explain says and add up, parts that make the whole, labels, and what cannot be
read."""

import csv
import io
import json
import os
import re

import inputs
from harness import ROOT, equal, loads


def index(t, *arguments, status=0, environ=None):
    command = ["env", *(f"{name}={value}" for name, value in (environ or {}).items()), t.binary, "index", *arguments]
    binary, t.binary = t.binary, command[0]
    try:
        process = t.run(*command[1:])
    finally:
        t.binary = binary
    equal(process.returncode, status, (arguments, process.stderr))
    return process


def rows_of(t, *arguments, **more):
    return [loads(line) for line in index(t, *arguments, **more).stdout.splitlines()]


def sum_of(row, prefix):
    values = [value for name, value in row.items() if re.fullmatch(prefix + r"_\w+_bytes", name)]
    return None if None in values else sum(values)


def test_a_row_says_what_explain_says(t):
    for path in ("programs/z-base", "dumps", "torch"):
        path = os.path.join(t.fixtures, path)
        rows = [row for row in rows_of(t, path) if row["kind"] == "module"]
        for row in rows[:6]:
            folder = os.path.dirname(os.path.join(row["logdir"], row["file"]))
            (told,) = [
                one["answer"]
                for one in loads(t.run("explain", "--json", "--module", row["module"], folder).stdout)
                if "answer" in one and one.get("session")
            ][:1] or [None]
            if told is None or row["session"] == "":
                continue
            equal(
                (
                    row["verdict"],
                    row["fits"],
                    row["cause"],
                    row["needed_bytes"],
                    row["capacity_bytes"],
                    row["over_bytes"],
                ),
                (
                    told["verdict"],
                    told["fits"],
                    told["cause"]["kind"],
                    told["fit"]["needed_bytes"],
                    told["fit"]["capacity_bytes"],
                    told["fit"]["over_bytes"],
                ),
                row["file"],
            )
            equal((row["fit_word"], row["fit_sentence"]), (told["fit"]["word"], told["fit"]["sentence"]), row["file"])
            equal(
                (row["advice"], row["advice_saves_bytes"]),
                (told["advice"][0]["title"], told["advice"][0]["saves_bytes"]) if told["advice"] else (None, None),
            )


def test_sums_balance(t):
    rows = rows_of(t, t.fixtures)
    equal({row["kind"] for row in rows}, {"module", "memory", "failure", "profiles"})
    for row in rows:
        equal(sum_of(row, "where"), row["where_bytes"], (row["file"], row["kind"]))
        if row["kind"] == "module" and sum_of(row, "category") is not None:
            equal(sum_of(row, "category"), row["where_bytes"], row["file"])
            equal(sum_of(row, "category") - row["category_rest_bytes"], row["peak_bytes"], row["file"])
    equal(len({row["id"] for row in rows}), len(rows), "ids")
    equal(sorted(row["id"] for row in rows_of(t, t.fixtures)), sorted(row["id"] for row in rows), "ids of another run")


def test_both_formats_have_the_same_rows_and_types(t):
    text = index(t, t.fixtures, "--format=csv").stdout
    table = list(csv.DictReader(io.StringIO(text, newline="")))
    rows = rows_of(t, t.fixtures)
    kinds = {}
    for row, line in zip(rows, table, strict=True):
        equal(list(row), list(line))
        for name, value in row.items():
            equal(
                "" if value is None else str(value),
                line[name].removeprefix("'") if str(value)[:1] in "=+-@" else line[name],
                name,
            )
            kinds.setdefault(name, set()).add(type(value))
    for name, seen in kinds.items():
        whole = name.endswith(("_bytes", "_count")) or name in ("schema_version", "failure")
        assert seen <= {int if whole else str, type(None)}, (name, seen)


def test_the_configuration_is_that_of_the_program_or_of_the_label(t):
    path = os.path.join(t.fixtures, "programs", "z-base")
    (row,) = rows_of(t, path)
    equal(row["configuration"], "1 device, batch 8x1024")
    (row,) = rows_of(t, "--label=configuration=v5e-64, long", path)
    equal((row["configuration"], loads(row["labels"])), ("v5e-64, long", {"configuration": "v5e-64, long"}))


def declared(t, form):
    """what --schema=FORM declares: {name: (type, may it be null)}"""
    text = index(t, f"--schema={form}").stdout
    if form == "arrow":
        (version,) = loads(text)["schema"]["metadata"]
        equal(version, {"key": "memviewd.schema_version", "value": "3"})
        return {
            one["name"]: (
                "int64" if one["type"] == {"name": "int", "bitWidth": 64, "isSigned": True} else one["type"]["name"],
                one["nullable"],
            )
            for one in loads(text)["schema"]["fields"]
        }
    if form == "bigquery":
        assert "version 3." in loads(text)[0]["description"], text[:200]
        return {one["name"]: (one["type"], one["mode"] == "NULLABLE") for one in loads(text)}
    if form == "json":
        schema = loads(text)
        equal((schema["required"], schema["properties"]["schema_version"]["const"]), (list(schema["properties"]), 3))
        return {
            name: (one["type"][0] if isinstance(one["type"], list) else one["type"], isinstance(one["type"], list))
            for name, one in schema["properties"].items()
        }
    assert text.startswith("-- Columns of memviewd index, version 3.\n"), text[:200]
    if form == "clickhouse":
        return {
            name: (
                kind.removeprefix("Nullable(").removesuffix(")") if kind.startswith("Nullable") else kind,
                kind.startswith("Nullable"),
            )
            for name, kind in re.findall(r"(?m)^    `(\w+)` (.+) COMMENT '", text)
        }
    return {
        name: (kind, not required) for name, kind, required in re.findall(r'(?m)^    "(\w+)" (\w+)( NOT NULL)?', text)
    }


# By form: a text, a number, a time, an object.
DECLARED = {
    "arrow": ("utf8", "int64", "timestamp", "utf8"),
    "bigquery": ("STRING", "INTEGER", "TIMESTAMP", "STRING"),
    "clickhouse": ("String", "Int64", "DateTime64(6, 'UTC')", "String"),
    "json": ("string", "integer", "string", "string"),
    "postgresql": ("text", "bigint", "timestamptz", "jsonb"),
}
ALWAYS = ("schema_version", "id", "file_id", "logdir", "file", "labels", "kind")


def test_schemas_have_the_columns_and_their_types(t):
    heads = index(t, t.fixtures, "--format=csv").stdout.splitlines()[0].split(",")
    for form, (text, number, time, labels) in DECLARED.items():
        told = declared(t, form)
        equal(list(told), heads, form)
        for name, (kind, is_nullable) in told.items():
            whole = name.endswith(("_bytes", "_count")) or name in ("schema_version", "failure")
            equal(kind, number if whole else {"modified_at": time, "labels": labels}.get(name, text), (form, name))
            equal(is_nullable, name not in ALWAYS, (form, name))
    assert "arrow, bigquery, clickhouse, json or postgresql" in index(t, "--schema=avro", status=2).stderr


# What BigQuery's documentation says of the schema and of the lines of a load job, as it runs only at Google.
BIGQUERY_MEMBERS = {"name", "type", "mode", "description"}  # of TableFieldSchema, those that a column of a kind needs
BIGQUERY_PREFIXES = ("_TABLE_", "_FILE_", "_PARTITION", "_ROW_TIMESTAMP", "__ROOT__", "_COLIDENTIFIER", "_CHANGE_")
BIGQUERY_VALUES = {
    "INTEGER": lambda value: type(value) is int and -(2**63) <= value < 2**63,
    "STRING": lambda value: isinstance(value, str),
    "TIMESTAMP": lambda value: re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?Z", value),
}


def test_bigquery_takes_the_schema_and_the_lines_as_documented(t):
    columns = loads(index(t, "--schema=bigquery").stdout)
    names = [column["name"] for column in columns]
    equal(len({name.lower() for name in names}), len(names), "names differ by more than case")
    assert len(names) <= 10000
    for column in columns:
        equal(set(column), BIGQUERY_MEMBERS, column)
        assert re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]{0,299}", column["name"]), column
        assert not column["name"].upper().startswith(BIGQUERY_PREFIXES), column
        assert column["type"] in BIGQUERY_VALUES and column["mode"] in ("REQUIRED", "NULLABLE"), column
        assert len(column["description"]) <= 1024, column
    lines = index(t, t.fixtures).stdout.splitlines()
    assert len(lines) > 100
    for line in lines:
        row = loads(line)
        equal(set(row), set(names))
        for column in columns:
            value = row[column["name"]]
            is_good = column["mode"] == "NULLABLE" if value is None else BIGQUERY_VALUES[column["type"]](value)
            assert is_good, (column, value)


def test_rows_keep_to_the_json_schema(t):
    schema = loads(index(t, "--schema=json").stdout)["properties"]
    equal(
        [name for name, one in schema.items() if not one["description"]],
        [],
        "columns without a description: server/fleet/catalog/rows_columns.def",
    )
    kinds = {"string": str, "integer": int, "null": type(None)}
    for row in rows_of(t, t.fixtures):
        equal(list(row), list(schema))
        for name, value in row.items():
            wanted = schema[name]["type"] if isinstance(schema[name]["type"], list) else [schema[name]["type"]]
            assert type(value) in [kinds[one] for one in wanted], (name, value)
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", row["modified_at"]), row["modified_at"]
        assert row["program_id"] is None or row["program_id"] == str(int(row["program_id"])), row["program_id"]


def test_every_column_is_documented(t):
    heads = index(t, t.fixtures, "--format=csv").stdout.splitlines()[0].split(",")
    equal(len(set(heads)), len(heads), "no name twice")
    with open(os.path.join(ROOT, "docs", "operate", "fleet.md"), encoding="utf-8") as file:
        told = re.findall(r"(?m)^\| `(.+?)` \|", file.read())
    told = [name for cell in told for name in cell.split("`, `")]
    families = [head for head in heads if re.match("(where|category|pattern)_.", head)]
    assert {"where_NAME_bytes", "category_NAME_bytes", "pattern_NAME_bytes"} <= set(told), told
    equal(
        [head for head in heads if head not in told and head not in families],
        [],
        "without a line in docs/operate/fleet.md",
    )


def test_shards_make_the_whole(t):
    whole = rows_of(t, t.fixtures)
    parts = [rows_of(t, t.fixtures, f"--shard={at}/3") for at in range(3)]
    assert all(parts), [len(part) for part in parts]
    equal(sorted(row["id"] for part in parts for row in part), sorted(row["id"] for row in whole))
    equal(
        sorted((row for part in parts for row in part), key=lambda row: row["id"]),
        sorted(whole, key=lambda row: row["id"]),
    )
    files = [{row["file"] for row in part} for part in parts]
    assert not files[0] & files[1] and not files[1] & files[2], "a file is of one part alone"


def test_many_sessions_are_read_side_by_side_and_told_in_one_order(t):
    for at in range(120):
        trace = inputs.xspace({("jit_train", 5): inputs.hlo_proto("jit_train", 4 + at % 7)})
        for host in range(at % 3 + 1):
            t.write(f"job{at % 4}/c{at}/plugins/profile/run/host{host}.xplane.pb", trace)
        t.write(f"job{at % 4}/c{at}/memviewd.json", json.dumps({"job": f"job{at % 4}", "commit": f"c{at}"}).encode())
    first = t.run("index", t.folder()).stdout
    for _ in range(3):
        assert t.run("index", t.folder()).stdout == first, "the same bytes each time"
    rows = [loads(line) for line in first.splitlines()]
    equal(len(rows), 240)
    for row in rows:
        equal((row["job"], row["commit"]), tuple(row["file"].split("/")[:2]), "labels of its own folder")
    one_alone = [row for folder in ("job1/c1", "job2/c2") for row in rows_of(t, os.path.join(t.folder(), folder))]
    beside = [row for row in rows if row["commit"] in ("c1", "c2")]
    for row in (*one_alone, *beside):
        for name in ("id", "file_id", "logdir", "file", "session", "session_id", "labels"):  # told by where it lies
            del row[name]
    equal(sorted(one_alone, key=json.dumps), sorted(beside, key=json.dumps))
    parts = [{os.path.dirname(row["file"]) for row in rows_of(t, t.folder(), f"--shard={at}/3")} for at in range(3)]
    equal(sum(map(len, parts)), 120, "hosts of a session are of one part")


def test_labels_and_which_of_them_counts(t):
    trace = inputs.xspace({("jit_one", 5): inputs.hlo_proto("jit_one", 4)})
    t.write("ann/bert-7/c0ffee/a.xplane.pb", trace)
    t.write("memviewd.json", b'{"job": "all", "team": "x", "lr": 0.001, "is_last": true}')
    t.write("ann/memviewd.json", b'{"job": "of ann"}')
    pattern = "--label-path={user}/{name}-{run}/{commit}"
    (row,) = rows_of(
        t, t.folder(), pattern, "--label=cluster=eu", environ={"MEMVIEWD_LABELS": "cluster=us,zone=a,job=none"}
    )
    equal(
        loads(row["labels"]),
        {
            "cluster": "eu",
            "commit": "c0ffee",
            "is_last": "true",
            "job": "of ann",
            "lr": "0.001",
            "name": "bert",
            "run": "7",
            "team": "x",
            "user": "ann",
            "zone": "a",
        },
    )
    equal((row["job"], row["commit"], row["user_name"]), ("of ann", "c0ffee", "ann"))
    (row,) = rows_of(t, t.folder(), "--label", "job=given", "--label", "job=later")
    equal(row["job"], "later")
    t.write("ann/memviewd.json", b'{"job": ["of ann"]}')
    broken, row = rows_of(t, t.folder())
    equal((broken["kind"], broken["error_code"], row["job"]), ("nothing", "malformed", "all"))
    assert broken["error"].startswith('ann/memviewd.json: "job" is no text'), broken["error"]


def test_folders_of_known_programs_are_labels(t):
    """MaxText, XPK, Levanter, TorchTitan, Lightning, Hugging Face's Trainer, TensorBoard; anything else said of a file
    comes first"""
    trace, proto = inputs.xspace({("jit_one", 5): inputs.hlo_proto("jit_one", 4)}), inputs.hlo_proto()
    module = "module_0001.jit_f.after_optimizations.hlo.pb"
    wanted = {
        "team/llama-7b/tensorboard/plugins/profile/2026_01_09/h.xplane.pb": {"job": "llama-7b"},
        f"dumps/bert-large-slice-job-0-3-x7k2p/{module}": {"job": "bert-large", "slice": "0", "worker": "3"},
        "logs/ab12cd/profiler/plugins/profile/2026_01_09/h.xplane.pb": {"job": "ab12cd"},
        "vision/lightning_logs/version_3/error.txt": {"job": "vision", "run": "version_3"},
        "sft/runs/Nov29_18-43-00_node7/error.txt": {"job": "sft", "run": "Nov29_18-43-00_node7"},
        "sft2/runs/first/error.txt": {},
        "exp/run4/plugins/profile/2026_01_09/h.xplane.pb": {"job": "exp", "run": "run4"},
        "alone/plugins/profile/2026_01_09/h.xplane.pb": {"job": "alone"},
        "plugins/profile/2026_01_09/h.xplane.pb": {},
        f"titan/memory_snapshot/iteration_5_exit/rank12_memory_snapshot/{module}": {
            "job": "titan",
            "step": "5_exit",
            "rank": "12",
        },
    }
    for path in wanted:
        t.write(
            path,
            proto
            if path.endswith(".hlo.pb")
            else trace
            if path.endswith(".xplane.pb")
            else b"RESOURCE_EXHAUSTED: Out of memory while trying to allocate 123456789 bytes.",
        )
    told = {row["file"]: loads(row["labels"]) for row in rows_of(t, t.folder())}
    equal(told, wanted)
    t.write("exp/memviewd.json", b'{"job": "said"}')
    told = {
        row["file"]: loads(row["labels"])
        for row in rows_of(
            t, t.folder(), "--label-path={team}/{name}/tensorboard", environ={"MEMVIEWD_LABELS": "job=all"}
        )
    }
    equal(told["exp/run4/plugins/profile/2026_01_09/h.xplane.pb"], {"job": "said", "run": "run4"})
    equal(told["alone/plugins/profile/2026_01_09/h.xplane.pb"], {"job": "all"})
    equal(
        told["team/llama-7b/tensorboard/plugins/profile/2026_01_09/h.xplane.pb"],
        {"team": "team", "name": "llama-7b", "job": "all"},
    )


def test_what_cannot_be_read_has_a_row(t):
    t.write("a/empty.xplane.pb", b"")
    t.write("b/cut.xplane.pb", inputs.xspace({("jit_one", 5): inputs.hlo_proto("jit_one", 4)})[:-20])
    t.write("c/good.xplane.pb", inputs.xspace({("jit_one", 5): inputs.hlo_proto("jit_one", 4)}))
    t.write("d/module_0000.jit_f.after_optimizations.hlo.pb", b"\xff" * 100)
    process = index(t, t.folder())
    rows = {row["file"]: row for row in map(loads, process.stdout.splitlines())}
    equal(
        set(rows),
        {"a/empty.xplane.pb", "b/cut.xplane.pb", "c/good.xplane.pb", "d/module_0000.jit_f.after_optimizations.hlo.pb"},
    )
    for name, row in rows.items():
        assert bool(row["error"]) == ("good" not in name), row
        assert row["error_code"] or row["verdict"], row
    assert "3 of them without a verdict" in process.stderr, process.stderr


def test_wrong_usage(t):
    for arguments, word in (
        (["--shard=3/3"], "--shard"),
        (["--shard=1"], "--shard"),
        (["--shard=-1/2"], "--shard"),
        (["--label=job"], "--label"),
        (["--label=9=a"], "--label"),
        (["--label-path=/a/{b}"], "--label-path"),
        (["--label-path=a/{b"], "--label-path"),
        (["--format=xml"], "--format"),
    ):
        assert word in index(t, t.fixtures, *arguments, status=2).stderr
    assert "PATH" in index(t, status=2).stderr
    assert "no such file" in index(t, "/nowhere", status=2).stderr
