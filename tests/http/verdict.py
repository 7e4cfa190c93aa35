# SPDX-License-Identifier: Apache-2.0
"""What happened, where the memory went, what will make it fit: GET /api/v1/verdict and memviewd explain."""

import gzip
import json
import os
import pickle
import sys

from harness import ROOT, equal, loads, wait_until
from inputs import device_plane, hlo_proto, memory_plane, profile, xspace
from opening import target_arguments

sys.path.append(os.path.join(ROOT, "tests", "golden"))  # behind our own: both have a module "verdict"
import made_snapshots  # noqa: E402

GIB = 2**30
LOAD = (
    b"E0101: Error loading program 'jit_step': Attempting to reserve 29.49G at the bottom of memory. That was not "
    b"possible. There are 147.64M free, 0B reserved, and 147.64M reservable.\n"
)


def fixture_dump(t, name):
    return os.path.join(t.fixtures, "dumps", name)


def copy_dump(t, name, where, with_text=False):
    """the files of a dump of the fixtures under another folder"""
    for file in os.listdir(fixture_dump(t, name)):
        if with_text or file.endswith((".hlo.pb", ".hlo.pb.gz")):
            with open(os.path.join(fixture_dump(t, name), file), "rb") as opened:
                t.write(f"{where}/{file}", opened.read())


def explained(t, *arguments):
    process = t.run("explain", "--json", *arguments)
    equal((process.returncode, process.stderr), (0, ""))
    return loads(process.stdout)


def balances(answer):
    equal(sum(row["bytes"] for row in answer["where"]), answer["where_bytes"])
    if answer["categories"]:
        equal(sum(row["bytes"] for row in answer["categories"]), answer["where_bytes"])
    equal(answer["where_bytes"], answer["fit"]["needed_bytes"])


def test_a_dump_with_its_text(t):
    daemon = t.serve(os.path.join(t.fixtures, "dumps"))
    session = next(row["id"] for name, row in daemon.sessions().items() if name.endswith("h-long-context"))
    answer = daemon.get_json("/api/v1/verdict", session=session)
    equal(
        (answer["fits"], answer["cause"]["kind"], answer["report"], answer["module"]["session"]),
        ("no", "attention_logits", 1, session),
    )
    balances(answer)
    first = answer["advice"][0]
    equal(
        (first["kind"], first["change"], first["fits"], first["confidence"]),
        ("fused_attention", "without=attention_scores", "yes", "model"),
    )
    assert abs(first["lands_at_bytes"] - 4.95 * GIB) < 0.2 * 4.95 * GIB, first
    equal([advice for advice in answer["advice"] if advice["kind"] == "checkpoint"], [])
    shown = answer["evidence"][first["evidence"]["open"]]
    equal(
        [shown[key] for key in ("kind", "tool", "filter", "sum_bytes")],
        ["buffers", "memory_viewer", "pattern:attention_scores", 64 * GIB],
    )
    equal([step for step in answer["next_steps"] if "--xla_dump_to" in step["text"]], [])
    larger = daemon.get_json("/api/v1/verdict", session=session, capacity="v7x")
    equal((larger["fits"], larger["fit"]["source"]), ("yes", "as chosen"))
    module = daemon.get_json("/api/v1/verdict", session=session, module=answer["module"]["id"])
    equal((module["report"], module["fit"]["source"], module["fits"]), (None, "error.txt", "no"))
    printed = explained(t, fixture_dump(t, "h-long-context"))
    equal(len(printed), 1)
    for key in ("verdict", "cause", "where", "advice", "ledger"):
        equal(printed[0]["answer"][key], answer[key], key)


def test_a_text_that_names_none_of_several_programs(t):
    """it is not of any of them, which is said; whoever has a dump is not told how to make one"""
    for name, count in (("seed-matmul-327680", 1), ("h-long-context", 2)):
        copy_dump(t, name, "run")
        text = b"RESOURCE_EXHAUSTED: Out of memory while trying to allocate 12345678 bytes."
        (failure,) = explained(t, t.write("run/run.log", text))
        answer = failure["answer"]
        assert (count == 2) == ("which of the 2 programs here it is of" in (answer["advice_sentence"] or "")), (
            count,
            answer["advice_sentence"],
        )
        equal([step for step in answer["next_steps"] if "--xla_dump_to" in step["text"]], [])


