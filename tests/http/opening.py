# SPDX-License-Identifier: Apache-2.0
"""What people really have: the chip that a dump names, parts of one program that belong together."""

import os
import shutil

import inputs
from harness import equal, loads, wait_until
from uploads import add, sessions_of

V5E = 16911433728  # 15.75 GiB, of the table of devices


def target_arguments(generation, variant=""):
    """a *.target_arguments.pb of a dump for one host of 2 x 2 chips"""
    bounds = [
        inputs.block(field, inputs.number(1, x) + inputs.number(2, x) + inputs.number(3, 1))
        for field, x in ((5, 2), (6, 1))
    ]
    return inputs.number(3, 1) + inputs.block(
        6, inputs.number(1, generation) + inputs.block(2, variant) + b"".join(bounds)
    )


def dump(t, folder, name="jit_step", extra=()):
    stem = f"{folder}/module_0000.{name}.cl_1"
    for ending, data in ((".after_optimizations.hlo.pb", inputs.hlo_proto(name, 4)), *extra):
        t.write(stem + ending, data)
    return os.path.join(t.folder(), folder)


def devices_of(t, root, session):
    daemon = t.serve(root)
    return daemon.get_json(f"/api/v1/sessions/{daemon.session_id(session)}/modules")["devices"]


def summary(t, root):
    return loads(t.run("summary", "--json", root).stdout)["sessions"][0]["modules"][0]


def test_the_chip_of_a_dump_gives_the_capacity(t):
    for folder, ending, data in (
        ("a", ".target_arguments.pb", target_arguments(4, "lite")),
        (
            "b",
            ".target_arguments.txt",
            b'tpu_topology_args {\n  version: TPU_VERSION_VIPERFISH\n  variant: "lite"\n}\n',
        ),
        ("c", "/topology.textproto", b'platform_name: "tpu"\nplatform_version: "TFRT TPU v5 lite\\nBuilt on Nov 5"\n'),
    ):
        root = dump(t, folder, extra=((ending, data),))
        device = devices_of(t, root, root.rsplit("/", 1)[-1])[0]
        equal((device["kind"], device["device"], device["available_bytes"]), ("TPU v5e", "v5e", V5E), ending)
        assert device["file"].endswith(ending), device
        equal(
            summary(t, root)["capacity"], {"bytes": V5E, "is_physical": False, "source": f"TPU v5e, from {ending[1:]}"}
        )
        assert "15.75 GiB" in t.run("whatif", "--fit", root).stdout
        modules = t.serve(root)
        overview = modules.get_json("/api/v1/modules/table", session=modules.session_id(root.rsplit("/", 1)[-1]))[
            "data"
        ]
        equal(overview["rows"][0]["capacity_bytes"], V5E)


def test_the_chip_of_a_dump_in_an_archive_gives_the_capacity_too(t):
    for folder, ending, data in (
        ("a", ".target_arguments.pb", target_arguments(4, "lite")),
        ("c", "/topology.textproto", b'platform_name: "tpu"\nplatform_version: "TFRT TPU v5 lite\\nBuilt on Nov 5"\n'),
    ):
        root = dump(t, f"loose/{folder}", extra=((ending, data),))
        for form in ("zip", "tar"):
            path = shutil.make_archive(f"{t.folder()}/{folder}", form, os.path.dirname(root), folder)
            told = summary(t, path)["capacity"]
            equal(told, {"bytes": V5E, "is_physical": False, "source": f"TPU v5e, from {ending[1:]}"}, path)
            daemon = t.serve(path)
            with open(path, "rb") as file:
                given = add(daemon, os.path.basename(path), file.read())
            (session,) = sessions_of(daemon, given["id"])
            modules = daemon.get_json("/api/v1/modules/table", session=session["id"])["data"]
            equal(modules["rows"][0]["capacity_bytes"], V5E, f"{path}, dropped")
        other = dump(t, "bare/other")
        bare = shutil.make_archive(f"{t.folder()}/bare-{folder}", "zip", os.path.dirname(other), "other")
        equal(summary(t, bare)["capacity"], None)


