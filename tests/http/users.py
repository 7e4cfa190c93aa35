# SPDX-License-Identifier: Apache-2.0
"""Which users of the machine are answered: the daemon's own and root, unless it is shared."""

import ctypes
import errno
import os
import signal
import socket
import struct
import subprocess

from harness import NOBODY, Skip, equal

OTHER = 65533
DATA = "/api/v1/about"


def as_user(user, action):
    """what `action` returns, as text, in a process of that user"""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            os.setgroups([])
            os.setresgid(user, user, user)
            os.setresuid(user, user, user)
            os.write(writing, str(action()).encode())
            status = 0
        finally:
            os._exit(status)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        said = pipe.read()
    equal(os.waitpid(child, 0)[1], 0, f"the process of user {user}")
    return said


def need_root():
    if os.geteuid() != 0:
        raise Skip("needs root, to be other users")


def ask_as(user, daemon, path=DATA, host=None, method="GET"):
    """(status, body) of a request by a program of that user; IPv6 addresses on a socket of IPv6, those within it as
    well"""

    def ask():
        host_or = host or daemon.host
        with socket.socket(socket.AF_INET6 if ":" in host_or else socket.AF_INET) as asking:
            asking.connect((host_or, daemon.port))
            body = "x" * 20000 if method == "POST" else ""
            asking.sendall(
                f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: text/plain\r\n"
                f"Content-Length: {len(body)}\r\n\r\n{body}".encode()
            )
            received = b""
            while piece := asking.recv(65536):
                received += piece
        head, _, rest = received.partition(b"\r\n\r\n")
        return head.split(b" ", 2)[1].decode() + " " + (rest[:1000].decode() if b"json" in head else "")

    status, _, body = as_user(user, ask).partition(" ")
    return int(status), body


def has_six():
    return os.path.exists("/proc/net/if_inet6")


def hosts():
    return ("127.0.0.1", *(("::1", "::ffff:127.0.0.1") if has_six() else ()))


def test_another_user_is_refused_and_share_is_named(t):
    need_root()
    daemon = t.serve_as_nobody("--demo")
    for host in hosts():
        for path in (DATA, "/", "/app.js", "/runs", "/api/v1/nothing"):
            status, body = ask_as(OTHER, daemon, path, host)
            equal(status, 403, (host, path))
            assert '"code":"user"' in body and "--share" in body, body
        equal(ask_as(OTHER, daemon, "/api/v1/oom", host, "POST")[0], 403, host)
        for path in ("/-/healthy", "/-/ready"):
            assert ask_as(OTHER, daemon, path, host)[0] in (200, 503), (host, path)
        equal(ask_as(NOBODY, daemon, DATA, host)[0], 200, (host, "its own user"))
        equal(ask_as(0, daemon, DATA, host)[0], 200, (host, "root"))


def test_a_daemon_of_root_answers_no_other_user(t):
    need_root()
    daemon = t.serve("--demo")
    equal((ask_as(NOBODY, daemon)[0], ask_as(0, daemon)[0]), (403, 200))


def test_share_lets_every_user_in(t):
    need_root()
    daemon = t.serve_as_nobody("--demo", "--share")
    for host in hosts():
        equal(ask_as(OTHER, daemon, DATA, host)[0], 200, host)


def test_where_a_token_is_asked_for_the_token_decides(t):
    need_root()
    path = t.write("token", b"abcdefghijklmnop-0123\n")
    os.chmod(path, 0o600)
    daemon = t.serve("--demo", f"--token-file={path}")
    equal(ask_as(OTHER, daemon)[0], 401)


def test_a_connection_that_its_process_has_closed_is_nobodys(t):
    """the kernel says of such a socket that it is root's: what was sent on it must not count as root's"""
    need_root()
    daemon = t.serve_as_nobody("--verbose", "--demo")

    def ask_and_go():
        for _ in range(40):
            with socket.socket() as asking:
                asking.connect((daemon.host, daemon.port))
                asking.sendall(b"GET /api/v1/tools HTTP/1.1\r\nHost: localhost\r\n\r\n")

    os.kill(daemon.process.pid, signal.SIGSTOP)  # it takes them when all are closed
    try:
        as_user(OTHER, ask_and_go)
    finally:
        os.kill(daemon.process.pid, signal.SIGCONT)
    equal(daemon.ask("/-/healthy").status, 200)
    seen = [line for line in daemon.log().splitlines() if "/api/v1/tools" in line]
    assert seen and not [line for line in seen if " 403 " not in line], daemon.log()


def without_sock_diag():
    """of this process: every socket of AF_NETLINK is refused, as by a kernel without it (a filter of seccomp)"""
    libc = ctypes.CDLL(None, use_errno=True)
    number, load, jump, give, refuse = 41, 0x20, 0x15, 0x06, 0x00050000 | errno.EAFNOSUPPORT
    if os.uname().machine != "x86_64":
        raise Skip("the filter is written for x86_64")
    steps = (
        (load, 0, 0, 0),
        (jump, 0, 3, number),
        (load, 0, 0, 16),
        (jump, 0, 1, 16),
        (give, 0, 0, refuse),
        (give, 0, 0, 0x7FFF0000),
    )
    code = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *step) for step in steps))
    program = ctypes.create_string_buffer(struct.pack("=HxxxxxxQ", len(steps), ctypes.addressof(code)))
    if libc.prctl(38, 1, 0, 0, 0) != 0 or libc.prctl(22, 2, ctypes.byref(program), 0, 0) != 0:
        os._exit(77)


def test_without_sock_diag_the_list_of_sockets_is_read(t):
    need_root()
    if os.uname().machine != "x86_64":
        raise Skip("the filter is written for x86_64")
    probe = subprocess.run(["true"], preexec_fn=without_sock_diag, check=False)
    if probe.returncode == 77:
        raise Skip("no seccomp here")
    daemon = t.serve("--demo", before=without_sock_diag)
    assert daemon.log().count("/proc/net/tcp") == 1, daemon.log()
    for host in hosts():
        equal((ask_as(OTHER, daemon, DATA, host)[0], ask_as(0, daemon, DATA, host)[0]), (403, 200), host)
