# SPDX-License-Identifier: Apache-2.0
"""Many requests at once."""

import concurrent.futures
import contextlib
import functools
import itertools
import os
import resource
import socket
import struct
import threading
import time

import inputs
from harness import PATIENCE_SECONDS, equal, loads, wait_until

BUFFERS = 120000


@functools.lru_cache
def slow_trace():
    return inputs.trace("jit_slow", 1, BUFFERS)


def serve_slow(t):
    t.write("plugins/profile/slow/h.xplane.pb", slow_trace())
    t.write("plugins/profile/quick/h.xplane.pb", inputs.trace("jit_quick", 2))
    return t.serve(t.folder())


def at_once(count, function):
    with concurrent.futures.ThreadPoolExecutor(count) as pool:
        return [future.result() for future in [pool.submit(function) for _ in range(count)]]


def test_equal_requests_are_computed_once(t):
    one, many = serve_slow(t), serve_slow(t)
    path = f"/api/v1/memory_viewer/summary?session={one.session_id('slow')}"
    many.session_id("slow")
    before = one.cpu_seconds()
    equal(one.ask(path).status, 200)
    alone = one.cpu_seconds() - before
    before = many.cpu_seconds()
    bodies = {answer.body for answer in at_once(12, lambda: many.ask(path))}
    together = many.cpu_seconds() - before
    equal(len(bodies), 1)
    assert together < alone * 6 + 0.1, f"{together:.2f} s of processor time for 12, {alone:.2f} s for one"


def test_views_of_one_module_read_it_once(t):
    one, many = serve_slow(t), serve_slow(t)
    session = one.session_id("slow")
    many.session_id("slow")
    paths = [f"/api/v1/memory_viewer/{view}?session={session}" for view in ("summary", "curve", "strips", "buffers")]
    before = one.cpu_seconds()
    for path in paths:
        one.ask(path)
    in_turn = one.cpu_seconds() - before
    before = many.cpu_seconds()
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(many.ask, paths))
    together = many.cpu_seconds() - before
    equal([answer.status for answer in answers], [200] * 4)
    assert together < in_turn * 2.5 + 0.1, f"{together:.2f} s at once, {in_turn:.2f} s in turn"


def test_long_work_does_not_hold_up_others(t):
    t.write("plugins/profile/slow/h.xplane.pb.gz", inputs.slow_trace())
    t.write("plugins/profile/quick/h.xplane.pb", inputs.trace("jit_quick", 2))
    daemon = t.serve(t.folder())
    path = f"/api/v1/memory_viewer/summary?session={daemon.session_id('slow')}"
    daemon.ask("/module_list?run=quick")
    before = daemon.cpu_seconds()
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        long = pool.submit(daemon.ask, path)
        wait_until(lambda: long.done() or daemon.cpu_seconds() - before > 0.05, what="the long work")
        for _ in range(5):
            equal(daemon.ask("/-/healthy").status, 200)
            equal(daemon.ask("/module_list?run=quick").text, "jit_quick(2)")
        assert not long.done(), "the long work ended before the short"
        equal(long.result().status, 200)


def test_many_who_wait_for_one_slow_thing_leave_room(t):
    t.write("plugins/profile/slow/h.xplane.pb.gz", inputs.slow_trace())
    t.write("plugins/profile/quick/h.xplane.pb", inputs.trace("jit_quick", 2))
    daemon = t.serve(t.folder())
    slow, quick = daemon.session_id("slow"), daemon.session_id("quick")
    with concurrent.futures.ThreadPoolExecutor(40) as pool:
        waiting = [
            pool.submit(daemon.ask, f"/api/v1/memory_viewer/buffers?session={slow}&limit={at}") for at in range(1, 41)
        ]
        time.sleep(0.3)
        for path in (
            "/",
            "/-/healthy",
            "/api/v1/tools",
            "/api/v1/sessions",
            "/module_list?run=quick",
            f"/api/v1/memory_viewer/summary?session={quick}",
        ):
            equal(daemon.ask(path).status, 200, path)
        pending = sum(not answer.done() for answer in waiting)
        assert pending > 16, f"only {pending} still wait: others waited for them, or the slow trace is quick"
        equal({answer.result().status for answer in waiting}, {200})


def test_without_a_thread_the_next_request_tries_again(t):
    """equal to one that no thread could be made for"""
    t.write("plugins/profile/quick/h.xplane.pb", inputs.trace("jit_quick", 2))
    daemon = t.serve_as_nobody(t.folder())
    most, _ = resource.getrlimit(resource.RLIMIT_NPROC)  # the daemon's too
    most = "unlimited" if most == resource.RLIM_INFINITY else most
    t.run_as_nobody("prlimit", f"--pid={daemon.process.pid}", "--nproc=0:")
    answer = daemon.ask("/module_list?run=quick")
    equal((answer.status, answer.headers["retry-after"]), (503, "1"), answer)
    t.run_as_nobody("prlimit", f"--pid={daemon.process.pid}", f"--nproc={most}:")
    answer = daemon.ask("/module_list?run=quick", connection=daemon.connect())
    equal((answer.status, answer.text), (200, "jit_quick(2)"))


