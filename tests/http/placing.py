# SPDX-License-Identifier: Apache-2.0
"""Where the daemon is seen: a Unix socket, below a path of a proxy, in a frame of a notebook."""

import contextlib
import http.client
import json
import os
import re
import socket
import stat

from harness import Daemon, equal

LOGIN = {"Content-Type": "application/json"}


class UnixDaemon(Daemon):
    """asked over the Unix socket that it listens on"""

    def connect(self, timeout=60):
        connection = http.client.HTTPConnection("localhost")
        connection.sock = socket.socket(socket.AF_UNIX)
        connection.sock.settimeout(timeout)
        connection.sock.connect(self.path)
        return connection


def serve_unix(t, path, *arguments, more=""):
    daemon = t.serve(f"--listen=unix:{path}{more}", *arguments)
    daemon.__class__, daemon.path = UnixDaemon, path
    return daemon


def test_a_unix_socket_answers_and_goes_with_the_daemon(t):
    path = os.path.join(t.folder(), "socket")
    for more, mode in (("", 0o600), (",mode=0660", 0o660), (",mode=600", 0o600)):
        daemon = serve_unix(t, path, "--demo", more=more)
        equal(daemon.url, f"unix:{path}")
        equal(stat.S_IMODE(os.stat(path).st_mode), mode)
        assert daemon.get_json("/api/v1/sessions")["sessions"]
        equal(daemon.ask("/-/healthy").status, 200)
        equal(daemon.ask("/", headers={"Host": "evil.example"}).status, 403, "the names count here too")
        equal(daemon.stop(), 0)
        assert not os.path.exists(path)


def test_a_socket_that_was_left_behind_is_replaced_and_another_file_is_not(t):
    path = os.path.join(t.folder(), "socket")
    daemon = serve_unix(t, path, "--demo")
    process = t.run("--demo", f"--listen=unix:{path}")
    equal((process.returncode, process.stderr.count("\n")), (2, 1), "somebody listens on it")
    equal(daemon.ask("/-/healthy").status, 200)
    daemon.process.kill()
    daemon.process.wait()
    equal(serve_unix(t, path, "--demo").stop(), 0)
    t.write("socket", b"precious")
    equal(t.run("--demo", f"--listen=unix:{path}").returncode, 2)
    with open(path, "rb") as file:
        equal(file.read(), b"precious")


def test_a_socket_whose_connections_all_wait_is_in_use(t):
    path = os.path.join(t.folder(), "socket")
    with contextlib.ExitStack() as open_ones:
        listening = open_ones.enter_context(socket.socket(socket.AF_UNIX))
        listening.bind(path)
        listening.listen(0)
        with contextlib.suppress(BlockingIOError):
            while True:
                waiting = open_ones.enter_context(socket.socket(socket.AF_UNIX))
                waiting.setblocking(False)
                waiting.connect(path)
        process = t.run("--demo", f"--listen=unix:{path}", seconds=60)
        equal((process.returncode, process.stderr.count("\n")), (2, 1), process.stderr)
        assert "in use" in process.stderr and os.path.exists(path), process.stderr


def test_bad_places_are_status_2(t):
    for argument in (
        "--listen=tcp:1",
        "--listen=unix:relative",
        "--listen=unix:/" + "a" * 120,
        "--listen=unix:/tmp/x,mode=9",
        "--listen=unix:/tmp/x,more",
        "--listen=unix:/tmp/x,mode= 0660",
        "--listen=unix:/tmp/x,mode=+660",
        "--listen=unix:/tmp/x,mode=-0",
        "--listen=unix:/tmp/x,mode=01000",
        "--path-prefix=/../x",
        "--path-prefix=/a/./b",
        "--path-prefix=/a/..",
        "--path-prefix=/.",
        "--frame-ancestors=*",
        "--frame-ancestors=*,https://x",
        "--frame-ancestors=https://x,*",
        "--frame-ancestors=https://x,",
        "--frame-ancestors=https://x,y",
        "--frame-ancestors=https://,https://x",
        "--path-prefix=a",
        "--path-prefix=/a//b",
        "--path-prefix=/a b",
        "--frame-ancestors=https://x;script-src *",
        "--frame-ancestors=x",
    ):
        process = t.run("--demo", "--port=0", argument)
        equal(
            (
                process.returncode,
                process.stderr.count("\n"),
                process.stderr.startswith("memviewd: " + argument.partition("=")[0]),
            ),
            (2, 1, True),
            argument,
        )


def test_good_places_that_look_odd_are_taken(t):
    daemon = t.serve("--demo", "--path-prefix=/.a/..b/c..", "--frame-ancestors=https://*.example:*,http://[::1]:1")
    equal(daemon.ask("/.a/..b/c../-/healthy").status, 200)
    assert (
        daemon.ask("/")
        .headers["content-security-policy"]
        .endswith("; frame-ancestors https://*.example:* http://[::1]:1")
    )


