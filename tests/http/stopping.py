# SPDX-License-Identifier: Apache-2.0
"""How the daemon ends: answers in flight are finished first."""

import contextlib
import functools
import gzip
import os
import pty
import random
import re
import resource
import signal
import socket
import threading

import inputs
from harness import PATIENCE_SECONDS, equal, wait_until


@functools.lru_cache
def slow_trace(buffer_count):
    return inputs.trace("jit_slow", 1, buffer_count)


def slow_module(t, buffer_count=120000):
    """a session whose first answer takes about a tenth of a second"""
    t.write("plugins/profile/slow/host.xplane.pb", slow_trace(buffer_count))
    return t.serve(t.folder())


def ask_for_long(daemon):
    """a thread that asks for the slow module, once the daemon works on it; and what it was answered"""
    path = f"/api/v1/memory_viewer/summary?session={daemon.session_id('slow')}"
    daemon.wait_until_calm()  # the end of the first reading
    before = daemon.cpu_seconds()
    answers = []
    asking = threading.Thread(target=lambda: answers.append(daemon.ask(path)))
    asking.start()
    wait_until(lambda: answers or daemon.cpu_seconds() - before > 0.03, what="the long work")
    return asking, answers


def test_sigterm_and_sigint_end_with_status_0(t):
    for number in (signal.SIGTERM, signal.SIGINT):
        daemon = t.serve(t.folder())
        equal(daemon.ask("/-/healthy").status, 200)
        equal(daemon.stop(number), 0, number)


def test_it_ends_with_the_terminal_that_it_was_started_from(t):
    """SIGHUP says so too, and else means: look again"""
    child, terminal = pty.fork()
    if child == 0:
        os.execv(t.binary, [t.binary, "--demo", "--port=0"])
    said = b""
    while not (address := re.search(rb"http://[0-9.]+:(\d+)/", said)):
        said += os.read(terminal, 1000)
    os.kill(child, signal.SIGHUP)
    port = int(address[1])
    with socket.create_connection(("127.0.0.1", port)) as asking:
        asking.sendall(b"GET /-/healthy HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert asking.recv(100).startswith(b"HTTP/1.1 200")
    os.close(terminal)
    equal(os.waitpid(child, 0)[1], 0)


def test_sigterm_before_anything_was_asked(t):
    equal(t.serve(t.folder()).stop(), 0)


def test_sigterm_during_an_answer_finishes_it(t):
    daemon = slow_module(t, 40000 if t.is_sanitized else 120000)  # what takes 3 s to end is given up
    asking, answers = ask_for_long(daemon)
    equal(daemon.stop(), 0)
    asking.join(PATIENCE_SECONDS)
    equal([answer.status for answer in answers], [200])
    equal(answers[0].headers.get("connection", "").lower(), "close")


def test_a_slow_reader_gets_the_whole_answer_after_sigterm(t):
    daemon = slow_module(t, 20000)
    path = f"/api/v1/memory_viewer/xprof?session={daemon.session_id('slow')}"
    size = len(daemon.ask(path).body)
    assert size > 4_000_000, size
    with socket.create_connection((daemon.host, daemon.port), timeout=PATIENCE_SECONDS) as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
        connection.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        received = connection.recv(1000)
        stopping = threading.Thread(target=daemon.stop)
        stopping.start()
        wait_until(lambda: not is_taken(daemon), what="the end of new connections")
        while chunk := connection.recv(65536):
            received += chunk
        stopping.join(PATIENCE_SECONDS)
    equal(len(received.partition(b"\r\n\r\n")[2]), size, "bytes of the answer")


def is_taken(daemon):
    """whether it takes a new connection"""
    try:
        socket.create_connection((daemon.host, daemon.port), timeout=PATIENCE_SECONDS).close()
        return True
    except ConnectionError:
        return False


def test_no_new_connection_while_stopping(t):
    t.write("plugins/profile/slow/host.xplane.pb.gz", inputs.slow_trace(mib=1000))
    daemon = t.serve(t.folder())
    asking, _ = ask_for_long(daemon)
    daemon.process.send_signal(signal.SIGTERM)
    wait_until(lambda: not is_taken(daemon), what="the end of new connections")
    assert asking.is_alive(), "connections were taken until the answer was there"
    asking.join(PATIENCE_SECONDS)
    equal(daemon.process.wait(PATIENCE_SECONDS), 0)


def test_requests_on_open_connections_at_the_very_end(t):
    """connections that stayed open send as the daemon goes: an answer, a 503 or the end of the connection"""
    request = b"GET /api/v1/about HTTP/1.1\r\nHost: localhost\r\n\r\n"
    for _ in range(8):
        daemon = t.serve("--demo")
        connections = [
            socket.create_connection((daemon.host, daemon.port), timeout=PATIENCE_SECONDS) for _ in range(100)
        ]
        for connection in connections:
            connection.sendall(request)
            assert connection.recv(65536).startswith(b"HTTP/1.1 200")
        daemon.process.send_signal(signal.SIGTERM)
        while is_taken(daemon):
            for connection in connections:
                with contextlib.suppress(OSError):
                    connection.send(request)
        equal(daemon.process.wait(PATIENCE_SECONDS), 0, daemon.log())
        for connection in connections:
            connection.close()


def test_sigterm_while_a_large_log_is_read_aside(t):
    line = b"I0528 07:00:00.000000 27487 train.py:3] step 12 loss=0.5 device memory in use: 3.5 GiB\n"
    noise = random.Random(0).randbytes(100000)  # packed too well, it would be refused
    t.write("job/large.log.gz", gzip.compress(line * 400000 + noise, 6) * 600)
    daemon = t.serve(t.folder())
    wait_until(lambda: daemon.cpu_seconds() > 0.5, what="the reading")
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    equal(daemon.stop(seconds=2 * PATIENCE_SECONDS), 0)
    used = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    assert used < (60 if t.is_sanitized else 5), (
        f"{used:.1f} s of processor time; all of it takes a minute, and ten under a sanitizer"
    )
