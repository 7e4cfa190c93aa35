# SPDX-License-Identifier: Apache-2.0
"""What `memviewd run` puts in front of PYTHONPATH, as sitecustomize.py: every Python below it reads this as it starts.

It waits for `import torch` and `import jax`, and then your own sitecustomize runs as it would without us. PyTorch
records who asks for memory from its first call of CUDA on; when a request fails, the allocator's snapshot is written
before anything is unwound. When an exception that nobody catches ends the program or a thread, _oom.py saves what JAX
can tell.

Nothing here prints or raises into the program. What happened is marked in the file .armed of the run's folder, a line
each, "WORD PID TEXT", from which `memviewd run` says what was armed: python, torch, jax (imported), cuda (recording),
failure (no memory), unarmed (why not)."""

import os
import sys

FOLDER = os.environ.get("MEMVIEWD_RUN", "")
HERE = os.path.dirname(os.path.abspath(__file__))
MAX_MARKS_BYTES = 1 << 20
DEFAULT_ENTRIES = 100000
# A program that fails again and again may spend so long in us; further snapshots are not written.
MAX_WRITING_S = 60.0
RANKS = ("RANK", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID", "JAX_PROCESS_INDEX")

_written = {}  # process id: snapshots that were written
_writing_s = 0.0
_is_busy = False
_armed = set()  # what was done once in this process, or one that it was forked from


def _mark(word, text=""):
    line = "{} {} {}\n".format(word, os.getpid(), " ".join(str(text).split())[:200])
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOFOLLOW", 0)
    try:
        file = os.open(os.path.join(FOLDER, ".armed"), flags, 0o600)
        try:
            if os.fstat(file).st_size < MAX_MARKS_BYTES:
                os.write(file, line.encode("utf-8", "replace"))
        finally:
            os.close(file)
    except OSError:  # the run has ended, and its folder is gone
        pass


def _guarded(what, function, *arguments):
    """The program goes on as it would without us."""
    try:
        function(*arguments)
    except Exception as error:
        _mark("unarmed", "{}: {}: {}".format(what, type(error).__name__, error))


# ---- PyTorch ------------------------------------------------------------------------------


def rank():
    """ "rank3" where a launcher says so, or None"""
    found = [os.environ.get(name, "") for name in RANKS]
    number = next((each for each in found if each.isdigit()), None)
    return number and "rank{}".format(int(number))


def process_name():
    """ "rank3.4711", "pid4711": what its files begin with"""
    of, process = rank(), os.getpid()
    return "{}.{}".format(of, process) if of else "pid{}".format(process)


def has_written():
    """Was a snapshot of this process written at a failure?"""
    return _written.get(os.getpid(), 0) > 0


def _write_snapshot():
    """The first failure's stays, and the last one's: "rank3.4711.pickle", "rank3.4711.last.pickle"."""
    import torch

    name = process_name() + (".last.pickle" if has_written() else ".pickle")
    part = os.path.join(FOLDER, ".{}.part".format(name))
    try:
        torch.cuda.memory._dump_snapshot(part)
        os.replace(part, os.path.join(FOLDER, name))
        _written[os.getpid()] = _written.get(os.getpid(), 0) + 1
    except BaseException:
        if os.path.exists(part):
            os.unlink(part)
        raise


def _on_out_of_memory(device, asked_bytes, device_bytes, free_bytes):
    """PyTorch calls it when a request failed, with the program's frames and blocks still there."""
    global _is_busy, _writing_s
    _mark("failure", "{} {}".format(device, asked_bytes))
    if _is_busy or _writing_s > MAX_WRITING_S:
        return
    from time import monotonic

    _is_busy, began_s = True, monotonic()
    _guarded("snapshot", _write_snapshot)
    _is_busy, _writing_s = False, _writing_s + monotonic() - began_s


def _entries():
    text = os.environ.get("MEMVIEWD_HISTORY", "")
    return int(text) if text.isdigit() else DEFAULT_ENTRIES


def _record(torch, entries):
    is_on = getattr(torch._C, "_cuda_isHistoryEnabled", bool)()
    if entries == 0 or is_on:  # the program records itself: its settings stay
        return
    try:
        torch.cuda.memory._record_memory_history(max_entries=entries, stacks="python")
    except TypeError:  # PyTorch 2.0
        torch.cuda.memory._record_memory_history(True, trace_alloc_max_entries=entries, trace_alloc_record_context=True)


def _on_cuda(torch):
    """CUDA or ROCm begins in this process; what was attached before a fork is there still."""
    if "cuda" in _armed:
        return
    _armed.add("cuda")
    _guarded("history", _record, torch, _entries())
    _guarded("watch", _watch)
    torch._C._cuda_attach_out_of_memory_observer(_on_out_of_memory)
    _mark("cuda")
    _guarded("capture", _listen)


def _arm_torch(torch):
    _mark("torch", getattr(torch, "__version__", ""))
    torch.cuda._lazy_call(lambda: _guarded("torch", _on_cuda, torch))


# ---- memviewd capture, memviewd watch -------------------------------------------------------


def _ours(name):
    """By a package of a name of ours: the program's `import memviewd` finds its own."""
    import importlib

    package = type(sys)("_memviewd")
    package.__path__ = [os.path.join(HERE, "memviewd")]
    sys.modules.setdefault(package.__name__, package)
    return importlib.import_module("_memviewd." + name)


def _listen():
    _ours("_capture").listen(FOLDER)


def _watch():
    every_s = os.environ.get("MEMVIEWD_WATCH")
    if every_s:  # of the run that watches: another one may stand between it and us
        _ours("_live").begin(os.environ.get("MEMVIEWD_WATCH_RUN") or FOLDER, float(every_s))


# ---- exceptions that nobody catches ---------------------------------------------------------


def _note(error):
    """The package that the program has imported, else the one beside this file."""
    if error is None:
        return
    sys.path.insert(0, HERE)
    try:
        from memviewd import _oom
    finally:
        sys.path.remove(HERE)
    _oom.note(error)


def _at_exit():
    _guarded("exit", _note, getattr(sys, "last_exc", None) or getattr(sys, "last_value", None))


def _arm_exceptions():
    """At the end of the program the interpreter still holds what ended it: sys.excepthook is left to others."""
    import atexit
    import threading

    before = threading.excepthook

    def on_thread_exception(what):
        before(what)
        _guarded("thread", _note, what.exc_value)

    threading.excepthook = on_thread_exception
    atexit.register(_at_exit)


# ---- imports ------------------------------------------------------------------------------


def _arm(module):
    name = module.__name__
    if name in _armed:
        return
    _armed.add(name)
    if "exceptions" not in _armed:
        _armed.add("exceptions")
        _guarded("exceptions", _arm_exceptions)
    if name == "torch":
        _guarded(name, _arm_torch, module)
    else:
        _mark(name, getattr(module, "__version__", ""))
        _guarded("capture", _listen)
        _guarded("watch", _watch)


def _arm_behind(loader):
    """When the loader has run its module; it stays the loader that it is."""
    load = loader.exec_module

    def exec_module(module):
        loader.__dict__.pop("exec_module", None)
        load(module)
        _guarded(module.__name__, _arm, module)

    loader.exec_module = exec_module


class _Finder(object):
    """Other names cost one look-up."""

    names = frozenset(("torch", "jax"))
    asking = set()  # threads that we have asked the others for

    def _of_others(self, name, path, target):
        """Another such finder may ask all others too: to it we know nothing."""
        from _thread import get_ident  # Pythons that are too old have none

        thread = get_ident()
        if thread in self.asking:
            return None
        self.asking.add(thread)
        try:
            finders = [each for each in sys.meta_path if each is not self and hasattr(each, "find_spec")]
            return next(filter(None, (each.find_spec(name, path, target) for each in finders)), None)
        finally:
            self.asking.discard(thread)

    def find_spec(self, name, path=None, target=None):
        if name not in self.names:
            return None
        spec = self._of_others(name, path, target)
        if spec is not None and spec.loader is not None:
            _guarded(name, _arm_behind, spec.loader)
        return spec


def _begin():
    sys.modules["_memviewd_hook"] = sys.modules[__name__]
    _mark("python", "{}.{}".format(*sys.version_info[:2]))
    sys.meta_path.insert(0, _Finder())
    for name in _Finder.names.intersection(sys.modules):  # by a .pth file
        _guarded(name, _arm, sys.modules[name])


if __name__ == "sitecustomize":
    sys.path[:] = [each for each in sys.path if os.path.abspath(each) != HERE]
    # A run below another one: the inner one's hook comes first, and FOLDER is its.
    if FOLDER and sys.version_info >= (3, 8) and "_memviewd_hook" not in sys.modules:
        _guarded("start", _begin)
    # As without us: where there is none site.py gets the ImportError that it expects.
    _this = sys.modules.pop("sitecustomize")
    import sitecustomize  # noqa: F401
