# SPDX-License-Identifier: Apache-2.0
"""The views of device profiles: differences, callers, lines of source; memviewd top."""

import csv
import gzip
import io
import os

import inputs
from harness import equal, loads
from profiles import JAX, USER, sample, session_of, view


def test_of_equally_large_frames_as_many_are_drawn_as_fit(t):
    lines = [("f", "/home/me/train.py", at) for at in range(1, 101)]
    samples = [
        ((line, ("step", "/home/me/train.py", 500), ("main", "/home/me/train.py", 600)), (1, 64), {}) for line in lines
    ]
    t.write("m.prof", inputs.profile(samples))
    daemon = t.serve(t.folder())
    session = next(iter(daemon.sessions().values()))["id"]
    for budget in (1, 2, 10, 102, 5000):
        data = view(daemon, "flame", session=session, nodes=budget)
        count = min(budget, 102)
        equal(data["nodes"]["depth"], [0, *([1, 2] + [3] * 100)[:count]])
        equal(data["left_out"]["node_count"], 102 - count)
        equal(data["left_out"]["below"] > 0, count < 102)
        equal(data, view(daemon, "flame", session=session, nodes=budget))


def test_a_call_graph_of_too_many_edges_keeps_the_heaviest(t):
    places = [("f", "/home/me/train.py", at) for at in range(1, 151)]
    samples = [
        ((callee, caller), (1, 10 + callee[2]), {}) for caller in places for callee in places if callee != caller
    ]
    t.write("m.prof", inputs.profile(samples))
    daemon = t.serve(t.folder())
    session = next(iter(daemon.sessions().values()))["id"]
    data = view(daemon, "graph", session=session, trim=0)
    equal((data["node_count"], data["edge_count"], len(data["edges"])), (150, 22350, 20000))
    equal((data["dropped_node_count"], data["dropped_edge_count"]), (0, 2350))
    equal(min(edge["value"] for edge in data["edges"]), 26)


def test_buffers_of_a_difference_cancel(t):
    same, leak = ("same", "/home/me/a.py", 1), ("leak", "/home/me/a.py", 2)
    t.write("memory1.prof", inputs.profile([sample(4000, 2, same), sample(10, 1, leak), sample(900, 1)]))
    t.write("memory2.prof", inputs.profile([sample(4000, 2, same), sample(10, 1, leak), sample(20, 9, leak)]))
    daemon = t.serve(t.folder())
    session = next(iter(daemon.sessions().values()))["id"]
    one, two = [row["id"] for row in daemon.get_json(f"/api/v1/sessions/{session}/profiles")["profiles"]]
    data = view(daemon, "buffers", session=session, profile=two, base=one)
    equal(
        [
            (
                row["frame"]["function"],
                row["total"],
                row["before_total"],
                row["before_count"],
                row["count"],
                row["each"],
                row["is_base"],
            )
            for row in data["rows"]
        ],
        [
            ("f", -900, 900, 1, -1, None, True),
            ("leak", 180, 10, 1, 9, None, False),
            ("same", 0, 8000, 2, 0, None, False),
        ],
    )
    equal((data["percent_base"], data["total"], data["matched_total"]), (8910, -720, -720))
    equal("before_total" in view(daemon, "buffers", session=session, profile=two)["rows"][0], False)


def test_what_a_line_called_is_named_and_no_wrapper(t):
    def stack(*names):
        return (*[(name, JAX[1], 9) for name in names], USER)

    called = {
        "asarray": ("array", "asarray", "__call__"),
        "normal": ("cache_miss", "reraise_with_filtered_traceback", "normal"),
        None: ("wrapper", "_run_python_pjit", "cache_miss", "reraise_with_filtered_traceback"),
    }
    t.write("a.prof", inputs.profile([(stack(*names), (1, 100), {"kind": "buffer"}) for names in called.values()]))
    daemon = t.serve(t.folder())
    session = next(iter(daemon.sessions().values()))["id"]
    equal({row["callee"] for row in view(daemon, "buffers", session=session)["rows"]}, set(called))


