# SPDX-License-Identifier: Apache-2.0
"""From folders and names to sessions."""

import gzip
import os

import harness
import inputs
from harness import equal
from opening import target_arguments
from snapshots import snapshot

HLO = inputs.hlo_proto()
TRACE = inputs.trace()
OUT_OF_HBM = "RESOURCE_EXHAUSTED: XLA:TPU compile permanent error. Ran out of memory in memory space hbm."


def kinds(daemon):
    return {name: row["kind"] for name, row in daemon.sessions().items()}


def modules(daemon, name, **parameters):
    return daemon.get_json(f"/api/v1/sessions/{daemon.session_id(name)}/modules", **parameters)["modules"]


def test_traces_are_found_at_any_depth(t):
    t.write("plugins/profile/top/h.xplane.pb", TRACE)
    t.write("a/b/c/plugins/profile/deep/h.xplane.pb", TRACE)
    t.write("loose/one.xplane.pb", TRACE)
    t.write("loose/two.xplane.pb.gz", gzip.compress(TRACE))
    daemon = t.serve(t.folder())
    equal(kinds(daemon), {"top": "trace", "a/b/c/deep": "trace", "loose": "trace"})
    equal([host["name"] for host in daemon.sessions()["loose"]["hosts"]], ["one", "two"])


def test_every_level_that_people_point_at_works(t):
    t.write("x/plugins/profile/run/h.xplane.pb", TRACE)
    for level, name in (
        ("", "x/run"),
        ("x", "run"),
        ("x/plugins", "profile/run"),
        ("x/plugins/profile", "run"),
        ("x/plugins/profile/run", "h"),
    ):
        daemon = t.serve(os.path.join(t.folder(), level))
        equal(kinds(daemon), {name: "trace"}, level)
        equal(len(modules(daemon, name)), 1, level)


def test_files_are_opened_by_their_content_whatever_their_name(t):
    paths = [
        t.write("files/trace.bin", TRACE),
        t.write("files/program", gzip.compress(HLO)),
        t.write("files/run.xplane.pb", TRACE),
        t.write("files/m(5).hlo_proto.pb", HLO),
    ]
    daemon = t.serve(*paths)
    equal(kinds(daemon), {"trace.bin": "trace", "program": "hlo", "run": "trace", "m(5)": "hlo"})
    for name in kinds(daemon):
        equal(len(modules(daemon, name)), 1, name)
    assert daemon.get_json("/runs") == []


def test_a_lone_trace_in_the_root_bears_its_own_name(t):
    t.write("myhost.xplane.pb", TRACE)
    equal(list(kinds(t.serve(t.folder()))), ["myhost"])


def test_a_log_beside_a_lone_snapshot_gives_it_no_name(t):
    t.write("output.log", b"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 16.00 GiB. ")
    t.write("rank0.pickle", snapshot())
    equal(kinds(t.serve(t.folder())), {"output.log": "text", "rank0": "trace"})


def test_a_dump_opens_its_best_stage(t):
    stem = "dump/module_0006.jit_f.cl_1"
    t.write(stem + ".before_optimizations.hlo.pb", inputs.hlo_proto("jit_before", 2))
    t.write(stem + ".oom_intermediate_module.hlo.pb", inputs.hlo_proto("jit_oom", 2))
    t.write(stem + ".after_optimizations-buffer-assignment.txt", b"text")
    t.write("dump/module_0007.jit_g.sm_8.0_gpu_after_optimizations.hlo.pb", inputs.hlo_proto("jit_gpu", 2))
    t.write("dump/module_0007.jit_g.before_optimizations.hlo.pb", HLO)
    t.write("dump/module_0008.jit_h.cpu_after_optimizations.hlo.pb.gz", gzip.compress(inputs.hlo_proto("jit_cpu", 2)))
    t.write("dump/module_0007.jit_g.0003.simplification.after_dce.before_cse.hlo.pb", HLO)
    t.write("dump/error.txt", b"RESOURCE_EXHAUSTED: \xff\x00 out of memory")
    daemon = t.serve(t.folder())
    rows = {row["name"]: row for row in modules(daemon, "dump")}
    equal(
        {name: row["stage"] for name, row in rows.items()},
        {"jit_oom": "oom_intermediate_module", "jit_gpu": "after_optimizations", "jit_cpu": "after_optimizations"},
    )
    t.write(stem + ".after_optimizations.hlo.pb", inputs.hlo_proto("jit_after", 2))
    daemon = t.serve(t.folder())
    rows = {row["name"]: row["stage"] for row in modules(daemon, "dump")}
    equal(rows["jit_after"], "after_optimizations")
    session = daemon.get_json(f"/api/v1/sessions/{daemon.session_id('dump')}")
    words = {file["name"].split(".")[-2] + "." + file["name"].split(".")[-1]: file["kind"] for file in session["files"]}
    equal(words["after_optimizations-buffer-assignment.txt"], "buffer_assignment")
    equal(session["error_texts"], [{"file": "dump/error.txt", "text": "RESOURCE_EXHAUSTED: \ufffd\x00 out of memory"}])
    equal(daemon.sessions()["dump"]["has_error_text"], True)


