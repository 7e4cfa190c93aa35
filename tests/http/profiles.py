# SPDX-License-Identifier: Apache-2.0
"""Device profiles: found by content, given, subtracted, in a series; memviewd top."""
import csv
import gzip
import hashlib
import io
import os
import subprocess
import urllib.parse

import inputs
from harness import FIXTURES, equal, loads

PROTO = os.path.join(os.path.dirname(FIXTURES), "..", "proto")
USER = ("f", "/home/me/train.py", 3)
JAX = ("apply_primitive", "/opt/lib/python3.11/site-packages/jax/_src/dispatch.py", 9)


def sample(size, count=1, place=USER):
    return ((JAX, place), (count, count * size), {"kind": "buffer", "device": "d:0"})


def view(daemon, name, **params):
    return daemon.get_json(f"/api/v1/device_memory/{name}", **params)["data"]


def session_of(daemon, name):
    return daemon.sessions()[name]["id"]


def test_a_session_without_a_trace_is_told_for_what_it_holds(t):
    """memory over time is not in it; what is named is what is there, not programs of the compiler"""
    t.write("run/memory1.prof", inputs.profile([sample(100)]))
    daemon = t.serve(t.folder())
    reason = daemon.get_json("/api/v1/memory_profile/summary", session=session_of(daemon, "run"))["data"]["reason"]
    equal(reason["code"], "not_a_trace")
    assert "this session holds device profiles" in reason["text"] and "compiler" not in reason["text"], reason


def test_profiles_are_found_by_content_and_in_the_order_of_people(t):
    for at in (1, 2, 10):
        t.write(f"run/memory{at}.prof", inputs.profile([sample(100 * at)]))
    t.write("run/heap.pb.gz", gzip.compress(inputs.profile([sample(1)])))
    t.write("run/notes.prof", b"# no profile\n")
    t.write("run/saved_model.pb", b"\x0a\x05model")
    daemon = t.serve(t.folder())
    listed = daemon.get_json(f"/api/v1/sessions/{session_of(daemon, 'run')}/profiles")["profiles"]
    equal([row["name"] for row in listed], ["heap.pb.gz", "memory1.prof", "memory2.prof", "memory10.prof"])
    left_out = daemon.get_json("/api/v1/sessions")["not_read"]
    equal([(row["file"], row["code"]) for row in left_out], [("run/notes.prof", "unsupported")])


def test_profiles_that_cannot_be_read_are_told_apart(t):
    """why one of a series cannot be read is told of the file as it is, not as it was when it was asked first"""
    path, whole = "run/memory2.prof", inputs.profile([sample(100 * at) for at in range(1, 9)])
    for at in (1, 2, 3):
        t.write(f"run/memory{at}.prof", whole)
    daemon = t.serve(t.folder())
    session, reasons = session_of(daemon, "run"), set()
    for bytes_left in (whole[:-3], b"", b"# no profile"):
        t.write(path, bytes_left)
        reasons.add(view(daemon, "series", session=session)["left_out"][0]["reason"])
    equal(len(reasons), 3, reasons)


def test_profiles_named_one_by_one_are_a_series(t):
    paths = [t.write(f"{at}/memory{at}.prof", inputs.profile([sample(100 * at)])) for at in (1, 2, 3)]
    daemon = t.serve(*paths)
    rows = [row for row in daemon.get_json("/api/v1/sessions")["sessions"] if row["kind"] == "profiles"]
    equal([row["profile_count"] for row in rows], [3])
    data = view(daemon, "series", session=rows[0]["id"])
    equal([(site["callee"], site["verdict"], site["values"]) for site in data["sites"]], [("apply_primitive", "grows", [100, 200, 300])])


def test_a_profile_without_bytes_ends_nothing(t):
    """profiles of processor time or goroutines hold no memory: each answer says so, and files beside them are read"""
    for name, types in {"cpu": (("samples", "count"), ("cpu", "nanoseconds")), "go": (("goroutine", "count"),)}.items():
        values = range(len(types))
        t.write(f"{name}/{name}.prof", inputs.profile([((USER,), values, {})], types))
    t.write("good/memory.prof", inputs.profile([sample(100)]))
    daemon = t.serve(t.folder())
    expected = {"cpu": "cpu.prof counts nanoseconds, not bytes.",
                "go": 'go.prof has values of type "goroutine", not bytes.'}
    for name, sentence in expected.items():
        verdict = daemon.get_json("/api/v1/verdict", session=session_of(daemon, name))
        assert sentence in verdict["cause"]["text"], verdict["cause"]
        done = t.run("explain", os.path.join(t.folder(), name, f"{name}.prof"))
        equal(done.returncode, 0, done)
        assert sentence in done.stdout, done
    daemon.get_json("/api/v1/fleet/summary")
    rows = [loads(line) for line in t.run("index", t.folder()).stdout.splitlines()]
    equal(len(rows), 3, rows)
    with open(os.path.join(t.folder(), "cpu", "cpu.prof"), "rb") as file:
        given = daemon.ask("/api/v1/uploads?name=cpu.prof", "POST", {"Content-Type": "application/octet-stream"}, file.read())
    assert given.status == 201, given
    assert daemon.is_alive()


