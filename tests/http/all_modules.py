# SPDX-License-Identifier: Apache-2.0
"""All modules of a session: what each takes on each host, what differs, what adding up means."""

import csv
import gzip
import io
import os
import sys
from urllib.parse import quote

import inputs
from harness import ROOT, equal, loads, wait_until

sys.path.insert(0, os.path.join(ROOT, "tests", "bench"))
import fleet  # noqa: E402

STEP, EVAL = ("jit_step", 5), ("jit_eval", 6)
KIB = 1024


def write_host(t, at, programs, more=b"", packed=False):
    data = inputs.xspace(programs) + more
    t.write(
        f"plugins/profile/job/host{at}.xplane.pb" + (".gz" if packed else ""), gzip.compress(data) if packed else data
    )


def programs(step_elements=1024, **more):
    return {STEP: inputs.hlo_proto("jit_step", 8, step_elements), EVAL: inputs.hlo_proto("jit_eval", 4, 512), **more}


def ask(daemon, view, **parameters):
    return daemon.get_json(f"/api/v1/modules/{view}", session=daemon.session_id("job"), **parameters)["data"]


def rows(daemon, *members, **parameters):
    return [tuple(row[name] for name in members) for row in ask(daemon, "table", **parameters)["rows"]]


def test_equal_modules_of_many_hosts_are_one_row_and_are_decoded_once(t):
    for host in range(5):
        write_host(t, host, programs(), packed=host == 2)
    daemon = t.serve(t.folder())
    equal(
        rows(daemon, "module", "space_name", "total_bytes", "host_count", "outlier"),
        [("jit_step", "Default memory", 8 * KIB, 5, "no"), ("jit_eval", "Default memory", 4 * KIB, 5, "no")],
    )
    summary = ask(daemon, "summary")
    equal((summary["module_count"], summary["host_count"]), (2, 5))
    equal(summary["hosts_sentence"], "All 5 hosts are alike.")
    assert summary["sentence"].startswith("2 modules on 5 hosts; the largest is jit_step: 8.0 KiB of Default memory"), (
        summary
    )
    reading = summary["reading"]
    equal((reading["is_complete"], reading["module_count"], reading["distinct_count"]), (True, 10, 2))


