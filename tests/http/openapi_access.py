# SPDX-License-Identifier: Apache-2.0
"""The walk of openapi.py: what may be asked and by whom, each status of it."""

import json

from harness import equal

LOGIN = {"Content-Type": "application/json"}


def walk_login(walk):
    path = "/api/v1/login"
    good = json.dumps({"token": walk.token})
    for headers, body, status in (
        (LOGIN, good, 204),
        (LOGIN, "{}", 400),
        (LOGIN, json.dumps({"token": walk.token, "more": 1}), 400),
        (LOGIN, '{"token": "x"}', 401),
        ({**LOGIN, "Host": "evil.example"}, good, 403),
        (LOGIN, "x" * 5000, 413),
        ({}, good, 415),
        ({**LOGIN, "X": "a" * 20000}, good, 431),
    ):
        equal(walk.ask(path, path, "POST", headers, body, walk.locked).status, status, (headers, body))
    equal(walk.ask(path, path + "?x=" + "a" * 9000, "POST", LOGIN, good, walk.locked).status, 414)
    refused = walk.daemon.ask(path)
    walk.check(path, "POST", refused)
    equal((refused.status, refused.headers["allow"]), (405, "POST"))


def walk_rescan(walk):
    path = "/api/v1/rescan"
    for headers, body, daemon, status in (
        (LOGIN, "{}", walk.daemon, 202),
        ({}, None, walk.daemon, 202),
        ({}, "{}", walk.daemon, 415),
        (LOGIN, "{}", walk.locked, 401),
        ({**LOGIN, "Origin": "http://evil.example"}, "{}", walk.daemon, 403),
        (LOGIN, "x" * 5000, walk.daemon, 413),
        ({**LOGIN, "X": "a" * 20000}, "{}", walk.daemon, 431),
    ):
        equal(walk.ask(path, path, "POST", headers, body, daemon).status, status, (headers, status))
    equal(walk.ask(path, path + "?x=1", "POST", LOGIN, "{}").status, 400)
    equal(walk.ask(path, path + "?x=" + "a" * 9000, "POST", LOGIN, "{}").status, 414)
    walk.check(path, "POST", walk.daemon.ask(path))


def walk_wrong_tokens(walk, t, address_of):
    """the answer to one more of them"""
    locked = t.serve("--bind=0.0.0.0", t.folder("empty"))
    headers = {"Authorization": "Bearer wrong", **LOGIN}
    for _ in range(12):
        locked.ask("/api/v1/about", headers=headers)
    for path, method, operation in walk.document.operations():
        if "429" in operation["responses"]:
            body = '{"token": "x"}' if method == "POST" else None
            equal(walk.ask(path, address_of(path, "x"), method, headers, body, locked).status, 429, path)