def test_a_series_leaves_out_what_does_not_fit(t):
    for at in (1, 2, 3):
        t.write(f"memory{at}.prof", inputs.profile([sample(100)]))
    t.write("memory4.prof", inputs.profile([((USER,), (5,), {})], types=(("cpu", "samples"),)))
    t.write("memory5.prof", inputs.profile([sample(100)])[:-2])
    daemon = t.serve(t.folder())
    session = next(row["id"] for row in daemon.get_json("/api/v1/sessions")["sessions"])
    data = view(daemon, "series", session=session)
    equal([row["name"] for row in data["profiles"]], ["memory1.prof", "memory2.prof", "memory3.prof"])
    equal({row["name"]: row["code"] for row in data["left_out"]}, {"memory4.prof": "sample_types", "memory5.prof": "truncated"})
    assert '"allocations"' in data["left_out"][0]["reason"] and "memory1.prof" in data["left_out"][0]["reason"], data["left_out"]
    equal(data["verdict_counts"]["steady"], 1)


def test_a_series_in_different_units_is_told_in_the_finest(t):
    place = (USER,)
    made = [((1, 2), (("allocations", "count"), ("space", "kB"))), ((3072, 1), (("space", "bytes"), ("allocations", "count"))),
            ((1, 1, 9), (("allocations", "count"), ("space", "mb"), ("more", "count"))), ((7, 7), (("allocations", "count"), ("space", "count")))]
    for at, (values, types) in enumerate(made):
        t.write(f"memory{at + 1}.prof", inputs.profile([(place, values, {})], types=types))
    daemon = t.serve(t.folder())
    data = view(daemon, "series", session=daemon.get_json("/api/v1/sessions")["sessions"][0]["id"], metric="space")
    equal([row["name"] for row in data["left_out"]], ["memory4.prof"])
    equal(data["metric"]["unit"], "bytes")
    equal([site["values"] for site in data["sites"]], [[2048, 3072, 1 << 20]])
    equal([(row["total"], row["count"]) for row in data["profiles"]], [(2048, 1), (3072, 1), (1 << 20, 1)])


def test_of_two_alike_columns_each_is_summed_with_its_like(t):
    types = (("space", "bytes"), ("space", "bytes"), ("allocations", "count"))
    for at in (1, 2):
        t.write(f"memory{at}.prof", inputs.profile([((USER,), (100 * at, 7, 1), {})], types=types))
    daemon = t.serve(t.folder())
    session = daemon.get_json("/api/v1/sessions")["sessions"][0]["id"]
    ids = [row["id"] for row in daemon.get_json(f"/api/v1/sessions/{session}/profiles")["profiles"]]
    equal(view(daemon, "summary", session=session, profile=ids[0], metric="space")["total"], 100)
    both = daemon.get_json(f"/api/v1/device_memory/summary?session={session}&profile={ids[0]}&profile={ids[1]}&metric=space")
    equal(both["data"]["total"], 300)
    equal(view(daemon, "summary", session=session, profile=ids[0], base=ids[1], metric="space", subtract=1)["total"], -100)
    half = view(daemon, "summary", session=session, profile=ids[0], base=ids[1], metric="space", subtract=1, normalize=1)
    equal(half["total"], 0, "scaled by 200 / 100")