def test_programs_that_differ_in_one_byte_are_told_apart(t):
    """of equal name, id and size; the byte lies in the first, a middle, or the last piece that is compared"""
    usual = inputs.hlo_proto("jit_step", 9000)
    places = (usual.index(b"add.1"), len(usual) // 2, len(usual) - 1)
    for host in range(9):
        step = bytearray(usual)
        if 4 <= host < 7:
            step[places[host - 4]] ^= 1
        write_host(t, host, {STEP: bytes(step), EVAL: inputs.hlo_proto("jit_eval", 4, 512)}, packed=host == 8)
    daemon = t.serve(t.folder())
    equal([ask(daemon, "summary")["reading"][name] for name in ("module_count", "distinct_count")], [18, 5])


def test_one_byte_that_tells_another_size_is_seen(t):
    usual = inputs.hlo_proto("jit_step", 8)
    at = usual.index(bytes([0x10, 0x80, 0x40])) + 2  # the size of the allocation: 8192
    for host in range(6):
        write_host(t, host, {STEP: usual[:at] + b"\x60" + usual[at + 1 :] if host == 5 else usual})
    equal(rows(t.serve(t.folder()), "module", "host_name", hosts="outliers", rows="host"), [("jit_step", "host5")])


def test_a_host_that_differs_comes_first_and_is_named(t):
    for host in range(4):
        write_host(t, host, programs(4096 if host == 2 else 1024))
    daemon = t.serve(t.folder())
    equal(
        rows(daemon, "module", "host_name", "outlier", "outlier_count", "difference_bytes", rows="host", limit=2),
        [("jit_step", "host2", "yes", 1, 24 * KIB), ("jit_step", "host0", "no", 1, 0)],
    )
    equal(rows(daemon, "module", "host_name", hosts="outliers", rows="host"), [("jit_step", "host2")])
    equal(rows(daemon, "module", "total_bytes", "outlier_count", hosts="outliers"), [("jit_step", 32 * KIB, 1)])
    summary = ask(daemon, "summary")
    equal(summary["hosts_sentence"], "host2 differs: another plan, jit_step needs 24.0 KiB more than on most hosts.")
    (session,) = loads(t.run("whose", "--json", t.folder()).stdout)["sessions"]
    equal(
        (
            session["hosts"]["sentence"],
            session["hosts"]["outlier_count"],
            [one["host_name"] for one in session["hosts"]["outliers"]],
        ),
        (summary["hosts_sentence"], 1, ["host2"]),
    )
    equal(
        [(host["host_name"], host["difference_bytes"], host["reason"]) for host in summary["outliers"]],
        [("host2", 24 * KIB, "another plan")],
    )


def test_commands_say_of_hosts_what_the_view_says(t):
    for host in range(4):
        write_host(t, host, programs(4096 if host == 2 else 1024))
    summary = ask(t.serve(t.folder()), "summary")
    told = {name: summary[name] for name in ("outlier_count", "outliers")} | {"sentence": summary["hosts_sentence"]}
    equal(loads(t.run("summary", "--json", t.folder()).stdout)["sessions"][0]["hosts"], told)
    equal(loads(t.run("explain", "--json", t.folder()).stdout)[0]["hosts"], told)
    for command in ("summary", "explain", "whose"):
        assert told["sentence"] + "\n" in t.run(command, t.folder()).stdout, command
    write_host(t, 2, programs())
    equal(
        ["All 4 hosts are alike." in t.run(command, t.folder()).stdout for command in ("summary", "explain", "whose")],
        [True, False, False],
    )


def test_what_another_program_id_names_alike_is_the_same_module(t):
    """a host that compiled something else gives it another id; two of one name on one host are two modules"""
    write_host(t, 0, programs())
    write_host(
        t, 1, {("jit_step", 77): inputs.hlo_proto("jit_step", 8, 2048), EVAL: inputs.hlo_proto("jit_eval", 4, 512)}
    )
    daemon = t.serve(t.folder())
    equal(rows(daemon, "module", "host_count", "outlier"), [("jit_step", 2, "yes"), ("jit_eval", 2, "no")])
    write_host(t, 0, {**programs(), ("jit_step", 77): inputs.hlo_proto("jit_step", 2)})
    equal(rows(t.serve(t.folder()), "key", "host_count"), [("jit_step(77)", 2), ("jit_step(5)", 1), ("jit_eval(6)", 2)])


def test_a_host_without_a_module_is_named(t):
    for host in range(3):
        write_host(t, host, programs() if host else {STEP: programs()[STEP]})
    summary = ask(t.serve(t.folder()), "summary")
    equal(summary["hosts_sentence"], "host0 differs: it has not 1 of the modules that most hosts have.")


def test_a_damaged_module_says_why_and_the_others_go_on(t):
    broken = {
        **programs(),
        ("jit_broken", 7): inputs.hlo_proto("jit_broken", 8)[:-30],
        ("jit_bare", 8): inputs.block(1, inputs.hlo_module("jit_bare", 3)),
    }
    write_host(t, 0, broken)
    t.write("plugins/profile/job/torn.xplane.pb", b"\x0a\xff\xff\xff\xff\x7f" * 20)
    daemon = t.serve(t.folder())
    told = {row["module"]: row for row in ask(daemon, "table")["rows"]}
    equal(told["jit_step"]["state"], "read")
    equal((told["jit_broken"]["state"], told["jit_broken"]["total_bytes"]), ("failed", None))
    assert told["jit_broken"]["error_code"] in ("truncated", "malformed") and told["jit_broken"]["remark"], told
    equal((told["jit_bare"]["state"], told["jit_bare"]["total_bytes"]), ("no_assignment", None))
    assert "No buffer assignment" in told["jit_bare"]["remark"], told
    equal((told["torn.xplane.pb"]["state"], told["torn.xplane.pb"]["module_id"]), ("failed", None))
    summary = ask(daemon, "summary")
    equal(summary["reading"]["failed_count"], 2)
    assert summary["sentence"].endswith("2 cannot be read; their rows say why."), summary


def test_the_trace_says_how_often_and_when_each_ran(t):
    ran = [("jit_step(5)", 1000, 3000), ("jit_eval(6)", 3000, 4000), ("jit_step(5)", 5000, 9000)]
    write_host(t, 0, programs(), inputs.runs_plane("/device:TPU:0", ran) + inputs.runs_plane("/device:TPU:1", ran[:1]))
    daemon = t.serve(t.folder())
    equal(
        rows(
            daemon,
            "module",
            "run_count",
            "run_device_count",
            "first_run_ps",
            "last_run_end_ps",
            "busy_ps",
            "mean_run_ps",
        ),
        [("jit_step", 3, 2, 0, 8000, 8000, 2666), ("jit_eval", 1, 1, 2000, 3000, 1000, 1000)],
    )
    additive = ask(daemon, "summary")["additive"]
    equal((additive["verdict"], additive["run_count"], additive["code_bytes"]), ("not_additive", 4, None))
    assert "the 4 runs in the trace, on 2 devices, came one after the other" in additive["sentence"], additive


def test_programs_that_ran_together_add_up(t):
    ran = [("jit_step(5)", 1000, 3000), ("jit_eval(6)", 2000, 4000)]
    write_host(t, 0, programs(), inputs.runs_plane("/device:TPU:0", ran))
    additive = ask(t.serve(t.folder()), "summary")["additive"]
    equal(additive["verdict"], "overlap")
    assert additive["sentence"].startswith(
        "jit_step(5) and jit_eval(6) ran at the same time on /device:TPU:0: while both "
        "run their memory adds up, to at most "
    ), additive


def test_without_runs_it_is_said_that_nothing_tells_of_them(t):
    write_host(t, 0, programs())
    daemon = t.serve(t.folder())
    equal(ask(daemon, "summary")["additive"]["verdict"], "not_told")
    equal(rows(daemon, "run_count", limit=1), [(None,)])


def test_capacity_is_the_devices_or_the_readers(t):
    facts = {"device_type_string": "TPU v5 lite", "memory_capacity": 16 << 30}
    write_host(t, 0, programs(), inputs.device_plane("/device:TPU:0", facts))
    daemon = t.serve(t.folder())
    told = rows(daemon, "capacity_bytes", "of_capacity_percent", limit=1)[0]
    equal(rows(daemon, "capacity_bytes", "of_capacity_percent", capacity_bytes=16 * KIB, limit=1), [(16 * KIB, 50)])
    assert ", 50 % of 16.0 KiB." in ask(daemon, "summary", capacity_bytes=16 * KIB)["sentence"]
    assert "over by 7.0 KiB" in ask(daemon, "summary", capacity_bytes=KIB)["sentence"]
    assert told[0] is None or told[0] > 0, told


def test_a_session_is_read_in_pieces(t):
    """nothing is read for within_ms=0; every further answer holds more"""
    for host in range(3):
        write_host(t, host, programs(1024 + host))
    daemon = t.serve(t.folder())
    first = ask(daemon, "table", within_ms=0)
    equal({row["state"] for row in first["rows"]}, {"not_read"})
    equal((first["reading"]["is_complete"], first["reading"]["unread_count"]), (False, 6))
    equal(ask(daemon, "summary", within_ms=0)["sentence"], "2 modules on 3 hosts; none is read yet.")
    unread = 6
    while unread:
        reading = ask(daemon, "summary", within_ms=1)["reading"]
        assert reading["unread_count"] < unread or reading["is_complete"], reading
        unread = reading["unread_count"]
    equal(ask(daemon, "table", within_ms=0)["reading"]["unread_count"], 0)
    for wrong in ("-1", "x", "10001", "1.5"):
        equal(daemon.ask(f"/api/v1/modules/table?session={daemon.session_id('job')}&within_ms={wrong}").status, 400)


def test_the_table_is_sorted_filtered_and_paged_and_csv_is_all_of_it(t):
    many = {(f"jit_{at:02}", at): inputs.hlo_proto(f"jit_{at:02}", 4, 512 * (at + 1)) for at in range(30)}
    write_host(t, 0, many)
    daemon = t.serve(t.folder())
    page = ask(daemon, "table", sort="module", offset=3, limit=2)
    equal(
        ([row["module"] for row in page["rows"]], page["total_count"], page["matched_count"]),
        (["jit_03", "jit_04"], 30, 30),
    )
    equal(rows(daemon, "module", filter=">115KiB"), [("jit_29",), ("jit_28",)])
    equal(rows(daemon, "module", filter="jit_07 state:read"), [("jit_07",)])
    answer = daemon.ask(
        f"/api/v1/modules/table?session={daemon.session_id('job')}&format=csv&filter=unknown:>0&sort=total"
    )
    table = list(csv.DictReader(io.StringIO(answer.text)))
    equal((len(table), table[0]["module"], table[0]["total_bytes"]), (30, "jit_00", str(4 * KIB)))
    equal([int(row["peak_unknown_bytes"]) for row in table], [int(row["peak_bytes"]) for row in table])


def test_categories_of_the_peak_add_up_to_it(t):
    write_host(t, 0, programs())
    for row in ask(t.serve(t.folder()), "table")["rows"]:
        equal(sum(part["bytes"] for part in row["categories"]), row["peak_bytes"], row["module"])


def test_what_is_not_live_at_the_peak_makes_it_the_total(t):
    """of the demo's dump, as the chart of the page stacks them: its HBM is fragmented, the peak of its VMEM passes the
    total"""
    daemon = t.serve("--demo")
    (session,) = [one["id"] for one in daemon.get_json("/api/v1/sessions")["sessions"] if one["kind"] == "dump"]
    found = daemon.get_json("/api/v1/modules/table", session=session)["data"]["rows"]
    for row in found:
        equal(
            sum(part["bytes"] for part in row["categories"]) + row["fragmentation_bytes"],
            max(row["total_bytes"], row["peak_bytes"]),
            row["module"],
        )
    equal(
        [(row["fragmentation_bytes"] > 0, row["peak_bytes"] > row["total_bytes"]) for row in found][:2],
        [(True, False), (False, True)],
    )


def test_a_dump_is_one_row_a_module_without_hosts(t):
    for at in range(3):
        t.write(
            f"job/module_000{at}.jit_{at}.after_optimizations.hlo.pb", inputs.hlo_proto(f"jit_{at}", 4, 1024 * (at + 1))
        )
    t.write("job/module_0003.jit_3.after_optimizations.hlo.pb", inputs.hlo_proto("jit_3", 8)[:-20])
    daemon = t.serve(t.folder())
    equal(
        rows(daemon, "module", "host", "host_count", "state"),
        [
            ("jit_2", None, None, "read"),
            ("jit_1", None, None, "read"),
            ("jit_0", None, None, "read"),
            ("jit_3", None, None, "failed"),
        ],
    )
    equal(ask(daemon, "summary")["hosts_sentence"], None)


def test_one_module_on_all_hosts(t):
    for host in range(3):
        write_host(t, host, programs(1024 + 1024 * (host == 1)))
    daemon = t.serve(t.folder())
    module = ask(daemon, "table")["rows"][0]["module_id"]
    equal(
        rows(daemon, "host_name", "difference_bytes", module=module, rows="host"),
        [("host1", 8 * KIB), ("host0", 0), ("host2", 0)],
    )
    equal(daemon.ask(f"/api/v1/modules/table?session={daemon.session_id('job')}&module=000000000000").status, 404)


def test_a_session_without_modules_has_no_row(t):
    t.write("plugins/profile/job/h.xplane.pb", inputs.xspace({}) + inputs.memory_plane(4))
    daemon = t.serve(t.folder())
    equal(rows(daemon, "module"), [])
    equal(ask(daemon, "summary")["additive"]["sentence"], "There is no module.")


def test_a_fleet_takes_little_memory_and_is_read_once(t):
    """64 hosts of 200 modules: the second answer costs next to nothing"""
    protos = {f"jit_{at}": inputs.hlo_proto(f"jit_{at}", 40, 512 + at) for at in range(7)}
    fleet.write_fleet(t.folder(), protos, 64, 200, odd=3, session="job")
    daemon = t.serve(t.folder())
    summary = ask(daemon, "summary")
    equal(
        (summary["module_count"], summary["reading"]["module_count"], summary["reading"]["distinct_count"]),
        (200, 12800, 201),
    )
    equal([host["host_name"] for host in summary["outliers"]], ["host003"])
    assert daemon.status_kib("VmHWM") / 1024 < (100 if not t.is_sanitized else 1200)
    before = daemon.cpu_seconds()
    ask(daemon, "summary", capacity_bytes=1 << 30)
    again = daemon.cpu_seconds() - before
    assert again < (1 if not t.is_sanitized else 10), f"{again} s for what is known"


def test_rules_of_the_question_say_whose_memory_it_is(t):
    daemon = t.serve(os.path.join(t.fixtures, "modules/mlp-adam"))
    session = next(iter(daemon.sessions().values()))["id"]

    def categories(**more):
        answer = daemon.get_json("/api/v1/modules/table", session=session, **more)["data"]
        return {part["category"]: part["bytes"] for part in answer["rows"][0]["categories"]}

    before, ruled = categories(), categories(category_rules=". rng")
    equal(sum(ruled.values()), sum(before.values()))
    equal(list(ruled), ["rng"])
    equal(categories(), before, "another question's rules stay its own")
    for rules, words in (("x cahce", "did you mean"), ("a" * 4097, "longer than 4096 characters")):
        answer = daemon.ask(f"/api/v1/modules/table?session={session}&category_rules={quote(rules)}")
        equal(answer.status, 400)
        assert words in answer.json["detail"], answer.text


def test_a_text_that_comes_later_states_the_capacity(t):
    whole = inputs.hlo_proto()
    folder = os.path.dirname(t.write("dump/module_0001.jit_one.after_optimizations.hlo.pb", whole))
    daemon = t.serve(folder)

    def capacity():
        (session,) = daemon.sessions().values()
        return daemon.get_json(f"/api/v1/modules/table?session={session['id']}&space=0")["data"]["rows"][0][
            "capacity_bytes"
        ]

    wait_until(lambda: daemon.sessions() and capacity() is None, what="the module")
    t.write(
        "dump/error.txt",
        b"RESOURCE_EXHAUSTED: Ran out of memory in memory space hbm. Used 16.00G of 15.75G hbm. Exceeded hbm capacity "
        b"by 256.00M.\n",
    )
    daemon.ask("/api/v1/rescan", method="POST")
    wait_until(lambda: capacity() == 16911433728, what="the capacity")