def test_clients_that_go_away_do_no_harm(t):
    daemon = serve_slow(t)
    path = f"/api/v1/memory_viewer/xprof?session={daemon.session_id('slow')}"
    for at in range(30):
        connection = socket.create_connection((daemon.host, daemon.port), timeout=PATIENCE_SECONDS)
        connection.sendall(f"GET {path}&x{at % 3} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        if at % 2:
            with contextlib.suppress(OSError):
                connection.settimeout(0.05)
                connection.recv(100)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # a reset, not an end
        connection.close()
    equal(daemon.ask("/-/healthy").status, 200)
    equal(daemon.ask(path).status, 200)


def test_half_closed_connections_are_answered(t):
    daemon = serve_slow(t)
    with socket.create_connection((daemon.host, daemon.port), timeout=PATIENCE_SECONDS) as connection:
        connection.sendall(b"GET /module_list?run=quick HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        connection.shutdown(socket.SHUT_WR)
        received = b""
        with contextlib.suppress(ConnectionError):
            while chunk := connection.recv(65536):
                received += chunk
    assert b"jit_quick(2)" in received or received == b"", received


def test_requests_sent_in_one_go_are_answered_in_turn(t):
    daemon = serve_slow(t)
    request = "GET {} HTTP/1.1\r\nHost: localhost\r\n{}\r\n"
    text = (
        request.format("/module_list?run=quick", "")
        + request.format("/version", "")
        + request.format("/-/healthy", "Connection: close\r\n")
    )
    received = daemon.raw(text.encode()).decode()
    equal(received.count("HTTP/1.1 200"), 3, received)
    assert received.index("jit_quick(2)") < received.index("2.24.2") < received.index("ok\n"), received


def test_a_storm_of_mixed_requests(t):
    daemon = serve_slow(t)
    rows = daemon.sessions()
    paths = ["/", "/runs", "/nothing", "/-/ready", "/api/v1/sessions", "/api/v1/sessions/x", "/module_list?run=quick"]
    for row in rows.values():
        paths += [f"/api/v1/sessions/{row['id']}/modules"] + [
            f"/api/v1/memory_viewer/{view}?session={row['id']}" for view in ("summary", "curve", "buffers", "strips")
        ]
    expected = {path: daemon.ask(path).status for path in paths}

    def ask_in_turn(start):
        connection = daemon.connect()
        for at in range(60):
            path = paths[(start * 7 + at) % len(paths)]
            method = "HEAD" if at % 5 == 0 else "GET"
            headers = {"Accept-Encoding": "gzip"} if at % 3 else {}
            equal(daemon.ask(path, method, headers, connection=connection).status, expected[path], path)
        connection.close()

    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        list(pool.map(ask_in_turn, range(16)))
    assert daemon.is_alive()


@contextlib.contextmanager
def renamed_all_the_time(t, path, versions):
    """a file whose bytes are one of `versions` at any time, by renames that do not stop"""
    copies = [t.write(f"versions/{at}", data) for at, data in enumerate(versions)]
    ended, renamed = threading.Event(), itertools.count()

    def rename():
        while not ended.is_set():
            copy = copies[next(renamed) % len(copies)]
            os.link(copy, path + ".new")
            os.rename(path + ".new", path)

    thread = threading.Thread(target=rename)
    thread.start()
    try:
        yield renamed
    finally:
        ended.set()
        thread.join()


def test_what_is_renamed_under_a_reader_is_one_or_the_other(t):
    """never some of both, and never absent or damaged"""
    versions = {
        f"jit_{name}": inputs.trace(f"jit_{name}", 1, count) for name, count in (("small", 20), ("large", 20000))
    }
    path = t.write("logs/plugins/profile/run/h.xplane.pb", versions["jit_small"])
    daemon = t.serve(os.path.join(t.folder(), "logs"))
    session = daemon.session_id("run")

    def told_by_daemon():
        answer = daemon.ask(f"/api/v1/memory_viewer/summary?session={session}")
        if answer.status != 200:
            assert (answer.status, answer.json["code"]) in ((409, "changed"), (503, "changed")), (
                answer.status,
                answer.json,
            )
            return None
        module = answer.json["data"]["module"]
        return module["name"], module["instruction_count"]

    def told_by_command():
        done = t.run("summary", path, "--json")
        told = loads(done.stdout)
        if done.returncode != 0 or told["not_read"]:
            equal((done.returncode, {one["code"] for one in told["not_read"]}), (2, {"changed"}), done.stderr)
            return None
        module = told["sessions"][0]["modules"][0]["summary"]["data"]["module"]
        return module["name"], module["instruction_count"]

    seen = set()
    with renamed_all_the_time(t, path, versions.values()) as renamed:
        for _ in range(40):
            seen |= {told_by_daemon(), told_by_command()}
        assert next(renamed) > 80, "renames"
    seen.discard(None)
    assert seen <= {("jit_small", 20), ("jit_large", 20000)}, seen
    wait_until(lambda: told_by_daemon(), what="an answer when it is at rest")