def test_a_series_is_what_is_numbered_alike(t):
    for name in ("memory.prof", "memory-large.prof", "memory1.prof", "memory2.prof", "memory10.prof", "other-1.prof", "other-2.prof"):
        t.write(name, inputs.profile([sample(100)]))
    daemon = t.serve(t.folder())
    session = next(row["id"] for row in daemon.get_json("/api/v1/sessions")["sessions"])
    answer = daemon.get_json("/api/v1/device_memory/series", session=session)
    equal([row["name"] for row in answer["data"]["profiles"]], ["memory1.prof", "memory2.prof", "memory10.prof"])
    left_out = answer["data"]["left_out"]
    equal({row["code"] for row in left_out}, {"not_chosen"})
    equal(sorted(row["name"] for row in left_out), ["memory-large.prof", "memory.prof", "other-1.prof", "other-2.prof"])
    equal([(note["code"], note["count"]) for note in answer["notes"]], [("not_chosen", 4)])
    chosen = view(daemon, "series", session=session, profile=left_out[0]["id"])
    equal([row["name"] for row in chosen["profiles"]], [left_out[0]["name"]])


def test_the_series_among_other_profiles_tells_the_leak(t):
    daemon = t.serve(os.path.join(FIXTURES, "memprof"))
    session = next(row["id"] for row in daemon.get_json("/api/v1/sessions")["sessions"] if row["kind"] == "profiles")
    sites = view(daemon, "series", session=session)["sites"]
    first = sites[0]
    equal((first["frame"]["function"], first["callee"], first["verdict"]), ("anotherfunc", "normal", "grows"))
    equal((first["values"][0], first["values"][-1]), (40000, 1800000))
    equal({site["verdict"] for site in sites if site["frame"]["function"] == "afunction"}, {"steady"})


def test_of_equally_large_frames_as_many_are_drawn_as_fit(t):
    lines = [("f", "/home/me/train.py", at) for at in range(1, 101)]
    samples = [((line, ("step", "/home/me/train.py", 500), ("main", "/home/me/train.py", 600)), (1, 64), {}) for line in lines]
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
    samples = [((callee, caller), (1, 10 + callee[2]), {}) for caller in places for callee in places if callee != caller]
    t.write("m.prof", inputs.profile(samples))
    daemon = t.serve(t.folder())
    session = next(iter(daemon.sessions().values()))["id"]
    data = view(daemon, "graph", session=session, trim=0)
    equal((data["node_count"], data["edge_count"], len(data["edges"])), (150, 22350, 20000))
    equal((data["dropped_node_count"], data["dropped_edge_count"]), (0, 2350))
    equal(min(edge["value"] for edge in data["edges"]), 26)


def test_a_given_profile_is_known_by_its_hash_and_never_written(t):
    daemon = t.serve(t.write("x/a.log", b"RESOURCE_EXHAUSTED: Out of memory allocating 5 bytes.\n"))
    profile = inputs.profile([sample(64, 2)])
    answer = daemon.ask("/api/v1/profiles?name=m.prof", "POST", {"Content-Type": "application/octet-stream"}, profile)
    equal((answer.status, answer.json["id"]), (201, hashlib.sha256(profile).hexdigest()))
    data = view(daemon, "buffers", profile=answer.json["id"])
    equal([(row["each"], row["count"], row["total"]) for row in data["rows"]], [(64, 2, 128)])
    equal(daemon.ask(f"/api/v1/device_memory/top?profile={'0' * 64}").status, 404)


def decoded(profile):
    """[(values, [(function, file, line) leaf first], {label: text or number})] of a profile, as protoc reads it"""
    text = subprocess.run(["protoc", f"-I{PROTO}", "--decode=perftools.profiles.Profile", "profile.proto"], input=profile,
                          stdout=subprocess.PIPE, check=True).stdout.decode()
    root = {}
    open_messages = [root]
    for line in text.splitlines():
        name, _, value = line.strip().partition(": ")
        if line.endswith("{"):
            message = {}
            open_messages[-1].setdefault(line.split()[0], []).append(message)
            open_messages.append(message)
        elif name == "}":
            open_messages.pop()
        else:
            open_messages[-1].setdefault(name, []).append(value)

    def number(message, name):
        return int(message.get(name, ["0"])[0])

    strings = [text[1:-1] for text in root["string_table"]]
    functions = {number(row, "id"): row for row in root.get("function", [])}
    locations = {}
    for row in root.get("location", []):
        lines = [(functions[number(line, "function_id")], number(line, "line")) for line in row.get("line", [])]
        locations[row["id"][0]] = [(strings[number(function, "name")], strings[number(function, "filename")], line) for function, line in lines]
    samples = [([int(value) for value in row["value"]],
                [place for at in row.get("location_id", []) for place in locations[at]],
                {strings[number(label, "key")]: strings[number(label, "str")] if "str" in label else number(label, "num") for label in row.get("label", [])})
               for row in root.get("sample", [])]
    types = [(strings[number(row, "type")], strings[number(row, "unit")]) for row in root["sample_type"]]
    return types, samples


