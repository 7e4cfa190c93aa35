# SPDX-License-Identifier: Apache-2.0
"""Entity tags, HEAD, gzip."""

import gzip
import os

from harness import equal


def paths(t):
    """one address of each kind of answer"""
    daemon = t.serve(os.path.join(t.fixtures, "dumps"))
    session = daemon.session_id("seed-matmul-327680")
    return daemon, [
        "/index.html",
        "/-/healthy",
        "/runs",
        "/version",
        "/api/v1/tools",
        f"/api/v1/sessions/{session}",
        f"/api/v1/memory_viewer/summary?session={session}",
        f"/api/v1/memory_viewer/buffers?session={session}&format=csv",
    ]


def test_an_entity_tag_is_answered_with_304(t):
    daemon, addresses = paths(t)
    for path in addresses:
        first = daemon.ask(path)
        if first.status == 404:
            continue  # no page is compiled in
        tag = first.headers["etag"]
        for header in (tag, f"W/{tag}", "*", f'"other", {tag}', f'{tag[:-1]}-gz"'):
            again = daemon.ask(path, headers={"If-None-Match": header})
            equal((again.status, again.body, again.headers.get("etag")), (304, b"", tag), (path, header))
            assert "content-security-policy" in again.headers
        for header in ('"other"', "", tag.strip('"'), '"', tag[:-1]):
            again = daemon.ask(path, headers={"If-None-Match": header})
            expected = 200 if header != tag[:-1] else again.status
            equal(again.status, expected, (path, header))


def test_head_is_get_without_the_body(t):
    daemon, addresses = paths(t)
    for path in addresses:
        get, head = daemon.ask(path), daemon.ask(path, "HEAD")
        equal((head.status, head.body), (get.status, b""), path)
        for name in ("content-length", "content-type", "etag", "vary"):
            equal(head.headers.get(name), get.headers.get(name), (path, name))


def test_gzip_only_when_it_is_accepted(t):
    daemon, addresses = paths(t)
    path = addresses[6]
    plain = daemon.ask(path)
    assert len(plain.body) > 1024 and "content-encoding" not in plain.headers
    equal(plain.headers["vary"], "Accept-Encoding")
    for accepted in (
        "gzip",
        "gzip, deflate, br",
        "GZIP",
        "x-gzip",
        "*",
        "gzip;q=0.5",
        "deflate, gzip;q=1.0, *;q=0.5",
        "identity;q=0.5, gzip",
        "gzip;q=1.0, identity; q=0.5, *;q=0",
    ):
        answer = daemon.ask(path, headers={"Accept-Encoding": accepted})
        equal(answer.headers.get("content-encoding"), "gzip", accepted)
        equal(gzip.decompress(answer.body), plain.body, accepted)
        equal(answer.headers["etag"], plain.headers["etag"][:-1] + '-gz"', accepted)
        equal(answer.headers["content-length"], str(len(answer.body)), accepted)
    for refused in (
        "",
        "identity",
        "gzip;q=0",
        "gzip;q=0.0",
        "gzip; q=0.000, identity",
        "br",
        "deflate",
        "*;q=0",
        "gzip;q=0, *",
        "gzipped",
        "identity;q=1, gzip;q=0.5",
    ):
        answer = daemon.ask(path, headers={"Accept-Encoding": refused})
        equal((answer.headers.get("content-encoding"), answer.body), (None, plain.body), refused)


def test_small_answers_are_not_packed(t):
    daemon, _ = paths(t)
    answer = daemon.ask("/version", headers={"Accept-Encoding": "gzip"})
    assert "content-encoding" not in answer.headers


def test_the_packed_form_has_its_own_304(t):
    daemon, addresses = paths(t)
    packed = daemon.ask(addresses[6], headers={"Accept-Encoding": "gzip"})
    again = daemon.ask(addresses[6], headers={"Accept-Encoding": "gzip", "If-None-Match": packed.headers["etag"]})
    equal((again.status, again.body), (304, b""))


def test_a_connection_is_kept_open(t):
    daemon, addresses = paths(t)
    connection = daemon.connect()
    for path in addresses * 3:
        answer = daemon.ask(path, connection=connection)
        assert answer.status in (200, 404) and answer.headers.get("connection", "").lower() != "close", path
    connection.close()
