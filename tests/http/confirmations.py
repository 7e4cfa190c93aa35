# SPDX-License-Identifier: Apache-2.0
"""The compiler asked about changes, by a stand-in for libtpu: what is said, what is opened, and that nothing is left
behind."""

import glob
import json
import os
import signal

from harness import equal, wait_until

PATH = "/api/v1/confirmations"
AS_JSON = {"Content-Type": "application/json"}
FOLDER = "modules/mlp-adam"
PROGRAM = FOLDER + "/module_0000.jit_step.cl_1014260217.after_optimizations.hlo.pb.gz"


def serve(t, word, *arguments):
    return t.serve_with_compiler(word, PROGRAM, os.path.join(t.fixtures, FOLDER), *arguments)


def ask(daemon, *changes, status=202, **more):
    session = next(iter(daemon.sessions().values()))["id"]
    answer = daemon.ask(
        PATH, "POST", AS_JSON, json.dumps({"session": session, "change": list(changes) or ["batch=0.5"], **more})
    )
    equal(answer.status, status, answer.text)
    return answer.json


def at_end(daemon, begun):
    wait_until(
        lambda: daemon.get_json(f"{PATH}/{begun['id']}")["state"] in ("done", "cancelled"),
        what="the end of the compiler",
    )
    return daemon.get_json(f"{PATH}/{begun['id']}")


def children(t):
    """processes that a compile of this test's daemons started"""
    wanted, found = b"MEMVIEWD_COMPILE=" + t.folder("tmp").encode(), []
    for environ in glob.glob("/proc/[0-9]*/environ"):
        try:
            with open(environ, "rb") as file:
                if wanted in file.read():
                    found.append(environ.split("/")[2])
        except OSError:
            pass
    return found


def nothing_is_left(t):
    wait_until(lambda: not children(t), what="the end of the compiler's processes")
    equal(os.listdir(t.folder("tmp")), [], "left in the temporary folder")


def walk_confirmations(walk):
    """every answer of openapi.yaml; `walk` is that of openapi.py"""
    path, one = PATH, PATH + "/{confirmation}"

    def asked(name, **more):
        return json.dumps({"session": walk.sessions.get(name, name), "change": ["batch=0.5"], **more})

    good = asked("h-long-context")
    for headers, body, daemon, status in (
        ({}, good, walk.daemon, 415),
        ({"Content-Type": "text/plain"}, good, walk.daemon, 415),
        (AS_JSON, "{}", walk.daemon, 400),
        (AS_JSON, asked("run", change=[]), walk.daemon, 400),
        (AS_JSON, asked("run", change=["a"] * 33), walk.daemon, 400),
        (AS_JSON, asked("run", change=[1]), walk.daemon, 400),
        (AS_JSON, asked("run", more=1), walk.daemon, 400),
        (AS_JSON, asked("run", module=7), walk.daemon, 400),
        (AS_JSON, asked("h-long-context", device="v9"), walk.daemon, 400),
        (AS_JSON, "[" * 4000, walk.daemon, 400),
        (AS_JSON, asked("0" * 12), walk.daemon, 404),
        (AS_JSON, asked("run", module="0" * 12), walk.daemon, 404),
        (AS_JSON, asked("noise"), walk.daemon, 422),
        (AS_JSON, asked("run", change=["a" * 5000]), walk.daemon, 413),
        (AS_JSON, good, walk.locked, 401),
        ({**AS_JSON, "Origin": "http://evil.example"}, good, walk.daemon, 403),
        ({**AS_JSON, "X": "a" * 20000}, good, walk.daemon, 431),
    ):
        equal(walk.ask(path, path, "POST", headers, body, daemon).status, status, (headers, body[:80]))
    equal(walk.ask(path, path + "?x=" + "a" * 9000, "POST", AS_JSON, good).status, 414)
    refused = walk.daemon.ask(path, "DELETE")
    walk.check(path, "POST", refused)
    equal((refused.status, refused.headers["allow"]), (405, "GET, HEAD, POST"))
    here = walk.small.session_id("run")
    equal(walk.ask(path, path, "POST", AS_JSON, asked(here), walk.small).json["code"], "unsupported")
    begun = walk.ask(path, path, "POST", AS_JSON, good)
    equal((begun.status, begun.headers["location"]), (202, f"{path}/{begun.json['id']}"))
    address = begun.headers["location"]
    for headers, query, daemon, status in (
        ({"Origin": "http://evil.example"}, "", walk.daemon, 403),
        ({}, "?x=1", walk.daemon, 400),
        ({}, "", walk.locked, 401),
        ({"X": "a" * 20000}, "", walk.daemon, 431),
        ({}, "?x=" + "a" * 9000, walk.daemon, 414),
        ({}, "", walk.daemon, 204),
    ):
        equal(walk.ask(one, address + query, "DELETE", headers, None, daemon).status, status, (headers, query[:9]))
    equal(walk.ask(one, path + "/" + "0" * 12, "DELETE").status, 404)


