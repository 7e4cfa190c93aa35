# SPDX-License-Identifier: Apache-2.0
"""Who may ask: Host, other sites, the token."""

import os
import re
import signal
import urllib.parse

from harness import equal, wait_until

DATA = "/api/v1/about"


def status(daemon, headers, path=DATA, method="GET", body=None):
    return daemon.ask(path, method=method, headers=headers, body=body).status


def secret(t, name, content):
    """a file that no other user may open"""
    path = t.write(name, content)
    os.chmod(path, 0o600)
    return path


def login(daemon, token):
    return daemon.ask("/api/v1/login", "POST", {"Content-Type": "application/json"}, '{"token": "%s"}' % token)


def test_host_names_of_loopback_are_answered(t):
    daemon = t.serve(t.folder())
    for host in (
        "localhost",
        "LocalHost",
        "127.0.0.1",
        "[::1]",
        f"localhost:{daemon.port}",
        "127.0.0.1:1",
        f"[::1]:{daemon.port}",
    ):
        equal(status(daemon, {"Host": host}), 200, host)


def test_other_hosts_are_refused_and_the_flag_is_named(t):
    daemon = t.serve(t.folder())
    for host in (
        "evil.example",
        "localhost.evil.example",
        "127.0.0.1.evil.example",
        "10.0.0.1",
        "0.0.0.0",
        "[::1",
        "localhost:80:80",
        "[::1]x",
        "localhost:x",
        "localhost@evil.example",
        ":80",
    ):
        for path in (DATA, "/", "/runs", "/-/healthy"):
            answer = daemon.ask(path, headers={"Host": host})
            equal(answer.status, 403, (host, path))
            assert "--allowed-hosts" in answer.json["detail"], answer


def test_a_missing_or_second_host_is_400(t):
    daemon = t.serve(t.folder())
    for text in (
        b"GET /runs HTTP/1.1\r\nConnection: close\r\n\r\n",
        b"GET /runs HTTP/1.0\r\n\r\n",
        b"GET /runs HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\nConnection: close\r\n\r\n",
        b"GET /runs HTTP/1.1\r\nHost:\r\nConnection: close\r\n\r\n",
    ):
        assert daemon.raw(text).startswith((b"HTTP/1.1 400", b"HTTP/1.0 400")), text


def test_allowed_hosts_are_answered(t):
    daemon = t.serve("--allowed-hosts=tpu-vm.internal,Other", t.folder())
    equal(status(daemon, {"Host": "tpu-vm.internal:8000"}), 200)
    equal(status(daemon, {"Host": "other"}), 200)
    equal(status(daemon, {"Host": "third"}), 403)