def test_a_text_that_asks_for_more_than_the_program_of_its_name(t):
    copy_dump(t, "h-long-context", "run")
    text = b"RESOURCE_EXHAUSTED: Out of memory while trying to allocate 900GiB. [executable_name='jit__lambda']"
    (failure,) = explained(t, t.write("run/run.log", b"jax.errors.JaxRuntimeError: " + text))
    why = "no program here of the name jit__lambda needs as much as the text asks for"
    assert why in failure["answer"]["advice_sentence"], failure["answer"]["advice_sentence"]


def test_a_persons_rules_come_first(t):
    """of the question, then those of the daemon's or the command's file; another question keeps its answer"""

    def held(answer):
        return {row["category"]: row["bytes"] for row in answer["categories"]}

    rules = t.write("rules.txt", b"attention cache\n")
    for options, own in (((), {"category_rules": "attention cache"}), ((f"--category-rules={rules}",), {})):
        daemon = t.serve(os.path.join(t.fixtures, "dumps"), *options)
        session = next(row["id"] for name, row in daemon.sessions().items() if name.endswith("h-long-context"))
        answer = daemon.get_json("/api/v1/verdict", session=session, **own)
        balances(answer)
        assert held(answer)["cache"] > 64 * GIB, answer["categories"]
        rng = daemon.get_json("/api/v1/verdict", session=session, category_rules="attention rng")
        assert held(rng)["rng"] > 64 * GIB and "cache" not in held(rng), rng["categories"]
    refused = daemon.ask(f"/api/v1/verdict?session={session}&category_rules=x%20cahce")
    equal((refused.status, refused.json["code"], refused.json["offset_bytes"]), (400, "argument", 2))
    printed = explained(t, fixture_dump(t, "h-long-context"), f"--category-rules={rules}")
    equal(held(printed[0]["answer"]), held(answer))


def test_a_log_is_joined_with_its_dump(t):
    """beside it, below it, above it; by name and total"""
    text = t.fixture("dumps/seed-matmul-327680/error.txt")
    copy_dump(t, "seed-matmul-327680", "above/dump")
    copy_dump(t, "seed-matmul-327680", "below")
    copy_dump(t, "seed-matmul-327680", "beside")
    for path in ("above/run.log", "below/logs/run.log", "beside/run.log"):
        (failure,) = explained(t, t.write(path, text))
        answer = failure["answer"]
        equal((answer["cause"]["kind"], answer["fit"]["needed_bytes"]), ("one_buffer", 300 * GIB), path)
        equal(answer["advice"][0]["kind"], "shard", path)
        balances(answer)
    (failure,) = explained(t, t.write("above/other.log", text.replace(b"300.00G", b"400.00G")))
    equal((failure["answer"]["peak"]["bytes"], failure["answer"]["where_bytes"]), (None, 400 * GIB))
    daemon = t.serve(t.folder())
    wait_until(lambda: daemon.sessions()["above/dump"]["has_error_text"], what="the reading of the log")
    answer = daemon.get_json("/api/v1/verdict", session=daemon.sessions()["above/dump"]["id"], file="run.log")
    equal((answer["cause"]["kind"], answer["module"]["name"], answer["file"]), ("one_buffer", "jit_f", "run.log"))


TORCH = (
    b"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.15 GiB "
    b"of which 1.00 GiB is free. "
    b"Of the allocated memory 70.00 GiB is allocated by PyTorch, and 1.00 GiB is reserved by PyTorch but unallocated.\n"
)


