# SPDX-License-Identifier: Apache-2.0
"""What is done when an exception passes that tells of a lack of memory. Whatever goes wrong here is said, never
raised."""

import atexit
import contextlib
import functools
import inspect
import json
import os
import shlex
import shutil
import sys
import threading
import traceback
from typing import Any, Callable, Literal, Optional, TypeVar, overload

from . import _binary, _capture, _daemon, _jax, _session, _torch
from ._session import say

# A program that tries ever smaller batches fails again and again: the first failures are enough.
MAX_FAILURES = 16
# The exception is on its way up: not as long as show() waits for a slow disk.
SCAN_S = 5
MAX_DUMPED_PROGRAMS = 64
MAX_DUMPED_BYTES = 1 << 30
# What memviewd reads of a dump, as server/run/dump_files.c has it.
DUMP_ENDINGS = (
    "before_optimizations.hlo.pb",
    "after_optimizations.hlo.pb",
    "oom_intermediate_module.hlo.pb",
    "-memory-usage-report.pb",
    "-memory-usage-report.txt",
    "-buffer-assignment.txt",
    ".target_arguments.pb",
    ".gpu_target_config.pbtxt",
)
SEEN = "_memviewd_seen"

_local = threading.local()
_lock = threading.Lock()
_failure_count = 0


# ---- what is saved ------------------------------------------------------------------------


def _began_s():
    """When this process began, Unix time; 0 where the system does not tell."""
    try:
        with open("/proc/self/stat", "rb") as file:
            ticks = int(file.read().rsplit(b")", 1)[1].split()[19])
        with open("/proc/stat", "rb") as file:
            boot = next(int(line.split()[1]) for line in file if line.startswith(b"btime"))
        return boot + ticks / os.sysconf("SC_CLK_TCK") - 1
    except (OSError, ValueError, IndexError, StopIteration):
        return 0


def _dump_folder():
    """Where XLA dumps to by the environment's XLA_FLAGS, or None."""
    named = [
        word.split("=", 1)[1]
        for word in shlex.split(os.environ.get("XLA_FLAGS", ""))
        if word.lstrip("-").startswith("xla_dump_to=")
    ]
    return named[-1] if named and os.path.isdir(named[-1]) else None


def _program_of(name):
    """What files of one program share; with the time in front, several processes write into one folder."""
    words = name.split(".")
    return ".".join(words[: 3 if words[0].isdigit() else 2])


def _copy_dump(session):
    """Programs that this process dumped, the newest first; how many files."""
    folder, since, left = _dump_folder(), _began_s(), MAX_DUMPED_BYTES
    if folder is None or os.path.realpath(folder) == os.path.realpath(session.path):
        return 0
    programs = {}
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_file(follow_symlinks=False) and entry.name.endswith(DUMP_ENDINGS):
                programs.setdefault(_program_of(entry.name), []).append(entry)
    newest = sorted(programs.values(), key=lambda files: -max(each.stat().st_mtime for each in files))
    count = 0
    for files in newest[:MAX_DUMPED_PROGRAMS]:
        left -= sum(each.stat().st_size for each in files)
        if left < 0 or max(each.stat().st_mtime for each in files) < since:
            break
        for each in files:
            shutil.copyfile(each.path, os.path.join(session.path, each.name))
            count += 1
    return count


def _save_programs(session):
    """The plans: those that were dumped, else those of the programs that are loaded."""
    if not session.is_ours or _copy_dump(session) > 0:
        return
    for at, program in enumerate(_jax.loaded_programs()):
        stem = "{:04d}.{}".format(at, "".join(c if c.isalnum() or c in "_-" else "_" for c in program.name)[:100])
        session.write(stem + ".hlo.pb", program.hlo)
        session.write(stem + ".buffer_assignment.pb", program.assignment)


def _save_profile(session):
    profile = _jax.device_profile()
    if profile:
        session.write_profile(profile)


def _save_arrays(session):
    arrays = _jax.live_arrays()
    if arrays:
        session.write(session.free_name("live_arrays", ".json"), json.dumps(arrays, indent=1))


