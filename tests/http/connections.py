# SPDX-License-Identifier: Apache-2.0
"""Connections that take places and give nothing: half requests, idle ones, slow ones, stalled uploads."""

import contextlib
import os
import re
import socket

from harness import PATIENCE_SECONDS, equal, wait_until

MIB = 1 << 20
HALF = b"GET /api/v1/about HTTP/1.1\r\nHost: localhost\r\nX: "
ABOUT = b"GET /api/v1/about HTTP/1.1\r\nHost: localhost\r\n\r\n"


@contextlib.contextmanager
def opened(daemon, count, send=b"", size=None):
    """that many connections, each with the same sent on it"""
    with contextlib.ExitStack() as stack:
        made = []
        for _ in range(count):
            connection = stack.enter_context(socket.socket())
            if size:
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, size)
            connection.settimeout(120)
            connection.connect((daemon.host, daemon.port))
            with contextlib.suppress(OSError):
                connection.sendall(send)
            made.append(connection)
        yield made


def is_closed(connection, seconds):
    """has the other side ended it, within that time?"""
    connection.settimeout(seconds)
    try:
        return connection.recv(1) == b""
    except TimeoutError:
        return False
    except ConnectionError:
        return True


def test_half_requests_keep_nobody_out(t):
    daemon = t.serve(t.folder())
    for sent in (HALF, b"", b"POST /api/v1/login HTTP/1.1\r\nHost: localhost\r\n"):
        with opened(daemon, 300, sent):
            for _ in range(5):
                equal([daemon.ask(path).status for path in ("/-/healthy", "/api/v1/about", "/")], [200, 200, 200], sent)


def test_the_connection_that_is_idle_longest_makes_place(t):
    daemon = t.serve(t.folder())
    with opened(daemon, 256, ABOUT) as kept:
        for connection in kept:
            assert connection.recv(65536).startswith(b"HTTP/1.1 200")
        for connection in kept[
            1:
        ]:  # one after the other: which of those that were opened at once was answered first is nobody's to say
            connection.sendall(ABOUT)
            assert connection.recv(65536).startswith(b"HTTP/1.1 200")
        equal([is_closed(connection, 0.1) for connection in (kept[0], kept[255])], [False, False])
        equal(daemon.ask("/-/healthy").status, 200)
        equal([is_closed(kept[0], PATIENCE_SECONDS), is_closed(kept[255], 0.1)], [True, False])


def test_headers_that_do_not_come_are_not_waited_for(t):
    """ten seconds, not those of a connection that is idle between two requests"""
    daemon = t.serve(t.folder())
    with opened(daemon, 1, HALF) as half, opened(daemon, 1, b"") as silent, opened(daemon, 1, ABOUT) as kept:
        assert kept[0].recv(65536).startswith(b"HTTP/1.1 200")
        assert is_closed(half[0], 40) and is_closed(silent[0], 40)
        equal(is_closed(kept[0], 0.1), False)


def is_healthy(daemon):
    try:
        return daemon.ask("/-/healthy").status == 200
    except ConnectionError:  # all places were taken when it came
        return False


def test_readers_that_do_not_read_keep_no_places(t):
    """each holds answers that are larger than what the two systems keep; the health is told, and the rest, soon"""
    daemon = t.serve(t.folder())
    size = len(daemon.ask("/vendor/viz.js").body)
    assert size > 300_000, size
    with opened(daemon, 300, b"GET /vendor/viz.js HTTP/1.1\r\nHost: localhost\r\n\r\n" * 40, 2048):
        for _ in range(3):
            wait_until(lambda: is_healthy(daemon), what="a place")  # one is made as soon as the daemon has the time
        wait_until(lambda: daemon.ask("/api/v1/about").status == 200, what="a place")


