# SPDX-License-Identifier: Apache-2.0
"""A background thread that does not disturb the program: the module threading does not list it, so programs that count
or join all threads do not see it; it takes no signal; and it does not exist while the program forks.

Python 3.12 and newer warn about a fork in a process with several threads, and with -W error the warning ends the
program. If ours are the only other threads, they end before a fork and start again after it."""

import os
import signal
import sys
import time
import _thread

# Those of a fault of the thread's own: blocked, they would pass by the program's handlers.
FAULTS = {signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGABRT, signal.SIGTRAP, signal.SIGSYS}
PAUSE_S = 1  # a fork does not wait longer for an answer that is being written
GONE_TRIES, GONE_TRY_S = 1000, 0.0001  # until the system's thread is gone, after Python's has ended

_threads = []  # of this process
_is_set_up = False
_pending = None  # _begin_all for C, as long as the process lives


class BackgroundThread(object):
    """Calls `run` in a thread, and again after a fork. `wake` makes `run` return if `is_stopping` is set; it returns
    False if it cannot. Raises RuntimeError if no thread can be started."""

    def __init__(self, run, wake):
        global _is_set_up
        self.run, self.wake = run, wake
        self.is_stopping, self.ident, self.native_id = False, None, None
        self.is_there = _thread.allocate_lock()  # taken as long as the thread is
        self.begin()
        _threads.append(self)
        if not _is_set_up:
            _is_set_up = True
            os.register_at_fork(before=_before_fork, after_in_parent=_in_parent(), after_in_child=_threads.clear)

    def begin(self):
        self.is_stopping = False
        if not self.is_there.acquire(False):
            return
        try:
            _thread.start_new_thread(self._run, ())
        except BaseException:
            self.is_there.release()
            raise

    def _run(self):
        try:
            self.ident, self.native_id = _thread.get_ident(), _thread.get_native_id()
            signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals() - FAULTS)
            self.run()
        except BaseException:  # nothing is printed
            pass
        finally:
            self.is_there.release()

    def end(self, timeout_s):
        """Has it ended within that time?"""
        self.is_stopping = True
        if not self.wake() or not self.is_there.acquire(timeout=timeout_s):
            return False
        self.is_there.release()
        return True

    def stop(self, timeout_s):
        """For good. Has it ended within that time?"""
        if self in _threads:
            _threads.remove(self)
        return self.end(timeout_s)

    def end_for_fork(self):
        if self.ident == _thread.get_ident() or not self.end(PAUSE_S):
            return
        for _ in range(GONE_TRIES):
            if not os.path.exists("/proc/self/task/{}".format(self.native_id)):
                return
            time.sleep(GONE_TRY_S)


def guarded(function, *arguments):
    """The program goes on as it would without us."""
    try:
        function(*arguments)
    except Exception:
        pass


def _pause():
    there = sum(thread.is_there.locked() for thread in _threads)
    if there > 0 and len(os.listdir("/proc/self/task")) == 1 + there:
        for thread in _threads:
            thread.end_for_fork()


def _before_fork():
    if sys.version_info >= (3, 12):
        guarded(_pause)


def _begin_all(_=None):
    for thread in _threads:
        guarded(thread.begin)
    return 0


def _in_parent():
    """The function that starts them again after a fork. Python 3.13 counts the threads after it has run, so there the
    interpreter is asked to call it later: it does so in the next Python function, which is why this one is none."""
    global _pending
    try:
        if sys.version_info[:2] == (3, 13):
            import ctypes
            import functools

            _pending = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p)(_begin_all)
            return functools.partial(ctypes.pythonapi.Py_AddPendingCall, _pending, None)
    except Exception:
        pass
    return _begin_all