def test_top_counts_buffers_and_executables_apart(t):
    t.write("a.prof", inputs.profile([sample(64, 3), ((USER,), (5, -5), {"kind": "executable", "device": "d:0"})]))
    daemon = t.serve(t.folder())
    (row,) = view(daemon, "top", session=next(iter(daemon.sessions().values()))["id"])["rows"]
    equal((row["count"], row["executable_count"], row["total"]), (3, 5, 192))


def test_a_broken_expression_is_looked_for_as_it_stands(t):
    t.write("memory.prof", inputs.profile([sample(100), sample(7, place=("g(x", "/home/me/a.py", 1))]))
    daemon = t.serve(t.folder())
    session = next(iter(daemon.sessions().values()))["id"]
    data = view(daemon, "top", session=session, focus="g(x")
    equal(data["total"], 7)
    equal((data["filters"][0]["is_literal"], data["filters"][0]["fault_at"]), (True, 1))
    data = view(daemon, "top", session=session, focus="ff")
    equal((data["total"], data["filters"][0]["nearest"]), (0, "f"))


def test_hostile_stacks_are_answered(t):
    deep = [(f"f{at % 7}", "/home/me/a.py", at % 11) for at in range(10_000)]
    t.write("deep/memory.prof", inputs.profile([(deep, (1, 100), {}), (deep[::-1], (1, -50), {})]))
    daemon = t.serve(t.folder())
    session = session_of(daemon, "deep")
    for name in ("summary", "flame", "graph", "top", "buffers", "traces", "tags", "series"):
        equal(daemon.ask(f"/api/v1/device_memory/{name}?session={session}").status, 200, name)
    notes = daemon.get_json("/api/v1/device_memory/top", session=session)["notes"]
    equal([note["code"] for note in notes], ["negative_value"])


def test_source_lines_come_only_from_below_a_named_folder(t):
    t.write("src/me/train.py", "import jax\nx = 1\n".encode())
    t.write("secret.txt", b"secret")
    t.write("profiles/memory.prof", inputs.profile([sample(100)]))
    daemon = t.serve(f"--source-root={os.path.join(t.folder(), 'src')}", os.path.join(t.folder(), "profiles"))
    answer = daemon.get_json("/api/v1/source", file="/home/me/train.py")
    equal((answer["is_available"], answer["found"], answer["lines"]), (True, "me/train.py", ["import jax", "x = 1"]))
    for path in ("../secret.txt", "/src/../secret.txt", os.path.join(t.folder(), "secret.txt"), "me"):
        equal(daemon.get_json("/api/v1/source", file=path)["is_available"], False, path)


def test_source_lines_are_those_of_source_files(t):
    """not of keys, settings or what hides behind a dot"""
    hidden = (
        ".env",
        ".env.py",
        ".git/config",
        ".ssh/id_rsa",
        "id_rsa",
        "key.pem",
        ".venv/lib/a.py",
        "me/.secret/b.py",
        "settings.yaml",
        "data.csv",
        "py",
        "me/.py",
        "x.py.bak",
        "a.sqlite",
    )
    shown = (
        "train.py",
        "stub.pyi",
        "kernel.cu",
        "me/ops.cc",
        "me/ops.h",
        "note.ipynb",
        "x.y/model.jl",
        "lib.rs",
        "main.go",
    )
    for path in (*hidden, *shown):
        t.write(f"src/{path}", b"secret = 1\n")
    t.write("profiles/memory.prof", inputs.profile([sample(100)]))
    for name, target in (
        ("linked/key.py", "../id_rsa"),
        ("linked/config.py", "../.git/config.py"),
        ("linked/away.py", "../../profiles/a.py"),
        ("linked/good.py", "../me/../train.py"),
        ("other", "me"),
    ):
        path = t.write(f"src/{name}", b"")
        os.remove(path)
        os.symlink(target, path)
    for path in ("src/.git/config.py", "profiles/a.py"):
        t.write(path, b"secret = 1\n")
    hidden += ("linked/key.py", "linked/config.py", "linked/away.py")
    shown += ("linked/good.py", "other/ops.cc")
    daemon = t.serve(f"--source-root={os.path.join(t.folder(), 'src')}", os.path.join(t.folder(), "profiles"))
    for paths, is_shown in ((hidden, False), (shown, True)):
        for path in paths:
            for file in (path, f"/home/me/{path}", f"./{path}"):
                answer = daemon.get_json("/api/v1/source", file=file)
                equal((answer["is_available"], bool(answer["lines"])), (is_shown, is_shown), file)
                equal(answer["reason"] is None, is_shown, file)