def test_a_dump_of_reports_alone_says_how_to_get_more(t):
    t.write("dump/module_0001.jit_f.after_optimizations-live-range.txt", b"HloLiveRange (max 1):")
    daemon = t.serve(t.folder())
    equal(kinds(daemon), {"dump": "dump"})
    answer = daemon.get_json(f"/api/v1/sessions/{daemon.session_id('dump')}/modules")
    equal(answer["modules"], [])
    assert "--xla_dump_hlo_as_proto" in answer["notes"][0]["text"], answer


def test_cache_files_of_xprof_count_only_without_a_trace(t):
    t.write("plugins/profile/run/h.xplane.pb", TRACE)
    t.write("plugins/profile/run/jit_made(7).hlo_proto.pb", HLO)
    t.write("plugins/profile/run/NO_MODULE.hlo_proto.pb", b"")
    t.write("caches/jit_made(7).hlo_proto.pb", HLO)
    t.write("caches/NO_MODULE.hlo_proto.pb", b"")
    daemon = t.serve(t.folder())
    equal(kinds(daemon), {"run": "trace", "caches": "hlo"})
    equal(len(modules(daemon, "caches")), 1)
    equal(daemon.get_json("/api/v1/sessions")["not_read"], [])


def test_programs_of_several_hosts_and_of_one(t):
    one, two = inputs.hlo_proto("jit_one", 4), inputs.hlo_proto("jit_two", 6)
    t.write("plugins/profile/run/a.xplane.pb", inputs.xspace({("jit_one", 5): one}))
    t.write("plugins/profile/run/b.xplane.pb", inputs.xspace({("jit_one", 5): one, ("jit_two", 6): two}))
    daemon = t.serve(t.folder())
    hosts = {host["name"]: host["id"] for host in daemon.sessions()["run"]["hosts"]}
    rows = {row["key"]: row for row in modules(daemon, "run")}
    equal({key: row["host"] for key, row in rows.items()}, {"jit_one(5)": hosts["a"], "jit_two(6)": hosts["b"]})
    of_b = {row["key"]: row for row in modules(daemon, "run", host=hosts["b"])}
    equal(of_b["jit_one(5)"]["id"], rows["jit_one(5)"]["id"], "a module's id does not depend on the host")
    equal(of_b["jit_one(5)"]["host"], hosts["b"])


def test_ids_are_the_same_after_a_restart_and_after_a_move(t):
    t.write("one/plugins/profile/run/h.xplane.pb", TRACE)
    t.write("two/plugins/profile/run/h.xplane.pb", TRACE)
    ids = []
    for root in ("one", "one", "two"):
        daemon = t.serve(os.path.join(t.folder(), root))
        ids.append((daemon.session_id("run"), modules(daemon, "run")[0]["id"]))
    equal(len(set(ids)), 1, ids)
    both = t.serve(os.path.join(t.folder(), "one"), os.path.join(t.folder(), "two"))
    found = {row["id"] for row in both.get_json("/api/v1/sessions")["sessions"]}
    equal(len(found), 2, "sessions of two roots")