def test_an_error_text_comes_before_the_chip(t):
    root = dump(t, "told", extra=((".target_arguments.pb", target_arguments(5)),))
    equal(summary(t, root)["capacity"]["source"], "TPU v6e, from target_arguments.pb")
    t.write(
        "told/error.txt",
        b"RESOURCE_EXHAUSTED: E1000: CompileTimeHbmOom: Ran out of memory on HBM, the total memory "
        b"required for HLO temporaries (33.49G) exceeds available HBM (15.75G). HLO module: jit_step.\n",
    )
    equal(summary(t, root)["capacity"], {"bytes": V5E, "is_physical": False, "source": "error.txt"})


def test_a_chip_that_is_not_known_says_nothing(t):
    root = dump(t, "unknown", extra=((".target_arguments.pb", target_arguments(99)),))
    equal(devices_of(t, root, "unknown"), [])
    equal(summary(t, root)["capacity"], None)
    process = t.run("whatif", "--fit", root)
    assert process.returncode == 2 and "--fit needs --capacity" in process.stderr, process.stderr


def text_fixtures(t, folder, *names):
    """files of tests/fixtures/texts in a folder of their own"""
    for name in names:
        t.write(f"{folder}/{name}", t.fixture(f"texts/{name}"))
    return os.path.join(t.folder(), folder)


FFT = "module_0002.jit_fft_complex.cpu_after_optimizations"


def test_a_dump_of_texts_opens_as_one_of_protos(t):
    root = text_fixtures(t, "texts", FFT + ".txt", FFT + "-buffer-assignment.txt")
    daemon = t.serve(root)
    session = daemon.session_id("texts")
    module = daemon.get_json(f"/api/v1/sessions/{session}/modules")["modules"][0]
    equal(
        (module["name"], module["stage"], module["has_buffer_assignment"]),
        ("jit_fft_complex", "after_optimizations", True),
    )
    answer = daemon.get_json("/api/v1/memory_viewer/summary", session=session, module=module["id"])
    assert "no_heap_trace" in [note["code"] for note in answer["notes"]], answer["notes"]
    equal(answer["data"]["spaces"][0]["peak_bytes"], 25165824)
    equal(answer["data"]["spaces"][0]["step_unit"], "schedule")
    t.write(f"texts/{FFT}-buffer-assignment.txt", b"BufferAssignment:\nallocation 0: size 8x\n")
    process = t.run("summary", root)
    assert f"{FFT}-buffer-assignment.txt, line 2: " in process.stdout + process.stderr, (process.stdout, process.stderr)


def test_a_proto_comes_before_a_text_of_its_stage(t):
    root = text_fixtures(t, "both", FFT + ".txt", FFT + "-buffer-assignment.txt")
    t.write(f"both/{FFT}.hlo.pb", inputs.hlo_proto("jit_proto", 4))
    equal(summary(t, root)["name"], "jit_proto")


def test_module_and_assignment_apart_are_one(t):
    root = text_fixtures(t, "pieces", "mod.hlo.pb", "buffer_assignment.pb")
    found = loads(t.run("summary", "--json", root).stdout)["sessions"][0]["modules"]
    equal(
        [(module["name"], module["summary"]["data"]["spaces"][0]["peak_bytes"]) for module in found],
        [("jit_f", 16 << 20)],
    )
    alone = summary(t, text_fixtures(t, "alone", "buffer_assignment.pb"))
    equal([note["code"] for note in alone["summary"]["notes"] if note["code"] == "no_module"], ["no_module"])
    text = summary(t, text_fixtures(t, "compiled", "attributes.hlo.txt"))
    equal((text["name"], text["summary"]["data"]["module"]["has_buffer_assignment"]), ("jit_all", False))


def error(module):
    return (
        f"RESOURCE_EXHAUSTED: E1000: CompileTimeHbmOom: Ran out of memory on HBM, the total memory required for HLO "
        f"temporaries (33.49G) exceeds available HBM (15.75G). HLO module: {module}.\n"
    ).encode()


