# SPDX-License-Identifier: Apache-2.0
"""Which request is worked on when many wait, and what becomes of work that nobody waits for."""

import contextlib
import functools
import http.client
import resource
import select
import signal
import socket
import time
import urllib.parse

import inputs
from harness import PATIENCE_SECONDS, equal, wait_until

COSTLY = 40  # more than are worked on at a time


@functools.lru_cache
def large_trace(buffer_count):
    return inputs.trace("jit_large", 1, buffer_count)


def serve_large(t):
    t.write("plugins/profile/large/h.xplane.pb", large_trace(15000 if t.is_sanitized else 120000))
    daemon = t.serve(t.folder())
    daemon.get_json("/api/v1/memory_viewer/summary", session=daemon.session_id("large"))
    return daemon


def costly_path(session, number, expression_count=12):
    """a filter of its own that takes a quarter of a second of processor time"""
    expressions = ",".join(f"/[0-9]*{at % 10}.*{at // 10}z{number}/" for at in range(expression_count))
    return f"/api/v1/memory_viewer/buffers?session={session}&step=all&filter=-name:" + urllib.parse.quote(expressions)


class Asked:
    """requests whose answers are not waited for, each on a connection of its own"""

    def __init__(self, daemon, paths):
        self.connections = []
        for path in paths:
            connection = socket.create_connection((daemon.host, daemon.port), timeout=PATIENCE_SECONDS)
            connection.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
            self.connections.append(connection)

    def answered_count(self):
        return len(select.select(self.connections, [], [], 0)[0])

    def statuses(self):
        found = []
        for connection in self.connections:
            received = b""
            with contextlib.suppress(ConnectionResetError):  # shut before it was looked at
                while chunk := connection.recv(65536):
                    received += chunk
            found.append(received.split()[1].decode() if received else "none")
        return found

    def leave(self):
        for connection in self.connections:
            connection.close()


def ask_costly(daemon, count=COSTLY):
    session = daemon.session_id("large")
    before = daemon.cpu_seconds()
    asked = Asked(daemon, [costly_path(session, number) for number in range(count)])
    wait_until(lambda: daemon.cpu_seconds() - before > 0.3, what="the costly work")
    return asked


def cost_of_one(daemon):
    before = daemon.cpu_seconds()
    equal(daemon.ask(costly_path(daemon.session_id("large"), 999)).status, 200)
    return daemon.cpu_seconds() - before


def test_quick_requests_do_not_wait_for_costly_ones(t):
    daemon = serve_large(t)
    asked = ask_costly(daemon)
    for path in ("/api/v1/sessions", "/api/v1/about", "/api/v1/tools", "/runs"):
        equal(daemon.ask(path).status, 200, path)
    answered = asked.answered_count()
    assert answered < COSTLY - 20, f"{answered} of {COSTLY} costly requests were answered before quick ones"
    asked.leave()


def test_those_who_ask_take_turns(t):
    daemon = serve_large(t)
    asked = ask_costly(daemon)
    other = http.client.HTTPConnection(daemon.host, daemon.port, PATIENCE_SECONDS, source_address=("127.0.0.2", 0))
    equal(daemon.ask(costly_path(daemon.session_id("large"), 77), connection=other).status, 200)
    answered = asked.answered_count()
    assert answered < COSTLY - 12, f"{answered} requests of one client were answered before the only one of another"
    asked.leave()


def test_work_of_clients_that_left_ends(t):
    daemon = serve_large(t)
    one = cost_of_one(daemon)
    before = daemon.cpu_seconds()
    ask_costly(daemon).leave()
    daemon.wait_until_calm()
    spent = daemon.cpu_seconds() - before
    assert spent < one * COSTLY / 3, (
        f"{spent:.1f} s of processor time for clients that left, {one:.2f} s for one request"
    )
    equal(daemon.ask(costly_path(daemon.session_id("large"), 3)).status, 200, "what was stopped can be asked again")


def test_reading_for_clients_that_left_ends(t):
    t.write("plugins/profile/slow/h.xplane.pb.gz", inputs.slow_trace(mib=3000))
    daemon = t.serve(t.folder())
    path = f"/api/v1/memory_viewer/summary?session={daemon.session_id('slow')}"
    daemon.wait_until_calm()
    before = daemon.cpu_seconds()
    asked = Asked(daemon, [path])
    wait_until(lambda: daemon.cpu_seconds() - before > 0.3, what="the reading")
    asked.leave()
    daemon.wait_until_calm()
    stopped = daemon.cpu_seconds() - before
    before = daemon.cpu_seconds()
    equal(daemon.ask(path).status, 200, "it can be read again")
    whole = daemon.cpu_seconds() - before
    assert stopped < whole * 0.7, (
        f"{stopped:.1f} s of processor time for a client that left, {whole:.1f} s for one that stays"
    )


def test_what_others_wait_for_too_goes_on(t):
    """the one who asked first leaves; what is made for him is what another waits for"""
    t.write("plugins/profile/slow/h.xplane.pb.gz", inputs.slow_trace(mib=1500))
    daemon = t.serve(t.folder())
    session = daemon.session_id("slow")
    daemon.wait_until_calm()
    before = daemon.cpu_seconds()
    first = Asked(daemon, [f"/api/v1/memory_viewer/summary?session={session}"])
    wait_until(lambda: daemon.cpu_seconds() - before > 0.2, what="the reading")
    second = Asked(daemon, [f"/api/v1/memory_viewer/curve?session={session}"])
    time.sleep(0.2)
    first.leave()
    equal(second.statuses(), ["200"])


def test_sigterm_ends_costly_work(t):
    """what goes on for some seconds is little of all that was asked for"""
    if t.is_sanitized:
        return  # a request costs too little there, or too much: the plain run holds this
    daemon = serve_large(t)
    one = cost_of_one(daemon)
    before = daemon.cpu_seconds()
    children = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    asked = ask_costly(daemon, 3 * COSTLY)
    daemon.process.send_signal(signal.SIGTERM)
    statuses = asked.statuses()
    equal(daemon.process.wait(PATIENCE_SECONDS), 0)
    spent = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - children - before
    assert set(statuses) <= {"200", "503", "none"} and "503" in statuses, statuses
    assert spent < one * 3 * COSTLY * 0.6, f"{spent:.1f} s of processor time after SIGTERM, {one:.2f} s for one request"
