# SPDX-License-Identifier: Apache-2.0
"""A daemon for a folder: one that runs already, or one of our own that ends with this process."""

import json
import os
import select
import signal
import subprocess
import tempfile
import threading
import time
import urllib.error
import urllib.parse
import urllib.request

from . import _binary

PORT = 6006  # of `memviewd serve` where none is given
START_S = 60
ANSWER_S = 10
STOP_S = 10
# What was just saved is seen by the next look of the daemon's scanner, a second later; a slow disk takes longer.
SCAN_S = 15

# A shell between us: when this process is gone, however it ended, the pipe that the shell reads is closed.
WATCHED = '"$@" </dev/null & child=$!; exec >&-; read -r _; kill "$child"; wait "$child"'

_lock = threading.Lock()
_daemons = {}  # (process id, folder, options) → Daemon
# A proxy of the environment is for other machines.
_opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))


class Daemon:
    """url: "http://127.0.0.1:PORT/"; root: the folder or file that it serves"""

    def __init__(self, url, root, shell=None):
        self.url, self.root, self._shell = url, root, shell

    @property
    def port(self):
        return urllib.parse.urlsplit(self.url).port

    def get(self, path, **params):
        """The JSON of api/v1/PATH; raises OSError or ValueError."""
        address = "{}api/v1/{}?{}".format(self.url, path, urllib.parse.urlencode(params))
        with _opener.open(address, timeout=ANSWER_S) as answer:
            return json.loads(answer.read().decode("utf-8"))

    def serves(self, root):
        """Is it memviewd, and does it serve this folder?"""
        try:
            about = self.get("about")
            return about.get("name") == "memviewd" and any(
                os.path.realpath(each["path"]) == root for each in about["roots"]
            )
        except (OSError, ValueError, KeyError, AttributeError):
            return False

    def session_in(self, folder, kind=None, wait_s=SCAN_S):
        """The session of this kind, or any, that lies in the folder (or file) below the root: that with a failure
        first, then that with programs. None: there is none."""
        name = os.path.relpath(folder, self.root)
        end = time.monotonic() + wait_s
        while True:
            sessions = self.get("sessions", **({"filter": name} if name != "." else {}))["sessions"]
            found = [
                each
                for each in sessions
                if (name == "." or each["name"] == name or each["name"].startswith(name + "/"))
                and kind in (None, each["kind"])
            ]
            if found:
                return max(found, key=lambda each: (each.get("failure") is not None, each["kind"] != "profiles"))
            if time.monotonic() > end:
                return None
            time.sleep(0.2)

    def page(self, session=None, **more):
        """Address of a session, or of the first page; `more` is what else the page shall show, as its own addresses
        have it."""
        return self.url + ("?" + urllib.parse.urlencode(dict(session=session["id"], **more)) if session else "")

    def stop(self):
        shell, self._shell = self._shell, None
        if shell is None:
            return
        shell.stdin.close()
        try:
            shell.wait(STOP_S)
        except subprocess.TimeoutExpired:
            os.killpg(shell.pid, signal.SIGKILL)
            shell.wait()
        shell.stdout.close()


def _start(root, options):
    words = [_binary.find(), "--port=0", *options]
    words += ["--logdir=" + root] if os.path.isdir(root) else [root]
    with tempfile.TemporaryFile() as errors:
        shell = subprocess.Popen(
            ["/bin/sh", "-c", WATCHED, "memviewd", *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            env=_binary.environment(),
            start_new_session=True,
        )
        ready = select.select([shell.stdout], [], [], START_S)[0]
        line = shell.stdout.readline().decode("utf-8", "replace").strip() if ready else ""
        daemon = Daemon(line, root, shell)
        if line.startswith("http://"):
            return daemon
        daemon.stop()
        errors.seek(0)
        raise RuntimeError(
            "memviewd did not start: {}".format(errors.read().decode("utf-8", "replace").strip() or line)
        )


def running(root):
    """The daemon at the usual port if it serves this folder, or None."""
    daemon = Daemon("http://127.0.0.1:{}/".format(PORT), root)
    return daemon if daemon.serves(root) else None


def ours(root):
    """One that this process started already, or None."""
    with _lock:
        found = [daemon for (process, path, _), daemon in _daemons.items() if process == os.getpid() and path == root]
    return next((daemon for daemon in found if daemon.serves(root)), None)


def serve(root, options=()):
    """A daemon of our own with these options, the same one when asked again. Raises NotFound, RuntimeError, OSError."""
    key = (os.getpid(), root, tuple(options))
    with _lock:
        daemon = _daemons.get(key)
        if daemon is None or not daemon.serves(root):
            daemon = _daemons[key] = _start(root, options)
        return daemon


def stop_all():
    """Ends those of this process; a test does it."""
    with _lock:
        for key in [key for key in _daemons if key[0] == os.getpid()]:
            _daemons.pop(key).stop()
