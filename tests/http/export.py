# SPDX-License-Identifier: Apache-2.0
"""memviewd export: rows that add up, answers as the API gives them, one page without anything from elsewhere."""

import csv
import io
import os
import re

import inputs
from harness import equal, loads


def program(t, name="z-base"):
    return os.path.join(t.fixtures, "programs", name)


def export(t, *arguments, status=0):
    process = t.run("export", *arguments)
    equal(process.returncode, status, process.stderr)
    return process.stdout


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text, newline="")))


def test_rows_at_the_peak_add_up(t):
    rows = rows_of(export(t, program(t), "--format=csv"))
    summary = loads(t.run("summary", "--json", program(t)).stdout)["sessions"][0]["modules"][0]["summary"]["data"]
    for space in summary["spaces"]:
        own = [row for row in rows if row["space"] == str(space["space"])]
        peak = [
            row
            for row in own
            if not row["born_step"]
            or int(row["born_step"]) <= int(row["peak_step"])
            and (not row["dies_step"] or int(row["dies_step"]) > int(row["peak_step"]))
        ]
        equal(sum(int(row["size_bytes"]) for row in peak), space["peak_bytes"], space["name"])
        equal({row["space_name"] for row in own}, {space["name"]})
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", row["modified_at"]) for row in rows)
    assert all(re.fullmatch(r"\d*", row[name]) for row in rows for name in row if name.endswith(("_bytes", "_step")))


def test_both_formats_have_the_same_rows(t):
    path = program(t)
    rows = rows_of(export(t, path, "--format=csv"))
    objects = [loads(line) for line in export(t, path, "--format=ndjson").splitlines()]
    equal(len(objects), len(rows))
    equal(list(objects[0]), list(rows[0]))
    for row, one in zip(rows, objects):
        equal(row, {name: "" if value is None else str(value) for name, value in one.items()})
    equal(
        {name: type(value) for name, value in objects[0].items() if name in ("id", "size_bytes", "space", "op_name")},
        {"space": int, "id": str, "size_bytes": int, "op_name": str},
    )


def test_tables_of_the_api_are_lines_too(t):
    """the same rows as the CSV, numbers as numbers, and each member of one type"""
    daemon = t.serve(program(t), os.path.join(t.fixtures, "memprof"))
    ids = {row["name"]: row["id"] for row in daemon.get_json("/api/v1/sessions")["sessions"]}
    for view, question in (
        ("memory_viewer/buffers", f"session={ids['z-base']}"),
        ("memory_viewer/groups", f"session={ids['z-base']}&by=whose"),
        ("device_memory/series", f"session={ids['memprof']}"),
        ("modules/table", f"session={ids['z-base']}"),
    ):
        rows = rows_of(daemon.ask(f"/api/v1/{view}?{question}&format=csv").text)
        answer = daemon.ask(f"/api/v1/{view}?{question}&format=ndjson")
        equal((answer.status, answer.headers["content-type"]), (200, "application/x-ndjson"), view)
        objects = [loads(line) for line in answer.text.splitlines()]
        equal((len(objects), list(objects[0])), (len(rows), list(rows[0])), view)
        for name in objects[0]:
            kinds = {str if isinstance(one[name], str) else float for one in objects if one[name] is not None}
            assert len(kinds) < 2, (view, name, kinds)
        equal(
            [one.get("size_bytes", "") for one in objects],
            [int(row["size_bytes"]) if row.get("size_bytes") else "" for row in rows],
            view,
        )


def test_modules_stand_below_one_head(t):
    path = t.write(
        "run.xplane.pb",
        inputs.xspace(
            {
                ("jit_one", 5): inputs.hlo_proto("jit_one", 4),
                ('jit_two, "too"\n', 6): inputs.hlo_proto('jit_two, "too"\n', 6),
            }
        ),
    )
    text = export(t, path, "--format=csv")
    equal({row["module"] for row in rows_of(text)}, {"jit_one", 'jit_two, "too"\n'})
    equal(text.count("session,module,"), 1)
    equal({row["module"] for row in rows_of(export(t, path, "--format=csv", "--module=jit_one"))}, {"jit_one"})
    names = {loads(line)["module"] for line in export(t, path, "--format=ndjson").splitlines()}
    equal(names, {"jit_one", 'jit_two, "too"\n'})


