# SPDX-License-Identifier: Apache-2.0
"""What a test is given: the daemon as a process, requests to it, folders to write to."""

import contextlib
import glob
import gzip
import http.client
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.parse

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.append(os.path.join(ROOT, "tests", "golden"))  # behind our own: both have a module "verdict"
# noqa: E402, F401: its folder is added above; the tests take them from here
from members import loads, nulls, with_evidence

FIXTURES = os.path.join(ROOT, "tests", "fixtures")
START_SECONDS = 120
PATIENCE_SECONDS = 300  # ends a test that hangs; measures nothing
NOBODY = 65534


class Skip(Exception):
    """raised by a test that cannot run here"""


class Answer:
    """one HTTP answer; header names in lower case"""

    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    @property
    def text(self):
        body = gzip.decompress(self.body) if self.headers.get("content-encoding") == "gzip" else self.body
        return body.decode()

    @property
    def json(self):
        return loads(self.text)

    def __repr__(self):
        return f"<{self.status} {self.headers.get('content-type')} {self.body[:300]!r}>"


class Daemon:
    """a running memviewd; its stderr is kept in a file"""

    def __init__(self, binary, arguments, scratch, user=None, environ=None, before=None, keeps=()):
        self.log_path = os.path.join(scratch, f"stderr-{time.monotonic_ns()}")
        with open(self.log_path, "wb") as log:
            self.process = subprocess.Popen(
                [binary, *arguments],
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                user=user,
                env={**os.environ, **(environ or {})},
                preexec_fn=before,
                pass_fds=keeps,
            )
        self.url = self.process.stdout.readline().strip()
        if not self.url:
            raise AssertionError(f"no URL printed; exit {self.process.wait(START_SECONDS)}: {self.log()}")
        parts = urllib.parse.urlsplit(self.url)
        self.host, self.port, self.fragment = parts.hostname, parts.port, parts.fragment

    def log(self):
        with open(self.log_path, encoding="utf-8", errors="replace") as log:
            return log.read()

    def connect(self, timeout=PATIENCE_SECONDS):
        return http.client.HTTPConnection(self.host, self.port, timeout=timeout)

    def ask(self, path, method="GET", headers=None, body=None, connection=None):
        """one request, on a connection of its own unless one is given"""
        own = connection or self.connect()
        try:
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # an answer may come before all is sent
                own.request(method, path, body=body, headers=headers or {})
            answer = own.getresponse()
            return Answer(answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read())
        finally:
            if not connection:
                own.close()

    def get_json(self, path, **parameters):
        """the JSON of an answer that must be 200"""
        query = "?" + urllib.parse.urlencode(parameters) if parameters else ""
        answer = self.ask(path + query)
        assert answer.status == 200, f"{path}{query}: {answer}"
        return answer.json

    def raw(self, text, timeout=PATIENCE_SECONDS):
        """sends bytes as they are; everything that comes back until the other side closes"""
        with socket.create_connection((self.host, self.port), timeout=timeout) as connection:
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # an answer may come before all is sent
                connection.sendall(text)
            received = b""
            with contextlib.suppress(ConnectionError, socket.timeout):
                while chunk := connection.recv(65536):
                    received += chunk
            return received

    def sessions(self):
        """{name: row}"""
        return {row["name"]: row for row in self.get_json("/api/v1/sessions", limit=1000)["sessions"]}

    def session_id(self, name):
        rows = self.sessions()
        assert name in rows, f"no session {name} among {sorted(rows)}"
        return rows[name]["id"]

    def stop(self, number=signal.SIGTERM, seconds=PATIENCE_SECONDS):
        """the exit status"""
        if self.process.poll() is None:
            self.process.send_signal(number)
        try:
            return self.process.wait(seconds)
        finally:
            self.process.kill()
            self.process.stdout.close()

    def is_alive(self):
        return self.process.poll() is None

    def status_kib(self, field):
        """a size in /proc/PID/status, such as VmRSS"""
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as status:
            return next(int(line.split()[1]) for line in status if line.startswith(field + ":"))

    def cpu_seconds(self):
        with open(f"/proc/{self.process.pid}/stat", encoding="utf-8") as stat:
            fields = stat.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def running_count(self):
        """threads that work, wait for a processor or for a disk"""
        count = 0
        for path in glob.glob(f"/proc/{self.process.pid}/task/*/stat"):
            with contextlib.suppress(OSError), open(path, encoding="utf-8", errors="replace") as file:
                count += file.read().rpartition(")")[2].split()[0] != "S"
        return count

    def wait_until_calm(self):
        """nothing is worked on, nor read aside: for ten looks one after the other"""
        calm_looks = 0

        def is_calm():
            nonlocal calm_looks
            calm_looks = 0 if self.running_count() else calm_looks + 1
            return calm_looks == 10

        wait_until(is_calm, what="the end of the work")


