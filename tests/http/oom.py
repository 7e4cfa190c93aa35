# SPDX-License-Identifier: Apache-2.0
"""Out-of-memory texts: those that a reader gives, and those found in folders. Figures are read off the texts."""

import contextlib
import gzip
import hashlib
import json
import os
import re
import socket
import struct
import subprocess
import threading
import time

from harness import PATIENCE_SECONDS, equal, loads, wait_until

PLAIN = {"Content-Type": "text/plain"}
E1000 = "0.10.0-libtpu0.0.40-v5e-adamlin.txt"
LOAD = (
    b"E0101: Error loading program 'jit_step': Attempting to reserve 29.49G at the bottom of memory. That was not "
    b"possible. There are 147.64M free, 0B reserved, and 147.64M reservable.\n"
)


def gpu(size):
    return b"RESOURCE_EXHAUSTED: Out of memory while trying to allocate %d bytes.\n" % size


def give(daemon, text, **headers):
    answer = daemon.ask("/api/v1/oom", "POST", {**PLAIN, **headers}, text)
    equal(answer.status, 200, answer)
    return answer.json


def needed(answer):
    return [failure["needed_bytes"] for failure in answer["failures"]]


def test_a_given_text_says_what_explain_says(t):
    daemon, text = t.serve(t.folder()), t.fixture(f"oom/{E1000}")
    printed = loads(t.run("explain", "--json", t.write("copy.log", text)).stdout)
    answer = give(daemon, text)
    core = printed[0].pop("answer")
    assert core["verdict"]
    printed[0]["verdict"]["next_steps"] = core["next_steps"]
    equal(answer["failures"], printed)
    equal((answer["size_bytes"], answer["encoding"], answer["lines"]), (len(text), "utf-8", None))
    with open(os.path.join(t.fixtures, "oom", "expected.json"), encoding="utf-8") as file:
        wanted = json.load(file)[E1000]
    equal(
        {key: answer["failures"][0][key] for key in wanted if key.endswith("_bytes")},
        {key: value for key, value in wanted.items() if key.endswith("_bytes")},
    )


def test_a_given_text_is_found_again_by_its_hash(t):
    daemon = t.serve(t.folder())
    first = give(daemon, gpu(300))
    again = daemon.get_json("/api/v1/oom", local=first["local"])
    equal(again, first)
    equal(give(daemon, gpu(300))["local"], first["local"])
    assert give(daemon, gpu(301))["local"] != first["local"]
    equal(daemon.ask(f"/api/v1/oom/text?local={first['local']}").body, gpu(300))


def test_the_hash_is_that_of_sha_256(t):
    daemon = t.serve(t.folder())
    for text in (b"a", b"x" * 55, b"y" * 56, b"z" * 64, b"w" * 100000):
        equal(give(daemon, text)["local"], hashlib.sha256(text).hexdigest()[:32], len(text))