def test_stalled_uploads_leave_memory_to_others(t):
    """each sends less than a whole body and stops; together they would take all of the memory"""
    daemon = t.serve("--memory-limit=96", "--demo")
    head = (
        f"POST /api/v1/uploads?name=a.hlo.pb HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/octet-stream\r\n"
        f"Content-Length: {8 * MIB}\r\n\r\n"
    ).encode()
    with opened(daemon, 40, head + b"x" * (3 * MIB)) as stalled:
        session = daemon.session_id("b-activations-unrolled")
        equal(daemon.ask(f"/api/v1/memory_viewer/summary?session={session}").status, 200)
        for connection in stalled[:3]:
            assert is_closed(connection, 60), "less than 64 KiB in twenty seconds"
    wait_until(
        lambda: daemon.ask("/api/v1/oom", "POST", {"Content-Type": "text/plain"}, b"x" * (4 * MIB)).status != 503,
        what="room",
    )


def test_uploads_can_be_switched_off(t):
    daemon = t.serve("--no-uploads", t.folder())
    for path, kind in (
        ("/api/v1/oom", "text/plain"),
        ("/api/v1/uploads?name=a.hlo.pb", "application/octet-stream"),
        ("/api/v1/profiles?name=m", "application/octet-stream"),
    ):
        for body in (b"x", b"x" * MIB):
            answer = daemon.ask(path, "POST", {"Content-Type": kind}, body)
            equal((answer.status, answer.json["code"]), (403, "uploads"), path)
    equal(daemon.ask("/api/v1/about").status, 200)


def test_requests_that_can_be_read_in_two_ways_are_400(t):
    """and nothing behind them is taken for another request"""
    daemon = t.serve(t.folder())
    post = b"POST /api/v1/oom HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\n"
    smuggled = b"GET /-/healthy HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    for lengths, body in (
        (b"Transfer-Encoding: chunked\r\nContent-Length: 4\r\n", b"3\r\nabc\r\n0\r\n\r\n"),
        (b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n", b"3\r\nabc\r\n0\r\n\r\n"),
        (b"Content-Length : 3\r\n", b"abc"),
        (b"Transfer-Encoding : chunked\r\n", b"3\r\nabc\r\n0\r\n\r\n"),
        (b"Transfer-Encoding: gzip\r\n", b"abc"),
        (b"Transfer-Encoding: xchunked\r\n", b"3\r\nabc\r\n0\r\n\r\n"),
        (b"Content-Length: 3\r\nContent-Length: 3\r\n", b"abc"),
        (b"Content-Length: 3\r\nContent-Length: 30\r\n", b"abc"),
        (b"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n", b"3\r\nabc\r\n0\r\n\r\n"),
    ):
        received = daemon.raw(post + lengths + b"\r\n" + body + smuggled)
        equal(re.findall(rb"HTTP/1\.1 (\d{3}) ", received), [b"400"], lengths)
        assert b"onnection: close" in received, received[:500]
    for head in (b"Host: evil.example\0localhost\r\n", b"Host: \0localhost\r\n"):
        received = daemon.raw(b"GET /api/v1/about HTTP/1.1\r\n" + head + b"Connection: close\r\n\r\n", timeout=20)
        assert not received.startswith(b"HTTP/1.1 200"), (head, received[:200])
    equal(daemon.ask("/-/healthy").status, 200)


def test_a_thousand_parameters_are_400(t):
    daemon = t.serve(t.folder())
    for path in ("/api/v1/sessions", "/runs", "/"):
        for count in (1000, 2000):
            answer = daemon.ask(path + "?" + "&".join(["a=1"] * count))
            equal(answer.status, 400, (path, count))
        equal(
            daemon.ask(path + "?" + "&".join(f"a{at}=1" for at in range(400))).status,
            200 if path != "/api/v1/sessions" else 400,
            path,
        )


def test_closed_standard_descriptors_are_opened(t):
    """else a socket would be standard error, and lines of the log would go to whoever asks"""

    def close_all():
        for descriptor in (0, 2):
            os.close(descriptor)

    daemon = t.serve("--demo", "--verbose", before=close_all)
    for _ in range(5):
        answer = daemon.ask("/-/healthy")
        equal((answer.status, answer.body), (200, b"ok\n"))
    for descriptor in (0, 2):
        equal(os.readlink(f"/proc/{daemon.process.pid}/fd/{descriptor}"), "/dev/null")