def test_an_absolute_target_does_not_go_round_the_host(t):
    daemon = t.serve(t.folder())
    received = daemon.raw(b"GET http://evil.example/runs HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
    assert received.startswith(b"HTTP/1.1 400"), received[:200]


def test_requests_of_other_sites_are_refused(t):
    daemon = t.serve(t.folder())
    for path in (DATA, "/runs", "/-/healthy", "/index.html"):
        equal(status(daemon, {"Sec-Fetch-Site": "cross-site"}, path), 403, path)
    equal(
        status(daemon, {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}),
        403,
    )
    for site in ("same-origin", "same-site", "none"):
        equal(status(daemon, {"Sec-Fetch-Site": site}), 200, site)


def test_a_link_from_elsewhere_opens_the_page(t):
    daemon = t.serve(t.folder())
    link = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
    assert status(daemon, link, "/?session=abc") in (200, 404)
    equal(status(daemon, {**link, "Sec-Fetch-Dest": "iframe"}, "/"), 403)


def test_every_answer_bears_the_protecting_headers(t):
    daemon = t.serve(t.folder())
    for path, headers in (
        (DATA, {}),
        ("/", {}),
        ("/runs", {}),
        ("/nothing", {}),
        ("/api/v1/nothing", {}),
        (DATA, {"Host": "evil"}),
        ("/-/healthy", {}),
    ):
        answer = daemon.ask(path, headers=headers)
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy and "frame-ancestors 'none'" in policy, policy
        assert "unsafe" not in policy, policy
        equal(answer.headers["x-content-type-options"], "nosniff", path)
        equal(answer.headers["referrer-policy"], "no-referrer", path)
        assert "access-control-allow-origin" not in answer.headers, path


def test_only_the_worker_of_the_call_graph_may_run_webassembly(t):
    daemon = t.serve(t.folder())
    for path in ("/", "/app.js", "/widgets/graph_layout.js", "/vendor/viz.js", "/widgets/graph_worker.jsx"):
        assert "unsafe" not in daemon.ask(path).headers["content-security-policy"], path
    policies = [
        value
        for name, value in daemon.ask("/widgets/graph_worker.js").headers.items()
        if name.lower() == "content-security-policy"
    ]
    equal(len(policies), 1)
    assert "script-src 'self' 'wasm-unsafe-eval';" in policies[0], policies
    equal(policies[0].count("unsafe"), 1, policies)


def test_beyond_loopback_a_token_is_needed(t):
    daemon = t.serve("--bind=0.0.0.0", t.folder())
    token = urllib.parse.parse_qs(daemon.fragment)["token"][0]
    assert re.fullmatch(r"[0-9a-f]{32}", token), token
    for path in (DATA, "/runs", "/data/plugin/profile/version", "/api/v1/nothing", "/api/v1/sessions/x"):
        answer = daemon.ask(path)
        equal((answer.status, answer.headers.get("www-authenticate")), (401, 'Bearer realm="memviewd"'), path)
        assert status(daemon, {"Authorization": f"Bearer {token}"}, path) in (200, 404), path
    for wrong in (
        f"Bearer {token[:-1]}",
        f"Bearer {token}0",
        "Bearer",
        "Bearer ",
        f"Basic {token}",
        token,
        f"Bearer {token[:-1]}{'0' if token[-1] != '0' else '1'}",
    ):
        equal(status(daemon, {"Authorization": wrong}), 401, wrong)
    for path in ("/-/healthy", "/-/ready", "/index.html"):
        assert status(daemon, {}, path) in (200, 404), path
    other = t.serve("--bind=0.0.0.0", t.folder())
    assert other.fragment != daemon.fragment, "the token must be new at every start"


def test_on_all_addresses_an_ip_address_is_a_good_host_and_a_name_is_not(t):
    daemon = t.serve("--bind=0.0.0.0", "--no-token", t.folder())
    equal(daemon.fragment, "")
    equal(status(daemon, {"Host": "10.1.2.3:80"}), 200)
    equal(status(daemon, {"Host": "[fe80::1]:80"}), 200)
    equal(status(daemon, {"Host": "evil.example"}), 403)


def test_login_sets_a_cookie_that_lets_in(t):
    daemon = t.serve("--bind=0.0.0.0", t.folder())
    token = urllib.parse.parse_qs(daemon.fragment)["token"][0]
    as_json = {"Content-Type": "application/json"}

    def login(body, headers=as_json):
        return daemon.ask("/api/v1/login", "POST", headers, body)

    answer = login('{"token": "%s"}' % token)
    equal((answer.status, answer.body), (204, b""))
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie and "SameSite=Strict" in cookie and "Path=/" in cookie, cookie
    equal(status(daemon, {"Cookie": "other=1; " + cookie.split(";")[0]}), 200)
    equal(status(daemon, {"Cookie": f"memviewd-{daemon.port}=x"}), 401)
    assert cookie.startswith(f"memviewd-{daemon.port}="), cookie
    equal(login('{"token": "wrong"}').status, 401)
    assert "set-cookie" not in login('{"token": "wrong"}').headers
    for body in ("", "{}", "[]", '{"token": 1}', "{", '{"token": "' + "a" * 3000):
        equal(login(body).status, 400, body)
    equal(login('{"token": "%s"}' % token, {"Content-Type": "text/plain"}).status, 415)
    equal(login('{"token": "%s"}' % token, {**as_json, "Origin": "http://evil.example"}).status, 403)
    equal(login('{"token": "%s"}' % token, {**as_json, "Origin": f"http://127.0.0.1:{daemon.port}"}).status, 204)
    equal(daemon.ask("/api/v1/login").status, 405)


def test_daemons_on_two_ports_of_a_host_keep_their_cookies_apart(t):
    """a browser has one set of cookies for a host, whatever the port; a tunnel shows another port than the daemon's"""
    jar, daemons = {}, [t.serve("--bind=0.0.0.0", t.folder()) for _ in range(2)]
    for at, daemon in enumerate(daemons):
        token = urllib.parse.parse_qs(daemon.fragment)["token"][0]
        headers = {"Content-Type": "application/json", "Host": f"localhost:{7001 + at}"}
        set_cookie = daemon.ask("/api/v1/login", "POST", headers, '{"token": "%s"}' % token).headers["set-cookie"]
        name, _, value = set_cookie.split(";")[0].partition("=")
        jar[name] = value
    sent = "; ".join(f"{name}={value}" for name, value in jar.items())
    for at, daemon in enumerate(daemons):
        equal(status(daemon, {"Cookie": sent, "Host": f"localhost:{7001 + at}"}), 200, at)
        equal(status(daemon, {"Cookie": sent, "Host": f"localhost:{7002 - at}"}), 401, "the other one's")


def test_no_other_origin_may_send_anything(t):
    """what a form of another page can send without asking first: it names its origin"""
    daemon = t.serve(t.folder())
    for path in ("/api/v1/oom", "/api/v1/uploads?name=a.hlo.pb", "/api/v1/profiles?name=m", "/api/v1/login"):
        for origin in (
            "http://evil.example",
            "null",
            "http://localhost:1",
            f"http://evil.example:{daemon.port}",
            f"http://localhost:{daemon.port}.evil.example",
            "",
        ):
            for kind in (
                "text/plain",
                "application/octet-stream",
                "application/x-www-form-urlencoded",
                "multipart/form-data; boundary=x",
            ):
                answer = daemon.ask(path, "POST", {"Content-Type": kind, "Origin": origin}, b"x")
                equal((answer.status, answer.json["code"]), (403, "cross_site"), (path, origin, kind))
        equal(daemon.ask(path, "POST", {"Content-Type": "text/plain", "Host": "evil.example"}, b"x").status, 403, path)
        equal(
            daemon.ask(
                path, "OPTIONS", {"Origin": "http://evil.example", "Access-Control-Request-Method": "POST"}
            ).status,
            405,
            path,
        )


def test_a_rescan_without_a_body_is_for_its_own_site_too(t):
    daemon, locked = t.serve(t.folder()), t.serve("--bind=0.0.0.0", t.folder())
    path, own = "/api/v1/rescan", {"Origin": f"http://127.0.0.1:{daemon.port}"}
    equal(
        [status(daemon, headers, path, "POST") for headers in ({}, own, {"Content-Type": "application/json"})],
        [202] * 3,
    )
    for origin in ("http://evil.example", "null", "", f"http://localhost:{daemon.port}.evil.example"):
        equal(status(daemon, {"Origin": origin}, path, "POST"), 403, origin)
    equal(status(daemon, {"Sec-Fetch-Site": "cross-site"}, path, "POST"), 403)
    equal(status(daemon, {"Host": "evil.example"}, path, "POST"), 403)
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"):
        equal([status(daemon, {"Content-Type": kind}, path, "POST", body) for body in (None, b"x")], [415] * 2, kind)
    equal(status(daemon, {}, path, "POST", b"{}"), 415, "a body says what it is")
    equal((status(locked, {}, path, "POST"), daemon.ask(path).status), (401, 405))


def test_login_without_a_token_to_give_is_fine(t):
    daemon = t.serve(t.folder())
    answer = daemon.ask("/api/v1/login", "POST", {"Content-Type": "application/json"}, '{"token": "x"}')
    equal((answer.status, "set-cookie" in answer.headers), (204, False))


def test_the_token_of_a_file_counts_on_loopback_too(t):
    path = secret(t, "token", b"abcdefghijklmnop-0123\nrest\n")
    daemon = t.serve(f"--token-file={path}", t.folder())
    equal(daemon.fragment, "", "what is printed ends in logs")
    assert "abcdefghijklmnop-0123" not in daemon.log() and path in daemon.log(), daemon.log()
    equal(status(daemon, {}), 401)
    equal(status(daemon, {"Authorization": "Bearer abcdefghijklmnop-0123"}), 200)


def test_a_bad_token_file_is_status_2(t):
    for name, content in (("short", b"abc"), ("odd", b"abcdefghijklmnop;x"), ("empty", b"")):
        process = t.run("--demo", "--port=0", f"--token-file={secret(t, name, content)}")
        equal((process.returncode, process.stderr.count("\n")), (2, 1), name)
        assert "a token is 16 to 128" in process.stderr, process.stderr
    process = t.run("--demo", "--port=0", f"--token-file={os.path.join(t.folder(), 'missing')}")
    equal(process.returncode, 2)


def test_sighup_reads_the_token_again(t):
    path = secret(t, "token", b"abcdefghijklmnop-0123\n")
    daemon = t.serve(f"--token-file={path}", t.folder())
    old, new = (
        {"Authorization": f"Bearer {token}"} for token in ("abcdefghijklmnop-0123", "another-one-of-20-characters")
    )
    signed_in = {"Cookie": login(daemon, "abcdefghijklmnop-0123").headers["set-cookie"].split(";")[0]}
    daemon.process.send_signal(signal.SIGHUP)
    secret(t, "token", b"short")
    daemon.process.send_signal(signal.SIGHUP)
    wait_until(lambda: "the token stays as it was" in daemon.log(), what="the line about the file")
    equal(
        [status(daemon, each) for each in (old, signed_in, new)],
        [200, 200, 401],
        "a file that is no good changes nothing",
    )
    secret(t, "token", b"another-one-of-20-characters\n")
    daemon.process.send_signal(signal.SIGHUP)
    wait_until(lambda: status(daemon, old) == 401, what="the new token")
    equal(
        [status(daemon, each) for each in (old, signed_in, new)], [401, 401, 200], "who came in by the old one is out"
    )


def test_a_token_file_that_others_may_open_is_refused(t):
    path = t.write("token", b"abcdefghijklmnop-0123\n")
    for mode in (0o644, 0o640, 0o604, 0o620, 0o602):
        os.chmod(path, mode)
        process = t.run("--demo", "--port=0", f"--token-file={path}")
        equal((process.returncode, process.stdout, process.stderr.count("\n")), (2, "", 1), oct(mode))
        assert f"mode {mode:04o}" in process.stderr and "chmod 600" in process.stderr, process.stderr


def test_the_cookie_holds_no_token(t):
    """a browser shows it to every port of the host: it is an id that this daemon alone knows, another at each login"""
    daemon = t.serve("--bind=0.0.0.0", t.folder())
    token = urllib.parse.parse_qs(daemon.fragment)["token"][0]
    cookies = [login(daemon, token).headers["set-cookie"].split(";")[0] for _ in range(3)]
    equal(len(set(cookies)), 3)
    for cookie in cookies:
        assert re.fullmatch(rf"memviewd-{daemon.port}=[0-9a-f]{{32}}", cookie) and token not in cookie, cookie
        equal(status(daemon, {"Cookie": cookie}), 200)
        equal(status(daemon, {"Authorization": "Bearer " + cookie.partition("=")[2]}), 401, "an id is no token")
        equal(status(daemon, {"Cookie": cookie[:-1] + ("0" if cookie[-1] != "0" else "1")}), 401)
    equal(status(daemon, {"Cookie": f"memviewd-{daemon.port}={token}"}), 401, "nor is the token an id")


def test_sign_ins_are_limited_and_the_oldest_goes(t):
    daemon = t.serve("--bind=0.0.0.0", t.folder())
    token = urllib.parse.parse_qs(daemon.fragment)["token"][0]
    first, second = (login(daemon, token).headers["set-cookie"].split(";")[0] for _ in range(2))
    for _ in range(255):
        equal(status(daemon, {"Cookie": first}), 200)
        equal(login(daemon, token).status, 204)
    equal((status(daemon, {"Cookie": first}), status(daemon, {"Cookie": second})), (200, 401))


def test_sign_ins_end_with_the_daemon(t):
    path = secret(t, "token", b"abcdefghijklmnop-0123\n")
    daemon = t.serve(f"--token-file={path}", t.folder())
    cookie = login(daemon, "abcdefghijklmnop-0123").headers["set-cookie"].split(";")[0]
    port = daemon.port
    equal(daemon.stop(), 0)
    again = t.serve(f"--port={port}", f"--token-file={path}", t.folder())
    equal(status(again, {"Cookie": cookie}), 401)


def test_wrong_tokens_are_logged_and_soon_not_looked_at(t):
    daemon = t.serve("--bind=0.0.0.0", t.folder())
    token = urllib.parse.parse_qs(daemon.fragment)["token"][0]
    signed_in = {"Cookie": login(daemon, token).headers["set-cookie"].split(";")[0]}
    answers = [
        login(daemon, "wrong") if at % 2 else daemon.ask(DATA, headers={"Authorization": "Bearer wrong"})
        for at in range(40)
    ]
    equal([answer.status for answer in answers[:10]], [401] * 10)
    assert sum(answer.status == 429 for answer in answers) >= 25, answers
    for answer in answers[10:]:
        assert answer.status == 401 or answer.headers["retry-after"] == "6", answer
    equal(login(daemon, token).status, 429, "the right one is not looked at either: guesses must not be cheap")
    equal(status(daemon, signed_in), 200, "who is signed in goes on")
    equal(status(daemon, {}), 401, "no token is no wrong one")
    lines = [line for line in daemon.log().splitlines() if "token from 127.0.0.1" in line]
    equal(len(lines), 5, daemon.log())
    daemon.stop()
    found = re.findall(r"wrong tokens: (\d+) more like it in the last 10 s", daemon.log())
    equal(sum(map(int, found)), 41 - 5, daemon.log())
    assert 'wrong"' not in daemon.log() and token not in daemon.log()


def test_an_upload_with_a_wrong_token_counts_once(t):
    daemon = t.serve("--bind=0.0.0.0", t.folder())
    wrong = {"Authorization": "Bearer wrong", "Content-Type": "text/plain"}
    equal([daemon.ask("/api/v1/oom", "POST", wrong, b"x").status for _ in range(9)], [401] * 9)


def test_without_a_token_beyond_loopback_a_warning_stands_at_the_start(t):
    assert "from other machines too" in t.serve("--bind=0.0.0.0", "--no-token", t.folder()).log()
    assert "other machines too" not in t.serve("--bind=0.0.0.0", t.folder()).log()


def test_the_token_is_never_logged(t):
    daemon = t.serve("--bind=0.0.0.0", "--verbose", t.folder())
    token = urllib.parse.parse_qs(daemon.fragment)["token"][0]
    status(daemon, {"Authorization": f"Bearer {token}"})
    assert token not in daemon.log()
