# SPDX-License-Identifier: Apache-2.0
"""What the page asks of the daemon: a capture from its beginning to its session, cancelled, with a host that fails, and
a daemon that ends meanwhile."""

import json
import os
import threading

from command import xspace
from harness import PATIENCE_SECONDS, equal, free_port, wait_until
from profiler import GRPC, Profiler, good, parts, trace

PATH = "/api/v1/captures"


def serve(t, *servers):
    return t.serve(
        f"--capture-logdir={t.folder('traces')}", *(f"--capture={getattr(each, 'address', each)}" for each in servers)
    )


def begin(daemon, **body):
    answer = daemon.ask(PATH, "POST", {"Content-Type": "application/json"}, json.dumps({"seconds": 1, **body}))
    equal(answer.status, 202, answer.text)
    return answer.json["id"]


def at_end(daemon, one, has_session=True):
    def look():
        return daemon.get_json(f"{PATH}/{one}")

    wait_until(
        lambda: look()["state"] in ("done", "cancelled") and (look()["session"] or not has_session),
        what="the end of the capture",
    )
    return look()


def files(t):
    return sorted(name for _, _, names in os.walk(t.folder("traces")) for name in names)


def test_a_capture_becomes_a_session(t):
    with Profiler(good(xspace(t))) as server:
        daemon = serve(t, server)
        equal(
            daemon.get_json(PATH),
            {"capture_addresses": [server.address], "logdir": t.folder("traces"), "max_seconds": 3600},
        )
        ended = at_end(daemon, begin(daemon))
    equal((ended["state"], ended["reason"], ended["seconds"]), ("done", None, 1))
    (host,) = ended["hosts"]
    equal(
        (host["address"], host["reason"], host["trace_bytes"], ended["trace_bytes"]),
        (server.address, None, len(xspace(t)), len(xspace(t))),
    )
    assert os.path.getsize(host["file"]) == len(xspace(t))
    (session,) = daemon.sessions().values()
    equal(session["id"], ended["session"])


def test_some_of_the_named_ones_and_one_that_fails(t):
    gone = f"127.0.0.1:{free_port()}"
    with Profiler(good(xspace(t))) as one, Profiler(good(xspace(t))) as two:
        daemon = serve(t, one, two, gone)
        at_end(daemon, begin(daemon, addresses=[two.address]))
        equal((len(one.asked), len(two.asked)), (0, 1))
        ended = at_end(daemon, begin(daemon))
        equal((len(one.asked), len(two.asked)), (1, 2))
    equal([host["reason"] for host in ended["hosts"]], [None, None, "connection refused: nothing listens there"])
    sessions = {row["id"]: row["host_count"] for row in daemon.sessions().values()}
    equal(sessions[ended["session"]], 2)


def silent(began, ended):
    def answer(_asked):
        yield GRPC
        yield trace(b"x" * 100)[:50]
        began.set()
        ended.wait(PATIENCE_SECONDS)

    return answer


def test_cancelling_ends_the_recording_and_leaves_nothing(t):
    began, ended = threading.Event(), threading.Event()
    with Profiler(silent(began, ended)) as server:
        daemon = serve(t, server)
        one = begin(daemon)
        assert began.wait(PATIENCE_SECONDS)
        equal(daemon.ask(f"{PATH}/{one}", "DELETE").status, 204)
        equal(at_end(daemon, one, False)["state"], "cancelled")
        ended.set()
        server.answer = good(xspace(t))
        equal(files(t), [])
        equal(at_end(daemon, begin(daemon))["state"], "done")


def test_a_daemon_that_ends_leaves_nothing(t):
    began, ended = threading.Event(), threading.Event()
    with Profiler(silent(began, ended)) as server:
        daemon = serve(t, server)
        begin(daemon)
        assert began.wait(PATIENCE_SECONDS)
        equal(daemon.stop(), 0)
        ended.set()
    equal(files(t), [])


def test_a_folder_that_may_not_be_written_any_more(t):
    with Profiler(good(xspace(t))) as server:
        daemon = serve(t, server)
        t.write("../traces/plugins", b"")
        ended = at_end(daemon, begin(daemon), False)
    equal((ended["state"], ended["session"], len(server.asked)), ("done", None, 0))
    assert "/traces/plugins/profile: Not a directory" in ended["reason"], ended


def test_the_last_sixteen_are_kept(t):
    with Profiler(parts([*GRPC, ("grpc-status", "14")])) as server:
        daemon = serve(t, server)
        ids = []
        for _ in range(18):
            ids.append(begin(daemon))
            at_end(daemon, ids[-1], False)
    equal([daemon.ask(f"{PATH}/{one}").status for one in ids], [404, 404] + [200] * 16)
