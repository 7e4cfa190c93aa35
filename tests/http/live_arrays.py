# SPDX-License-Identifier: Apache-2.0
"""What live arrays of a device profile say of a request of JAX that failed at run time."""

import os

from harness import equal, loads, wait_until
from inputs import hlo_proto, profile

GIB = 2**30
REQUEST = (
    b"jax.errors.JaxRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate 256.00MiB with allocator "
    b"GPU_0_bfc on device 0. [tf-allocator-allocation-error=''] [executable_name='jit_train_step']\n"
)
LOAD = (
    b"E0101: Error loading program 'jit_train_step': Attempting to reserve 1.00G at the bottom of memory. That was not "
    b"possible. There are 147.64M free, 0B reserved, and 147.64M reservable.\n"
)
JAX = ("__call__", "/site-packages/jax/_src/interpreters/pxla.py", 420)
TRAIN, INIT = ("<module>", "/home/me/train.py", 47), ("init", "/home/me/train.py", 7)


def array(places, size, device="cuda:0"):
    return (places, (1, size), {"kind": "buffer", "device": device})


def held(train, init, programs=0, elsewhere=0):
    """a profile: arrays of two lines of which one is met through JAX's own frames too, of another device, programs"""
    samples = [array((TRAIN,), train - GIB), array((JAX, TRAIN), GIB), array((JAX, INIT, TRAIN), init)]
    samples += [array((INIT, TRAIN), elsewhere, "cuda:1")] if elsewhere else []
    samples += [((INIT, TRAIN), (1, programs), {"kind": "executable"})] if programs else []
    return profile(samples)


def explained(t, path):
    process = t.run("explain", "--json", path)
    equal((process.returncode, process.stderr), (0, ""))
    return loads(process.stdout)


