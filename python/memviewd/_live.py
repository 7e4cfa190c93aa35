# SPDX-License-Identifier: Apache-2.0
"""Writes down what this process has in use while it runs: `memviewd watch` and the page Live show it as it goes.

A thread asks PyTorch's allocator, and JAX's devices, every so many seconds, from when the program has taken a device.
It imports nothing and takes no device. Its file, RUN/.live/rank3.4711-1f2e3d4c, is read by analysis/model/live, a line
each:

    device NUMBER KIND TOTAL NAME        KIND: allocator, arrays
    at MS NUMBER LOW HIGH RESERVED FREE  bytes in use since the line before, at the least and at the most; what the
                                         allocator has of the device, what of it is free for anybody; MS: Unix time
    peak MS NUMBER HIGH                  the most so far
    failed TEXT                          nothing more can be asked
    end MS

"-" is what is not known. Lines are appended; when there are many the older ones are joined and the file is replaced."""

import atexit
import errno
import os
import sys
import time
import _thread

from . import _background, _capture, _hook, _jax, _torch

FOLDER_NAME = ".live"
MIN_EVERY_S = 0.01
# So that asking takes a fiftieth of one core at most, however slow it is.
LEAST_REST = 49
MAX_DEVICES = 16
RECENT = 256  # samples of a device that are not joined yet
MAX_JOINED = 512
MAX_FAULTS = 5  # one after another
CLOSE_S = 10

_sampler = None  # of this process
_is_set_up = False


class Sample(object):
    """of one device; bytes, None: not known"""

    __slots__ = ("ms", "low", "high", "reserved", "free", "count")

    def __init__(self, ms, low, high, reserved=None, free=None):
        self.ms, self.low, self.high, self.reserved, self.free, self.count = ms, low, high, reserved, free, 1

    def join(self, other):
        """with a later one"""
        self.ms, self.low, self.high = other.ms, min(self.low, other.low), max(self.high, other.high)
        self.reserved = _of(max, self.reserved, other.reserved)
        self.free = _of(min, self.free, other.free)
        self.count += other.count


def _of(choose, a, b):
    return a if b is None else b if a is None else choose(a, b)


def _word(value):
    return "-" if value is None else str(int(value))