def test_a_request_that_one_program_makes_is_its_failure(t):
    """all its temporaries at run time, on a device or the host: plan, cause and advice are those of the program"""
    at = "jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: "
    for name, elements in (("jit_small", 1 << 18), ("jit_step", 1 << 28), ("jit_large", 1 << 30)):
        t.write(f"dump/module_0001.{name}.after_optimizations.hlo.pb", hlo_proto(name, 8, elements))
    for words in (
        "Out of memory while trying to allocate 2147483648 bytes.",
        "Out of memory allocating 2147483648 bytes.",
    ):
        (failure,) = explained(t, t.write("dump/run.log", (at + words).encode()))
        answer = failure["answer"]
        equal((answer["program"], answer["where_bytes"]), ("jit_step", 2 * GIB), words)
        assert any("all temporaries of the program" in note["text"] for note in answer["notes"]), answer["notes"]
        (failure,) = explained(t, t.write("dump/run.log", (at + words.replace("2147483648", "2147483904")).encode()))
        equal(failure["answer"]["program"], None, "no program asks for that")


def test_processes_that_write_into_one_folder_are_told_apart(t):
    """by the time in front of the names; what has none lies beside"""
    for stamp, elements in ((1700000000000001, 1 << 28), (1700000000000002, 1 << 20)):
        t.write(f"dump/{stamp}.module_0004.jit_step.after_optimizations.hlo.pb", hlo_proto("jit_step", 8, elements))
    t.write("dump/module_0004.jit_step.target_arguments.pb", target_arguments(5))
    (failure,) = explained(
        t, t.write("dump/run.log", b"RESOURCE_EXHAUSTED: Out of memory while trying to allocate 2147483648 bytes.")
    )
    equal((failure["answer"]["program"], failure["answer"]["where_bytes"]), ("jit_step", 2 * GIB))
    equal(failure["answer"]["fit"]["device"], "TPU v6e, from target_arguments.pb")


def test_a_log_of_another_runtime_lends_a_dump_nothing(t):
    """beside it and in the folder above it"""
    for path in ("above/torch.log", "above/dump/torch.log"):
        folder = f"case{path.count('/')}"
        t.write(f"{folder}/above/dump/module_0001.jit_made.after_optimizations.hlo.pb", hlo_proto("jit_made", 8))
        t.write(f"{folder}/{path}", TORCH)
        found = loads(t.run("summary", "--json", os.path.join(t.folder(), folder)).stdout)
        equal([module["capacity"] for session in found["sessions"] for module in session["modules"]], [None], path)


def test_a_trace_of_the_program_lies_elsewhere(t):
    """in another folder: by name and total; of several the nearest. Programs of a few bytes are the same by chance"""
    same, total, further = 1 << 20, (1 << 20) + 4, (1 << 20) + 6
    t.write("dumps/one/module_0001.jit_made.after_optimizations.hlo.pb", hlo_proto("jit_made", 8, same))
    t.write("dumps/other/module_0001.jit_made.after_optimizations.hlo.pb", hlo_proto("jit_made", 8, total))
    t.write("dumps/small/module_0001.jit_small.after_optimizations.hlo.pb", hlo_proto("jit_small", 8))
    for folder, name, elements in (
        ("away/down/far", "jit_made", same),
        ("dumps/near", "jit_made", same),
        ("dumps/names", "jit_other", same),
        ("dumps/none", "jit_made", same),
        ("dumps/totals", "jit_made", further),
        ("dumps/one", "jit_made", further),
        ("dumps/same", "jit_small", 1024),
    ):
        events = memory_plane(4) if folder != "dumps/none" else b""
        t.write(
            f"{folder}/plugins/profile/run/host.xplane.pb", events + xspace({(name, 7): hlo_proto(name, 8, elements)})
        )
    daemon = t.serve(t.folder())
    ids = {name: row["id"] for name, row in daemon.sessions().items()}
    answer = daemon.get_json("/api/v1/verdict", session=ids["dumps/one"])
    equal(
        (answer["trace_session"], [bar["kind"] for bar in answer["ledger"]["bars"]]),
        (ids["dumps/near/run"], ["plan", "allocator_peak"]),
    )
    note = next(note for note in answer["notes"] if note["kind"] == "elsewhere")
    assert (
        "dumps/near/plugins/profile/run/host.xplane.pb" in note["text"]
        and "2 sessions hold one; this is the nearest" in note["text"]
    ), note
    for name in ("dumps/other", "dumps/small"):
        answer = daemon.get_json("/api/v1/verdict", session=ids[name])
        equal(
            (answer["trace_session"], [note for note in answer["notes"] if note["kind"] == "elsewhere"]),
            (None, []),
            name,
        )
    (found,) = [row for row in explained(t, t.folder()) if row["session"] == "dumps/one"]
    assert note in found["answer"]["notes"], found["answer"]["notes"]


