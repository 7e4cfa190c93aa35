# SPDX-License-Identifier: Apache-2.0
"""Running jobs asked for a trace by the page, as far as it takes no job: what may be asked, what is refused."""

import json
import os
import socket

from harness import equal, free_port, wait_until

PATH = "/api/v1/captures"
AS_JSON = {"Content-Type": "application/json"}


def allowed(t, *addresses):
    """options of a daemon that may ask these, else one where nobody listens, into the folder "traces" """
    return [
        f"--capture-logdir={t.folder('traces')}",
        *(f"--capture={each}" for each in addresses or [f"127.0.0.1:{free_port()}"]),
    ]


def serve(t, *addresses):
    return t.serve(*allowed(t, *addresses), os.path.join(t.fixtures, "dumps"))


def ask(daemon, status=202, **body):
    answer = daemon.ask(PATH, "POST", AS_JSON, json.dumps({"seconds": 1, **body}))
    equal(answer.status, status, answer.text)
    return answer.json


def at_end(daemon, begun):
    wait_until(
        lambda: daemon.get_json(f"{PATH}/{begun['id']}")["state"] in ("done", "cancelled"),
        what="the end of the capture",
    )
    return daemon.get_json(f"{PATH}/{begun['id']}")


def taken(daemon):
    """one that has ended"""
    return at_end(daemon, ask(daemon))


def test_only_what_was_named_at_the_start_is_asked(t):
    named, other = f"127.0.0.1:{free_port()}", f"127.0.0.1:{free_port()}"
    daemon = serve(t, named)
    equal(daemon.get_json("/api/v1/about")["capture_addresses"], [named])
    with socket.create_server(("127.0.0.1", int(other.split(":")[1]))) as listener:
        listener.setblocking(False)
        for addresses in ([other], [named, other], [named.replace("127.0.0.1", "localhost")], [named + "/x"], [""]):
            assert "is not among the addresses that --capture named" in ask(daemon, 400, addresses=addresses)["detail"]
        assert "named twice" in ask(daemon, 400, addresses=[named, named])["detail"]
        try:
            listener.accept()
            raise AssertionError("somebody connected")
        except BlockingIOError:
            pass
    ended = taken(daemon)
    equal(
        [(host["address"], host["reason"]) for host in ended["hosts"]],
        [(named, "connection refused: nothing listens there")],
    )
    equal((ended["session"], os.listdir(t.folder("traces"))), (None, []))


def test_what_the_options_may_be(t):
    folder = t.folder("traces")
    for arguments, words in (
        (["--capture=localhost:1"], "--capture needs --capture-logdir=DIR"),
        ([f"--capture-logdir={folder}"], "--capture-logdir without --capture=HOST:PORT"),
        (["--capture=localhost", f"--capture-logdir={folder}"], "localhost is no HOST:PORT"),
        (["--capture=localhost:1", "--capture=localhost:1", f"--capture-logdir={folder}"], "is named twice"),
        (
            ["--capture=localhost:1", "--capture-logdir=gs://bucket/x"],
            "memviewd reads such addresses and does not write them",
        ),
        (["--capture=localhost:1", f"--capture-logdir={folder}/none"], "No such file or directory"),
        (["--capture=localhost:1", f"--capture-logdir={t.write('file', b'')}"], "Not a directory"),
    ):
        ended = t.run("--port=0", "--demo", *arguments)
        equal(ended.returncode, 2, ended.stderr)
        assert words in ended.stderr, (words, ended.stderr)


def test_without_addresses_there_is_nothing_to_ask(t):
    daemon = t.serve("--demo")
    equal(daemon.get_json(PATH), {"capture_addresses": [], "max_seconds": 3600})
    equal(daemon.get_json("/api/v1/about")["capture_addresses"], [])
    equal(ask(daemon, 409)["code"], "unsupported")