def test_top_prints_text_csv_and_json(t):
    base, path = (
        t.write("a.prof", inputs.profile([sample(100)])),
        t.write("b.prof", gzip.compress(inputs.profile([sample(300)]))),
    )
    rows = list(csv.reader(io.StringIO(t.run("top", path, "--machinery", "--csv").stdout)))
    equal(rows[0], ["flat", "flat_percent", "cum", "cum_percent", "unit", "name"])
    equal(rows[1], ["300", "100", "300", "100", "bytes", f"{JAX[0]} {JAX[1]}:9"])
    equal(
        [
            row[5]
            for row in csv.reader(
                io.StringIO(t.run("top", path, "--machinery", "--csv", "--by=function", "--limit=1").stdout)
            )
        ][1:],
        ["apply_primitive"],
    )
    data = loads(t.run("top", path, "--base", base, "--json").stdout)["data"]
    equal([(row["frame"]["function"], row["self"]) for row in data["rows"]], [("f", 200)])
    assert "300 B" in t.run("top", path, "--focus=^f$").stdout
    equal(t.run("top", path, "--focus=(").returncode, 2)
    equal(t.run("top").returncode, 2)
    broken = t.run("top", t.write("c.prof", b"hello\n"))
    equal((broken.returncode, "not a profile" in broken.stderr), (2, True))


def test_top_opens_with_the_lines_of_the_user(t):
    below_jax = sample(300)
    jax_alone = ((("wrapper", JAX[1], 12),), (1, 40), {"kind": "buffer"})
    path = t.write("a.prof", inputs.profile([below_jax, jax_alone]))

    def shown(*words):
        return [
            (row[0], row[5]) for row in list(csv.reader(io.StringIO(t.run("top", path, "--csv", *words).stdout)))[1:]
        ]

    equal(shown(), [("300", "f /home/me/train.py:3"), ("40", "(no user frame)")])
    equal(
        shown("--machinery"),
        [("300", f"{JAX[0]} {JAX[1]}:9"), ("40", f"wrapper {JAX[1]}:12"), ("0", "f /home/me/train.py:3")],
    )
    words = "frames of JAX and Python count for the line that called them"
    equal((words in t.run("top", path).stdout, words in t.run("top", path, "--machinery").stdout), (True, False))