class Toolbox:
    """of one test; everything it started or wrote is gone at its end"""

    def __init__(self, binary, shared):
        self.binary, self.shared = binary, shared
        self.fixtures = FIXTURES
        with open(binary, "rb") as file:
            program = file.read()
        self.is_sanitized = b"__asan_init" in program or b"__tsan_init" in program
        self._scratch = tempfile.mkdtemp(prefix="memviewd-http-")
        self._daemons = []

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        troubles = []
        for daemon in self._daemons:
            if daemon.is_alive():
                status = daemon.stop()
                if status != 0:
                    troubles.append(f"exit status {status} after SIGTERM")
            if "Sanitizer" in daemon.log() or "runtime error" in daemon.log():
                troubles.append(daemon.log()[-4000:])
        shutil.rmtree(self._scratch, ignore_errors=True)
        if troubles and kind is None:
            raise AssertionError("; ".join(troubles))

    def serve(self, *arguments, environ=None, before=None, keeps=()):
        """a daemon on a free port; `before` is called in its process first, which keeps the descriptors `keeps`"""
        daemon = Daemon(
            self.binary, ["--port=0", *arguments], self._scratch, environ=environ, before=before, keeps=keeps
        )
        self._daemons.append(daemon)
        return daemon

    def serve_with_compiler(self, word, dump, *arguments, topology="v5e:2x2"):
        """the same with the stand-in for a libtpu (tests/confirm/standin.c), told by `word`; it hands out the file
        `dump`. What it leaves behind would lie in folder("tmp")"""
        library = os.path.join(os.path.dirname(self.binary), "confirm", "standin.so")
        dump = os.path.join(FIXTURES, dump)
        environ = {
            "MEMVIEWD_STANDIN": word,
            "MEMVIEWD_STANDIN_DUMP": dump,
            "LD_LIBRARY_PATH": os.path.dirname(dump),
            "TMPDIR": self.folder("tmp"),
        }
        return self.serve(
            f"--libtpu={library}", *([f"--topology={topology}"] if topology else []), *arguments, environ=environ
        )

    def serve_as_nobody(self, *arguments):
        """the same without root's right to read everything"""
        if os.geteuid() != 0:
            return self.serve(*arguments)
        os.chmod(self._scratch, 0o755)
        binary = shutil.copy(self.binary, os.path.join(self._scratch, "memviewd"))
        os.chmod(binary, 0o755)
        daemon = Daemon(binary, ["--port=0", *arguments], self._scratch, user=NOBODY)
        self._daemons.append(daemon)
        return daemon

    def run_as_nobody(self, *command):
        """another command as the user that serve_as_nobody serves as"""
        subprocess.run(command, check=True, user=NOBODY if os.geteuid() == 0 else None)

    def run(self, *arguments, seconds=PATIENCE_SECONDS, environ=None):
        """the command to its end"""
        return subprocess.run(
            [self.binary, *arguments],
            capture_output=True,
            text=True,
            timeout=seconds,
            env={**os.environ, **(environ or {})},
        )

    def folder(self, name="inputs"):
        path = os.path.join(self._scratch, name)
        os.makedirs(path, exist_ok=True)
        return path

    def write(self, path, data):
        """a file below folder(), with the folders on its way; the whole path"""
        path = os.path.join(self.folder(), path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(data)
        return path

    def fixture(self, path):
        with open(os.path.join(FIXTURES, path), "rb") as file:
            return file.read()

    def need_shared(self):
        if not self.shared:
            raise Skip("needs --shared")
        return os.path.abspath(self.shared)


def wait_until(condition, seconds=PATIENCE_SECONDS, what="the condition"):
    """asks every 50 ms until it holds"""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"{what} did not come about within {seconds} s"
        time.sleep(0.05)


def free_port():
    """one that nobody listened on just now"""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def equal(mine, expected, what=""):
    assert mine == expected, f"{what}: {mine!r}, expected {expected!r}"
