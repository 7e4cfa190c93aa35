# SPDX-License-Identifier: Apache-2.0
"""memviewd summary: the same figures as the page, in a terminal."""

import csv
import io
import os
import re

import inputs
from harness import equal, loads


def dumps(t):
    return os.path.join(t.fixtures, "dumps")


def test_the_seed_shows_300_gib(t):
    process = t.run("summary", os.path.join(dumps(t), "seed-matmul-327680"))
    equal(process.returncode, 0, process.stderr)
    for words in ("300.00 GiB", "200.00 GiB  fusion.31", "100.00 GiB  xor_convert_fusion", "HBM", "VMEM"):
        assert words in process.stdout, process.stdout


def test_figures_are_those_of_the_api(t):
    daemon = t.serve(dumps(t))
    answer = loads(t.run("summary", "--json", dumps(t)).stdout)
    equal(sorted(session["name"] for session in answer["sessions"]), sorted(daemon.sessions()))
    for session in answer["sessions"]:
        for module in session["modules"]:
            equal(
                module["summary"],
                daemon.get_json("/api/v1/memory_viewer/summary", session=session["id"], module=module["id"]),
            )
            space = module["buffers"]["data"]["space"]
            equal(
                module["buffers"],
                daemon.get_json(
                    "/api/v1/memory_viewer/buffers", session=session["id"], module=module["id"], space=space, limit=10
                ),
            )


def test_csv_has_one_line_for_each_module_and_space(t):
    rows = list(csv.DictReader(io.StringIO(t.run("summary", "--csv", dumps(t)).stdout)))
    spaces = loads(t.run("summary", "--json", dumps(t)).stdout)
    count = sum(
        len(module["summary"]["data"]["spaces"]) for session in spaces["sessions"] for module in session["modules"]
    )
    equal(len(rows), count)
    seed = next(row for row in rows if row["session"] == "seed-matmul-327680" and row["space"] == "0")
    equal((seed["peak_bytes"], seed["space_name"], seed["module"]), (str(300 << 30), "HBM", "jit_f"))


def test_a_module_and_a_space_can_be_chosen(t):
    path = t.write(
        "run.xplane.pb",
        inputs.xspace({("jit_one", 5): inputs.hlo_proto("jit_one", 4), ("jit_two", 6): inputs.hlo_proto("jit_two", 6)}),
    )
    for name in ("jit_two", "jit_two(6)"):
        process = t.run("summary", path, "--module", name)
        equal(process.returncode, 0, process.stderr)
        assert "jit_two(6)" in process.stdout and "jit_one(5)" not in process.stdout, process.stdout
    equal(t.run("summary", path, "--module=nothing").returncode, 2)
    chosen = t.run("summary", "--space=1", os.path.join(dumps(t), "seed-matmul-327680")).stdout
    assert "VMEM" in chosen and "HBM " not in chosen, chosen


def test_exit_status(t):
    equal(t.run("summary", t.folder("nothing")).returncode, 1, "a folder without profiles")
    text = t.write("notes", b"only text\n" * 20)
    process = t.run("summary", text)
    equal((process.returncode, process.stderr.count("\n")), (1, 1), "a file that is not recognised")
    equal(t.run("summary", t.write("no.xplane.pb", inputs.xspace({}))).returncode, 1, "a trace without programs")
    broken = t.write("dump/module_0001.jit_f.after_optimizations.hlo.pb", inputs.hlo_proto()[:-30])
    process = t.run("summary", os.path.dirname(broken))
    equal(process.returncode, 2, process.stdout)
    good = t.write("dump/module_0002.jit_g.after_optimizations.hlo.pb", inputs.hlo_proto("jit_g"))
    process = t.run("summary", os.path.dirname(good))
    equal(process.returncode, 0)
    assert "cannot be read" in process.stdout and "jit_g" in process.stdout, process.stdout