def _save_snapshot(session):
    if not _torch.has_written():
        session.write_by(session.free_name(_torch.snapshot_stem(), ".pickle"), _torch.write_snapshot)


def _save(session, text):
    """All that can be had; what cannot is said."""
    if session.is_ours:  # `memviewd run` has what was printed
        session.write(session.free_name("output", ".log"), text)
    for what, save in (
        ("device profile", _save_profile),
        ("live arrays", _save_arrays),
        ("programs", _save_programs),
        ("allocator snapshot", _save_snapshot),
    ):
        try:
            save(session)
        except Exception as error:
            say("no {}: {}: {}".format(what, type(error).__name__, error))


# ---- what is said -------------------------------------------------------------------------


def _address(session):
    """The address of its page, or how to get one."""
    daemon = _daemon.ours(session.all) or _daemon.running(session.all)
    if daemon is None:
        return "memviewd.show({!r}) or memviewd --logdir={}".format(session.path, shlex.quote(session.all))
    return daemon.page(daemon.session_in(session.path, wait_s=SCAN_S))


def _print_verdict(session):
    try:
        done = _binary.run("explain", session.path)
        sys.stderr.write(done.stdout.decode("utf-8", "replace"))
    finally:
        say("saved in {}".format(session.path))
    say("the page: {}".format(_address(session)))


# ---- an exception passes --------------------------------------------------------------------


def _is_seen(error):
    """Was it, or one that it was raised from, looked at on its way here already?"""
    looked = 0
    while error is not None and looked < 100:
        if getattr(error, SEEN, False):
            return True
        error, looked = error.__cause__ or error.__context__, looked + 1
    return False


def _is_one_more():
    global _failure_count
    with _lock:
        _failure_count += 1
        count = _failure_count
    if count == MAX_FAILURES + 1:
        say("{} failures for lack of memory are saved; further ones are not".format(MAX_FAILURES))
    return count <= MAX_FAILURES


def _handle(error, logdir):
    text = "".join(traceback.format_exception(type(error), error, error.__traceback__))
    if not _binary.failures_in(text) or not _is_one_more():
        return
    session = _session.current(logdir)
    is_new = session is None
    session = session or _session.open_new(logdir)
    try:
        _save(session, text)
        if session.is_ours:
            _print_verdict(session)
    finally:
        if is_new:
            session.close()


def note(error, logdir=None):
    """Looks at an exception that passes; once at each, however many of us it passes. Never raises."""
    if not isinstance(error, Exception) or getattr(_local, "is_busy", False):
        return
    _local.is_busy = True
    try:
        if not _is_seen(error):
            setattr(error, SEEN, True)
            _handle(error, logdir)
    except BaseException as fault:  # the program's own exception is on its way up, and stays the one that is told
        say("could not look into it: {}: {}".format(type(fault).__name__, fault))
    finally:
        _local.is_busy = False


_Function = TypeVar("_Function", bound=Callable[..., Any])


class _OnOom:
    def __init__(self, logdir: Optional[_session.Path]) -> None:
        self.logdir = logdir

    def __enter__(self) -> "_OnOom":
        return self

    def __exit__(self, kind: Any, error: Optional[BaseException], trace: Any) -> Literal[False]:
        if error is not None:
            note(error, self.logdir)
        return False

    async def __aenter__(self) -> "_OnOom":
        return self

    async def __aexit__(self, *what: Any) -> Literal[False]:
        return self.__exit__(*what)

    def __call__(self, function: _Function) -> _Function:
        if inspect.iscoroutinefunction(function):

            @functools.wraps(function)
            async def around(*args, **kwargs):
                with self:
                    return await function(*args, **kwargs)
        elif inspect.isgeneratorfunction(function):

            @functools.wraps(function)
            def around(*args, **kwargs):
                with self:
                    return (yield from function(*args, **kwargs))
        else:

            @functools.wraps(function)
            def around(*args, **kwargs):
                with self:
                    return function(*args, **kwargs)

        return around


@overload
def on_oom(function: _Function, *, logdir: Optional[_session.Path] = None) -> _Function: ...


@overload
def on_oom(function: None = None, *, logdir: Optional[_session.Path] = None) -> _OnOom: ...


