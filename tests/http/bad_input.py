# SPDX-License-Identifier: Apache-2.0
"""Inputs that are cut, broken, empty, of another kind, or meant to hurt: each gets an answer or an error
that names file, place and reason, and the rest still works."""

import bz2
import gzip
import json
import lzma
import marshal
import os
import random
import struct
import subprocess
import sys

import inputs
from harness import ROOT, equal, loads

TRACE = inputs.trace("jit_good", 7)
CODES = {"malformed", "truncated", "unsupported", "limit", "memory", "notfound", "argument", "io", "changed"}


def ask_all(daemon, name):
    """everything about a session; {view: answer}"""
    session = daemon.session_id(name)
    answers = {
        "session": daemon.ask(f"/api/v1/sessions/{session}"),
        "modules": daemon.ask(f"/api/v1/sessions/{session}/modules"),
    }
    for view in ("summary", "curve", "strips", "buffers", "live_range", "xprof"):
        answers[view] = daemon.ask(f"/api/v1/memory_viewer/{view}?session={session}")
    for what, answer in answers.items():
        assert answer.status in (200, 404, 413, 422), (name, what, answer)
        loads(answer.text)
        if answer.status != 200:
            assert answer.json["code"] in CODES and answer.json["detail"], (name, what, answer)
    return answers


def write_run(t, name, data):
    return t.write(f"plugins/profile/{name}/h.xplane.pb", data)


def serve_with_a_good_one(t):
    write_run(t, "good", TRACE)
    return t.serve(t.folder())


def check_the_good_one(daemon):
    equal(ask_all(daemon, "good")["summary"].json["data"]["module"]["name"], "jit_good")
    equal(daemon.ask("/module_list?run=good").text, "jit_good(7)")


def test_an_empty_trace_is_named(t):
    write_run(t, "empty", b"")
    daemon = serve_with_a_good_one(t)
    problem = daemon.get_json("/api/v1/sessions")["not_read"][0]
    equal((problem["file"], problem["code"]), ("plugins/profile/empty/h.xplane.pb", "truncated"))
    assert "empty" in problem["reason"], problem
    ask_all(daemon, "empty")
    check_the_good_one(daemon)