def test_the_folder_is_watched_once(t):
    folder = t.folder("traces")
    for logdirs in ([], [f"--logdir={folder}"], [f"--logdir={folder}/."]):
        daemon = t.serve("--capture=localhost:1", f"--capture-logdir={folder}", *logdirs)
        equal(len(daemon.get_json("/api/v1/about")["roots"]), 1, logdirs)


def walk_captures(walk, t):
    """every answer of openapi.yaml; `walk` is that of openapi.py"""
    path, one, good = PATH, PATH + "/{capture}", '{"seconds": 1}'
    silent = socket.create_server(("127.0.0.1", 0))
    address = f"127.0.0.1:{silent.getsockname()[1]}"
    daemon = serve(t, address)
    for headers, body, asked, status in (
        ({}, good, daemon, 415),
        ({"Content-Type": "text/plain"}, good, daemon, 415),
        (AS_JSON, "{}", daemon, 400),
        (AS_JSON, "[" * 4000, daemon, 400),
        (AS_JSON, "[null, null]", daemon, 400),
        (AS_JSON, "null", daemon, 400),
        (AS_JSON, '{"seconds": 0}', daemon, 400),
        (AS_JSON, '{"seconds": 3601}', daemon, 400),
        (AS_JSON, '{"seconds": 1.5}', daemon, 400),
        (AS_JSON, '{"seconds": 1e300}', daemon, 400),
        (AS_JSON, '{"seconds": "1"}', daemon, 400),
        (AS_JSON, '{"seconds": 1, "seconds": 1}', daemon, 400),
        (AS_JSON, '{"seconds": 1, "more": 1}', daemon, 400),
        (AS_JSON, '{"seconds": 1, "addresses": []}', daemon, 400),
        (AS_JSON, '{"seconds": 1, "addresses": [1]}', daemon, 400),
        (AS_JSON, json.dumps({"seconds": 1, "addresses": ["a:1"] * 257}), daemon, 400),
        (AS_JSON, json.dumps({"seconds": 1, "addresses": ["a" * 5000]}), daemon, 413),
        (AS_JSON, good, walk.locked, 401),
        (AS_JSON, good, walk.small, 409),
        ({**AS_JSON, "Origin": "http://evil.example"}, good, daemon, 403),
        ({**AS_JSON, "X": "a" * 20000}, good, daemon, 431),
    ):
        equal(walk.ask(path, path, "POST", headers, body, asked).status, status, (headers, body[:80]))
    equal(walk.ask(path, path + "?x=" + "a" * 9000, "POST", AS_JSON, good, daemon).status, 414)
    refused = daemon.ask(path, "DELETE")
    walk.check(path, "POST", refused)
    equal((refused.status, refused.headers["allow"]), (405, "GET, HEAD, POST"))
    begun = walk.ask(path, path, "POST", AS_JSON, good, daemon)
    place = f"{path}/{begun.json['id']}"
    equal((begun.status, begun.headers["location"], begun.json["state"]), (202, place, "running"))
    equal(walk.ask(path, path, "POST", AS_JSON, good, daemon).json["code"], "busy")
    equal(walk.ask(path, path, daemon=daemon).json["running"], begun.json["id"])
    equal(walk.ask(one, place, daemon=daemon).json["hosts"], [{"address": address, "trace_bytes": 0}])
    for headers, query, asked, status in (
        ({"Origin": "http://evil.example"}, "", daemon, 403),
        ({}, "?x=1", daemon, 400),
        ({}, "", walk.locked, 401),
        ({"X": "a" * 20000}, "", daemon, 431),
        ({}, "?x=" + "a" * 9000, daemon, 414),
        ({}, "", daemon, 204),
    ):
        equal(walk.ask(one, place + query, "DELETE", headers, None, asked).status, status, (headers, query[:9]))
    equal(walk.ask(one, path + "/" + "0" * 12, "DELETE", daemon=daemon).status, 404)
    wait_until(lambda: walk.ask(one, place, daemon=daemon).json["state"] == "cancelled", what="its end")
    silent.close()
