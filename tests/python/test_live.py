# SPDX-License-Identifier: Apache-2.0
"""What a process writes of what it has in use: who is asked, the file's lines and its size. Under `memviewd watch`:
tests/run."""

import ctypes
import itertools
import os
import types
from unittest import mock

import stub_jax
from memviewd import _live
from python_box import Case, until

GIB = 1 << 30


class Device:
    def __init__(self, platform, number, stats):
        self.platform, self.id, self.memory_stats = platform, number, stats


class LiveCase(Case):
    def setUp(self):
        super().setUp()
        os.mkdir(self.logdir)
        self.put_module("jax", None)
        clock = itertools.count(1000)
        self.addCleanup(mock.patch.object(_live.time, "time", lambda: next(clock)).__enter__)

    def sampler(self):
        """one that looks when it is told to"""
        with mock.patch.object(_live._thread, "start_new_thread"):
            return _live.Sampler(self.logdir, 1)

    def lines(self):
        (name,) = os.listdir(os.path.join(self.logdir, _live.FOLDER_NAME))
        return self.read(self.logdir, _live.FOLDER_NAME, name).splitlines()

    def put_torch(self, stats, infos):
        torch = types.ModuleType("torch")
        torch.cuda = types.SimpleNamespace(
            is_initialized=lambda: True,
            memory=types.SimpleNamespace(_dump_snapshot=None),
            device_count=lambda: len(stats),
            memory_stats=stats.__getitem__,
            mem_get_info=lambda at: infos[at](),
            get_device_properties=lambda at: types.SimpleNamespace(total_memory=7 * GIB),
        )
        self.put_module("torch", torch)

    def put_jax(self, *devices, arrays=()):
        jax, bridge = stub_jax.make(arrays=arrays)
        jax.local_devices, jax.default_backend, bridge._backends = (
            lambda: list(devices),
            lambda: devices[0].platform,
            {"cpu": 1},
        )
        self.put_module("jax", jax)
        self.put_module("jax._src.xla_bridge", bridge)
        return bridge


def stats_of(allocated, reserved, peak):
    return {
        "allocated_bytes.all.current": allocated,
        "reserved_bytes.all.current": reserved,
        "allocated_bytes.all.peak": peak,
    }