def test_a_trace_cut_at_any_byte(t):
    step = max(1, len(TRACE) // 60)
    cuts = list(range(1, len(TRACE), step))
    for at in cuts:
        write_run(t, f"cut{at:05}", TRACE[:at])
    daemon = serve_with_a_good_one(t)
    for at in cuts:
        answers = ask_all(daemon, f"cut{at:05}")
        modules = answers["modules"]
        if modules.status == 200 and not modules.json["modules"]:
            assert modules.json["notes"], (at, modules)
        offset = answers["summary"].json.get("offset_bytes")
        assert offset is None or offset <= at, (at, answers["summary"])
    check_the_good_one(daemon)


def test_a_cut_trace_says_where(t):
    write_run(t, "cut", inputs.trace("jit_x", 1, 8, padding=1000)[:-10])
    daemon = serve_with_a_good_one(t)
    modules = ask_all(daemon, "cut")["modules"]
    text = json.dumps(modules.json)
    assert "h.xplane.pb" in text and ("cut" in text or "truncated" in text), text


def test_a_trace_that_is_cut_before_its_programs_is_truncated(t):
    """not 404: that it holds no program, or no memory event, is not known"""
    write_run(t, "cut", inputs.trace("jit_x", 1, 8, padding=1000)[:40])
    daemon = serve_with_a_good_one(t)
    answers = ask_all(daemon, "cut")
    equal([note["code"] for note in answers["modules"].json["notes"]], ["cut"])
    session = daemon.session_id("cut")
    for path in (
        f"/api/v1/memory_viewer/summary?session={session}",
        f"/api/v1/memory_profile/timeline?session={session}",
    ):
        answer = daemon.ask(path)
        equal((answer.status, answer.json["code"]), (422, "truncated"), path)
        assert answer.json["file"].endswith("cut/h.xplane.pb") and answer.json["offset_bytes"] <= 40, answer


def test_flipped_bytes(t):
    chosen = random.Random(7)
    for at in range(60):
        data = bytearray(TRACE)
        for _ in range(1 + at % 4):
            data[chosen.randrange(len(data))] ^= 1 << chosen.randrange(8)
        write_run(t, f"flip{at:02}", bytes(data))
    daemon = serve_with_a_good_one(t)
    for at in range(60):
        ask_all(daemon, f"flip{at:02}")
    check_the_good_one(daemon)


def test_files_of_another_kind(t):
    kinds = {
        "text": b"hello\n" * 100,
        "zeros": bytes(5000),
        "json": b'{"a": [1, 2]}',
        "elf": b"\x7fELF" + bytes(200),
        "png": b"\x89PNG\r\n\x1a\n" + bytes(100),
        "noise": random.Random(1).randbytes(5000),
        "utf8": "naïve ünïcode ".encode() * 50,
    }
    for name, data in kinds.items():
        write_run(t, name, data)
        t.write(f"dump-{name}/module_0001.jit_f.after_optimizations.hlo.pb", data)
    daemon = serve_with_a_good_one(t)
    for name in kinds:
        answers = ask_all(daemon, name)
        assert answers["summary"].status in (404, 422), (name, answers["summary"])
        answers = ask_all(daemon, f"dump-{name}")
        assert answers["summary"].status in (404, 422), (name, answers["summary"])
        equal(answers["summary"].json["file"], f"dump-{name}/module_0001.jit_f.after_optimizations.hlo.pb", name)
    check_the_good_one(daemon)


def test_the_wrong_kind_named_by_the_user_is_said(t):
    path = t.write("notes.bin", b"\xff\x00\x01" * 50)
    daemon = t.serve(path, write_run(t, "good", TRACE))
    problems = daemon.get_json("/api/v1/sessions")["not_read"]
    equal([(row["file"], row["code"]) for row in problems], [("notes.bin", "unsupported")])


def test_a_file_that_is_known_and_not_read_is_named_as_what_it_is(t):
    """with what to open instead, alone and in a folder, where it is not told as absent"""
    log = b"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.\n"
    kinds = (
        ("job.log.xz", lzma.compress(log), "compressed by xz"),
        ("job.log.bz2", bz2.compress(log), "compressed by bzip2"),
        ("job.log.zst", b"\x28\xb5\x2f\xfd" + bytes(40), "compressed by Zstandard"),
        ("job.log.lz4", b"\x04\x22\x4d\x18" + bytes(40), "compressed by LZ4"),
        ("job.tar.7z", b"7z\xbc\xaf\x27\x1c" + bytes(40), "7z archive"),
        ("job.rar", b"Rar!\x1a\x07\x01" + bytes(40), "RAR archive"),
        ("report.sqlite", b"SQLite format 3\0" + bytes(84), "SQLite database"),
        ("weights.h5", b"\x89HDF\r\n\x1a\n" + bytes(40), "HDF5 file"),
        (
            "events.out.tfevents.1",
            struct.pack("<QI", 24, 7) + b"\x09" + bytes(8) + b"\x1a\x0dbrain.Event:2",
            "TensorBoard",
        ),
        ("step.prof", marshal.dumps({("a.py", 1, "f"): (1, 1, 0.0, 0.0, {})}), "cProfile"),
    )
    for name, data, words in kinds:
        path = t.write("each/" + name, data)
        for command in ("explain", "summary"):
            done = t.run(command, path)
            equal(done.returncode, 2, (command, name, done.stdout, done.stderr))
            assert words in done.stderr and name in done.stderr, (command, name, done.stderr)
    t.write("folder/job.log.xz", kinds[0][1])
    t.write("folder/other.tar.xz", kinds[0][1])
    daemon = serve_with_a_good_one(t)
    problems = [row for row in daemon.get_json("/api/v1/sessions")["not_read"] if row["file"].startswith("folder/")]
    equal([row["file"] for row in problems], ["folder/job.log.xz"])
    assert "compressed by xz" in problems[0]["reason"], problems
    check_the_good_one(daemon)


def test_gzip_that_is_cut_or_broken(t):
    packed = gzip.compress(TRACE)
    t.write("cut/h.xplane.pb.gz", packed[: len(packed) // 2])
    t.write("header/h.xplane.pb.gz", packed[:5])
    t.write("sum/h.xplane.pb.gz", packed[:-8] + bytes(8))
    t.write("noise/h.xplane.pb.gz", b"\x1f\x8b\x08\x00" + random.Random(2).randbytes(500))
    t.write("tail/h.xplane.pb.gz", packed + b"tail that is no gzip")
    t.write("members/h.xplane.pb.gz", gzip.compress(TRACE[:100]) + gzip.compress(TRACE[100:]))
    daemon = serve_with_a_good_one(t)
    for name in ("cut", "header", "sum", "noise", "tail"):
        ask_all(daemon, name)
    equal(ask_all(daemon, "members")["summary"].json["data"]["module"]["name"], "jit_good")
    check_the_good_one(daemon)


def test_a_gzip_bomb_ends_in_an_answer_and_little_memory(t):
    t.write("bomb/h.xplane.pb.gz", inputs.gzip_bomb(1200))
    daemon = serve_with_a_good_one(t)
    answer = ask_all(daemon, "bomb")["summary"]
    equal((answer.status, answer.json["code"], answer.json["file"]), (413, "limit", "bomb/h.xplane.pb.gz"))
    assert daemon.status_kib("VmHWM") < (900_000 if t.is_sanitized else 100_000), daemon.status_kib("VmHWM")
    check_the_good_one(daemon)


def nested(depth):
    data = b""
    for _ in range(depth):
        data = inputs.block(4, data)
    return data


def test_a_message_ten_thousand_deep(t):
    shape = inputs.number(2, 13) + nested(10000)
    instruction = inputs.block(1, "deep.1") + inputs.block(2, "tuple") + inputs.block(3, shape) + inputs.number(35, 1)
    computation = inputs.block(1, "main") + inputs.block(2, instruction) + inputs.number(5, 1) + inputs.number(6, 1)
    hlo = inputs.block(
        1, inputs.block(1, "jit_deep") + inputs.block(2, "main") + inputs.block(3, computation) + inputs.number(6, 1)
    ) + inputs.block(3, inputs.buffer_assignment(1))
    t.write("deep/module_0001.jit_deep.after_optimizations.hlo.pb", hlo)
    t.write("deeper/x.hlo.pb", nested(10000))
    daemon = serve_with_a_good_one(t)
    ask_all(daemon, "deep")
    ask_all(daemon, "deeper")
    check_the_good_one(daemon)


def test_sizes_past_64_bits_and_lengths_past_the_end(t):
    huge = b"\xff" * 9 + b"\x01"
    for at, data in enumerate(
        (
            b"\x0a" + huge,
            b"\x0a" + b"\xff" * 10 + b"\x01",
            b"\x0a\x80\x80\x80\x80\x80\x80\x80\x80\x7f",
            huge * 3,
            b"\x0b" * 50,
            b"\x00" * 50,
            b"\x0a\x05ab",
        )
    ):
        write_run(t, f"huge{at}", data)
    size = inputs.block(
        3,
        inputs.block(1, inputs.number(1, 1) + inputs.number(2, -1) + inputs.block(3, inputs.number(4, 1)))
        + inputs.block(3, inputs.number(2, (1 << 63) - 1))
        + inputs.block(3, inputs.number(2, (1 << 63) - 1) + inputs.number(1, 1)),
    )
    t.write("sizes/x.hlo.pb", inputs.block(1, inputs.hlo_module("jit_huge", 2)) + size)
    daemon = serve_with_a_good_one(t)
    for at in range(7):
        ask_all(daemon, f"huge{at}")
    ask_all(daemon, "sizes")
    check_the_good_one(daemon)


def test_a_module_without_buffer_assignment_says_so(t):
    t.write("plain/x.hlo.pb", inputs.block(1, inputs.hlo_module("jit_plain", 4)))
    daemon = t.serve(t.folder())
    answers = ask_all(daemon, "plain")
    equal(answers["modules"].json["modules"][0]["has_buffer_assignment"], False)
    equal(answers["summary"].json["data"]["module"]["has_buffer_assignment"], False)
    equal(answers["summary"].json["data"]["peak_memory_bytes"], None)
    assert answers["summary"].json["notes"], answers["summary"]


def test_errors_name_file_and_place(t):
    t.write("dump/module_0001.jit_f.after_optimizations.hlo.pb", inputs.hlo_proto("jit_f", 8)[:-20])
    daemon = t.serve(t.folder())
    answer = ask_all(daemon, "dump")["summary"]
    equal(answer.status, 422)
    equal(answer.headers["content-type"], "application/problem+json")
    equal(answer.json["file"], "dump/module_0001.jit_f.after_optimizations.hlo.pb")
    assert isinstance(answer.json["offset_bytes"], int), answer
    row = daemon.get_json(f"/api/v1/sessions/{daemon.session_id('dump')}/modules")["modules"][0]
    assert row["name"], row


def test_a_float_is_never_written_as_nan(t):
    weird = inputs.hlo_proto("jit_f", 3) + inputs.block(3, b"\x09" + struct.pack("<d", float("nan")))
    t.write("dump/module_0001.jit_f.after_optimizations.hlo.pb", weird)
    daemon = t.serve(t.folder())
    for answer in ask_all(daemon, "dump").values():
        assert "NaN" not in answer.text and "Infinity" not in answer.text


def test_a_long_run_of_small_files(t):
    """many modules in one dump: the list is paged, each opens"""
    for at in range(300):
        t.write(f"many/module_{at:04}.jit_f{at}.after_optimizations.hlo.pb", inputs.hlo_proto(f"jit_f{at}", 2))
    daemon = t.serve(os.path.join(t.folder()))
    session = daemon.session_id("many")
    page = daemon.get_json(f"/api/v1/sessions/{session}/modules", limit=10, offset=295)
    equal((page["total_count"], page["matched_count"], len(page["modules"])), (300, 300, 5))


def test_names_of_ten_thousand_characters_are_cut_where_many_are_sent(t):
    maker = os.path.join(ROOT, "tests", "bench", "make_module.py")
    path = t.write("dump/module_0001.jit_x.after_optimizations.hlo.pb", b"")
    subprocess.run([sys.executable, maker, path, "--buffers", "60", "--hostile"], check=True)
    daemon = t.serve(t.folder())
    session = daemon.session_id("dump")
    ask = lambda view, **params: daemon.get_json(f"/api/v1/memory_viewer/{view}", session=session, **params)["data"]
    strips, many = ask("strips", step=30), ask("map")
    window, curve = ask("window", **{"from": 0, "to": 60, "limit": 200}), ask("curve")
    bars = [bar for order in strips["orders"].values() for bar in order if bar["id"] is not None]
    items = bars + many["rectangles"] + many["indefinite"] + window["born"]["largest"] + window["died"]["largest"]
    long = [item for item in items if item["is_cut"]]
    assert long, "nothing is cut"
    for item in items:
        texts = [item[key] for key in ("name", "shape", "source", "source_file") if item.get(key)]
        assert all(len(text.encode()) <= 3 * 240 for text in texts), item  # a byte that is no text became three
        assert item["is_cut"] == any("\u2026" in text for text in texts), item
    names = {item["name"] for item in long if item["id"] == "1"}
    equal([(name[:157], name[157], set(name[158:])) for name in names], [("x" * 157, "\u2026", {"x"})])
    assert max(len(name.encode()) for name in curve["columns"]["instruction"]) <= 3 * 240
    bombs = [item["name"] for item in long if item["name"] and item["name"].startswith("\U0001f4a5")]
    assert bombs and all(set(name) == {"\U0001f4a5", "\u2026"} for name in bombs), "a character is parted"
    equal(ask("buffer", id=1)["name"], "x" * 10000)