def profile_of(daemon, **params):
    answer = daemon.ask("/api/v1/device_memory/profile?" + urllib.parse.urlencode(params, doseq=True))
    equal((answer.status, answer.headers["content-type"]), (200, "application/vnd.google.protobuf+gzip"), answer)
    return decoded(gzip.decompress(answer.body))


def test_a_profile_is_given_back_as_it_was(t):
    folder = os.path.join(FIXTURES, "memprof")
    daemon = t.serve(folder)
    (session,) = [row["id"] for row in daemon.sessions().values()]
    rows = daemon.get_json(f"/api/v1/sessions/{session}/profiles")["profiles"]
    equal(len(rows) >= 11, True)
    for row in rows:
        with gzip.open(os.path.join(folder, row["name"])) as file:
            equal(profile_of(daemon, session=session, profile=row["id"]), decoded(file.read()), row["name"])
    equal(daemon.ask(f"/api/v1/device_memory/profile?session={session}&by=file").status, 400)


def test_a_narrowed_profile_sums_to_what_the_views_say(t):
    daemon = t.serve(os.path.join(FIXTURES, "memprof"))
    (session,) = [row["id"] for row in daemon.sessions().values()]
    ids = {row["name"]: row["id"] for row in daemon.get_json(f"/api/v1/sessions/{session}/profiles")["profiles"]}
    one, nine = ids["memory1.prof"], ids["memory9.prof"]
    for params in ({}, {"focus": "anotherfunc"}, {"ignore": "anotherfunc"}, {"hide": "/jax/"}, {"show": "func"}, {"show_from": "^afunction"},
                   {"tag": "kind=buffer"}, {"machinery": 0}, {"base": one}, {"base": one, "subtract": 1}, {"base": one, "normalize": 1}):
        types, samples = profile_of(daemon, session=session, profile=nine, **params)
        equal(types, [("allocations", "count"), ("space", "bytes")])
        known = sum(values[1] for values, _, _ in samples if values[1] != -values[0] or values[0] == 0)
        equal(known, view(daemon, "summary", session=session, profile=nine, **params)["total"], params)
        equal(any(labels.get("pprof::base") == "true" for _, _, labels in samples), "base" in params and "subtract" not in params, params)
        rows = {(row["frame"]["function"], row["frame"]["file"], row["frame"]["line"]): row["self"]
                for row in view(daemon, "top", session=session, profile=nine, limit=1000, **{"machinery": 1, **params})["rows"] if row["self"]}
        selfs = {}
        for values, stack, _ in samples:
            if values[1] != -values[0]:
                selfs[stack[0]] = selfs.get(stack[0], 0) + values[1]
        equal({place: value for place, value in selfs.items() if value}, rows, params)
        files = {place[1] for _, stack, _ in samples for place in stack}
        equal(any("/jax/" in file for file in files), not {"hide", "show", "machinery"} & set(params), params)
    _, samples = profile_of(daemon, session=session, profile=[one, nine])
    equal(sum(values[1] for values, _, _ in samples), sum(view(daemon, "summary", session=session, profile=each)["total"] for each in (one, nine)))


def test_a_difference_says_what_is_new_and_what_is_gone(t):
    old, new = ("old", "/home/me/a.py", 1), ("new", "/home/me/a.py", 2)
    t.write("memory1.prof", inputs.profile([sample(100), sample(40, place=old)]))
    t.write("memory2.prof", inputs.profile([sample(160), sample(30, place=new)]))
    daemon = t.serve(t.folder())
    session = next(iter(daemon.sessions().values()))["id"]
    one, two = (row["id"] for row in daemon.get_json(f"/api/v1/sessions/{session}/profiles")["profiles"])
    data = view(daemon, "top", session=session, profile=two, base=one)
    equal((data["total"], data["percent_base"], data["is_diff"]), (50, 140, True))
    equal({row["frame"]["function"]: (row["self"], row["change"]) for row in data["rows"]},
          {"f": (60, "grown"), "old": (-40, "gone"), "new": (30, "new")})