def on_oom(function: Optional[Callable[..., Any]] = None, *, logdir: Optional[_session.Path] = None) -> Any:
    """Saves and explains a lack of memory; use it as `with memviewd.on_oom():` around a step, or as a decorator.

    It acts when an exception passes that says that memory ran out, of a device or of the host, of any framework that
    `memviewd explain` knows. It then saves to a new folder in logdir (./memviewd-runs): the text; the plans of the
    loaded programs (on TPUs only those dumped with XLA_FLAGS=--xla_dump_to=DIR --xla_dump_hlo_as_proto); a device
    profile and the largest live arrays; a snapshot of PyTorch's allocator (with stacks and events if
    torch.cuda.memory._record_memory_history() was called before). It prints the verdict and the address of the page on
    stderr. The exception goes on unchanged.

    It costs nothing until then, may be nested, and may be used by any number of threads. Below `memviewd run`,
    everything is saved to the folder of that run, and `memviewd run` prints.
    """
    around = _OnOom(logdir)
    return around if function is None else around(function)


# ---- every exception that nobody catches ------------------------------------------------------


def _open_for_captures(logdir):
    """A Session that is there from here on, so that `memviewd capture` finds it; its end leaves nothing where nothing
    was captured. None: the hook of `memviewd run` answers, or there can be none."""
    if "_memviewd_hook" in sys.modules:
        return None
    session = None
    try:
        session = _session.of_runner(logdir) or _session.open_new(logdir)
        _capture.listen(session.path)
    except Exception as error:
        say("memviewd capture cannot ask this process: {}: {}".format(type(error).__name__, error))
    return session


class Installed:
    """What install() put in place; remove() undoes it."""

    def __init__(self, logdir: Optional[_session.Path]) -> None:
        self._logdir, self._is_on = logdir, True
        self._before, self._thread_before = sys.excepthook, threading.excepthook
        self._hook, self._thread_hook = self._on_exception, self._on_thread_exception
        self._session, self._process = _open_for_captures(logdir), os.getpid()
        atexit.register(self._end_captures)
        sys.excepthook, threading.excepthook = self._hook, self._thread_hook
        ipython = sys.modules.get("IPython")
        self._shell = ipython.get_ipython() if ipython is not None else None
        if self._shell is not None:
            self._shell.events.register("post_run_cell", self._on_cell)

    def _on_exception(self, kind, error, trace):
        self._before(kind, error, trace)
        self._note(error)

    def _on_thread_exception(self, what):
        self._thread_before(what)
        self._note(what.exc_value)

    def _on_cell(self, result):
        self._note(result.error_in_exec)

    def _end_captures(self):
        session, self._session = self._session, None
        if session is not None and self._process == os.getpid():  # in one that was forked off it is its parent's
            _capture.leave()
            if session.is_ours:
                shutil.rmtree(os.path.join(session.path, _capture.FOLDER_NAME), ignore_errors=True)
            session.close()

    def _note(self, error):
        if self._is_on:
            note(error, self._logdir)

    def remove(self) -> None:
        """Hooks that others have put around ours since stay as they are; ours then does nothing."""
        self._is_on = False
        if sys.excepthook is self._hook:
            sys.excepthook = self._before
        if threading.excepthook is self._thread_hook:
            threading.excepthook = self._thread_before
        if self._shell is not None:
            with contextlib.suppress(ValueError):
                self._shell.events.unregister("post_run_cell", self._on_cell)
        self._end_captures()
        atexit.unregister(self._end_captures)
        global _installed
        with _lock:
            _installed = None if _installed is self else _installed


_installed = None


def install(logdir: Optional[_session.Path] = None) -> Installed:
    """Does what on_oom() does for every exception that nobody catches: of the program, of its threads, of a notebook
    cell. The traceback is printed as before.

    From this call on, `memviewd capture` can ask the process what it holds. For that it makes a folder in logdir, which
    is removed at the end if it is empty. Returns an object whose remove() undoes this; a second call replaces the
    first.
    """
    global _installed
    if _installed is not None:
        _installed.remove()
    with _lock:
        _installed = Installed(logdir)
        return _installed