class Device(object):
    def __init__(self, number, kind, name, total):
        self.number, self.kind, self.name, self.total = number, kind, name, total
        self.joined, self.recent, self.step = [], [], 1  # `step` samples are one of `joined`
        self.told_peak = self.peak = None  # told by the framework before; (ms, bytes)

    def head(self):
        return "device {} {} {} {}\n".format(
            self.number, self.kind, _word(self.total), " ".join(self.name.split())[:100]
        )

    def row(self, sample):
        return "at {} {} {} {} {} {}\n".format(
            sample.ms, self.number, _word(sample.low), _word(sample.high), _word(sample.reserved), _word(sample.free)
        )

    def peak_row(self):
        return "peak {} {} {}\n".format(self.peak[0], self.number, _word(self.peak[1]))

    def take(self, ms, used, told_peak, reserved, free):
        """One more sample; the lines to append. A peak of the framework that is another one than before is of this
        moment: it has risen, or the program has set it back."""
        high = used
        if told_peak is not None and told_peak != self.told_peak:
            high = max(used, told_peak)
        self.told_peak = told_peak
        sample = Sample(ms, used, high, reserved, free)
        self.recent.append(sample)
        lines = self.row(sample)
        if self.peak is None or high > self.peak[1]:
            self.peak = (ms, high)
            lines += self.peak_row()
        return lines

    def join(self):
        """The older half of what is recent; where that makes too many, pairs are one."""
        for sample in self.recent[: RECENT // 2]:
            if self.joined and self.joined[-1].count + sample.count <= self.step:
                self.joined[-1].join(sample)
            else:
                self.joined.append(sample)
        del self.recent[: RECENT // 2]
        if len(self.joined) > MAX_JOINED:
            for first, second in zip(self.joined[::2], self.joined[1::2]):
                first.join(second)
            del self.joined[1::2]
            self.step *= 2

    def text(self):
        return self.head() + "".join(map(self.row, self.joined + self.recent)) + (self.peak_row() if self.peak else "")


# ---- asking -------------------------------------------------------------------------------

# What exchanges the mode of a thread in the driver that is loaded.
EXCHANGES = (
    ("libcuda.so", "cuThreadExchangeStreamCaptureMode"),
    ("libamdhip64.so", "hipThreadExchangeStreamCaptureMode"),
)
RELAXED = 2


def _loaded_drivers():
    """[(path, name of its function)]"""
    with open("/proc/self/maps", encoding="utf-8", errors="replace") as file:
        paths = {line.split(None, 5)[-1].strip() for line in file if ".so" in line}
    return [
        (path, function) for path in sorted(paths) for stem, function in EXCHANGES if stem in os.path.basename(path)
    ]


def _relax():
    """From here on, what this thread asks the driver breaks no graph that another thread captures meanwhile. False:
    that cannot be had, so the driver is not asked."""
    try:
        import ctypes

        modes = [(getattr(ctypes.CDLL(path), function), ctypes.c_int(RELAXED)) for path, function in _loaded_drivers()]
        return all(exchange(ctypes.byref(mode)) == 0 for exchange, mode in modes)
    except Exception:
        return False


def _torch_devices(known, is_relaxed):
    """(key, kind, name, total, used, peak, reserved, free) of each GPU that PyTorch's allocator has memory of. Others
    are not asked: to ask a GPU what is free takes some of it."""
    if _torch.running() is None:
        return
    cuda = sys.modules["torch"].cuda
    for at in range(min(cuda.device_count(), MAX_DEVICES)):
        stats = cuda.memory_stats(at)
        reserved = stats.get("reserved_bytes.all.current", 0)
        key = "cuda:{}".format(at)
        if reserved == 0 and key not in known:
            continue
        free, total = cuda.mem_get_info(at) if is_relaxed() else (None, cuda.get_device_properties(at).total_memory)
        yield (
            key,
            "allocator",
            key,
            total,
            stats.get("allocated_bytes.all.current", 0),
            stats.get("allocated_bytes.all.peak"),
            reserved,
            free,
        )


def _stats_of(device):
    try:
        return device.memory_stats()
    except Exception:  # not every backend has them
        return None


def _jax_devices():
    # Without a lock of JAX's as long as it has none: a program may fork at any moment.
    jax = _jax.running() if getattr(sys.modules.get("jax._src.xla_bridge"), "_backends", None) else None
    if jax is None:
        return
    has_stats = False
    for device in jax.local_devices()[:MAX_DEVICES]:
        stats = _stats_of(device)
        if stats and "bytes_in_use" in stats:
            has_stats = True
            name = "{}:{}".format(device.platform, device.id)
            yield (
                "jax " + name,
                "allocator",
                name,
                stats.get("bytes_limit") or None,
                stats["bytes_in_use"],
                stats.get("peak_bytes_in_use"),
                stats.get("pool_bytes") or None,
                None,
            )
    if not has_stats:  # of the CPU
        bytes_in_use = sum(array.nbytes for array in jax.live_arrays() if not array.is_deleted())
        yield ("jax arrays", "arrays", jax.default_backend(), None, bytes_in_use, None, None, None)


# ---- the thread -----------------------------------------------------------------------------


class Sampler(object):
    """A file of this process in the folder of its run, from when there is something to write. stop() ends it."""

    def __init__(self, run, every_s):
        self.run, self.every_s, self.process = run, max(every_s, MIN_EVERY_S), os.getpid()
        self.devices, self.path, self.had_device, self.relaxed = {}, None, True, None
        self.is_whole = False  # the file has all that was sampled
        self.has_failed = False
        self.resting = _thread.allocate_lock()
        self.resting.acquire()
        self.thread = _background.BackgroundThread(self._run, self._wake)

    def _run(self):
        fault_count = 0
        while not self.has_failed:
            began_s = time.thread_time()  # of this thread: it may wait for others, which costs nothing
            try:
                self._take()
                fault_count = 0
            except Exception as error:  # a full disk today may be mended tomorrow
                fault_count += 1
                if fault_count >= MAX_FAULTS and not (isinstance(error, OSError) and os.path.isdir(self.run)):
                    self.has_failed = True
                    self._append("failed {}: {}\n".format(type(error).__name__, " ".join(str(error).split())[:300]))
                    return
            rest_s = max(self.every_s, LEAST_REST * (time.thread_time() - began_s))
            if self.resting.acquire(timeout=rest_s) and self.thread.is_stopping:
                return

    def _wake(self):
        if self.resting.locked():
            self.resting.release()
        return True

    def stop(self):
        """May be called once; waits for an answer that is being written."""
        if self.thread.stop(CLOSE_S) and self.path is not None and not self.has_failed:
            self._append("end {}\n".format(int(time.time() * 1000)))

    def look(self):
        self.had_device = _capture._has_device()

    def _is_relaxed(self):
        """Asked first when the driver is there."""
        if self.relaxed is None:
            self.relaxed = _relax()
        return self.relaxed

    def _take(self):
        lines, ms = "", int(time.time() * 1000)
        was_whole, self.is_whole = self.is_whole, False
        for asked in (_torch_devices(self.devices, self._is_relaxed), _jax_devices()):
            for key, kind, name, total, used, peak, reserved, free in asked:
                device = self.devices.get(key)
                if device is None:
                    device = self.devices[key] = Device(len(self.devices), kind, name, total)
                    lines += device.head()
                lines += device.take(ms, used, peak, reserved, free)
        if not lines:
            self.is_whole = was_whole
            return
        if self.path is None:
            self._open()
        if not was_whole or any(len(device.recent) >= RECENT for device in self.devices.values()):
            self._replace()
        else:
            self._append(lines)
        self.is_whole = True

    def _open(self):
        """At the first device. JAX lets go of its own at the end of the program: this thread ends before that."""
        folder = os.path.join(self.run, FOLDER_NAME)
        try:
            os.mkdir(folder, 0o700)
        except FileExistsError:
            pass
        path = os.path.join(folder, "{}-{}".format(_hook.process_name(), os.urandom(4).hex()))
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
        self.path = path
        atexit.register(end)  # before what was registered until now, too

    def _append(self, lines):
        if self.path is None:
            return
        file = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW)
        try:
            data = lines.encode("utf-8", "replace")
            if os.write(file, data) < len(data):
                raise OSError(errno.ENOSPC, "a line was written in part")
        finally:
            os.close(file)

    def _replace(self):
        for device in self.devices.values():
            device.join()
        part = os.path.join(os.path.dirname(self.path), "." + os.path.basename(self.path))
        with open(part, "wb") as file:
            file.write("".join(device.text() for device in self.devices.values()).encode("utf-8", "replace"))
        os.replace(part, self.path)


# ---- beginning, forks, end --------------------------------------------------------------------


def _before_fork():
    if _sampler is not None:
        _background.guarded(_sampler.look)


def _in_child():
    global _sampler
    parents, _sampler = _sampler, None
    if parents is not None and not parents.had_device and os.path.isdir(parents.run):  # the run goes on
        _background.guarded(begin, parents.run, parents.every_s)


def begin(run, every_s):
    """From here on this process writes, and so do those that it forks before it takes a device. May be called again."""
    global _sampler, _is_set_up
    if _sampler is None:
        _sampler = Sampler(run, every_s)
    if not _is_set_up:
        _is_set_up = True
        os.register_at_fork(before=_before_fork, after_in_child=_in_child)
    atexit.register(end)


def end():
    """Nothing more is written. May be called again."""
    global _sampler
    sampler, _sampler = _sampler, None
    if sampler is not None and sampler.process == os.getpid():
        _background.guarded(sampler.stop)