def test_json_has_the_answers_of_the_api(t):
    daemon = t.serve(program(t))
    session = daemon.get_json("/api/v1/sessions")["sessions"][0]["id"]
    (module,) = loads(export(t, program(t), "--format=json"))["modules"]
    for view, params in (
        ("summary", {}),
        ("curve", {"stack": "category"}),
        ("strips", {}),
        ("whose", {}),
        ("groups", {"by": "whose", "limit": 1000}),
        ("buffers", {"limit": 1000}),
    ):
        equal(module[view], daemon.get_json(f"/api/v1/memory_viewer/{view}", session=session, **params), view)
    equal(module["failure"], None)


def test_a_failure_beside_the_module_is_told(t):
    (module,) = loads(export(t, os.path.join(t.fixtures, "demo", "b-activations-unrolled"), "--format=json"))["modules"]
    equal((module["failure"]["title"], module["failure"]["over_text"]), ("TPU compile-time OOM (E1000)", "17.74 GiB"))


def test_the_page_is_one_file_that_asks_for_nothing(t):
    out = os.path.join(t.folder(), "report.html")
    equal(export(t, program(t), "--out", out), "")
    with open(out, encoding="utf-8") as file:
        page = file.read()
    assert "default-src 'none'" in page
    equal(re.findall(r"<(?:script|link|img|iframe)[^>]* (?:src|href)=", page), [])
    equal([mark for mark in ("<!-- styles -->", "<!-- answers -->", "<!-- scripts -->") if mark in page], [])
    answers = loads(re.search(r'id="answers">(.*?)</script>', page, re.S)[1])
    equal([module["module"] for module in answers["modules"]], ["jit_train_step"])
    equal(len(re.findall(r"</script>", page)), 3)


def test_what_cannot_be_exported_is_refused(t):
    text = t.write("notes", b"only text\n" * 20)
    path = program(t)
    for arguments in (
        (),
        (path, path),
        ("/no/such",),
        (text,),
        (path, "--format=xml"),
        (path, "--module=nothing"),
        (path, "--out=/no/such/folder/file"),
    ):
        process = t.run("export", *arguments)
        equal((process.returncode, process.stdout), (2, ""), arguments)
        assert process.stderr, arguments


def test_what_could_not_be_read_stands_beside_the_rest(t):
    whole = inputs.hlo_proto()
    t.write("mixed/module_0001.jit_one.after_optimizations.hlo.pb", whole)
    folder = os.path.dirname(t.write("mixed/module_0002.jit_two.after_optimizations.hlo.pb", whole[: len(whole) // 2]))
    (lost,) = loads(export(t, folder, "--format=json"))["not_read"]
    equal(lost["file"], "module_0002.jit_two.after_optimizations.hlo.pb")
    assert lost["reason"] and lost["offset_bytes"], lost
    page = export(t, folder, "--format=html")
    answers = loads(re.search(r'id="answers">(.*?)</script>', page, re.S)[1])
    equal([len(answers["modules"]), answers["not_read"]], [1, [lost]])
    t.write("named/module_0001.jit_one.after_optimizations.hlo.pb", whole)
    t.write("named/a</script><b>/module_0002.jit_two.after_optimizations.hlo.pb", whole[: len(whole) // 2])
    page = export(t, os.path.join(os.path.dirname(folder), "named"), "--format=html")
    assert "a</script>" not in page and loads(re.search(r'id="answers">(.*?)</script>', page, re.S)[1])["not_read"][0][
        "file"
    ].startswith("a<")