def test_hostile_names_only_ever_are_text(t):
    name = "<img src=x onerror=alert(1)>\"'&\\\n\x01\xff"
    raw = name.encode("utf-8", "surrogateescape") if "\udc80" in name else name.encode("latin-1")
    folder = os.path.join(os.fsencode(t.folder()), raw)
    os.makedirs(folder)
    with open(os.path.join(folder, b"h.xplane.pb"), "wb") as file:
        file.write(inputs.trace("jit_<b>,\x01\u202e", 5))
    daemon = t.serve("--verbose", t.folder())
    shown = list(kinds(daemon))
    equal(shown, [name[:-1] + "\ufffd"])
    rows = modules(daemon, shown[0])
    equal(rows[0]["name"], "jit_<b>,\x01\u202e")
    equal(daemon.ask("/api/v1/sessions").headers["content-type"], "application/json")
    daemon.ask("/api/v1/sessions?filter=%0d%0aFAKE%20LINE%1b[31m")
    daemon.raw(b"GET /x\x7f\x1b HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
    assert "\nFAKE" not in daemon.log() and "\x1b" not in daemon.log() and "\x7f" not in daemon.log()


def test_an_error_text_states_the_capacity(t):
    """dumps/seed-matmul-327680: 300.00G asked, 15.75G there, both as printed to 5 MiB"""
    daemon = t.serve(os.path.join(t.fixtures, "dumps"))
    (text,) = daemon.get_json(f"/api/v1/sessions/{daemon.session_id('seed-matmul-327680')}")["error_texts"]
    capacity = text["capacity"]
    equal((capacity["space"], capacity["available_bytes"], capacity["needed_bytes"]), (0, 16911433728, 322122547200))
    equal(capacity["half_unit_bytes"], 5368709)
    start = capacity["offset_bytes"]
    equal(text["text"][start : start + capacity["length_bytes"]], "15.75G")
    devices = {row["name"]: row["available_bytes"] for row in daemon.get_json("/api/v1/devices")["devices"]}
    equal(devices["v5e"], capacity["available_bytes"])


def test_many_programs_of_several_hosts_are_listed_quickly(t):
    count = 30000
    t.write("plugins/profile/run/a.xplane.pb", inputs.many_programs(count, 1))
    t.write("plugins/profile/run/b.xplane.pb", inputs.many_programs(count, count // 2))
    daemon = t.serve(t.folder())
    before = daemon.cpu_seconds()
    names = daemon.ask("/module_list?run=run").text.split(",")
    equal((len(names), len(set(names))), (count + count // 2 - 1,) * 2)
    for _ in range(20):
        equal(daemon.sessions()["run"]["module_count"], len(names))
    used = daemon.cpu_seconds() - before
    assert used < (6 if t.is_sanitized else 1.5), f"{used:.2f} s of processor time"


def test_a_trace_says_what_device_it_was_taken_on(t):
    planes = {
        "v6": [
            ("/device:TPU:0", {"device_type_string": "TPU v6 Lite"}),
            ("/device:TPU:1", {"device_type_string": "=TPU v6 Lite"}),
        ],
        "gpu": [("/device:GPU:0", {"memory_size": 206141652992})],
        "odd": [("/device:TPU:0", {"device_type_string": "TPU v99"}), ("/device:TPU:1", {"clock_rate": 5})],
    }
    for run, devices in planes.items():
        t.write(
            f"plugins/profile/{run}/h.xplane.pb",
            inputs.trace() + b"".join(inputs.device_plane(*each) for each in devices),
        )
    daemon = t.serve(t.folder())
    said = {run: daemon.get_json(f"/api/v1/sessions/{daemon.session_id(run)}/modules")["devices"] for run in planes}
    facts = {
        run: [
            (each["kind"], each["count"], each["memory_bytes"], each["device"], each["available_bytes"])
            for each in rows
        ]
        for run, rows in said.items()
    }
    equal(
        facts,
        {
            "v6": [("TPU v6 Lite", 2, None, "v6e", 33554432000)],
            "gpu": [("", 1, 206141652992, None, None)],
            "odd": [("TPU v99", 1, None, None, None)],
        },
    )


def test_those_that_failed_are_listed_alone(t):
    """a text tells of a lack of memory; the newest first, however many came after it"""
    log = t.fixture("oom/0.4.35-libtpu0.0.2-v5e-seed.txt")
    for at, name in enumerate(("old", "new")):
        path = t.write(f"{name}/error.txt", log)
        os.utime(path, (1700000000 + at, 1700000000 + at))
    for at in range(5):
        t.write(f"run{at}/h.xplane.pb", TRACE)
    daemon = t.serve(t.folder())
    harness.wait_until(lambda: daemon.get_json("/api/v1/sessions")["failed_count"] == 2)
    failed = daemon.get_json("/api/v1/sessions", verdict="failed", limit=1)
    equal(
        (failed["total_count"], failed["matched_count"], [row["name"] for row in failed["sessions"]]),
        (7, 2, ["new/error.txt"]),
    )
    equal(daemon.get_json("/api/v1/sessions", verdict="failed", filter="ol")["matched_count"], 1)
    equal(daemon.ask("/api/v1/sessions?verdict=over").status, 400)


def test_those_that_failed_come_first(t):
    """the newest event first, and of an event, a minute long, what is most over; then all others; before a page is
    cut"""
    over = {"large": 9, "small": 2, "unknown": None, "older": 99, "oldest": 3}
    times = {"calm": 200, "unknown": 190, "small": 180, "large": 135, "older": 129, "quiet": 120, "oldest": 0}
    for name, at_s in times.items():
        by = over.get(name)
        figures = f" Used {by + 15}.75G of 15.75G hbm. Exceeded hbm capacity by {by}.00G." if by else ""
        text = f"{OUT_OF_HBM}{figures}\n".encode()
        path = t.write(f"{name}/error.txt", text) if name in over else t.write(f"{name}/m.hlo.pb", HLO)
        os.utime(path, (1700000000 + at_s, 1700000000 + at_s))
    daemon = t.serve(t.folder())
    harness.wait_until(lambda: daemon.get_json("/api/v1/sessions")["failed_count"] == 5)

    def listed(**how):
        rows = daemon.get_json("/api/v1/sessions", sort="failed", **how)["sessions"]
        return [row["name"].split("/")[0] for row in rows]

    equal(listed(), ["large", "small", "unknown", "older", "oldest", "calm", "quiet"])
    equal(listed(limit=2, offset=3), ["older", "oldest"])
    equal(listed(verdict="failed", limit=1), ["large"])
    equal(listed(filter="l"), ["large", "small", "older", "oldest", "calm"])


def test_files_of_any_date_are_listed(t):
    """before 1970, in the future, and of a year that no 64 bits of nanoseconds hold"""
    days = {"old": -(2**31), "none": 0, "now": 1700000000, "ahead": 4000000000, "far": 13569465600}
    for name, at_s in days.items():
        t.write(f"{name}/m.hlo.pb", HLO)
        os.utime(os.path.join(t.folder(), name, "m.hlo.pb"), (at_s, at_s))
    daemon = t.serve(t.folder())
    equal(list(daemon.sessions()), sorted(days, key=days.get, reverse=True))
    for name in days:
        equal(len(modules(daemon, name)), 1, name)
    rows = t.run("index", t.folder(), "--format=ndjson")
    equal((rows.returncode, len(rows.stdout.splitlines())), (0, len(days)))


def test_the_worst_module_is_said_once_the_modules_were_listed(t):
    daemon = t.serve(os.path.join(t.fixtures, "dumps"))
    equal({row["worst"] for row in daemon.sessions().values()}, {None})
    for name in ("seed-matmul-327680", "d-tile-padding"):
        path = f"/api/v1/sessions/{daemon.session_id(name)}"
        listed = daemon.get_json(f"{path}/modules", filter="nothing is called so")
        worst = listed["worst"]
        equal((listed["modules"], worst["fit"]["word"]), ([], "over"))
        rows = {row["id"]: row for row in daemon.get_json(f"{path}/modules")["modules"]}
        spaces = {space["space"]: space for space in rows[worst["module"]]["spaces"]}
        equal((worst["name"], worst["file"]), (rows[worst["module"]]["name"], rows[worst["module"]]["file"]))
        equal((worst["space_name"], worst["fit"]), (spaces[worst["space"]]["name"], spaces[worst["space"]]["fit"]))
        fits = [space["fit"] for row in rows.values() for space in row["spaces"]]
        shares = [fit["needed_bytes"] / (fit["capacity_bytes"] or float("inf")) for fit in fits]
        equal(worst["fit"]["needed_bytes"] / worst["fit"]["capacity_bytes"], max(shares))
        equal([daemon.sessions()[key]["worst"] for key in daemon.sessions() if key.endswith(name)], [worst])
        equal(daemon.get_json(path)["worst"], worst)


def reads_of(daemon):
    with open(f"/proc/{daemon.process.pid}/io", encoding="ascii") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("syscr:"))


def test_files_beside_modules_are_read_once_for_a_list(t):
    """what says of each module which chip it is for: neither the devices nor the worst module are looked for again"""
    count = 200
    for at in range(count):
        stem = f"many/module_{at:04}.jit_step.cl_1"
        t.write(f"{stem}.after_optimizations.hlo.pb", inputs.hlo_proto("jit_step", 4, 1 << 20 if at == 7 else 16))
        t.write(f"{stem}.target_arguments.pb", target_arguments(5))
    daemon = t.serve(t.folder())
    path = f"/api/v1/sessions/{daemon.session_id('many')}/modules"
    before = reads_of(daemon)
    first = daemon.get_json(path, filter="nothing is called so")
    between = reads_of(daemon)
    again = daemon.get_json(path, filter="nothing is called so")
    equal((again["devices"], again["worst"]), (first["devices"], first["worst"]))
    equal(
        ([device["device"] for device in again["devices"]], again["worst"]["file"].split(".")[0].rsplit("/")[-1]),
        (["v6e"], "module_0007"),
    )
    assert between - before > count > reads_of(daemon) - between, (before, between, reads_of(daemon))