def test_a_log_is_joined_with_a_dump_of_another_folder(t):
    """where name and total are the same, and a note says which it is; a text of another framework with none"""
    text = t.fixture("dumps/seed-matmul-327680/error.txt")
    copy_dump(t, "seed-matmul-327680", "dumps/seed")
    t.write("logs/run.log", text)
    t.write("logs/other.log", text.replace(b"300.00G", b"301.00G"))
    daemon = t.serve(t.folder())
    wait_until(lambda: len(daemon.sessions()) == 3, what="the reading of the logs")
    ids = {name: row["id"] for name, row in daemon.sessions().items()}
    answer = daemon.get_json("/api/v1/verdict", session=ids["logs/run.log"])
    equal((answer["module"]["session"], answer["peak"]["bytes"]), (ids["dumps/seed"], 300 * GIB))
    assert any(
        "dumps/seed/module_" in note["text"] and "with the same total" in note["text"] for note in answer["notes"]
    ), answer["notes"]
    equal(daemon.get_json("/api/v1/verdict", session=ids["logs/other.log"])["module"], None)


def test_the_chip_is_named(t):
    """by a file of the dump, else by the limit that the text states"""
    text = t.fixture("dumps/seed-matmul-327680/error.txt")
    (failure,) = explained(t, t.write("alone/run.log", text))
    equal(failure["answer"]["fit"]["device"], "TPU v5e, by its limit of 15.75 GiB")
    (failure,) = explained(t, t.write("alone/run.log", text.replace(b"15.75G", b"17.75G")))
    equal(failure["answer"]["fit"]["device"], None)
    copy_dump(t, "seed-matmul-327680", "dump")
    for file in os.listdir(os.path.join(t.folder(), "dump")):
        t.write(
            "dump/" + file.split(".after_opt")[0].split(".before_opt")[0] + ".target_arguments.pb", target_arguments(5)
        )
    path = t.write("dump/run.log", text)
    (failure,) = explained(t, path)
    equal(failure["answer"]["fit"]["device"], "TPU v6e, from target_arguments.pb")
    assert "\n  Device: TPU v6e, from target_arguments.pb\n" in t.run("explain", path).stdout
    (failure,) = explained(t, t.write("dump/run.log", text.replace(b"jit_f", b"jit_g").replace(b"jit(f)", b"jit(g)")))
    equal(failure["answer"]["fit"]["device"], "TPU v6e, from target_arguments.pb", "of another program of the dump")


def test_a_device_without_a_kind_is_no_chip(t):
    trace = xspace({("jit_made", 7): hlo_proto("jit_made", 8)})
    for name, facts, device in (
        ("kind", {"device_type_string": "TPU v6 Lite", "memory_size": 2**35}, "TPU v6 Lite, recorded in the trace"),
        ("none", {"memory_size": 2**35}, None),
    ):
        path = t.write(f"{name}/host.xplane.pb", trace + device_plane("/device:TPU:0", facts))
        (found,) = explained(t, path)
        equal((found["answer"]["fit"]["device"], found["answer"]["fit"]["capacity_bytes"] is not None), (device, True))
        text = t.run("explain", path).stdout
        assert "Cause: " not in text, text  # it fits