def test_below_a_prefix_all_is_as_it_is_without(t):
    for prefix in ("/a/b", "/a/b/"):
        daemon = t.serve("--demo", f"--path-prefix={prefix}")
        assert daemon.url.endswith(f":{daemon.port}/a/b/"), daemon.url
        for path in (
            "/",
            "/app.js",
            "/api/v1/sessions?limit=1",
            "/runs",
            "/data/plugin/profile/runs",
            "/-/healthy",
            "/api/v1/nothing",
            "/nothing",
        ):
            below, plain = daemon.ask("/a/b" + path), daemon.ask(path)
            equal((below.status, below.headers.get("etag")), (plain.status, plain.headers.get("etag")), path)
        for query in ("", "?", "?tool=home", "?x=%2F%0A&y=" + "a" * 2000):
            answer = daemon.ask("/a/b" + query)
            equal((answer.status, answer.headers["location"]), (308, "/a/b/" + query), query)
        equal([daemon.ask(path).status for path in ("/a/bc", "/a", "/a/b/a/b/")], [404] * 3)
        page = daemon.ask("/a/b/").text
        for address in re.findall(r'(?:href|src)="([^"]+)"', page):
            assert not address.startswith("/"), address


def test_the_proxies_of_vs_code_show_it(t):
    """/proxy/PORT/ takes its path away and puts it before a Location; /absproxy/PORT/ does neither. Both hand the Host
    header on"""
    for base, takes_away in (("/proxy/6006", True), ("/absproxy/6006", False)):
        daemon = t.serve("--demo", "--allowed-hosts=code.example", *([] if takes_away else [f"--path-prefix={base}"]))
        own = {"Host": "code.example:8443", "Origin": "https://code.example:8443", "Sec-Fetch-Site": "same-origin"}

        def ask(path, method="GET", daemon=daemon, base=base, takes_away=takes_away, own=own):
            answer = daemon.ask(path.removeprefix(base) if takes_away else path, method, own)
            place = answer.headers.get("location")
            return answer, base + place if place and takes_away else place

        page = ask(base + "/")[0]
        for address in re.findall(r'(?:href|src)="([^"?#]+)"', page.text):
            equal(ask(f"{base}/{address}")[0].status, 200, address)
        equal(
            (page.status, ask(base + "/api/v1/about")[0].status, ask(base + "/api/v1/rescan", "POST")[0].status),
            (200, 200, 202),
        )
        session = ask(base + "/api/v1/sessions?limit=1")[0].json["sessions"][0]["id"]
        answer, place = ask(f"{base}/memory_viewer.html?run={session}")
        assert answer.status not in (301, 302, 307, 308) or place.startswith(base + "/?"), (answer, place)
        if not takes_away:
            equal(ask(base + "?tool=home")[1], base + "/?tool=home")


def test_the_log_has_targets_as_they_came(t):
    daemon = t.serve("--demo", "--path-prefix=/a/b", "--verbose")
    targets = ("/a/b", "/a/b?x=1", "/a/b/-/healthy", "/a/b/api/v1/sessions?limit=1", "/-/healthy", "/a/bc")
    for target in targets:
        daemon.ask(target)
    daemon.stop()
    equal(re.findall(r" GET (\S+) ", daemon.log()), list(targets))


def test_the_cookie_is_that_of_the_prefix(t):
    path = t.write("token", b"abcdefghijklmnop-0123\n")
    os.chmod(path, 0o600)
    daemon = t.serve("--demo", "--path-prefix=/a/b", f"--token-file={path}")
    cookie = daemon.ask("/a/b/api/v1/login", "POST", LOGIN, json.dumps({"token": "abcdefghijklmnop-0123"})).headers[
        "set-cookie"
    ]
    assert "; Path=/a/b/;" in cookie, cookie
    equal(daemon.ask("/a/b/api/v1/about", headers={"Cookie": cookie.partition(";")[0]}).status, 200)


def test_frames_are_refused_unless_their_site_is_named(t):
    frame = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "iframe"}
    closed = t.serve("--demo")
    opened = t.serve("--demo", "--frame-ancestors=https://notebooks.example:8888,http://localhost:8888")
    equal([daemon.ask("/", headers=frame).status for daemon in (closed, opened)], [403, 200])
    assert closed.ask("/").headers["content-security-policy"].endswith("; frame-ancestors 'none'")
    for path in ("/", "/app.js", "/api/v1/about"):
        policy = opened.ask(path).headers["content-security-policy"]
        assert policy.endswith("; frame-ancestors https://notebooks.example:8888 http://localhost:8888"), policy
        equal(policy.count("frame-ancestors"), 1)
    equal(
        opened.ask("/api/v1/about", headers={**frame, "Sec-Fetch-Mode": "cors", "Sec-Fetch-Dest": "empty"}).status,
        403,
        "data stay closed",
    )