def test_the_changed_program_is_compiled_and_opens(t):
    daemon = serve(t, "stops")
    offer = daemon.get_json(PATH)
    equal((offer["is_available"], offer["reason"], offer["topology"], offer["running"]), (True, None, "v5e:2x2", None))
    begun = ask(daemon)
    equal((begun["state"], begun["confirmed"], begun["changes"]), ("running", None, ["batch=0.5"]))
    done = at_end(daemon, begun)
    said = done["confirmed"]
    equal(
        (done["state"], said["state"], said["status"], said["fits"], said["plan"]),
        ("done", "refuted", "done", True, done["plan_session"]),
    )
    nothing_is_left(t)  # the plan lives in memory now
    session = next(iter(daemon.sessions().values()))["id"]
    summary = [
        daemon.get_json("/api/v1/memory_viewer/summary", session=one)["data"]["spaces"][0]["peak_bytes"]
        for one in (session, done["plan_session"])
    ]
    equal(summary[1], summary[0], "the stand-in hands out the program itself")
    equal(daemon.get_json("/api/v1/compare/summary", a=session, b=done["plan_session"])["tool"], "compare")
    equal(daemon.stop(), 0)
    nothing_is_left(t)


def test_what_goes_wrong_is_one_sentence(t):
    for word, status in (
        ("segfaults", "crashed"),
        ("refuses", "refused"),
        ("new_version", "unknown_version"),
        ("prints", "too_much_output"),
    ):
        daemon = serve(t, word)
        said = at_end(daemon, ask(daemon))
        equal(
            (said["state"], said["confirmed"]["state"], said["confirmed"]["status"], said["plan_session"]),
            ("done", "unanswered", status, None),
            word,
        )
        assert said["confirmed"]["sentence"].startswith(
            "Not confirmed; the prediction remains. The unchanged program: "
        ), said
        equal(daemon.ask("/-/healthy").status, 200)
        daemon.stop()
        nothing_is_left(t)


def test_changes_that_do_not_apply_are_told(t):
    daemon = serve(t, "stops")
    for change, words in (
        ("offload=*", "the compiler cannot be asked"),
        ("batches=1", "did you mean"),
        ("shard=nothing:4", "nothing has this name"),
    ):
        said = at_end(daemon, ask(daemon, change))["confirmed"]
        equal((said["state"], said["status"], said["base"]), ("unanswered", "not_editable", None), change)
        assert words in said["sentence"], said["sentence"]


def test_a_device_that_is_chosen_stands_in_for_a_chip_that_the_dump_does_not_tell(t):
    daemon = t.serve_with_compiler("stops", PROGRAM, os.path.join(t.fixtures, FOLDER), topology=None)
    for device, topology, status in (
        ("V5E", "v5e:2x2", "done"),
        ("v4", "v4:2x2x1", "refused"),
        ("H100-80G", None, "cannot_start"),
        (None, None, "cannot_start"),
    ):
        said = at_end(daemon, ask(daemon, **({"device": device} if device else {})))["confirmed"]
        equal(
            (said["topology"], said["status"], said["topology_source"]),
            (topology, status, topology and "given"),
            (device, said["sentence"]),
        )


