# SPDX-License-Identifier: Apache-2.0
"""As a service: what its manager is told, and sockets that the manager hands over."""

import fcntl
import os
import signal
import socket
import time

from harness import equal
from placing import UnixDaemon


class Manager:
    """the socket that a daemon tells what it does"""

    def __init__(self, name):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(name)
        self.socket.settimeout(120)
        self.environ = {"NOTIFY_SOCKET": name.replace("\0", "@")}

    def next(self):
        return self.socket.recv(4096).decode().split("\n")


def test_the_manager_is_told_of_start_reload_life_and_end(t):
    for name in (os.path.join(t.folder(), "notify"), f"\0memviewd-{os.getpid()}-{time.monotonic_ns()}"):
        manager = Manager(name)
        daemon = t.serve("--demo", environ={**manager.environ, "WATCHDOG_USEC": "400000"})
        equal(manager.next(), ["READY=1"])
        equal(daemon.ask("/-/healthy").status, 200)
        equal(manager.next(), ["WATCHDOG=1"])
        equal(manager.next(), ["WATCHDOG=1"])
        daemon.process.send_signal(signal.SIGHUP)
        told = []
        while "READY=1" not in told:
            told += [line for line in manager.next() if line != "WATCHDOG=1"]
        equal((told[0], told[1].split("=")[0], told[2]), ("RELOADING=1", "MONOTONIC_USEC", "READY=1"))
        assert abs(int(told[1].split("=")[1]) / 1e6 - time.monotonic()) < 600, told
        equal(daemon.stop(), 0)
        told = []
        while "STOPPING=1" not in told:
            told = manager.next()
        manager.socket.close()


def test_without_a_manager_and_with_a_bad_one_it_runs(t):
    for environ in (
        {},
        {"NOTIFY_SOCKET": "/nowhere/socket"},
        {"NOTIFY_SOCKET": "relative"},
        {"NOTIFY_SOCKET": "/" + "x" * 200},
        {"WATCHDOG_USEC": "-1"},
        {"LISTEN_PID": "1", "LISTEN_FDS": "2"},
        {"LISTEN_FDS": "2"},
        {"LISTEN_PID": "x", "LISTEN_FDS": "x"},
    ):
        equal(t.serve("--demo", environ=environ).ask("/-/healthy").status, 200, environ)


def handed_over(t, sockets, *arguments):
    """a daemon to which these sockets are handed over: from descriptor 3 on, with its own number, which a shell fills
    in"""
    copies = [fcntl.fcntl(one, fcntl.F_DUPFD, 100) for one in sockets]
    moves = "".join(f"exec {3 + at}<&{copy} {copy}<&-\n" for at, copy in enumerate(copies))
    shell, binary = (
        t.write(
            "with-pid", f'#!/bin/bash\n{moves}LISTEN_PID=$$ LISTEN_FDS={len(copies)} exec "$BINARY" "$@"\n'.encode()
        ),
        t.binary,
    )
    os.chmod(shell, 0o755)
    t.binary = shell
    try:
        return t.serve(*arguments, environ={"BINARY": os.path.abspath(binary)}, keeps=copies)
    finally:
        t.binary = binary
        for copy in copies:
            os.close(copy)


def test_a_unix_socket_that_was_handed_over_answers_and_stays(t):
    path = os.path.join(t.folder(), "socket")
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(path)
    listening.listen()
    daemon = handed_over(t, [listening], "--demo")
    daemon.__class__, daemon.path = UnixDaemon, path
    equal(daemon.url, f"unix:{path}")
    equal(daemon.ask("/-/healthy").status, 200)
    assert daemon.get_json("/api/v1/sessions")["sessions"]
    equal(daemon.stop(), 0)
    assert os.path.exists(path), "it is the manager's"
    again = handed_over(t, [listening], "--demo")  # what came meanwhile waits
    again.__class__, again.path = UnixDaemon, path
    equal(again.ask("/-/healthy").status, 200)


def test_tcp_sockets_that_were_handed_over_answer(t):
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(2)]
    daemon = handed_over(t, sockets, "--demo")
    assert daemon.port in [one.getsockname()[1] for one in sockets], daemon.url
    for one in sockets:
        daemon.port = one.getsockname()[1]
        equal(daemon.ask("/-/healthy").status, 200)


def test_sockets_that_cannot_be_used_are_refused(t):
    path = os.path.join(t.folder(), "socket")
    unix, datagrams, idle = (
        socket.socket(socket.AF_UNIX),
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM),
        socket.socket(),
    )
    unix.bind(path)
    unix.listen()
    tcp = socket.create_server(("127.0.0.1", 0))
    for sockets, arguments, words in (
        ([datagrams], [], "ListenStream"),
        ([idle], [], "ListenStream"),
        ([unix, tcp], [], "do not go together"),
        ([tcp, unix], [], "do not go together"),
        ([tcp] * 5, [], "more than four"),
        ([tcp], ["--bind=127.0.0.1"], "--bind"),
        ([tcp], [f"--listen=unix:{path}"], "--listen"),
    ):
        try:
            handed_over(t, sockets, "--demo", *arguments)
        except AssertionError as error:
            assert "exit 2" in str(error) and words in str(error), error
        else:
            raise AssertionError((sockets, arguments))