class Torch(LiveCase):
    def test_a_gpu_without_memory_of_ours_is_not_asked(self):
        self.put_torch(
            [stats_of(1 * GIB, 2 * GIB, 3 * GIB), stats_of(0, 0, 0)],
            [lambda: (4 * GIB, 8 * GIB), lambda: self.fail("it would take the GPU")],
        )
        self.sampler()._take()
        self.assertEqual(
            self.lines(),
            [
                "device 0 allocator 8589934592 cuda:0",
                "at 1000000 0 1073741824 3221225472 2147483648 4294967296",
                "peak 1000000 0 3221225472",
            ],
        )

    def test_a_peak_is_of_the_look_at_which_it_has_risen(self):
        stats = [stats_of(GIB, GIB, 2 * GIB)]
        self.put_torch(stats, [lambda: (GIB, 8 * GIB)])
        sampler = self.sampler()
        for peak in (2 * GIB, 2 * GIB, 5 * GIB, GIB, 2 * GIB):  # it is set back meanwhile
            stats[0] = stats_of(GIB, GIB, peak)
            sampler._take()
        self.assertEqual(
            [int(line.split()[4]) // GIB for line in self.lines() if line.startswith("at")], [2, 1, 5, 1, 2]
        )
        self.assertEqual(
            [line for line in self.lines() if line.startswith("peak")],
            ["peak 1000000 0 2147483648", "peak 1002000 0 5368709120"],
        )

    def test_a_driver_that_could_be_disturbed_is_not_asked(self):
        self.put_torch([stats_of(GIB, GIB, GIB)], [lambda: self.fail("it is asked")])
        with mock.patch.object(_live, "_relax", lambda: False):
            self.sampler()._take()
        self.assertEqual(
            self.lines()[:2],
            ["device 0 allocator 7516192768 cuda:0", "at 1000000 0 1073741824 1073741824 1073741824 -"],
        )

    def test_this_thread_alone_is_made_relaxed(self):
        asked = []
        answers = {"good": 0, "bad": 1}

        def library(path):
            def exchange(mode):
                asked.append(ctypes.cast(mode, ctypes.POINTER(ctypes.c_int))[0])
                return answers[path]

            return types.SimpleNamespace(cuThreadExchangeStreamCaptureMode=exchange)

        for path, is_relaxed in (("good", True), ("bad", False), ("none", False)):
            with (
                mock.patch.object(_live, "_loaded_drivers", lambda: [(path, "cuThreadExchangeStreamCaptureMode")]),
                mock.patch.object(ctypes, "CDLL", library),
            ):
                self.assertIs(_live._relax(), is_relaxed, path)
        self.assertEqual(asked, [_live.RELAXED] * 3)
        self.assertEqual(_live._loaded_drivers(), [])
        self.assertTrue(_live._relax())


class Jax(LiveCase):
    def test_devices_tell_their_limit_and_their_pool(self):
        self.put_jax(
            Device("tpu", 0, lambda: {"bytes_in_use": 5, "peak_bytes_in_use": 9, "bytes_limit": 100}),
            Device("tpu", 1, lambda: {"bytes_in_use": 6, "bytes_limit": 0, "pool_bytes": 64}),
            Device("tpu", 2, lambda: 1 / 0),
        )
        self.sampler()._take()
        self.assertEqual(
            self.lines(),
            [
                "device 0 allocator 100 tpu:0",
                "at 1000000 0 5 9 - -",
                "peak 1000000 0 9",
                "device 1 allocator - tpu:1",
                "at 1000000 1 6 6 64 -",
                "peak 1000000 1 6",
            ],
        )

    def test_where_no_device_tells_live_arrays_are_summed(self):
        self.put_jax(
            Device("cpu", 0, lambda: None),
            arrays=[stub_jax.Array(4000), stub_jax.Array(8000, is_gone=True), stub_jax.Array(96)],
        )
        self.sampler()._take()
        self.assertEqual(self.lines()[:2], ["device 0 arrays - cpu", "at 1000000 0 4096 4096 - -"])

    def test_one_without_a_device_is_not_asked_and_writes_nothing(self):
        bridge = self.put_jax(Device("cpu", 0, lambda: self.fail("it is asked")))
        bridge._backends, bridge.backends_are_initialized = (
            {},
            lambda: self.fail("its lock may be taken while the program forks"),
        )
        self.sampler()._take()
        self.assertEqual(os.listdir(self.logdir), [])


class Files(LiveCase):
    def test_many_samples_are_joined_and_the_peak_keeps_its_moment(self):
        values = itertools.chain([7], itertools.cycle([3, 5]))
        self.put_jax(Device("tpu", 0, lambda: {"bytes_in_use": next(values), "bytes_limit": 100}))
        sampler = self.sampler()
        with mock.patch.object(_live, "MAX_JOINED", 16), mock.patch.object(_live, "RECENT", 8):
            for _ in range(500):
                sampler._take()
        rows = [list(map(int, line.split()[1:5])) for line in self.lines() if line.startswith("at ")]
        self.assertLess(len(rows), 16 + 8 + 4)
        self.assertEqual((rows[0][2:], rows[5][2:], rows[-1][0]), ([3, 7], [3, 5], 1499000))
        self.assertEqual([row[0] for row in rows], sorted({row[0] for row in rows}))
        joined = [b[0] - a[0] for a, b in zip(rows, rows[1:])]
        self.assertEqual((max(joined), joined[-1]), (32000, 1000))  # the older, the coarser; what is new is whole
        self.assertIn("peak 1000000 0 7", self.lines())
        self.assertEqual(os.listdir(os.path.join(self.logdir, _live.FOLDER_NAME)), [os.path.basename(sampler.path)])

    def test_a_thread_looks_until_it_is_stopped(self):
        self.put_jax(Device("tpu", 0, lambda: {"bytes_in_use": 5}))
        sampler = _live.Sampler(self.logdir, 0.01)
        until(lambda: sampler.path and len(self.lines()) > 5, "it does not look")
        sampler.stop()
        self.assertTrue(self.lines()[-1].startswith("end "))
        count = len(self.lines())
        self.assertEqual(len(self.lines()), count)

    def test_a_run_that_is_gone_ends_it(self):
        self.put_jax(Device("tpu", 0, lambda: {"bytes_in_use": 5}))
        os.rmdir(self.logdir)
        self.addCleanup(os.mkdir, self.logdir)
        sampler = _live.Sampler(self.logdir, 0.01)
        self.assertTrue(sampler.thread.is_there.acquire(timeout=60))
