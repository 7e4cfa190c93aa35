# SPDX-License-Identifier: Apache-2.0
"""Where something is saved: a folder "run-TIME-PID" in the folder of all runs, as `memviewd run` makes them, so that
either shows and tidies up what the other left. A lock on run.lock in it says that its program still runs."""

import errno
import fcntl
import itertools
import os
import re
import shutil
import stat
import sys
import tempfile
import threading
import time
from typing import Union

from . import _labels

DEFAULT_NAME = "memviewd-runs"
RUN_VARIABLE = "MEMVIEWD_RUN"
LOCK_NAME = "run.lock"
MAX_ALL_BYTES = 2 << 30  # of `memviewd run`, --dump-limit

Path = Union[str, "os.PathLike[str]"]

_lock = threading.RLock()
_open = {}  # absolute folder of all runs → (process id, the Session that is being watched)


class Session:
    """path: its folder; all: the folder that it lies in; is_ours: False inside of `memviewd run`, which keeps the
    text"""

    def __init__(self, path, lock=None, is_ours=True):
        self.path, self.all, self.is_ours = path, os.path.dirname(path), is_ours
        self._lock = lock

    @property
    def name(self):
        return os.path.basename(self.path)

    def write(self, name, data):
        """Appears whole or not at all; bytes or text. Out: its path."""

        def put(part):
            with open(part, "wb") as file:
                file.write(data if isinstance(data, bytes) else data.encode("utf-8", "backslashreplace"))
            return True

        return self.write_by(name, put)

    def write_by(self, name, put):
        """The same, of what put(path) writes; where it says False, nothing appears. Out: its path, or None."""
        path = os.path.join(self.path, name)
        part = os.path.join(self.path, ".{}.{}.part".format(name, threading.get_ident()))
        try:
            if not put(part):
                _remove(part)
                return None
            os.replace(part, path)
        except BaseException:
            _remove(part)
            raise
        return path

    def write_profile(self, data):
        """The next of a series: memory-000001.prof, … Out: its path."""
        with _lock:
            for number in itertools.count(max([number for number, _ in self.profiles()], default=0) + 1):
                path = self._write_unclaimed("memory-{:06d}.prof".format(number), data)
                if path:
                    return path

    def _write_unclaimed(self, name, data):
        """None where another process of the run, which fails at the same time, writes that name or has written it."""
        claim = os.path.join(self.path, ".{}.claim".format(name))
        try:
            os.close(os.open(claim, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        except FileExistsError:
            return None
        try:
            return None if os.path.exists(os.path.join(self.path, name)) else self.write(name, data)
        finally:
            _remove(claim)

    def profiles(self):
        """[(number, path)] of the series, in order"""
        found = [(re.match(r"memory-(\d{6,})\.prof$", name), name) for name in os.listdir(self.path)]
        return sorted((int(match[1]), os.path.join(self.path, name)) for match, name in found if match)

    def free_name(self, stem, ending):
        """output.log, output-2.log, …"""
        for count in itertools.count(1):
            name = stem + ("-{}".format(count) if count > 1 else "") + ending
            if not os.path.exists(os.path.join(self.path, name)):
                return name

    def close(self):
        """It has ended: the oldest runs go that are too many bytes; itself only when nothing was written to it."""
        if self._lock is None:
            return
        if set(os.listdir(self.path)) <= {LOCK_NAME, _labels.NAME}:
            shutil.rmtree(self.path, ignore_errors=True)
            _remove_empty(self.all)
        os.close(self._lock)
        self._lock = None
        if os.path.isdir(self.all):
            _remove_oldest(self.all, self.path)


def _remove(path):
    try:
        os.unlink(path)
    except OSError:
        pass


def _remove_empty(folder):
    try:
        os.rmdir(folder)
    except OSError:
        pass


# ---- making one ---------------------------------------------------------------------------


def _is_own(path):
    """a folder that nobody else can write"""
    status = os.lstat(path)
    return stat.S_ISDIR(status.st_mode) and status.st_uid == os.geteuid() and status.st_mode & 0o022 == 0


def _make(folder):
    """A new run in the folder; raises OSError. It gets the name of a run when it is locked: a run that ends at this
    moment would take one without a lock for one that has ended."""
    os.makedirs(folder, exist_ok=True)
    folder = os.path.realpath(folder)
    begun = tempfile.mkdtemp(prefix=".new-", dir=folder)
    try:
        lock = os.open(os.path.join(begun, LOCK_NAME), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            pass  # where a file system has no locks, every run is as if it had ended
        return Session(_rename(begun, folder), lock)
    except BaseException:
        shutil.rmtree(begun, ignore_errors=True)
        raise


def _rename(begun, folder):
    """To a name that no run has: "run-TIME-PID", of the second in one second "run-TIME-PID-2"."""
    stem = os.path.join(folder, "run-{}-{}".format(time.strftime("%Y-%m-%d-%H%M%S"), os.getpid()))
    for count in itertools.count(1):
        path = stem + ("-{}".format(count) if count > 1 else "")
        try:
            os.rename(begun, path)
            return path
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                raise


def _own_below_tmp():
    """A folder for this user alone. Its name can be foreseen, so that anybody may have made something else of it: then
    a new one is taken, whose name cannot."""
    path = os.path.join(tempfile.gettempdir(), "{}-{}".format(DEFAULT_NAME, os.geteuid()))
    try:
        os.mkdir(path, 0o700)
    except FileExistsError:
        pass
    if _is_own(path):
        return path
    other = tempfile.mkdtemp(prefix=os.path.basename(path) + "-", dir=os.path.dirname(path))
    say("{} is not a folder that only you can write to: this run is in {}".format(path, other))
    return other


def open_new(logdir=None):
    """A new Session; without a logdir in ./memviewd-runs, or below the folder for temporary files where that cannot be
    written. Raises OSError. close() afterwards."""
    with _lock:
        try:
            session = _make(os.fspath(logdir) if logdir else DEFAULT_NAME)
        except OSError:
            if logdir:
                raise
            session = _make(_own_below_tmp())
    try:
        _labels.write(session)
    except OSError:
        pass  # it is a session without them
    return session


def of_runner(logdir=None):
    """The Session of `memviewd run` around this program, or None."""
    folder = os.environ.get(RUN_VARIABLE)
    return Session(folder, is_ours=False) if not logdir and folder and os.path.isdir(folder) else None


def default_all(logdir=None):
    return os.path.realpath(os.fspath(logdir) if logdir else DEFAULT_NAME)


# ---- one that goes on, so that what happens belongs to it ------------------------------------


def begin(session, logdir=None):
    with _lock:
        _open[default_all(logdir)] = (os.getpid(), session)


def end(session):
    with _lock:
        for key in [key for key, (_, each) in _open.items() if each is session]:
            del _open[key]


def current(logdir=None):
    """The Session that something is saved in now: of `memviewd run`, else that of watch(), or None."""
    with _lock:
        process, session = _open.get(default_all(logdir), (0, None))
        return of_runner(logdir) or (session if process == os.getpid() else None)


# ---- runs that have ended -----------------------------------------------------------------


def _bytes_of(folder):
    found = 0
    for at, _, names in os.walk(folder):
        for name in names:
            try:
                found += os.lstat(os.path.join(at, name)).st_blocks * 512
            except OSError:
                pass
    return found


def _take(folder):
    """The lock of a run that has ended; None: it runs, or is a folder of other origin."""
    try:
        lock = os.open(os.path.join(folder, LOCK_NAME), os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return lock
    except BlockingIOError:
        os.close(lock)
        return None
    except OSError:
        return lock


def _remove_oldest(folder, but, max_bytes=MAX_ALL_BYTES):
    runs = sorted(os.path.join(folder, name) for name in os.listdir(folder) if name.startswith("run-"))
    sizes = {path: _bytes_of(path) for path in runs if os.path.lexists(os.path.join(path, LOCK_NAME))}
    over = sum(sizes.values()) - max_bytes
    for path, size in sizes.items():
        lock = _take(path) if over > 0 and path != but else None
        if lock is not None:
            shutil.rmtree(path, ignore_errors=True)
            os.close(lock)
            over -= size


# ---- saying -------------------------------------------------------------------------------


def say(text):
    """A line on stderr, as a notebook shows it; never raises."""
    try:
        sys.stderr.write("memviewd: {}\n".format(text))
        sys.stderr.flush()
    except Exception:
        pass