def test_what_was_live_leads(t):
    t.write("job/run.log", REQUEST)
    t.write("job/memory.prof", held(train=54 * GIB, init=6 * GIB))
    (failure,) = explained(t, os.path.join(t.folder(), "job"))  # text and profile are of one failure
    answer = failure["answer"]
    equal(
        answer["verdict"],
        "GPU OOM: jit_train_step asks for 256.00 MiB while live arrays hold 60.00 GiB, 54.00 GiB of it from "
        "train.py:47.",
    )
    equal(
        (answer["cause"]["kind"], answer["cause"]["bytes"], answer["cause"]["confidence"]),
        ("live_arrays", 60 * GIB, "exact"),
    )
    equal(
        [(row["label"], row["bytes"]) for row in answer["where"]],
        [
            ("live arrays from train.py:47", 54 * GIB),
            ("live arrays from init train.py:7", 6 * GIB),
            ("asked for", GIB // 4),
        ],
    )
    equal(sum(row["bytes"] for row in answer["where"]), answer["where_bytes"])
    first = answer["advice"][0]
    equal(
        (first["kind"], first["saves_bytes"], first["confidence"], "train.py:47" in first["title"]),
        ("leak", 54 * GIB, "bound", True),
    )
    equal([step for step in answer["next_steps"] if "save_device_memory_profile" in step["text"]], [])
    equal([note["kind"] for note in answer["notes"]], ["profile"])
    daemon = t.serve(os.path.join(t.folder(), "job"))
    session = next(row["id"] for row in daemon.sessions().values() if row["kind"] == "text")
    page = daemon.get_json("/api/v1/verdict", session=session)
    for key in ("verdict", "cause", "where", "advice", "ledger", "notes", "next_steps"):
        equal(page[key], answer[key], key)


def test_one_device_of_several(t):
    t.write("job/run.log", REQUEST)
    t.write("job/memory.prof", held(train=4 * GIB, init=GIB, elsewhere=9 * GIB))
    (failure,) = explained(t, os.path.join(t.folder(), "job"))
    equal(failure["answer"]["cause"]["bytes"], 5 * GIB, "the text names device 0")
    equal(failure["answer"]["ledger"]["bars"][0]["label"], "live arrays of cuda:0")
    t.write("other/run.log", REQUEST.replace(b" on device 0", b""))
    t.write("other/memory.prof", held(train=4 * GIB, init=GIB, elsewhere=9 * GIB))
    (failure,) = explained(t, os.path.join(t.folder(), "other"))
    equal(failure["answer"]["cause"]["bytes"], 9 * GIB, "it names none: the fullest")


def test_a_request_that_is_larger_than_all_of_it(t):
    t.write("job/run.log", REQUEST.replace(b"256.00MiB", b"64.00GiB"))
    t.write("job/memory.prof", held(train=4 * GIB, init=GIB))
    (failure,) = explained(t, os.path.join(t.folder(), "job"))
    answer = failure["answer"]
    equal(
        (answer["cause"]["kind"], answer["cause"]["bytes"], answer["where_bytes"]), ("one_buffer", 64 * GIB, 69 * GIB)
    )
    equal([advice["saves_bytes"] for advice in answer["advice"]], [None] * len(answer["advice"]))


def test_a_program_that_cannot_be_loaded_beside_arrays(t):
    t.write("job/run.log", LOAD)
    t.write("job/memory.prof", held(train=12 * GIB, init=3 * GIB, programs=GIB // 2))
    (failure,) = explained(t, os.path.join(t.folder(), "job"))
    answer = failure["answer"]
    equal(
        (answer["cause"]["kind"], answer["cause"]["bytes"], answer["advice"][0]["kind"]),
        ("live_arrays", 15 * GIB, "leak"),
    )
    assert (
        answer["verdict"].startswith("TPU program-load OOM") and "12.00 GiB of it from train.py:47" in answer["verdict"]
    ), answer["verdict"]
    equal([row["kind"] for row in answer["where"]], ["arrays", "arrays", "program", "temporaries"])


def test_a_program_that_is_smaller_than_the_piece_is_another(t):
    """JAX makes many programs of one name, jit_broadcast_in_dim perhaps"""
    t.write(
        "dump/module_0001.jit_train_step.sm_9.0_gpu_after_optimizations.hlo.pb", hlo_proto("jit_train_step", 8, 2**18)
    )
    for size, names in ((b"1.00MiB", ["jit_train_step"]), (b"64.00MiB", [])):
        for place in ("dump/run.log", "beside/run.log"):
            daemon = t.serve(os.path.dirname(os.path.dirname(t.write(place, REQUEST.replace(b"256.00MiB", size)))))
            wait_until(
                lambda: any(row["has_error_text"] for row in daemon.sessions().values()), what="the reading of the log"
            )
            session = next(row["id"] for row in daemon.sessions().values() if row["has_error_text"])
            answer = daemon.get_json("/api/v1/verdict", session=session, file="run.log")
            equal([answer["module"]["name"]] if answer["module"] else [], names, (size, place))
            os.unlink(os.path.join(t.folder(), place))


def test_a_hostile_profile(t):
    """names that no filter can quote, sums that would overflow"""
    quoted = ('a"b', '/home/me/"x.py', 3)
    t.write("job/run.log", REQUEST)
    t.write(
        "job/memory.prof", profile([array((quoted,), 2**62), array((quoted, TRAIN), 2**62), array((TRAIN,), 2**62)])
    )
    (failure,) = explained(t, os.path.join(t.folder(), "job"))
    equal((failure["answer"]["cause"]["kind"], failure["answer"]["cause"]["bytes"]), ("live_arrays", 2**63 - 1))


def test_a_folder_of_profiles(t):
    """the last of a series is what top takes; summary lists them, and that is no fault"""
    for at in (1, 2, 10):
        t.write(f"job/memory-{at}.prof", held(train=(at + 1) * GIB, init=GIB))
    folder = os.path.join(t.folder(), "job")
    process = t.run("top", "--json", folder)
    equal(
        (process.returncode, loads(process.stdout)["data"]["total"], "memory-10.prof: the last of 3" in process.stderr),
        (0, 12 * GIB, True),
    )
    for form, lines in (((), 1), (("--json",), 1)):
        process = t.run("summary", *form, folder)
        equal((process.returncode, process.stderr, len(process.stdout.splitlines())), (0, "", lines))
    empty = os.path.dirname(t.write("empty/a.txt", b"nothing"))
    process = t.run("top", empty)
    equal((process.returncode, "holds no device profile" in process.stderr), (2, True))


def test_a_text_of_another_framework_says_nothing_of_it(t):
    t.write(
        "job/run.log",
        b"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.15 "
        b"GiB of which 1.00 GiB is free.\n",
    )
    t.write("job/memory.prof", held(train=54 * GIB, init=6 * GIB))
    failure, alone = explained(t, os.path.join(t.folder(), "job"))
    equal(
        (failure["answer"]["cause"]["kind"] == "live_arrays", alone["answer"]["cause"]["kind"]), (False, "live_arrays")
    )
