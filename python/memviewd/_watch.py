# SPDX-License-Identifier: Apache-2.0
"""A series of device profiles while a program runs, and what it has in use."""

import atexit
import os
import sys
import threading
from typing import Any, Literal, Optional

from . import _jax, _live, _session, _show
from ._session import say

MAX_PROFILES = 200
MAX_BYTES = 256 << 20
MIN_EVERY_S = 0.05
STOP_S = 10
MAX_LOOK_S = 1.0  # between two looks at what is in use


def _import_jax():
    """JAX ends its devices when the interpreter exits; what was registered after it stops before that."""
    try:
        import jax  # noqa: F401
    except ImportError:
        pass


def _sampler(run, every):
    """None: `memviewd watch` around this program looks already, or there can be no thread."""
    if "_memviewd_hook" in sys.modules and os.environ.get("MEMVIEWD_WATCH"):
        return None
    try:
        return _live.Sampler(run, min(every, MAX_LOOK_S))
    except Exception as error:
        say("watch: what is in use is not written: {}: {}".format(type(error).__name__, error))
        return None


class Watch:
    """A thread that writes memory-000001.prof, … to `folder`. It ends with stop() or with the program.

    count: profiles written; removed_count: how many of them were removed again to keep to the limits.
    """

    every: float
    count: int
    removed_count: int

    def __init__(self, every: float, logdir: Optional[_session.Path], max_profiles: int, max_bytes: int) -> None:
        if not every >= MIN_EVERY_S:
            raise ValueError("every: at least {} seconds".format(MIN_EVERY_S))
        if max_profiles < 2 or max_bytes < 1:
            raise ValueError("max_profiles: at least 2; max_bytes: at least 1")
        _import_jax()
        self.every, self.count, self.removed_count = every, 0, 0
        self._max_profiles, self._max_bytes = max_profiles, max_bytes
        self._has_failed = False
        self._session = _session.of_runner(logdir) or _session.open_new(logdir)
        _session.begin(self._session, logdir)
        self._ended = threading.Event()
        self._lock = threading.Lock()
        self._process = os.getpid()
        self._sampler = _sampler(self._session.path, every)
        self._thread = threading.Thread(target=self._run, name="memviewd-watch", daemon=True)
        self._thread.start()
        atexit.register(self.stop)

    @property
    def folder(self) -> str:
        return self._session.path

    def __enter__(self) -> "Watch":
        return self

    def __exit__(self, *what: Any) -> Literal[False]:
        self.stop()
        return False

    def __repr__(self) -> str:
        return "<memviewd.Watch: {} profiles in {}>".format(self.count - self.removed_count, self.folder)

    def stop(self) -> None:
        """Stops writing profiles. Written profiles stay; an empty folder is removed. May be called again, and by any
        thread."""
        self._ended.set()
        if self._process != os.getpid():  # forked off: thread and folder are its parent's
            return
        if threading.current_thread() is not self._thread:
            self._thread.join(STOP_S)
        with self._lock:
            sampler, self._sampler = self._sampler, None
        if sampler is not None:
            sampler.stop()
        atexit.unregister(self.stop)
        with self._lock:
            _session.end(self._session)
            self._session.close()

    def page(self, height: int = _show.HEIGHT) -> _show.Page:
        """Its page: see show()."""
        return _show.page_of(
            self.folder, self._session.all, height, kind="profiles", tool="device_memory", view="series"
        )

    # ---- the thread ----

    def _run(self):
        while True:
            self._take()
            if self._ended.wait(self.every) or not threading.main_thread().is_alive():
                return

    def _take(self):
        try:
            data = _jax.device_profile()
            if data and not self._ended.is_set():
                self._session.write_profile(data)
                self.count += 1
                self._thin()
            self._has_failed = False
        except Exception as error:  # a full disk today may be mended tomorrow: said once, tried again
            if not self._has_failed and not sys.is_finalizing():
                say("watch: {}: {}".format(type(error).__name__, error))
            self._has_failed = True

    def _thin(self):
        """Of the older half every second profile goes, until both limits are kept; the first and the newest stay."""
        profiles = [(path, os.path.getsize(path)) for _, path in self._session.profiles()]
        while len(profiles) > 2 and (
            len(profiles) > self._max_profiles or sum(size for _, size in profiles) > self._max_bytes
        ):
            older = max(len(profiles) // 2, 2)
            going = profiles[1:older:2]
            if self.removed_count == 0:
                say(
                    "watch: more than {} profiles or {} MiB: of the older half every second one is removed".format(
                        self._max_profiles, self._max_bytes >> 20
                    )
                )
            for path, _ in going:
                os.unlink(path)
            self.removed_count += len(going)
            profiles = [each for each in profiles if each not in going]


def watch(
    every: float = 30,
    logdir: Optional[_session.Path] = None,
    max_profiles: int = MAX_PROFILES,
    max_bytes: int = MAX_BYTES,
) -> Watch:
    """Writes a JAX device profile now and every `every` seconds to a new folder in logdir (./memviewd-runs, or the
    folder of `memviewd run`), until stop(), the end of `with memviewd.watch():`, or the end of the program. The page of
    the folder shows the series while it grows, and what grows in it.

    It also records what PyTorch's allocator and JAX's devices have in use, at least once a second; the page Live
    (?tool=live) shows it while the program runs. A profile holds live arrays by the line that made them, but not the
    temporaries of a running program. Nothing is written before JAX or PyTorch uses a device.

    Returns a Watch. Raises ValueError, and OSError if the folder cannot be made.
    """
    return Watch(every, logdir, max_profiles, max_bytes)