def sessions_below(t, folder, files, expected):
    """what the daemon lists, once it has looked into the logs"""
    for name, data in files.items():
        t.write(f"{folder}/{name}", data)
    daemon = t.serve(os.path.join(t.folder(), folder))

    def listed():
        return sorted((session["kind"], session["name"]) for session in daemon.get_json("/api/v1/sessions")["sessions"])

    def is_told():
        return any(session["failure"] for session in daemon.get_json("/api/v1/sessions")["sessions"])

    wait_until(is_told, what=f"the log of {folder}")
    equal(listed(), expected)
    return daemon


STEP = "module_0000.jit_step.after_optimizations.hlo.pb"


def test_a_log_above_or_below_its_dump_is_one_session_with_it(t):
    hlo = inputs.hlo_proto("jit_step", 4)
    daemon = sessions_below(
        t, "above", {"run/job.log": error("jit_step"), f"run/xla/dump/{STEP}": hlo}, [("dump", "run/xla/dump")]
    )
    sessions_below(t, "below", {f"run/{STEP}": hlo, "run/logs/job.log": error("jit_step")}, [("dump", "run")])
    sessions_below(
        t,
        "two",
        {"job.log": error("jit_step"), f"a/{STEP}": hlo, "b/module_0000.jit_other.after_optimizations.hlo.pb": hlo},
        [("dump", "a"), ("dump", "b")],
    )
    session = daemon.get_json(f"/api/v1/sessions/{daemon.session_id('run/xla/dump')}")
    equal([text["file"] for text in session["error_texts"]], ["run/job.log"])
    equal(session["failure"]["module"], "jit_step")


def test_a_log_of_another_program_or_far_away_stays_alone(t):
    hlo = inputs.hlo_proto("jit_step", 4)
    sessions_below(
        t, "other", {"job.log": error("jit_else"), f"dump/{STEP}": hlo}, [("dump", "dump"), ("text", "job.log")]
    )
    sessions_below(
        t, "far", {"job.log": error("jit_step"), f"a/b/c/{STEP}": hlo}, [("dump", "a/b/c"), ("text", "job.log")]
    )
    sessions_below(
        t,
        "several",
        {"job.log": error("jit_step"), f"a/{STEP}": hlo, f"b/{STEP}": hlo},
        [("dump", "a"), ("dump", "b"), ("text", "job.log")],
    )


def test_a_capacity_is_a_device_or_a_size_in_every_command(t):
    path = os.path.join(t.fixtures, "dumps", "h-long-context")
    said = {}
    for capacity in ("v5e", "V5E", "15.75GiB", "16911433728"):
        summary = loads(t.run("summary", "--json", f"--capacity={capacity}", path).stdout)["sessions"][0]["modules"][0]
        verdict = loads(t.run("explain", "--json", f"--capacity={capacity}", path).stdout)[0]["answer"]
        whatif = loads(t.run("whatif", "--json", f"--capacity={capacity}", path).stdout)["modules"][0]
        check = loads(t.run("check", "--format=json", f"--max-total={capacity}", path).stdout)["modules"][0]
        said[capacity] = [
            summary["capacity"]["bytes"],
            summary["capacity"]["source"],
            verdict["fit"]["capacity_bytes"],
            whatif["capacity_bytes"],
            check["findings"][0]["bytes"],
        ]
    equal(said["v5e"][:4], [16911433728, "as chosen", 16911433728, 16911433728])
    equal(len(set(map(str, said.values()))), 1, said)
    for words in (
        ("summary", "--capacity=many"),
        ("explain", "--capacity=many"),
        ("whatif", "--capacity=many"),
        ("check", "--max-total=many"),
    ):
        process = t.run(*words, path)
        equal((process.returncode, process.stdout), (2, ""), words)
        assert "is neither a device (v5e, " in process.stderr and "nor a size (15.75GiB" in process.stderr, (
            process.stderr
        )