def test_buffers_of_a_difference_cancel(t):
    same, leak = ("same", "/home/me/a.py", 1), ("leak", "/home/me/a.py", 2)
    t.write("memory1.prof", inputs.profile([sample(4000, 2, same), sample(10, 1, leak), sample(900, 1)]))
    t.write("memory2.prof", inputs.profile([sample(4000, 2, same), sample(10, 1, leak), sample(20, 9, leak)]))
    daemon = t.serve(t.folder())
    session = next(iter(daemon.sessions().values()))["id"]
    one, two = [row["id"] for row in daemon.get_json(f"/api/v1/sessions/{session}/profiles")["profiles"]]
    data = view(daemon, "buffers", session=session, profile=two, base=one)
    equal([(row["frame"]["function"], row["total"], row["before_total"], row["before_count"], row["count"], row["each"], row["is_base"]) for row in data["rows"]],
          [("f", -900, 900, 1, -1, None, True), ("leak", 180, 10, 1, 9, None, False), ("same", 0, 8000, 2, 0, None, False)])
    equal((data["percent_base"], data["total"], data["matched_total"]), (8910, -720, -720))
    equal("before_total" in view(daemon, "buffers", session=session, profile=two)["rows"][0], False)


def test_what_a_line_called_is_named_and_no_wrapper(t):
    def stack(*names):
        return (*[(name, JAX[1], 9) for name in names], USER)

    called = {"asarray": ("array", "asarray", "__call__"), "normal": ("cache_miss", "reraise_with_filtered_traceback", "normal"),
              None: ("wrapper", "_run_python_pjit", "cache_miss", "reraise_with_filtered_traceback")}
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
    hidden = (".env", ".env.py", ".git/config", ".ssh/id_rsa", "id_rsa", "key.pem", ".venv/lib/a.py", "me/.secret/b.py", "settings.yaml",
              "data.csv", "py", "me/.py", "x.py.bak", "a.sqlite")
    shown = ("train.py", "stub.pyi", "kernel.cu", "me/ops.cc", "me/ops.h", "note.ipynb", "x.y/model.jl", "lib.rs", "main.go")
    for path in (*hidden, *shown):
        t.write(f"src/{path}", b"secret = 1\n")
    t.write("profiles/memory.prof", inputs.profile([sample(100)]))
    for name, target in (("linked/key.py", "../id_rsa"), ("linked/config.py", "../.git/config.py"), ("linked/away.py", "../../profiles/a.py"),
                         ("linked/good.py", "../me/../train.py"), ("other", "me")):
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
    base, path = t.write("a.prof", inputs.profile([sample(100)])), t.write("b.prof", gzip.compress(inputs.profile([sample(300)])))
    rows = list(csv.reader(io.StringIO(t.run("top", path, "--machinery", "--csv").stdout)))
    equal(rows[0], ["flat", "flat_percent", "cum", "cum_percent", "unit", "name"])
    equal(rows[1], ["300", "100", "300", "100", "bytes", f"{JAX[0]} {JAX[1]}:9"])
    equal([row[5] for row in csv.reader(io.StringIO(t.run("top", path, "--machinery", "--csv", "--by=function", "--limit=1").stdout))][1:], ["apply_primitive"])
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
        return [(row[0], row[5]) for row in list(csv.reader(io.StringIO(t.run("top", path, "--csv", *words).stdout)))[1:]]

    equal(shown(), [("300", "f /home/me/train.py:3"), ("40", "(no user frame)")])
    equal(shown("--machinery"), [("300", f"{JAX[0]} {JAX[1]}:9"), ("40", f"wrapper {JAX[1]}:12"), ("0", "f /home/me/train.py:3")])
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
        equal(lines, text[first - 1:first - 1 + len(lines)], line)
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
    made = {"bytes": ("bytes", "ns", 2048, 3000000), "kB": ("kB", "us", 2, 3000), "Kilobytes": ("Kilobytes", "milliseconds", 2, 3)}
    for name, (size_unit, time_unit, size, time) in made.items():
        types = (("space", size_unit), ("held", time_unit))
        t.write(f"{name}/memory.prof", inputs.profile([(place, (size, time), {})], types=types))
    t.write("other/memory.prof", inputs.profile([(place, (7, 9), {})], types=(("space", "count"), ("held", "GCU"))))
    t.write("huge/memory.prof", inputs.profile([(place, (1 << 62, 1), {})], types=(("space", "pb"), ("held", "ns"))))
    daemon = t.serve(t.folder())
    ids = {}
    for name in (*made, "other", "huge"):
        answer = daemon.ask("/api/v1/profiles?name=m", "POST", {"Content-Type": "application/octet-stream"},
                            open(os.path.join(t.folder(), name, "memory.prof"), "rb").read())
        ids[name] = answer.json["id"]

    def total(metric, *names, **params):
        query = "&".join([f"profile={ids[name]}" for name in names] + [f"{key}={value}" for key, value in params.items()])
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