def test_of_a_long_source_file_the_lines_around_one_are_shown(t):
    text = [f"line {at} " + "x" * (at % 90) for at in range(1, 120001)]
    t.write("src/long.py", "\n".join(text).encode() + b"\n")
    t.write("src/short.py", b"one\ntwo")
    t.write("src/one.py", b"y" * (5 << 20))
    t.write("src/wide.py", b"a" * (600 << 10) + b"\nb\nc\n" + b"z" * (3 << 20) + b"\nfive\nsix\n")
    daemon = t.serve(f"--source-root={os.path.join(t.folder(), 'src')}", t.folder())
    short = daemon.get_json("/api/v1/source", file="short.py", line=2)
    equal((short["first_line"], short["is_cut"], short["lines"]), (1, False, ["one", "two"]))
    for line in (1, 50, 20000, 60000, 119999, 120000, 999999):
        answer = daemon.get_json("/api/v1/source", file="/home/me/long.py", line=line)
        first, lines = answer["first_line"], answer["lines"]
        equal((answer["is_available"], answer["is_cut"]), (True, True), line)
        equal(lines, text[first - 1 : first - 1 + len(lines)], line)
        wanted = min(line, len(text))
        assert first <= wanted < first + len(lines), (line, first, len(lines))
        assert len("\n".join(lines)) <= 2 << 20
    one = daemon.get_json("/api/v1/source", file="one.py")
    equal((one["is_cut"], one["cut_line"], len(one["lines"]), one["first_line"]), (True, 1, 1, 1))
    for line, cut_line, last in ((1, None, 3), (4, 4, 4), (5, None, 6), (6, None, 6)):
        answer = daemon.get_json("/api/v1/source", file="wide.py", line=line)
        equal((answer["cut_line"], answer["first_line"] + len(answer["lines"]) - 1), (cut_line, last), line)
        assert answer["first_line"] <= line
        assert not cut_line or set(answer["lines"][-1]) == {"z"}
    for wrong in ("0", "-1", "x", "99999999999", "1.5"):
        equal(daemon.ask(f"/api/v1/source?file=short.py&line={wrong}").status, 400, wrong)


def test_units_that_differ_are_told_in_the_finer_one(t):
    place = (USER,)
    made = {
        "bytes": ("bytes", "ns", 2048, 3000000),
        "kB": ("kB", "us", 2, 3000),
        "Kilobytes": ("Kilobytes", "milliseconds", 2, 3),
    }
    for name, (size_unit, time_unit, size, time) in made.items():
        types = (("space", size_unit), ("held", time_unit))
        t.write(f"{name}/memory.prof", inputs.profile([(place, (size, time), {})], types=types))
    t.write("other/memory.prof", inputs.profile([(place, (7, 9), {})], types=(("space", "count"), ("held", "GCU"))))
    t.write("huge/memory.prof", inputs.profile([(place, (1 << 62, 1), {})], types=(("space", "pb"), ("held", "ns"))))
    daemon = t.serve(t.folder())
    ids = {}
    for name in (*made, "other", "huge"):
        answer = daemon.ask(
            "/api/v1/profiles?name=m",
            "POST",
            {"Content-Type": "application/octet-stream"},
            open(os.path.join(t.folder(), name, "memory.prof"), "rb").read(),
        )
        ids[name] = answer.json["id"]

    def total(metric, *names, **params):
        query = "&".join(
            [f"profile={ids[name]}" for name in names] + [f"{key}={value}" for key, value in params.items()]
        )
        return daemon.get_json(f"/api/v1/device_memory/summary?metric={metric}&{query}")["data"]["total"]

    equal(total("space", "kB"), 2)
    equal(total("space", "kB", "bytes"), 4096)
    equal(total("space", "Kilobytes", "kB", "bytes"), 6144)
    equal(total("held", "Kilobytes", "kB"), 6000)
    equal(total("held", "Kilobytes", "bytes"), 6000000)
    equal(total("space", "kB", base=ids["bytes"]), 0)
    equal(total("space", "huge", "bytes"), (1 << 63) - 1)
    refused = daemon.ask(f"/api/v1/device_memory/summary?profile={ids['other']}&profile={ids['kB']}")
    equal((refused.status, refused.json["code"]), (400, "argument"))


def test_top_names_what_a_folder_holds_and_cannot_be_read(t):
    folder = os.path.dirname(t.write("heap/empty.prof", b""))
    process = t.run("top", folder)
    equal(process.returncode, 2)
    assert "empty.prof: is empty" in process.stderr and "no device profile" not in process.stderr, process.stderr