def test_a_text_of_no_program_of_xla_is_joined_with_none(t):
    copy_dump(t, "h-long-context", "dump")
    t.write("dump/torch.log", TORCH)
    daemon = t.serve(t.folder())
    wait_until(lambda: any(row["has_error_text"] for row in daemon.sessions().values()), what="the reading of the log")
    (session,) = [row["id"] for row in daemon.sessions().values() if row["kind"] == "dump"]
    answer = daemon.get_json("/api/v1/verdict", session=session, file="torch.log")
    equal((answer["module"], answer["program"], answer["report"]), (None, None, 1))
    equal(len(explained(t, os.path.join(t.folder(), "dump"))), 2)


def test_a_text_alone(t):
    (failure,) = explained(t, t.write("run.log", LOAD))
    answer = failure["answer"]
    equal((answer["fits"], answer["cause"]["kind"]), ("no", "live_arrays"))
    kinds = [advice["kind"] for advice in answer["advice"]]
    assert {"leak", "fewer_programs", "flags"} <= set(kinds) and "checkpoint" not in kinds, kinds
    equal([advice["change"] for advice in answer["advice"] if advice["change"]], [])
    daemon = t.serve(t.folder())
    given = daemon.ask("/api/v1/oom", "POST", {"Content-Type": "text/plain"}, LOAD).json["local"]
    again = daemon.get_json("/api/v1/verdict", local=given)
    equal((again["cause"], again["advice"], again["session"]), (answer["cause"], answer["advice"], None))


def test_memory_of_a_kernel_gets_no_advice_for_the_device(t):
    for text in ("oom-f-vmem-pallas-scratch", "oom-f2-vmem-pallas-whole-array", "oom-f3-smem-pallas-scratch"):
        (failure,) = explained(t, t.write("run.log", t.fixture(f"text/{text}.txt")))
        equal([advice["kind"] for advice in failure["answer"]["advice"]], ["block_size"], text)
        equal(failure["answer"]["cause"]["kind"], "kernel_scratch", text)


def test_what_fits(t):
    folder = os.path.join(t.fixtures, "modules", "mlp-adam")
    (found,) = explained(t, "--capacity=v5e", folder)
    answer = found["answer"]
    equal(
        (answer["fits"], answer["fit"]["over_bytes"], answer["report"] if "report" in answer else None),
        ("yes", 0, None),
    )
    equal(answer["fit"]["free_bytes"], answer["fit"]["capacity_bytes"] - answer["fit"]["needed_bytes"])
    balances(answer)
    text = t.run("explain", "--capacity=v5e", folder).stdout
    for words in ("it fits", "Where did it all go?", "What made the peak?", "Ledger"):
        assert words in text, text
    equal(t.run("explain", "--capacity=lots", folder).returncode, 2)
    process = t.run("explain", "--module=jit_nothing", folder)
    equal((process.returncode, process.stdout), (2, ""))
    assert "has no module with that name" in process.stderr, process.stderr


def test_a_hostile_name_of_a_folder_moves_no_cursor(t):
    copy_dump(t, "h-long-context", "hostile/a\033[31mb")
    text = t.run("explain", os.path.join(t.folder(), "hostile")).stdout
    assert "\033" not in text and "\\u001b[31mb" in text, text


def test_profiles_alone(t):
    (found,) = explained(t, os.path.join(t.fixtures, "memprof"))
    answer = found["answer"]
    equal((answer["fits"], [bar["kind"] for bar in answer["ledger"]["bars"]][:1]), ("unknown", ["live_arrays"]))
    assert answer["ledger"]["bars"][0]["bytes"] > 0, answer["ledger"]


