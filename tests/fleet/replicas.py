# SPDX-License-Identifier: Apache-2.0
"""Two replicas behind nginx: they answer alike, to the byte and the entity tag, and one may go at any time."""

import os
import shutil
import signal
import threading
import time

from harness import equal, wait_until
from nginx import NAME, Nginx
from harness import free_port

TOKEN = "0123456789abcdef0123456789abcdef"
FIXTURES = ("dumps", "logdir", "memprof", "oom-logs")
AWAY_SECONDS = 3  # nginx asks one that did not answer again after fail_timeout, 2 s
VIEWS = ("memory_viewer/summary", "memory_viewer/buffers", "memory_viewer/curve", "memory_viewer/regions")


class Replicas:
    """two daemons on one folder; each can be killed and started again on its port"""

    def __init__(self, t, *options):
        self.t, self.ports, self.options = t, [free_port(), free_port()], options
        self.token_file = t.write("../token", TOKEN.encode() + b"\n")
        os.chmod(self.token_file, 0o600)
        self.daemons = [self.start(at) for at in range(2)]

    def start(self, at):
        return self.t.serve(
            *[option.replace("{at}", str(at)) for option in self.options],
            f"--port={self.ports[at]}",
            f"--token-file={self.token_file}",
            f"--allowed-hosts={NAME}",
        )

    def kill(self, at):
        self.daemons[at].process.send_signal(signal.SIGKILL)
        self.daemons[at].process.wait(60)

    def restart(self, at):
        self.daemons[at] = self.start(at)

    def ask(self, at, path):
        return self.daemons[at].ask(path, headers={"Authorization": f"Bearer {TOKEN}"})


def make_logdir(t):
    """a folder of all kinds of sessions"""
    for name in FIXTURES:
        source = os.path.join(t.fixtures, name)
        if os.path.isdir(source):
            shutil.copytree(source, os.path.join(t.folder(), name))
    return t.folder()


def addresses(replicas):
    """what a reader may ask for: lists, every session, views of it, XProf's surface"""
    sessions = replicas.ask(0, "/api/v1/sessions?limit=1000").json["sessions"]
    assert len(sessions) > 3, sessions
    yield from (
        "/",
        "/api/v1/sessions",
        "/api/v1/sessions?sort=largest",
        "/api/v1/tools",
        "/api/v1/devices",
        "/data/plugin/profile/runs",
    )
    for session in sessions:
        yield f"/api/v1/sessions/{session['id']}"
        yield f"/api/v1/sessions/{session['id']}/modules"
        yield f"/api/v1/verdict?session={session['id']}"
        for view in VIEWS:
            yield f"/api/v1/{view}?session={session['id']}"


def told(answer):
    """all but what is of one request: its id stands in refusals"""
    body = {**answer.json, "request_id": None} if "problem" in answer.headers["content-type"] else answer.body
    return answer.status, answer.headers.get("etag"), answer.headers["content-type"], body


def warm(replicas, at):
    """what lists say of sessions becomes known by reading these: how many modules, and the largest total"""
    wait_until(lambda: replicas.ask(at, "/-/ready").status == 200, what="a replica that is ready")
    for path in addresses(replicas):
        replicas.ask(at, path)


def test_they_answer_alike_to_the_byte(t):
    replicas = Replicas(t, make_logdir(t))
    for at in range(2):
        warm(replicas, at)
    asked = [(path, [replicas.ask(at, path) for at in range(2)]) for path in addresses(replicas)]
    differ = [path for path, (one, other) in asked if told(one) != told(other)]
    equal(differ, [])
    tagged = sum(answers[0].status == 200 and "etag" in answers[0].headers for _, answers in asked)
    assert tagged > 20, [(path, answers[0].status) for path, answers in asked]


def test_one_may_be_killed_and_nobody_sees_it(t):
    replicas = Replicas(t, make_logdir(t), f"--cache-dir={t.folder('cache')}-{{at}}")
    for at in range(2):
        warm(replicas, at)
    with Nginx(t.folder("nginx"), replicas.ports, TOKEN).running() as nginx:
        equal(nginx.ask("/api/v1/sessions", is_known=False).status, 401, "without the proxy's login")
        paths = list(addresses(replicas))
        expected = {path: told(nginx.ask(path)) for path in paths}
        assert {answer[0] for answer in expected.values()} == {200, 404}, expected
        seen, is_over = [], threading.Event()

        def read_on():
            while not is_over.is_set():
                seen.extend(
                    (path, answer.status) for path in paths if (answer := nginx.ask(path)).status != expected[path][0]
                )

        reader = threading.Thread(target=read_on)
        reader.start()
        for at in (0, 1, 0):
            replicas.kill(at)
            equal([path for path in paths if told(nginx.ask(path)) != expected[path]], [], f"without replica {at}")
            replicas.restart(at)
            warm(replicas, at)
            time.sleep(AWAY_SECONDS)
        is_over.set()
        reader.join()
        equal(seen, [], "what was asked while they were killed")


def test_a_reader_stays_with_one_replica_and_its_uploads(t):
    replicas = Replicas(t, make_logdir(t))
    text = b"RESOURCE_EXHAUSTED: Out of memory while trying to allocate 2147483648 bytes.\n"
    with Nginx(t.folder("nginx"), replicas.ports, TOKEN).running() as nginx:
        sent = nginx.ask("/api/v1/uploads?name=job.log", "POST", text, {"Content-Type": "application/octet-stream"})
        equal(sent.status, 201, sent)
        address = f"/api/v1/uploads/{sent.json['id']}"
        equal([nginx.ask(address).status for _ in range(10)], [200] * 10)
        holder = next(at for at in range(2) if replicas.ask(at, address).status == 200)
        replicas.kill(holder)
        equal(
            (nginx.ask(address).status, nginx.ask("/api/v1/sessions").status),
            (404, 200),
            "what was dropped goes with its replica, and nothing else",
        )
