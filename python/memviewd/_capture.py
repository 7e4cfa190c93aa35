# SPDX-License-Identifier: Apache-2.0
"""Answers `memviewd capture RUN`: writes what this process holds now into the folder of its run.

A thread waits in read() on a pipe of its own, RUN/.capture/rank3.4711-1f2e3d4c, and costs nothing until a byte comes;
what the byte is means nothing. It answers in the file of that name that ends in ".said", a line each, "WORD TEXT"
(server/run/ask.c reads them): asked, file (its name below RUN), failed (what, and why), nothing (why), done.

It is no signal: the program's own handlers stay, and a process without ours is not ended by one."""

import atexit
import fcntl
import os
import sys

from . import _background, _hook, _jax, _torch

FOLDER_NAME = ".capture"
SAID = ".said"
STOP = b"s"
CLOSE_S = 60
HIGH = 500  # files of the program have the numbers that they have without us

_listener = None  # of this process
_is_set_up = False


class _Listener(object):
    def __init__(self, run):
        self.run, self.stem, self.process = run, _hook.process_name(), os.getpid()
        self.number = 1  # of the answer that is next
        folder = os.path.join(run, FOLDER_NAME)
        try:
            os.mkdir(folder, 0o700)
        except FileExistsError:
            pass
        self.path = os.path.join(folder, "{}-{}".format(self.stem, os.urandom(4).hex()))
        os.close(os.open(self.path + SAID, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        os.mkfifo(self.path, 0o600)
        self.open_pipe()
        self.had_device, self.is_first, self.thread = True, False, None
        try:
            self.thread = _background.BackgroundThread(self._listen, self._wake)
        except BaseException:
            self.let_go()
            os.unlink(self.path)
            raise

    def open_pipe(self):
        # With an end to write to, read() waits where nobody else has one.
        low = os.open(self.path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
        self.identity = os.fstat(low)
        try:
            self.pipe = fcntl.fcntl(low, fcntl.F_DUPFD_CLOEXEC, HIGH)
            os.close(low)
        except OSError:  # beyond the limit of this process
            self.pipe = low

    def has_pipe(self):
        """A program that closes all files, to become a daemon, may have another one of that number since."""
        try:
            return os.path.samestat(os.fstat(self.pipe), self.identity)
        except OSError:
            return False

    def _listen(self):
        while self.thread is None or not self.thread.is_stopping:
            if not self.has_pipe():
                self.open_pipe()
            if os.read(self.pipe, 4096).strip(STOP):
                _background.guarded(self._answer)

    def _wake(self):
        return self.has_pipe() and os.write(self.pipe, STOP) > 0

    def close(self):
        """Nobody can ask any more; an answer that is being written is waited for."""
        self.thread.stop(CLOSE_S)
        self.let_go()
        os.unlink(self.path)

    def look(self):
        self.had_device = _has_device()

    def let_go(self):
        if self.has_pipe():
            os.close(self.pipe)

    # ---- what it answers ----

    def _say(self, word, text=""):
        line = "{} {}".format(word, " ".join(str(text).split())[:1000]).rstrip()
        file = os.open(self.path + SAID, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW)
        try:
            os.write(file, line.encode("utf-8", "replace") + b"\n")
        finally:
            os.close(file)

    def _answer(self):
        if not self.is_first and _has_device():
            self.is_first = True
            _leave_first()
        self._say("asked")
        took = [
            self._take(*each)
            for each in (("snapshot", self._snapshot), ("device profile", self._profile), ("live arrays", self._arrays))
        ]
        self.number += any(took)
        if not any(took):
            self._say("nothing", "neither PyTorch nor JAX uses a device in it yet")
        self._say("done")

    def _take(self, what, take):
        """Is there anything to say of it?"""
        try:
            path = take()
        except BaseException as error:
            self._say("failed", "{}: {}: {}".format(what, type(error).__name__, error))
            return True
        if path is not None:
            self._say("file", os.path.relpath(path, self.run))
        return path is not None

    def _snapshot(self):
        """Snapshots of one folder are ranks of one job."""
        from . import _session

        name = "{}.capture-{}.pickle".format(self.stem, self.number)
        return _session.Session(self.run).write_by(name, _torch.write_snapshot)

    def _of_process(self):
        """Device profiles of one folder are a series: each process has its own."""
        from . import _session

        folder = os.path.join(self.run, self.stem)
        os.makedirs(folder, 0o700, exist_ok=True)
        return _session.Session(folder)

    def _profile(self):
        profile = _jax.device_profile()
        return self._of_process().write("memory-{:06d}.prof".format(self.number), profile) if profile else None

    def _arrays(self):
        arrays = _jax.live_arrays()
        if not arrays:
            return None
        import json

        return self._of_process().write("live_arrays-{:06d}.json".format(self.number), json.dumps(arrays, indent=1))


# ---- forks ----------------------------------------------------------------------------------


def _has_device():
    """Without a lock of theirs: a fork may come while they take one. What was taken is of no use to a child."""
    is_initialized = getattr(getattr(sys.modules.get("torch"), "cuda", None), "is_initialized", bool)
    return bool(getattr(sys.modules.get("jax._src.xla_bridge"), "_backends", None) or is_initialized())


def _before_fork():
    if _listener is not None:
        _background.guarded(_listener.look)


def _in_child():
    global _listener
    parents, _listener = _listener, None
    if parents is None:
        return
    _background.guarded(parents.let_go)
    if not parents.had_device and os.path.isdir(os.path.dirname(parents.path)):  # the run goes on
        _background.guarded(listen, parents.run)


# ---- beginning and end ------------------------------------------------------------------------


def _leave_first():
    """At the end of the program, before what was registered until now: JAX lets go of its devices there. What was
    registered before stays: where the program is ending already, a new one comes too late."""
    atexit.register(leave)


def listen(run):
    """From here on this process answers, and so do those that it forks before it takes a device. May be called again.
    Raises OSError where the folder cannot have a pipe, RuntimeError where there can be no thread."""
    global _listener, _is_set_up
    if _listener is None:
        _listener = _Listener(run)
    if not _is_set_up:
        _is_set_up = True
        os.register_at_fork(before=_before_fork, after_in_child=_in_child)
    _leave_first()


def leave():
    """Nobody can ask any more. May be called again."""
    global _listener
    listener, _listener = _listener, None
    if listener is not None and listener.process == os.getpid():
        _background.guarded(listener.close)
