# SPDX-License-Identifier: Apache-2.0
"""Device profiles: found by content, given, in a series, given back as pprof reads them."""

import gzip
import hashlib
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
    equal(
        [(site["callee"], site["verdict"], site["values"]) for site in data["sites"]],
        [("apply_primitive", "grows", [100, 200, 300])],
    )


def test_a_profile_without_bytes_ends_nothing(t):
    """profiles of processor time or goroutines hold no memory: each answer says so, and files beside them are read"""
    for name, types in {"cpu": (("samples", "count"), ("cpu", "nanoseconds")), "go": (("goroutine", "count"),)}.items():
        values = range(len(types))
        t.write(f"{name}/{name}.prof", inputs.profile([((USER,), values, {})], types))
    t.write("good/memory.prof", inputs.profile([sample(100)]))
    daemon = t.serve(t.folder())
    expected = {
        "cpu": "cpu.prof counts nanoseconds, not bytes.",
        "go": 'go.prof has values of type "goroutine", not bytes.',
    }
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
        given = daemon.ask(
            "/api/v1/uploads?name=cpu.prof", "POST", {"Content-Type": "application/octet-stream"}, file.read()
        )
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
    equal(
        {row["name"]: row["code"] for row in data["left_out"]},
        {"memory4.prof": "sample_types", "memory5.prof": "truncated"},
    )
    assert '"allocations"' in data["left_out"][0]["reason"] and "memory1.prof" in data["left_out"][0]["reason"], data[
        "left_out"
    ]
    equal(data["verdict_counts"]["steady"], 1)


def test_a_series_in_different_units_is_told_in_the_finest(t):
    place = (USER,)
    made = [
        ((1, 2), (("allocations", "count"), ("space", "kB"))),
        ((3072, 1), (("space", "bytes"), ("allocations", "count"))),
        ((1, 1, 9), (("allocations", "count"), ("space", "mb"), ("more", "count"))),
        ((7, 7), (("allocations", "count"), ("space", "count"))),
    ]
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
    both = daemon.get_json(
        f"/api/v1/device_memory/summary?session={session}&profile={ids[0]}&profile={ids[1]}&metric=space"
    )
    equal(both["data"]["total"], 300)
    equal(
        view(daemon, "summary", session=session, profile=ids[0], base=ids[1], metric="space", subtract=1)["total"], -100
    )
    half = view(
        daemon, "summary", session=session, profile=ids[0], base=ids[1], metric="space", subtract=1, normalize=1
    )
    equal(half["total"], 0, "scaled by 200 / 100")


def test_a_series_is_what_is_numbered_alike(t):
    for name in (
        "memory.prof",
        "memory-large.prof",
        "memory1.prof",
        "memory2.prof",
        "memory10.prof",
        "other-1.prof",
        "other-2.prof",
    ):
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
    text = subprocess.run(
        ["protoc", f"-I{PROTO}", "--decode=perftools.profiles.Profile", "profile.proto"],
        input=profile,
        stdout=subprocess.PIPE,
        check=True,
    ).stdout.decode()
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
        locations[row["id"][0]] = [
            (strings[number(function, "name")], strings[number(function, "filename")], line) for function, line in lines
        ]
    samples = [
        (
            [int(value) for value in row["value"]],
            [place for at in row.get("location_id", []) for place in locations[at]],
            {
                strings[number(label, "key")]: strings[number(label, "str")] if "str" in label else number(label, "num")
                for label in row.get("label", [])
            },
        )
        for row in root.get("sample", [])
    ]
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
    for params in (
        {},
        {"focus": "anotherfunc"},
        {"ignore": "anotherfunc"},
        {"hide": "/jax/"},
        {"show": "func"},
        {"show_from": "^afunction"},
        {"tag": "kind=buffer"},
        {"machinery": 0},
        {"base": one},
        {"base": one, "subtract": 1},
        {"base": one, "normalize": 1},
    ):
        types, samples = profile_of(daemon, session=session, profile=nine, **params)
        equal(types, [("allocations", "count"), ("space", "bytes")])
        known = sum(values[1] for values, _, _ in samples if values[1] != -values[0] or values[0] == 0)
        equal(known, view(daemon, "summary", session=session, profile=nine, **params)["total"], params)
        equal(
            any(labels.get("pprof::base") == "true" for _, _, labels in samples),
            "base" in params and "subtract" not in params,
            params,
        )
        rows = {
            (row["frame"]["function"], row["frame"]["file"], row["frame"]["line"]): row["self"]
            for row in view(daemon, "top", session=session, profile=nine, limit=1000, **{"machinery": 1, **params})[
                "rows"
            ]
            if row["self"]
        }
        selfs = {}
        for values, stack, _ in samples:
            if values[1] != -values[0]:
                selfs[stack[0]] = selfs.get(stack[0], 0) + values[1]
        equal({place: value for place, value in selfs.items() if value}, rows, params)
        files = {place[1] for _, stack, _ in samples for place in stack}
        equal(any("/jax/" in file for file in files), not {"hide", "show", "machinery"} & set(params), params)
    _, samples = profile_of(daemon, session=session, profile=[one, nine])
    equal(
        sum(values[1] for values, _, _ in samples),
        sum(view(daemon, "summary", session=session, profile=each)["total"] for each in (one, nine)),
    )


def test_a_difference_says_what_is_new_and_what_is_gone(t):
    old, new = ("old", "/home/me/a.py", 1), ("new", "/home/me/a.py", 2)
    t.write("memory1.prof", inputs.profile([sample(100), sample(40, place=old)]))
    t.write("memory2.prof", inputs.profile([sample(160), sample(30, place=new)]))
    daemon = t.serve(t.folder())
    session = next(iter(daemon.sessions().values()))["id"]
    one, two = (row["id"] for row in daemon.get_json(f"/api/v1/sessions/{session}/profiles")["profiles"])
    data = view(daemon, "top", session=session, profile=two, base=one)
    equal((data["total"], data["percent_base"], data["is_diff"]), (50, 140, True))
    equal(
        {row["frame"]["function"]: (row["self"], row["change"]) for row in data["rows"]},
        {"f": (60, "grown"), "old": (-40, "gone"), "new": (30, "new")},
    )
