# SPDX-License-Identifier: Apache-2.0
"""Limits, each with a clear answer; and requests that are not what HTTP asks for."""

import contextlib
import re
import socket

from harness import equal, loads, wait_until


def head(daemon, extra=b""):
    return b"GET /-/healthy HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n" + extra + b"\r\n"


def test_a_long_url_is_414(t):
    daemon = t.serve(t.folder())
    answer = daemon.ask("/runs?x=" + "a" * 9000)
    equal((answer.status, answer.json["code"]), (414, "limit"))
    equal(daemon.ask("/runs?x=" + "a" * 8000).status, 200)
    received = daemon.raw(b"GET /" + b"a" * 200000 + b" HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
    assert received.startswith(b"HTTP/1.1 414") or received == b"", received[:200]
    equal(daemon.ask("/-/healthy").status, 200)


def test_large_headers_are_431(t):
    daemon = t.serve(t.folder())
    assert daemon.raw(head(daemon, b"X: " + b"a" * 20000 + b"\r\n")).startswith(b"HTTP/1.1 431")
    assert daemon.raw(head(daemon, b"X: " + b"a" * 200000 + b"\r\n"))[:12] in (b"HTTP/1.1 431", b"")
    assert daemon.raw(head(daemon, b"".join(b"X%d: 1\r\n" % at for at in range(3000)))).startswith(b"HTTP/1.1 431")
    equal(daemon.ask("/-/healthy").status, 200)


def test_a_large_body_is_413(t):
    daemon = t.serve(t.folder())
    answer = daemon.ask("/api/v1/login", "POST", {"Content-Type": "application/json"}, "x" * 5000)
    equal((answer.status, answer.json["code"]), (413, "limit"))


def answered(connection):
    received = b""
    while chunk := connection.recv(65536):
        received += chunk
    return received


def test_a_body_that_is_said_to_be_too_large_is_not_waited_for(t):
    """the answer comes before a byte of the body does, and without "100 Continue"; then the connection ends"""
    daemon = t.serve(t.folder())
    for path, expects in (
        ("/api/v1/oom", b""),
        ("/api/v1/oom", b"Expect: 100-continue\r\n"),
        ("/api/v1/uploads?name=a", b""),
        ("/api/v1/login", b""),
        ("/api/v1/about", b""),
    ):
        kind = b"text/plain" if path.endswith("oom") else b"application/octet-stream"
        with socket.create_connection((daemon.host, daemon.port), timeout=60) as connection:
            connection.sendall(
                b"POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: %s\r\n%sContent-Length: 99999999999\r\n\r\n"
                % (path.encode(), kind, expects)
            )
            told = answered(connection)
        status, body = told.split(b" ", 2)[1], loads(told.partition(b"\r\n\r\n")[2])
        equal((status, body["code"], b"\r\nConnection: close\r\n" in told), (b"413", "limit", True), (path, expects))
    with socket.create_connection(
        (daemon.host, daemon.port), timeout=60
    ) as connection:  # one that fits is told to come
        connection.sendall(
            b"POST /api/v1/oom HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\nExpect: 100-continue\r\n"
            b"Connection: close\r\nContent-Length: 3\r\n\r\n"
        )
        equal(connection.recv(1024), b"HTTP/1.1 100 Continue\r\n\r\n")
        connection.sendall(b"abc")
        assert answered(connection).startswith(b"HTTP/1.1 200"), "a text that is not recognised"


def test_a_body_without_an_end_ends_at_the_limit(t):
    """in pieces, each of them small: 413 at the limit of 64 MiB, and the connection is closed"""
    daemon = t.serve("--verbose", t.folder())
    piece, sent = b"10000\r\n" + b"x" * 65536 + b"\r\n", 0
    with socket.create_connection((daemon.host, daemon.port), timeout=60) as connection:
        connection.sendall(
            b"POST /api/v1/oom HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\n"
            b"Transfer-Encoding: chunked\r\n\r\n"
        )
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            while sent < 1 << 30:
                connection.sendall(piece)
                sent += 65536
        told = answered(connection)
    assert 64 << 20 <= sent < 128 << 20, f"{sent >> 20} MiB were taken"
    head, _, body = told.partition(b"\r\n\r\n")
    equal((head.split(b" ", 2)[1], loads(body)["code"]), (b"413", "limit"))
    for line in (
        b"Connection: close",
        b"Content-Type: application/problem+json",
        b"X-Content-Type-Options: nosniff",
        b"Content-Length: %d" % len(body),
    ):
        assert line in head.split(b"\r\n"), (line, head)
    wait_until(lambda: " POST /api/v1/oom 413 " in daemon.log(), what="the line of the log")
    assert 'status="4xx"} 1\n' in daemon.ask("/metrics").text
    equal(daemon.ask("/-/healthy").status, 200)


def test_tokens_in_addresses_are_told_nowhere(t):
    for form in ("text", "json"):
        daemon = t.serve("--verbose", f"--log-format={form}", t.folder())
        for path in (
            "/?token=SECRET",
            "/api/v1/about?x=1&token=SECRET",
            "/runs?Access_Token=SECRET",
            "/runs?%74oken=SECRET&b=2",
            "/api/v1/sessions?token=SECRET",
            "/nothing;token=SECRET",
            "/api/v1/oom?token=SE%43RET",
            "/data?run=a&token=SECRET",
        ):
            answer = daemon.ask(path, headers={"Referer": "http://localhost/?token=SECRET"})
            assert b"SECRET" not in answer.body and b"SE%43RET" not in answer.body, (path, answer)
        wait_until(lambda: daemon.log().count("***") == 8, what="eight lines of the log")
        assert "SECRET" not in daemon.log() and "SE%43RET" not in daemon.log() and "b=2" in daemon.log(), daemon.log()


def test_wrong_methods_are_405_and_say_what_is_allowed(t):
    daemon = t.serve(t.folder())
    for path in (
        "/-/healthy",
        "/-/ready",
        "/api/v1/about",
        "/api/v1/sessions",
        "/api/v1/sessions/x",
        "/api/v1/sessions/x/modules",
        "/api/v1/memory_viewer/summary",
        "/runs",
        "/data/plugin/profile/data",
        "/",
        "/index.html",
    ):
        for method in ("POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "BREW"):
            answer = daemon.ask(path, method)
            equal((answer.status, answer.headers.get("allow")), (405, "GET, HEAD"), (method, path))
            equal(answer.json["code"], "method", (method, path))
    answer = daemon.ask("/api/v1/login", "PUT")
    equal((answer.status, answer.headers.get("allow")), (405, "POST"))


def test_unknown_paths_are_404(t):
    daemon = t.serve(t.folder())
    for path in (
        "/api",
        "/api/",
        "/api/v1",
        "/api/v1/",
        "/api/v2/about",
        "/api/v1/about/",
        "/api/v1/nothing",
        "/api/v1/memory_viewer/nothing",
        "/api/v1/sessions//modules",
        "/-/",
        "/-/nothing",
        "/data/plugin/profile",
        "/data/plugin/profile/nothing",
        "/data/plugin/other/runs",
        "/nothing",
    ):
        answer = daemon.ask(path)
        equal((answer.status, answer.headers["content-type"]), (404, "application/problem+json"), path)


def test_broken_escapes_are_400(t):
    daemon = t.serve(t.folder())
    for path in ("/%", "/%4", "/%zz", "/runs?x=%", "/runs?%00=1", "/index.html%00.js", "/api/v1/sessions?filter=%q1"):
        equal(daemon.ask(path).status, 400, path)
    for query in ("filter=%00", "session=%", "%00=%zz"):  # the page names what it cannot use
        answer = daemon.ask(f"/?{query}")
        equal((answer.status, answer.headers["content-type"]), (200, "text/html; charset=utf-8"), query)


def test_dots_lead_nowhere(t):
    t.write("secret.xplane.pb", b"x")
    daemon = t.serve(t.folder("inputs/inner"))
    for path in (
        "/../secret.xplane.pb",
        "/..%2fsecret.xplane.pb",
        "/api/v1/sessions/..%2f..%2fsecret",
        "/api/v1/../../etc/passwd",
        "/static/../../../etc/passwd",
        "/%2e%2e/%2e%2e/%2e%2e/etc/passwd",
    ):
        assert daemon.ask(path).status in (400, 404), path
    for name in ("../secret", "..", "/etc", "../../inputs"):
        assert daemon.ask(f"/module_list?run={name}").status == 404, name
        assert daemon.ask(f"/hosts?run=x&session_path={name}").status in (403, 404), name


def test_what_is_no_http_does_not_end_the_daemon(t):
    daemon = t.serve(t.folder())
    for text in (
        b"\r\n\r\n",
        b"\x00" * 100,
        b"GET\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"\x16\x03\x01" + b"\xff" * 300,
        b"GET /runs HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
        b"POST /api/v1/login HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"POST /api/v1/login HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999999999999\r\n\r\n",
    ):
        with contextlib.suppress(OSError):
            daemon.raw(text, timeout=1)
    equal(daemon.ask("/-/healthy").status, 200)


def test_odd_requests_are_answered_as_they_are_meant_or_refused(t):
    daemon = t.serve(t.folder())
    host, close = b"Host: localhost\r\n", b"Connection: close\r\n\r\n"
    post = b"POST /api/v1/oom HTTP/1.1\r\nContent-Type: text/plain\r\n" + host

    def statuses(text):
        return [int(code) for code in re.findall(rb"HTTP/1\.1 (\d{3}) ", daemon.raw(text))]

    whole = daemon.raw(b"GET /app.js HTTP/1.1\r\n" + host + close).partition(b"\r\n\r\n")[2]
    ranged = daemon.raw(b"GET /app.js HTTP/1.1\r\nRange: bytes=1-10\r\n" + host + close)
    equal((ranged[:12], ranged.partition(b"\r\n\r\n")[2]), (b"HTTP/1.1 200", whole), "parts are not served")
    smuggled = b"GET /-/healthy HTTP/1.1\r\n" + host + close
    equal(
        statuses(post + b"Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n3\r\nabc\r\n0\r\n\r\n" + smuggled),
        [400],
    )
    equal(
        statuses(
            post
            + b"Transfer-Encoding: chunked\r\n"
            + close
            + (b"100000\r\n" + b"x" * (1 << 20) + b"\r\n") * 65
            + b"0\r\n\r\n"
        ),
        [413],
    )
    equal(statuses(b"GET / HTTP/1.1\r\n" + b"A: b\r\n" * 2000 + host + close), [431])
    equal(statuses(b"GET / HTTP/1.1\r\nUpgrade: websocket\r\n" + host + close), [200])
    for method in (b"TRACE", b"PUT", b"DELETE", b"PATCH", b"x" * 1000):
        assert statuses(method + b" /api/v1/sessions HTTP/1.1\r\n" + host + close)[:1] in ([405], [400], [501]), method
    log = t.serve("--verbose", t.folder())
    log.ask("/api/v1/x%0A2026-11-22T00:00:00Z%20forged?y=%1b%5B31m")
    assert "\x1b" not in log.log() and "\n2026-11-22T00:00:00Z forged" not in log.log(), log.log()


def open_connections(daemon, count):
    connections = []
    for _ in range(count):
        with contextlib.suppress(OSError):
            connections.append(socket.create_connection((daemon.host, daemon.port), timeout=60))
    return connections


def test_idle_connections_do_not_keep_others_waiting(t):
    daemon = t.serve(t.folder())
    idle = open_connections(daemon, 100)
    for connection in idle:
        connection.sendall(b"GET /-/heal")
    equal(daemon.ask("/-/healthy").status, 200)
    for connection in idle:
        connection.close()
