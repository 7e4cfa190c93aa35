# SPDX-License-Identifier: Apache-2.0
"""What the daemon writes to stderr, and the ids of requests."""

import re

from harness import equal, loads

BODY = b"x" * (2 << 20)


def without_room(t, *arguments):
    """a daemon that answers 503 to BODY: it has no memory for it"""
    return t.serve("--memory-limit=1", *arguments, t.folder())


def fail(daemon, headers=None):
    answer = daemon.ask("/api/v1/oom", "POST", {"Content-Type": "text/plain", **(headers or {})}, BODY)
    equal(answer.status, 503)
    return answer


def test_server_errors_are_a_few_lines_and_a_sum(t):
    daemon = without_room(t)
    for _ in range(60):
        fail(daemon)
    daemon.stop()
    lines = daemon.log().splitlines()
    said = [line for line in lines if " 503 " in line]
    sums = [
        int(count)
        for count in re.findall(r"^memviewd: server errors: (\d+) more like it in the last 10 s$", daemon.log(), re.M)
    ]
    equal(len(said) + sum(sums), 60, daemon.log())
    assert 5 <= len(said) <= 5 * (len(sums) + 1) and sums, daemon.log()


def test_of_every_answer_the_id_is_in_the_log(t):
    daemon = t.serve("--verbose", t.folder())
    ids = set()
    for path in ("/-/healthy", "/", "/api/v1/nothing", "/api/v1/about"):
        answer = daemon.ask(path)
        ids.add(answer.headers["x-request-id"])
        if answer.status >= 400:
            equal(answer.json["request_id"], answer.headers["x-request-id"])
    equal(len(ids), 4)
    daemon.stop()
    for each in ids:
        assert re.fullmatch(r"[0-9a-f]{8}-[0-9a-f]+", each) and f" {each}\n" in daemon.log(), (each, daemon.log())


def test_an_id_of_a_proxy_is_kept_when_it_is_one(t):
    daemon = t.serve(t.folder())
    answer = daemon.ask("/api/v1/nothing", headers={"X-Request-Id": "a-B_1.9"})
    equal((answer.headers["x-request-id"], answer.json["request_id"]), ("a-B_1.9", "a-B_1.9"))
    for bad in ("", "a b", '"', "a" * 65, "<x>", "\xe4"):
        answer = daemon.ask("/api/v1/nothing", headers={"X-Request-Id": bad})
        assert re.fullmatch(r"[0-9a-f]{8}-[0-9a-f]+", answer.headers["x-request-id"]), (bad, answer.headers)
        equal(answer.json["request_id"], answer.headers["x-request-id"])


def test_a_log_of_json_is_one_object_a_line(t):
    daemon = without_room(t, "--log-format=json", "--verbose", "--bind=0.0.0.0", "--no-token")
    answer = fail(daemon)
    daemon.ask('/api/v1/%22%0A%1b?x=%ff"')
    daemon.stop()
    rows = [loads(line) for line in daemon.log().splitlines()]
    warnings = [row for row in rows if row["level"] == "warning"]
    assert any("--no-token" in row["message"] for row in warnings), rows
    request = next(row for row in rows if row["level"] == "error")
    equal(
        (request["request_id"], request["method"], request["target"], request["status"], request["peer"]),
        (answer.headers["x-request-id"], "POST", "/api/v1/oom", 503, "127.0.0.1"),
    )
    assert (
        request["took_ms"] > 0
        and request["size_bytes"] > 0
        and re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", request["time"])
    )
    assert not any(row["message"].startswith("sandbox:") for row in warnings), "what is merely so is no warning"
    assert {row["level"] for row in rows if row.get("message", "").startswith("sandbox:")} <= {"info"}, rows
    equal(t.run("--demo", "--log-format=xml").returncode, 2)


def test_levels_are_by_what_is_said(t):
    daemon = t.serve("--log-format=json", "--bind=0.0.0.0", f"--logdir={t.folder()}/later", "--wait")
    for _ in range(7):
        daemon.ask("/api/v1/about", headers={"Authorization": "Bearer wrong"})
    daemon.stop()
    rows = [loads(line) for line in daemon.log().splitlines()]
    for words, level in (
        ("waiting for it", "info"),
        ("by its IP address", "info"),
        ("a wrong token", "warning"),
        ("wrong tokens: 2 more", "warning"),
    ):
        equal({row["level"] for row in rows if words in row["message"]}, {level}, (words, rows))
    refused = t.run("--demo", "--log-format=json", "--port=70000")
    equal((loads(refused.stderr)["level"], refused.returncode), ("error", 2))


def test_what_can_be_read_is_not_escaped_and_what_moves_a_cursor_is(t):
    for option, argument in (("frame-ancestors", "ORIGIN,…"), ("allowed-hosts", "NAME,…")):
        process = t.run("--demo", f"--{option}=")
        equal((process.returncode, process.stderr), (2, f"memviewd: --{option} wants a value: --{option}={argument}\n"))
    process = t.run("--demo", "--\x1b[1m\u202e\u00e9\\")
    assert "--\\u001b[1m\\u202e\u00e9\\ " in process.stderr, process.stderr