def test_a_file_that_cannot_be_read_is_named_by_every_command(t):
    """a trace that is cut before its programs, a cut profile, an empty log: file, reason, place; status 2; with --json
    in not_read"""
    trace = t.write("cut/h.xplane.pb", inputs.trace("jit_f", 5)[:200])
    profile = t.write("cut.prof", t.fixture("memprof/memory1.prof")[:300])
    for command, more in (
        ("summary", ()),
        ("whose", ()),
        ("whatif", ()),
        ("export", ()),
        ("check", ("--max-total=1TiB",)),
        ("diff", (trace,)),
        ("explain", ()),
    ):
        done = t.run(command, trace, *more)
        equal(done.returncode, 2, (command, done.stdout, done.stderr))
        told = done.stdout + done.stderr
        assert "at byte 200" in told and "has no HLO module" not in told and told.count("at byte") <= 2, (command, told)
    for command in ("summary", "whose", "whatif"):
        (lost,) = loads(t.run(command, trace, "--json").stdout)["not_read"]
        equal((lost["file"], lost["code"], lost["offset_bytes"]), ("h.xplane.pb", "truncated", 200), command)
    for command in ("summary", "top", "explain", "index"):
        done = t.run(command, profile)
        equal(done.returncode, 2, (command, done.stderr))
        assert (
            "the gzip stream is cut at byte 300 of the file" in done.stdout + done.stderr
            and "at byte 370" not in done.stderr
        ), (command, done.stderr)
    name = "rank0.pt.trace.json.gz"  # of one that is read up to its end the verdict has a note
    torch = t.fixture("torch/cpu.pt.trace.json.gz")
    half = t.write(f"torch/{name}", torch[: len(torch) // 2])
    done = t.run("explain", half)
    equal(
        (
            done.returncode,
            f"Note: {name}: The gzip stream ends in the middle, at byte {len(torch) // 2} " in done.stdout,
        ),
        (0, True),
        done.stdout,
    )
    ((lost,),) = [one["answer"]["not_read"] for one in loads(t.run("explain", "--json", half).stdout)]
    equal((lost["file"], lost["code"]), (name, "truncated"))
    done = t.run("index", os.path.dirname(profile) + "/cut.prof")
    equal(done.returncode, 2, done.stderr)
    done = t.run("explain", t.write("empty.log", b""))
    equal((done.returncode, "empty.log: is empty: nothing was written to it" in done.stderr), (2, True), done.stderr)


def test_explain_names_programs_that_cannot_be_read_beside_one_that_can(t):
    """also the largest one, whose sums are known but not its buffers; and a bad file of a folder"""
    good, large = inputs.hlo_proto("jit_good", 4), inputs.hlo_proto("jit_large", 400)
    middle = len(large) // 2
    for damaged in (large[:-40], large[:middle] + b"\x0a\xff\xff\x7f" + large[middle + 4 :]):
        path = t.write("two/h.xplane.pb", inputs.xspace({("jit_good", 1): good, ("jit_large", 2): damaged}))
        done = t.run("explain", path)
        equal(done.returncode, 2, done.stderr)
        assert "jit_good needs 8.0 KiB" in done.stdout and re.search(
            r"h\.xplane\.pb: jit_large\(2\): .*, at byte \d+$", done.stderr.strip()
        ), done.stderr
        answered = {one["module"]: one.get("error") for one in loads(t.run("explain", "--json", path).stdout)}
        equal((answered["jit_good(1)"], answered["jit_large(2)"]["file"]), (None, "h.xplane.pb"))
    t.write("dump/module_0001.jit_f.after_optimizations.hlo.pb", good[:-30])
    path = t.write("dump/module_0002.jit_g.after_optimizations.hlo.pb", good)
    done = t.run("explain", os.path.dirname(path))
    equal((done.returncode, "module_0001.jit_f.after_optimizations.hlo.pb: " in done.stderr), (0, True), done.stderr)


def test_what_would_say_the_capacity_is_named_when_it_cannot_be_read(t):
    stem = "module_0001.jit_f.cl_1"
    path = t.write(f"dump/{stem}.after_optimizations.hlo.pb", inputs.hlo_proto("jit_f"))
    t.write(f"dump/{stem}.target_arguments.pb", b"no message of any chip")
    done = t.run("summary", os.path.dirname(path), "--json")
    (lost,) = loads(done.stdout)["not_read"]
    equal((lost["file"], lost["reason"]), (f"{stem}.target_arguments.pb", "says nothing of a chip"))
    assert (
        "target_arguments.pb could not be read: says nothing of a chip"
        in t.run("explain", os.path.dirname(path)).stdout
    )


def test_a_dump_of_a_gpu_says_how_much_memory_the_device_has(t):
    stem = "module_0001.jit_f"
    path = t.write(f"dump/{stem}.sm_9.0a_gpu_after_optimizations.hlo.pb", inputs.hlo_proto("jit_f"))
    config = (
        'gpu_device_info {\n  core_count: 132\n  device_memory_size: %s\n}\nplatform_name: "CUDA"\n'
        'device_description_str: "NVIDIA H200"\n'
    )
    for size, said in (
        (150109880320, "139.80 GiB"),
        (1 << 60, "140.40 GiB"),
    ):  # the second is damaged: what the table has
        t.write(f"dump/{stem}.gpu_target_config.pbtxt", (config % size).encode())
        told = t.run("summary", os.path.dirname(path)).stdout
        (line,) = [line for line in told.splitlines() if "capacity" in line]
        assert "from gpu_target_config.pbtxt" in line and said in line, line


def test_a_dump_that_says_no_capacity_lacks_nothing(t):
    """what would say it need not lie beside a program"""
    path = t.write("dump/module_0001.jit_f.cl_1.after_optimizations.hlo.pb", inputs.hlo_proto("jit_f"))
    for asked in (path, os.path.dirname(path)):
        done = t.run("summary", asked, "--json")
        equal((done.returncode, done.stderr, loads(done.stdout)["not_read"]), (0, "", []))
        equal("could not be read" in t.run("explain", asked).stdout, False, asked)


def test_a_dumped_text_is_a_program_whatever_it_is_named(t):
    text = t.fixture("modules/mlp-adam/module_0000.jit_step.cl_1014260217.after_optimizations-buffer-assignment.txt")
    done = t.run("explain", t.write("plan.txt", text))
    equal((done.returncode, "The program needs 8.00 MiB" in done.stdout), (0, True), done.stdout)


def test_hostile_names_do_not_reach_the_terminal(t):
    path = t.write("x.xplane.pb", inputs.trace("jit_\x1b[31m\n\r<x>", 5))
    for form in ((), ("--csv",)):
        output = t.run("summary", path, *form).stdout
        if not form:
            assert "\x1b" not in output and "\r" not in output, output
    row = list(csv.reader(io.StringIO(t.run("summary", "--csv", path).stdout)))[1]
    equal(row[1].replace("\r", "\n"), "jit_\x1b[31m\n\n<x>(5)")
    formula = t.write("f.xplane.pb", inputs.trace("=1+1", 5))
    row = list(csv.reader(io.StringIO(t.run("summary", "--csv", formula).stdout)))[1]
    equal(row[1], "'=1+1(5)")


def test_allocators_of_a_trace_in_each_form(t):
    """3 steps of 1 KiB that stays and 4 KiB that does not, on top of what was there"""
    path = t.write("plugins/profile/run/h.xplane.pb", inputs.memory_plane(3))
    daemon = t.serve(t.folder())
    session = daemon.session_id("run")
    pools = daemon.get_json("/api/v1/memory_profile/summary", session=session)["data"]["pools"]
    process = t.run("summary", "--json", t.folder())
    equal(process.returncode, 0, process.stderr)
    (answer,) = loads(process.stdout)["sessions"]
    equal((answer["memory"], answer["modules"]), (pools, []))
    text = t.run("summary", "--csv", path).stdout
    (row,) = csv.DictReader(io.StringIO(text))
    equal({line.count(",") for line in text.splitlines()}, {24})
    expected = {
        "module": "",
        "total_bytes": "",
        "memory": "GPU_0_bfc",
        "host": "h",
        "memory_peak_bytes": "7168",
        "memory_peak_time_ps": "7200",
        "memory_capacity_bytes": "1048576",
        "memory_lifetime_peak_bytes": "1048576",
        "allocation_count": "6",
        "deallocation_count": "3",
    }
    equal({name: row[name] for name in expected}, expected)
    equal(t.run("summary", "--json", path, "--module=nothing").returncode, 2)


def all_rows(daemon, **about):
    """the buffers that are live at the peak, all pages of them"""
    rows = []
    while True:
        data = daemon.get_json("/api/v1/memory_viewer/buffers", limit=1000, offset=len(rows), **about)["data"]
        rows += data["rows"]
        if len(rows) >= data["matched_count"]:
            return rows


def culprit_is_of_all_buffers(daemon, session):
    """Of every module and space: the largest sum of equal buffers, added up here. Out: (count, each, percent) of the
    first"""
    first = None
    for module in daemon.get_json(f"/api/v1/sessions/{session}/modules", sort="-total")["modules"]:
        about = {"session": session, "module": module["id"]}
        for space in daemon.get_json("/api/v1/memory_viewer/summary", **about)["data"]["spaces"]:
            groups = {}
            for row in all_rows(daemon, space=space["space"], **about):
                groups.setdefault((row["bytes"], row["shape"], row.get("group")), []).append(row)
            largest = max((size * len(rows) for (size, _, _), rows in groups.items()), default=0)
            found = space["culprit"]
            if largest == 0:
                equal(found, None)
                continue
            (rows,) = [
                rows
                for (size, shape, _), rows in groups.items()
                if (size, shape) == (found["each_bytes"], found["shape"])
                and found["first_id"] in {row["id"] for row in rows}
            ]
            equal((found["bytes"], found["count"]), (largest, len(rows)))
            equal(found["padding_bytes"], sum(row["padding_bytes"] or 0 for row in rows))
            lines = [f"{row['source_file']}:{row['source_line']}" for row in rows if row["source_file"]]
            equal(found["line_count"], len(set(lines)))
            assert not lines or lines.count(found["line"]) == max(map(lines.count, set(lines))), found
            first = first or (found["count"], found["each_bytes"], round(100 * found["bytes"] / space["peak_bytes"]))
    return first


def test_the_culprit_is_found_over_all_buffers(t):
    daemon = t.serve(t.fixtures)
    for row in daemon.sessions().values():
        if row["kind"] in ("dump", "trace"):
            culprit_is_of_all_buffers(daemon, row["id"])
    said = t.run("summary", os.path.join(t.fixtures, "demo", "b-activations-unrolled")).stdout
    sentence = "12 × 2.00 GiB bf16[16,16,2048,2048] are 72 % of the peak, made at models.py:11, in 12 layers."
    assert sentence in said, said


def test_a_culprit_of_more_buffers_than_a_page_lists(t):
    """72 of 960 buffers, 24 of 927, 63 of 2,249"""
    data = os.path.join(t.need_shared(), "data")
    daemon = t.serve(os.path.join(data, "dumps"))
    equal(culprit_is_of_all_buffers(daemon, daemon.session_id("e-no-donation")), (72, 36 << 20, 15))
    said = t.run("summary", os.path.join(data, "dumps", "e-no-donation")).stdout
    assert "are 15 % of the peak, made at models.py:40, in 24 layers." in said, said
    assert "Results that could reuse the memory of arguments: 8.69 GiB (50 % of the peak). 72 ×" in said, said
    equal(culprit_is_of_all_buffers(daemon, daemon.session_id("a-adam-state")), (24, 64 << 20, 9))
    daemon = t.serve(os.path.join(data, "logdir", "tpu"))
    equal(culprit_is_of_all_buffers(daemon, daemon.session_id("large-transformer-64l")), (63, 4 << 20, 12))


def test_a_module_without_assignment_has_no_peak(t):
    path = t.write(
        "module_0001.jit_f.before_optimizations.hlo.pb", inputs.block(1, inputs.hlo_module("jit_f", 8, 1024))
    )
    process = t.run("summary", path)
    equal(process.returncode, 0, process.stderr)
    assert "jit_f  without a buffer assignment" in process.stdout and "peak" not in process.stdout, process.stdout
    path = os.path.join(
        t.fixtures, "dumps", "f5-vmem-matmul-blocks", "module_0003.jit_f5.cl_1014260217.before_optimizations.hlo.pb"
    )
    said = "The largest arrays of the program are 256.00 MiB f32[8192,8192] (result, "
    process = t.run("summary", path)
    assert said in process.stdout and "at least 384.00 MiB at one time" in process.stdout, process.stdout
    daemon = t.serve(path)
    session = next(iter(daemon.sessions().values()))["id"]
    data = daemon.get_json("/api/v1/memory_viewer/summary", session=session)["data"]
    assert said in data["arrays"]["sentence"] and data["spaces"] == [], data
    verdict = daemon.get_json("/api/v1/verdict", session=session)
    equal(
        (verdict["arrays"]["items"], verdict["fits"], verdict["cause"]["kind"]),
        (data["arrays"]["items"], "unknown", "unknown"),
    )
    equal(verdict["evidence"][verdict["arrays_figures"][0]["evidence"]]["kind"], "difference")


def test_a_device_profile_is_named_and_led_to_top(t):
    path = os.path.join(t.fixtures, "memprof", "memory.prof")
    process = t.run("summary", path)
    equal((process.returncode, process.stderr), (0, ""))
    assert "1 device profile: memviewd explain and top print what holds the memory" in process.stdout, process.stdout
    process = t.run("summary", "--csv", path)  # a table of modules has no row for it
    equal((process.returncode, "memviewd top" in process.stderr, "HLO module" in process.stderr), (1, True, False))