def test_one_at_a_time_and_it_can_be_cancelled(t):
    daemon = serve(t, "hangs")
    begun = ask(daemon)
    equal(daemon.get_json(PATH)["running"], begun["id"])
    refused = ask(daemon, status=409)
    equal((refused["code"], begun["id"] in refused["detail"]), ("busy", True))
    wait_until(lambda: children(t), what="the compiler")
    wait_until(lambda: daemon.get_json(f"{PATH}/{begun['id']}")["step"] == "compiling", what="its progress")
    equal(daemon.ask(f"{PATH}/{begun['id']}", "DELETE").status, 204)
    said = at_end(daemon, begun)
    equal((said["state"], said["stage"], said["confirmed"]["status"]), ("cancelled", "base", "cancelled"))
    nothing_is_left(t)
    equal(daemon.ask(f"{PATH}/{begun['id']}", "DELETE").status, 204, "once more")
    again = ask(daemon)
    assert again["id"] != begun["id"]


def test_the_daemon_ends_with_its_compiler(t):
    for number in (signal.SIGTERM, signal.SIGINT):
        daemon = serve(t, "hangs")
        ask(daemon)
        wait_until(lambda: children(t), what="the compiler")
        equal(daemon.stop(number), 0)
        nothing_is_left(t)
    daemon = serve(t, "stops")  # a plan that nobody asked for
    begun = ask(daemon)
    wait_until(lambda: daemon.get_json(PATH)["running"] is None, what="the end of the compiler")
    nothing_is_left(t)
    daemon.stop()
    nothing_is_left(t)
    daemon = serve(t, "stops")  # and started again it knows nothing of it
    equal(daemon.ask(f"{PATH}/{begun['id']}").status, 404)


def test_only_the_last_ones_are_kept(t):
    daemon = serve(t, "stops")
    begun = [ask(daemon, "offload=*") for _ in range(1)]
    for _ in range(16):
        at_end(daemon, begun[-1])
        begun.append(ask(daemon, "offload=*"))
    equal([daemon.ask(f"{PATH}/{one['id']}").status for one in begun], [404] + [200] * 16)


def test_a_trace_and_a_lone_program_cannot_be_confirmed(t):
    daemon = t.serve_with_compiler(
        "stops", PROGRAM, os.path.join(t.fixtures, "logdir"), os.path.join(t.fixtures, "programs", "z-base")
    )
    for session in daemon.sessions().values():
        if session["kind"] not in ("trace", "dump"):
            continue
        answer = daemon.ask(PATH, "POST", AS_JSON, json.dumps({"session": session["id"], "change": ["batch=0.5"]}))
        if answer.status != 202:
            continue
        said = at_end(daemon, answer.json)["confirmed"]
        equal(said["status"], "no_program")
        assert "before optimizations" in said["sentence"]


def test_without_a_libtpu_it_is_not_offered(t):
    daemon = t.serve("--libtpu=/nowhere", os.path.join(t.fixtures, FOLDER))
    offer = daemon.get_json(PATH)
    equal((offer["is_available"], offer["reason"]), (False, "/nowhere (--libtpu) is no libtpu.so"))
    equal(ask(daemon, status=409)["code"], "unsupported")


def test_uploaded_programs_can_be_confirmed(t):
    daemon = t.serve_with_compiler("stops", PROGRAM, t.folder())
    given = ""
    for name in sorted(os.listdir(os.path.join(t.fixtures, FOLDER))):
        if ".hlo.pb" in name:
            answer = daemon.ask(
                f"/api/v1/uploads?name={name}&with={given}",
                "POST",
                {"Content-Type": "application/octet-stream"},
                t.fixture(f"{FOLDER}/{name}"),
            )
            given = answer.json["id"]
    answer = daemon.ask(PATH, "POST", AS_JSON, json.dumps({"session": given, "change": ["batch=0.5"]}))
    said = at_end(daemon, answer.json)
    equal((said["confirmed"]["state"], said["session"]), ("refuted", given), said)