def test_texts_given_at_once_are_not_mixed_up(t):
    daemon, found = t.serve(t.folder()), {}

    def one(size):
        found[size] = needed(give(daemon, gpu(size) + b"x" * 200000))

    threads = [threading.Thread(target=one, args=(size,)) for size in range(1000, 1032)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    equal(found, {size: [size] for size in range(1000, 1032)})


def test_windows_of_a_text_are_its_bytes(t):
    text = bytes(range(256)) * 5000
    t.write("a.log", text + gpu(5))
    t.write("b.log.gz", gzip.compress(text + gpu(6)))
    daemon = t.serve(t.folder())
    local = give(daemon, text)["local"]
    wait_until(lambda: len(daemon.sessions()) == 2, what="the larger log")
    abouts = [f"local={local}", *(f"session={daemon.session_id(name)}" for name in ("a.log", "b.log.gz"))]
    for about in abouts:
        for begin, end in ((0, 10), (250, 262), (1000000, 1048576 + 100), (len(text) - 5, len(text)), (5, 5)):
            answer = daemon.ask(f"/api/v1/oom/text?{about}&from={begin}&to={end}")
            equal((answer.status, answer.body), (200, text[begin:end]), (about, begin, end))
        equal(daemon.ask(f"/api/v1/oom/text?{about}&from=90000000").body, b"", about)


def test_many_large_texts_do_not_fill_the_memory(t):
    daemon = t.serve(t.folder())
    names = [give(daemon, bytes([65 + at]) * (30 << 20))["local"] for at in range(8)]
    kept = [daemon.ask(f"/api/v1/oom/text?local={name}&to=1").status for name in names]
    equal((kept[0], kept[-1]), (404, 200))
    assert t.is_sanitized or daemon.status_kib("VmRSS") < 400 << 10, daemon.status_kib("VmRSS")


def test_a_text_without_a_failure_tells_what_it_holds(t):
    daemon = t.serve(t.folder())
    answer = give(daemon, b"step 1\nmemory is fine\nstep 2\nmemory still fine\r\nend")
    equal((answer["failures"], answer["report_line_count"], answer["usage"]), ([], 0, None))
    equal(answer["lines"]["line_count"], 5)
    equal(
        [(one["line"], one["text"]) for one in answer["lines"]["mentions"]],
        [(2, "memory is fine"), (4, "memory still fine")],
    )
    assert len(answer["looked_for"]) >= 8
    good = give(
        daemon,
        b"I0101 x.cc:1] XLA::TPU program HBM usage: 9.10G / 15.75G\nI0101 x.cc:1] XLA::TPU program VMEM usage: 1.0M / "
        b"128.00M\n",
    )
    equal((good["failures"], good["report_line_count"]), ([], 2))
    equal(good["usage"], {"memory_space": "hbm", "used_bytes": 9771050598, "capacity_bytes": 16911433728})


def test_a_text_of_two_bytes_a_letter_says_so(t):
    daemon = t.serve(t.folder())
    answer = give(daemon, ("\ufeff" + gpu(77).decode()).encode("utf-16-le"))
    equal((answer["encoding"], needed(answer)), ("utf-16le", [77]))


def test_next_steps_come_with_each_failure(t):
    daemon = t.serve(t.folder())
    early = (
        b"Aborting compilation early because it's unlikely to have enough memory. Requires 3.84T, has 90.96G "
        b"available.\n"
    )
    answer = give(daemon, early + LOAD)
    equal([failure["family"] for failure in answer["failures"]], ["tpu_compile", "tpu_program_load"])
    assert "next_steps" not in answer, "they stand in the verdicts"
    steps = [failure["verdict"]["next_steps"] for failure in answer["failures"]]
    commands = [[step["text"] for step in each if step["kind"] == "command"] for each in steps]
    assert "--xla_tpu_impure_oom_fast_exit_threshold=-1" in commands[0][0], commands
    assert any("tpu_log_allocations_on_oom" in command for command in commands[1]), commands


def test_the_command_line_says_what_the_verdict_says(t):
    """a limit of a GPU, and memory in pieces at run time: figures and reason"""
    texts = (
        (
            b"Allocating 300 bytes exceeds the memory limit of 200 bytes.\n",
            "over by                           100 B",
            None,
        ),
        (
            b"Not enough PA budget: pa_allocated=100B, allocation_size=50B, pa_budget=120B\n",
            "over by                            30 B",
            None,
        ),
        (
            b"Attempting to reserve 1.50G at the bottom of memory. That was not possible. There are 2.00G free, 0B "
            b"reserved, and 1.00G "
            b"reservable.\n",
            "over by                        0.50 GiB",
            "Cause: Fragmentation: the free memory is in pieces",
        ),
    )
    for text, line, reason in texts:
        path = t.write("one.log", text)
        verdict = loads(t.run("explain", "--json", path).stdout)[0]["verdict"]
        printed = t.run("explain", path).stdout
        assert line in printed and line.endswith(verdict["over_text"]), printed
        assert reason is None or reason in printed, printed
        equal(verdict["cause"], "fragmentation" if reason else None)


def test_a_retry_that_worked_is_no_failure(t):
    """it is told as that, without the list of what was looked for"""
    path = t.write("retried.log", b"OOM during Conv: Allocation on device\nretrying\nRetry successful for Conv\n")
    done = t.run("explain", path)
    equal((done.returncode, done.stderr), (0, ""))
    assert "tried and given up" in done.stdout, done.stdout


def test_a_note_is_said_once(t):
    """with the verdict, not with the figures of the text again"""
    path = t.write(
        "sparse.log",
        b"INTERNAL:Failed to run pass pipeline. Hlo-Op: result.1:279:1: error: 'memref.alloca' op current allocation "
        b"offset upper bound "
        b"(140704 words) exceeds the legitimate user allocatable offset upper bound (131071 words) in memory space "
        b"201 when allocating 23440 words.\n",
    )
    equal(t.run("explain", path).stdout.count("would end at word 140704"), 1)


def test_a_kernel_is_named_and_not_quoted(t):
    """the operation and the instruction of a whole line of HLO; that alone which stands in it"""
    text = (
        "RESOURCE_EXHAUSTED: E1001: CompileTimeScopedVmemOom:\n"
        "Ran out of memory in memory space vmem while allocating on stack for %f5.1 = "
        'f32[8192,8192]{1,0:T(8,128)} custom-call(%x.1, %y.1), custom_call_target="tpu_custom_call", METADATA. Scoped '
        "allocation with size 96.00M "
        "and limit 16.00M exceeded scoped vmem limit by 80.00M.\n"
    )
    for metadata, words in (
        ('metadata={op_name="jit(f5)/pallas_call" stack_frame_id=4}', "jit(f5)/pallas_call (%f5.1)"),
        ('metadata={op_name="" stack_frame_id=4}', "%f5.1"),
        ("metadata={}", "%f5.1"),
    ):
        path = t.write("vmem.log", text.replace("METADATA", metadata).encode())
        assert f"One kernel asks for 96.00 MiB of VMEM in one piece: {words}.\n" in t.run("explain", path).stdout, (
            metadata
        )


def test_no_step_hides_a_command_in_a_sentence(t):
    daemon = t.serve(t.folder())
    names = ("oom-bfc", "oom-gpu", "oom-frameworks", "oom-tpu-compile", "oom-tpu-run", "oom-f-vmem-pallas-scratch")
    for name in names:
        for failure in give(daemon, t.fixture(f"text/{name}.txt"))["failures"]:
            steps = failure["verdict"]["next_steps"]
            assert any(step["kind"] == "command" for step in steps), (name, steps)
            equal(
                [
                    step["text"]
                    for step in steps
                    if step["kind"] == "text" and re.search(r"jax\.|pltpu\.|[A-Z]_[A-Z]+=|--\w", step["text"])
                ],
                [],
                name,
            )


# ---- beside the plan ----


def words(sentence):
    return "".join(
        part if isinstance(part, str) else part.get("name") or part["text"] or f"<{part['bytes']}>" for part in sentence
    )


def plan_of(t, dump, text, arguments=(), **names):
    """what the daemon says of a text beside the program of a dump, whose own text is left out"""
    folder = os.path.join(t.fixtures, "dumps", dump)
    for name in os.listdir(folder):
        if name.endswith((".hlo.pb", ".hlo.pb.gz")):
            with open(os.path.join(folder, name), "rb") as file:
                t.write(f"{dump}/{name}", file.read())
    t.write(f"{dump}/error.txt", text)
    daemon = t.serve(*arguments, t.folder())
    session = next(one for one in daemon.get_json("/api/v1/sessions")["sessions"] if one["name"].endswith(dump))
    return daemon, session["id"], daemon.get_json("/api/v1/oom/plan", session=session["id"], **names)


def test_a_text_is_compared_with_the_plan_of_its_program(t):
    """XLA's report of the seed program: 200 GiB of output and 100 GiB of temporaries"""
    text = t.fixture("dumps/seed-matmul-327680/error.txt")
    daemon, session, answer = plan_of(t, "seed-matmul-327680", text)
    plan, gib = answer["plan"], 2**30
    equal((answer["module"]["name"], answer["module"]["is_named"], plan["space"]), ("jit_f", True, 0))
    equal(
        [(part["word"], part["bytes"]) for part in plan["bar"]["parts"]],
        [("outputs", 200 * gib), ("workspace", 100 * gib)],
    )
    said = words(plan["agreement"])
    assert said.startswith(f"Text and plan agree: <{300 * gib}> in the text, <{300 * gib}> in the plan."), said
    assert f"temporaries, with what lies unused between them, are <{100 * gib}> of it." in said, said
    equal(words(plan["largest"]), f"Largest in the plan: <{200 * gib}> bf16[327680,327680].")
    for query, status in (
        ("report=2", 404),
        ("report=0", 404),
        ("report=x", 400),
        ("file=other.txt", 404),
        ("space=0", 400),
    ):
        equal(daemon.ask(f"/api/v1/oom/plan?session={session}&{query}").status, status, query)


def test_listed_buffers_are_found_in_the_plan(t):
    _, _, answer = plan_of(t, "seed-matmul-327680", t.fixture("oom/0.6.2-libtpu0.0.17-v5e-seed-exit1.txt"))
    plan = answer["plan"]
    equal([match and match["name"] for match in plan["buffers"]], ["xor_convert_fusion"])
    equal((plan["io_buffers"], plan["bar"], plan["largest"]), ([], None, []))


def test_a_text_of_another_program_is_not_compared(t):
    _, _, answer = plan_of(t, "seed-matmul-327680", LOAD)
    equal(answer, {})


def test_a_plan_that_others_leave_no_memory_for_is_503(t):
    """what is sent of a body takes 8 of the 16 MiB: the text can be read then, its program not"""
    daemon, session, _ = plan_of(
        t, "seed-matmul-327680", t.fixture("dumps/seed-matmul-327680/error.txt"), arguments=["--memory-limit=16"]
    )
    folder = t.folder("inputs/seed-matmul-327680")

    def ask():
        for name in os.listdir(folder):
            os.utime(os.path.join(folder, name))  # nothing read before is of these files
        return daemon.ask(f"/api/v1/oom/plan?session={session}")

    head = "POST /api/v1/uploads?name=a HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/octet-stream\r\n"

    def send():
        sending = socket.create_connection((daemon.host, daemon.port), timeout=PATIENCE_SECONDS)
        with contextlib.suppress(OSError):  # refused and closed: is_refused() sends anew
            sending.sendall(f"{head}Content-Length: {9 << 20}\r\n\r\n".encode() + bytes(8 << 20))
        return sending, time.monotonic()

    def is_refused():
        """sends anew where the body itself found no room: beside a plan that was still being read, it holds nothing"""
        nonlocal sending, begin
        if time.monotonic() - begin > 5:
            sending.close()
            sending, begin = send()
        return ask().status == 503

    sending, begin = send()
    wait_until(is_refused, what="the refusal")
    answer = ask()
    equal((answer.status, answer.json["code"], answer.headers["retry-after"]), (503, "limit", "1"), answer)
    sending.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # a reset, which is seen at once
    sending.close()
    wait_until(lambda: ask().status == 200, what="the end of the sending")
    assert ask().json["plan"]


# ---- folders ----


def test_logs_with_a_failure_are_sessions(t):
    t.write("job/train.log", b"step 1\n" * 1000 + LOAD)
    t.write("job/notes.txt", b"memory is fine\n")
    t.write("lone/error.txt", gpu(300))
    t.write("packed/run.log.gz", gzip.compress(gpu(900) + gpu(901)))
    daemon = t.serve(t.folder())
    wait_until(lambda: len(daemon.sessions()) == 3, what="the last of the logs")
    sessions = daemon.sessions()
    equal(sorted(sessions), ["job/train.log", "lone/error.txt", "packed/run.log.gz"])
    row = sessions["job/train.log"]
    equal((row["kind"], row["module_count"], row["has_error_text"]), ("text", 0, True))
    equal(
        {
            key: row["failure"][key]
            for key in ("count", "family", "memory_class", "phase", "module", "needed_bytes", "free_bytes")
        },
        {
            "count": 1,
            "family": "tpu_program_load",
            "memory_class": "hbm",
            "phase": "load",
            "module": "jit_step",
            "needed_bytes": 31664646390,
            "free_bytes": 154811761,
        },
    )
    equal(sessions["packed/run.log.gz"]["failure"]["count"], 2)


def test_a_log_beside_a_dump_belongs_to_it(t):
    t.write("d/module_0001.jit_f.after_optimizations.hlo.pb", b"x" * 20)
    t.write("d/out.log", gpu(300))
    t.write("d/quiet.log", b"nothing\n")
    daemon = t.serve(t.folder())
    wait_until(lambda: daemon.sessions()["d"]["failure"], what="the reading of the log")
    rows = daemon.sessions()
    equal(sorted(rows), ["d"])
    equal((rows["d"]["kind"], rows["d"]["failure"]["needed_bytes"]), ("dump", 300))
    answer = daemon.get_json("/api/v1/oom", session=rows["d"]["id"])
    equal((answer["file"], answer["files"], needed(answer)), ("out.log", ["out.log"], [300]))
    names = [file["name"] for file in daemon.get_json(f"/api/v1/sessions/{rows['d']['id']}")["files"]]
    assert "out.log" in names and "quiet.log" not in names, names


def test_the_texts_of_a_session_can_be_chosen(t):
    t.write("d/module_0001.jit_f.after_optimizations.hlo.pb", b"x" * 20)
    t.write("d/error.txt", b"nothing known\n")
    t.write("d/b.log", gpu(400))
    daemon = t.serve(t.folder())
    session = daemon.session_id("d")
    wait_until(
        lambda: len(daemon.get_json("/api/v1/oom", session=session)["files"]) == 2, what="the reading of the log"
    )
    answer = daemon.get_json("/api/v1/oom", session=session)
    equal((answer["file"], answer["files"]), ("b.log", ["error.txt", "b.log"]))
    equal(needed(daemon.get_json("/api/v1/oom", session=session, file="error.txt")), [])


def test_a_named_file_is_a_session_whatever_it_holds(t):
    path = t.write("notes.txt", b"just some text\n")
    daemon = t.serve(path)
    row = daemon.sessions()["notes.txt"]
    equal((row["kind"], row["failure"]), ("text", None))
    equal(daemon.get_json("/api/v1/oom", session=row["id"])["lines"]["line_count"], 1)


def test_a_log_that_gets_its_failure_later_appears(t):
    path = t.write("job/train.log", b"step 1\n")
    daemon = t.serve(t.folder())
    equal(daemon.sessions(), {})
    with open(path, "ab") as log:
        log.write(gpu(500))
    wait_until(lambda: daemon.sessions().get("job/train.log"), what="the session")
    os.remove(path)
    wait_until(lambda: not daemon.sessions(), what="its end")


def test_a_large_log_is_read_aside(t):
    line = b"I0528 07:00:00.000000 27487 train.py:3] step 12 loss=0.5 device memory in use: 3.5 GiB\n"
    size = 4 << 20 if t.is_sanitized else 64 << 20
    t.write("job/large.log", line * (size >> 6) + LOAD)
    t.write("job/small.log", gpu(300))
    daemon = t.serve(t.folder())
    assert "job/small.log" in daemon.sessions()
    wait_until(lambda: "job/large.log" in daemon.sessions(), what="the large log")
    equal(daemon.sessions()["job/large.log"]["failure"]["needed_bytes"], 31664646390)
    answer = daemon.get_json("/api/v1/oom", session=daemon.session_id("job/large.log"))
    begin, end = answer["failures"][0]["ranges"]["needed_bytes"]
    text = daemon.ask(f"/api/v1/oom/text?session={answer['session']}&from={begin}&to={end}").body
    equal(text, b"29.49G")


def test_a_log_that_grows_while_it_is_read_is_read_to_its_end(t):
    """nothing changes after the failure: the turn of the log comes all the same"""
    line = b"I0528 07:00:00.000000 27487 train.py:3] step 12 loss=0.5 device memory in use: 3.5 GiB\n"
    size = 2 << 20 if t.is_sanitized else 24 << 20  # it is looked at again after twenty times what reading it took
    path = t.write("job/large.log", line * (size >> 6) + gpu(500))
    daemon = t.serve(t.folder())
    wait_until(lambda: "job/large.log" in daemon.sessions(), what="the first failure")
    with open(path, "ab") as log:
        log.write(gpu(700))
    wait_until(lambda: daemon.sessions()["job/large.log"]["failure"]["count"] == 2, what="the second failure")


def test_a_log_that_grows_all_the_time_can_be_looked_at(t):
    line = b"I0528 07:00:00.000000 27487 train.py:3] step 12 loss=0.5 device memory in use: 3.5 GiB\n"
    size = 4 << 20 if t.is_sanitized else 32 << 20
    path = t.write("job/train.log", gpu(500) + line * (size >> 6))
    daemon = t.serve(t.folder())
    wait_until(lambda: "job/train.log" in daemon.sessions(), what="the session")
    session, is_over = daemon.session_id("job/train.log"), threading.Event()

    def grow():
        with open(path, "ab", buffering=0) as log:
            while not is_over.wait(0.002):
                log.write(line)

    growing = threading.Thread(target=grow)
    growing.start()
    try:
        answer = daemon.get_json("/api/v1/oom", session=session)
        equal(daemon.ask(f"/api/v1/oom/text?session={session}&to=18").body, b"RESOURCE_EXHAUSTED")
    finally:
        is_over.set()
        growing.join()
    equal(len(answer["failures"]), 1)


def test_pipes_are_never_opened(t):
    """whoever waits to write to one would notice"""
    t.write("src/a.py", b"x = 1\n")
    pipes = [os.path.join(t.folder(), name) for name in ("src/pipe.py", "train.log")]
    for pipe in pipes:
        os.mkfifo(pipe)
    writers = [subprocess.Popen(["sh", "-c", 'echo > "$0"', pipe]) for pipe in pipes]
    try:
        daemon = t.serve(f"--source-root={t.folder()}", t.folder())
        daemon.sessions()
        for name, is_there in (("src/a.py", True), ("src/pipe.py", False), ("train.log", False)):
            for _ in range(20):
                equal(daemon.get_json("/api/v1/source", file=name)["is_available"], is_there, name)
        equal([writer.poll() for writer in writers], [None, None], "still waiting")
    finally:
        for writer in writers:
            writer.kill()
            writer.wait()