def test_memory_that_is_taken_in_advance(t):
    cubin = b"Failed to load in-memory CUBIN: CUDA_ERROR_OUT_OF_MEMORY: out of memory\n"
    for front, back, call in (
        (b"XlaRuntimeError: INTERNAL: ", b"", "XLA_PYTHON_CLIENT_MEM_FRACTION"),
        (b"", b'  File "/opt/tensorflow/python/eager/execute.py", line 5\n', "TF_FORCE_GPU_ALLOW_GROWTH"),
    ):
        (failure,) = explained(t, t.write("run.log", front + cubin + back))
        answer = failure["answer"]
        equal((answer["cause"]["kind"], answer["cause"]["confidence"]), ("preallocation", "guess"), call)
        (reserve,) = [advice["do"] for advice in answer["advice"] if advice["kind"] == "preallocation"]
        assert call in reserve and "CUDA_MODULE_LOADING=LAZY" in [advice["do"] for advice in answer["advice"]], answer[
            "advice"
        ]
    (failure,) = explained(t, t.write("run.log", b"RuntimeError: CUDA error: out of memory\n"))
    equal([advice for advice in failure["answer"]["advice"] if advice["confidence"] != "guess"], [])


def test_what_helps_is_said_once(t):
    """as advice, and the next steps show more; a heading has something below it"""
    texts = {
        "torch": (
            b"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 3.00 GiB. GPU 0 has a total capacity of "
            b"23.65 GiB of "
            b"which 1.66 GiB is free. Of the allocated memory 12.09 GiB is allocated by PyTorch, and 4.84 GiB is "
            b"reserved by "
            b"PyTorch but unallocated.\n",
            "expandable_segments:True",
        ),
        "killed": (b"python train.py: iter 144\nKilled\n", "workers"),
        "shm": (b"DataLoader worker (pid 4711) is killed by signal: Bus error.\n", "--shm-size"),
    }
    for name, (text, word) in texts.items():
        path = t.write(f"{name}.log", text)
        (failure,) = explained(t, path)
        printed = t.run("explain", path).stdout
        equal(printed.count(word), 1, printed)
        assert word in printed.split("\nNext\n")[0], printed
        equal("As the text states it" in printed, name == "torch", printed)
        assert word in json.dumps(failure["answer"]["advice"]), failure["answer"]


def test_programs_that_take_more_than_arrays(t):
    place = ("load", "serve.py", 3)
    for array, programs, kind in ((GIB, 5 * GIB, "too_many_programs"), (5 * GIB, GIB, "live_arrays")):
        folder = f"of-{kind}"
        t.write(f"{folder}/run.log", LOAD)
        t.write(
            f"{folder}/memory.prof",
            profile([((place,), (1, array), {"kind": "buffer"}), ((place,), (1, programs), {"kind": "executable"})]),
        )
        daemon = t.serve(os.path.join(t.folder(), folder))
        session = next(row["id"] for row in daemon.sessions().values() if row["kind"] == "text")
        answer = daemon.get_json("/api/v1/verdict", session=session)
        equal(
            (answer["cause"]["kind"], answer["cause"]["bytes"] == programs), (kind, kind == "too_many_programs"), kind
        )
        equal([bar["kind"] for bar in answer["ledger"]["bars"]], ["live_arrays", "programs"], kind)
        (failure,) = explained(t, os.path.join(t.folder(), folder, "run.log"))
        equal((failure["answer"]["cause"], failure["answer"]["ledger"]), (answer["cause"], answer["ledger"]), kind)


# ---- what cannot be read is named -----------------------------------------------------


def refused_files():
    """{path: (bytes, word of the reason)}: each alone says nothing of memory"""
    whole = gzip.compress(profile([((("f", "train.py", 1),), (1, GIB), {})]))
    snapshot = pickle.dumps(made_snapshots.made(1, 1, 120, 100), 4)
    return {
        "prof/memory.prof": (whole[: len(whole) // 2], "cut"),
        "pickle/rank0.pickle": (snapshot[: len(snapshot) // 2], "ends"),
        "packed/rank0.pickle.gz": (gzip.compress(snapshot)[:200], "cut"),
        "empty/host.xplane.pb": (b"", "empty"),
        "hlo/jit_step.hlo.pb": (b"", "empty"),
    }


def test_what_cannot_be_read_is_named_and_never_told_as_absent(t):
    for path, (data, word) in refused_files().items():
        file, name = t.write(path, data), os.path.basename(path)
        process = t.run("explain", file)
        equal((process.returncode, process.stdout), (2, ""), path)
        assert f"{name}: " in process.stderr and word in process.stderr, process.stderr
        process = t.run("explain", "--json", file)
        equal(process.returncode, 2, path)
        (element,) = loads(process.stdout)
        equal((element["answer"], os.path.basename(element["error"]["file"])), (None, name), path)
        assert word in element["error"]["reason"] and element["error"]["code"] != "notfound", element
        assert name in t.run("explain", os.path.dirname(file)).stderr, path
    daemon = t.serve(t.folder())
    for name, session in daemon.sessions().items():
        answer = daemon.ask(f"/api/v1/verdict?session={session['id']}")
        equal((answer.status, answer.json["code"]), (422, "truncated"), name)
        assert answer.json["file"] in refused_files() and answer.json["detail"], answer


def test_each_host_that_cannot_be_read_is_named(t):
    """of a session without a program, whose first host is sound; XSpace and snapshots"""
    snapshot = pickle.dumps(made_snapshots.made(3, 2, 60, 50))
    for at, (files, lost) in enumerate(
        (
            ({"a.xplane.pb": memory_plane(4), "b.xplane.pb": memory_plane(4)[:500], "c.xplane.pb": b"\xff" * 100}, 2),
            ({"rank0.pickle": snapshot, "rank1.pickle": snapshot[: len(snapshot) // 3]}, 1),
        )
    ):
        for name, data in files.items():
            folder = os.path.dirname(t.write(f"{at}/{name}", data))
        (answer,) = explained(t, folder)
        equal(
            [row["file"] for row in sorted(answer["answer"]["not_read"], key=lambda row: row["file"])],
            sorted(files)[-lost:],
        )
        assert all(row["reason"] for row in answer["answer"]["not_read"]), answer["answer"]["not_read"]


def test_a_verdict_names_what_it_lacks(t):
    """a log is explained without the profile beside it that cannot be read, and says so; the log is what was named, and
    was read"""
    t.write("job/run.log", LOAD)
    t.write("job/memory.prof", refused_files()["prof/memory.prof"][0])
    process = t.run("explain", os.path.join(t.folder(), "job", "run.log"))
    equal((process.returncode, process.stderr), (0, ""))
    assert "Note: memory.prof could not be read: the gzip stream is cut" in process.stdout, process.stdout
    daemon = t.serve(t.folder())
    answer = daemon.get_json(
        "/api/v1/verdict", session=next(row["id"] for row in daemon.sessions().values() if row["kind"] == "text")
    )
    (row,) = answer["not_read"]
    equal((row["file"], row["code"]), ("job/memory.prof", "truncated"))
    assert row["reason"].startswith("the gzip stream is cut at byte "), row
    assert row["sentence"].startswith(f"{row['file']} could not be read: {row['reason']}"), row
    t.write("job/memory.prof", profile([((("f", "train.py", 1),), (1, GIB), {})]))
    wait_until(
        lambda: daemon.get_json("/api/v1/verdict", session=answer["session"])["not_read"] == [],
        what="the whole profile",
    )


def test_a_verdict_without_room_is_503_or_names_what_found_none(t):
    """while others hold the memory"""
    t.write("profiles/memory.prof", profile([((("f", f"{at}.py", at),), (1, GIB), {}) for at in range(1, 20000)]))
    daemon = t.serve("--memory-limit=16", t.folder())
    connection = daemon.connect()
    connection.putrequest("POST", "/api/v1/uploads?name=held.log")
    connection.putheader("Content-Type", "application/octet-stream")
    connection.putheader("Content-Length", str(12 << 20))
    connection.endheaders()
    connection.send(b"x" * (8 << 20))
    address = f"/api/v1/verdict?session={daemon.session_id('profiles')}"
    answer = daemon.ask(address)
    assert answer.status in (200, 413, 503), answer
    if answer.status != 200:
        assert answer.json["file"] == "profiles/memory.prof" and answer.json["detail"], answer
    connection.close()
