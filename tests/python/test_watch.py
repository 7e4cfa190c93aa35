# SPDX-License-Identifier: Apache-2.0
"""watch(): the series, its limits, its end."""

import os
import subprocess
import sys
import tempfile
import threading
import time
import types
from unittest import mock

import memviewd
import stub_jax
from memviewd import _daemon, _live, _oom, _session
from python_box import PROFILES, Case, until

EVERY = 0.05


class WatchCase(Case):
    def put_jax(self, **given):
        jax, bridge = stub_jax.make(**given)
        self.put_module("jax", jax)
        self.put_module("jax._src.xla_bridge", bridge)
        return jax

    def watch(self, **given):
        watch = memviewd.watch(**{"every": EVERY, "logdir": self.logdir, **given})
        self.addCleanup(watch.stop)
        return watch


class Watching(WatchCase):
    def test_a_numbered_series(self):
        self.put_jax()
        with self.watch() as watch:
            until(lambda: watch.count >= 3, "no profile")
        count = watch.count
        names = sorted(name for name in os.listdir(watch.folder) if name != "run.lock")
        self.assertEqual(names, ["memory-{:06d}.prof".format(at + 1) for at in range(count)])
        for name, data in zip(names, PROFILES):
            with open(os.path.join(watch.folder, name), "rb") as file:
                self.assertEqual(file.read(), data)
        self.assertNotIn("memviewd-watch", [each.name for each in threading.enumerate()])
        self.assertEqual(watch.count, count)
        watch.stop()

    def test_limits_thin_the_older_half_and_say_so(self):
        self.put_jax()
        watch = self.watch(max_profiles=8)
        until(lambda: watch.count >= 30, "no profiles")
        watch.stop()
        numbers = [number for number, _ in watch._session.profiles()]
        self.assertLessEqual(len(numbers), 8)
        self.assertEqual((numbers[0], numbers[-1]), (1, watch.count))
        self.assertEqual(len(numbers), watch.count - watch.removed_count)
        gaps = [b - a for a, b in zip(numbers, numbers[1:])]
        self.assertEqual(gaps[-1], 1)
        self.assertGreater(gaps[0], 1)
        self.assertEqual(self.stderr.getvalue().count("every second one is removed"), 1)

    def test_a_limit_of_bytes(self):
        self.put_jax(profiles=[b"x" * 1000])
        watch = self.watch(max_bytes=5000)
        until(lambda: watch.count >= 12, "no profiles")
        watch.stop()
        self.assertLessEqual(len(watch._session.profiles()), 5)

    def test_nothing_before_there_is_a_device_and_no_folder_stays(self):
        jax, bridge = stub_jax.make(has_devices=False)
        self.put_module("jax", jax)
        self.put_module("jax._src.xla_bridge", bridge)
        looks = []
        bridge.backends_are_initialized = lambda: bool(looks.append(1))
        watch = self.watch()
        until(lambda: len(looks) >= 3, "it does not look again")
        self.assertEqual(watch.count, 0)
        bridge.backends_are_initialized = lambda: True
        until(lambda: watch.count, "no profile")
        watch.stop()
        self.only_run()
        bridge.backends_are_initialized = lambda: False
        self.watch().stop()
        self.only_run()

    def test_without_jax(self):
        self.put_module("jax", None)
        self.watch().stop()
        self.assertEqual((self.runs(), self.stderr.getvalue()), ([], ""))

    def test_what_fails_is_said_once_and_tried_again(self):
        jax, tries = self.put_jax(), []
        good, jax.profiler.device_memory_profile = jax.profiler.device_memory_profile, lambda: tries.append(1) or 1 / 0
        watch = self.watch()
        until(lambda: "watch: ZeroDivisionError" in self.stderr.getvalue(), "not said")
        until(lambda: len(tries) >= 3, "not tried again")
        jax.profiler.device_memory_profile = good
        until(lambda: watch.count, "not tried again")
        watch.stop()
        self.assertEqual(self.stderr.getvalue().count("ZeroDivisionError"), 1)

    def test_a_profile_appears_whole(self):
        session = _session.open_new(self.logdir)
        self.addCleanup(session.close)
        with mock.patch.object(os, "replace", side_effect=OSError("no")):
            self.assertRaises(OSError, session.write_profile, b"x")
        self.assertEqual(os.listdir(session.path), ["run.lock"])

    def test_processes_that_fail_at_once_write_profiles_of_their_own(self):
        with tempfile.TemporaryDirectory() as folder:
            script = (
                "import sys; from memviewd import _session\n"
                "session = _session.Session(sys.argv[1])\n"
                "for _ in range(20): session.write_profile(sys.argv[2].encode())\n"
            )
            environ = {**os.environ, "PYTHONPATH": os.path.dirname(os.path.dirname(memviewd.__file__))}
            children = [subprocess.Popen([sys.executable, "-c", script, folder, name], env=environ) for name in "abc"]
            self.assertEqual([child.wait() for child in children], [0, 0, 0])
            names = sorted(os.listdir(folder))
            self.assertEqual(names, ["memory-{:06d}.prof".format(number) for number in range(1, 61)])
            held = [open(os.path.join(folder, name), "rb").read() for name in names]
            self.assertEqual([held.count(name) for name in (b"a", b"b", b"c")], [20, 20, 20])

    def test_what_pytorch_has_in_use_is_written(self):
        self.put_module("jax", None)
        torch = types.ModuleType("torch")
        torch.cuda = types.SimpleNamespace(
            is_initialized=lambda: True,
            memory=types.SimpleNamespace(_dump_snapshot=None),
            device_count=lambda: 1,
            memory_stats=lambda at: {"allocated_bytes.all.current": 5, "reserved_bytes.all.current": 7},
            mem_get_info=lambda at: (11, 99),
        )
        self.put_module("torch", torch)
        with self.watch() as watch:
            live = os.path.join(watch.folder, ".live")
            until(lambda: os.path.isdir(live) and os.listdir(live), "nothing is written")
        (name,) = os.listdir(live)
        lines = self.read(live, name).splitlines()
        self.assertEqual((lines[0], lines[1].split()[2:]), ("device 0 allocator 99 cuda:0", ["0", "5", "5", "7", "11"]))
        self.assertTrue(lines[-1].startswith("end "), lines)
        self.assertEqual(self.only_run(), watch.folder)

    def test_below_memviewd_watch_it_is_written_once(self):
        self.set_environment(MEMVIEWD_WATCH="1")
        self.put_module("_memviewd_hook", types.ModuleType("_memviewd_hook"))
        with mock.patch.object(_live, "Sampler", lambda *_: self.fail("twice")):
            self.watch().stop()

    def test_wrong_words(self):
        for given in ({"every": 0}, {"every": float("nan")}, {"max_profiles": 1}, {"max_bytes": 0}):
            with self.assertRaises(ValueError):
                memviewd.watch(logdir=self.logdir, **given)
        self.assertFalse(os.path.exists(self.logdir))

    def test_it_ends_with_the_interpreter_and_not_in_the_middle_of_a_profile(self):
        code = (
            "import sys; sys.path[:0] = {!r}\nimport os, time, stub_jax, memviewd\n"
            "sys.modules['jax'], sys.modules['jax._src.xla_bridge'] = jax, _ = stub_jax.make()\n"
            "begun = []\n"
            "def profile():\n    begun.append(1); time.sleep(0.5); os.write(1, b'whole '); return b'x'\n"
            "jax.profiler.device_memory_profile = profile\n"
            "watch = memviewd.watch(every=0.05, logdir={!r})\n"
            "while len(begun) < 2: time.sleep(0.01)\n"
        ).format(sys.path[:2], self.logdir)
        done = subprocess.run(
            [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60
        )
        self.assertEqual((done.returncode, done.stdout), (0, "whole whole "))
        self.assertIn("memory-000001.prof", os.listdir(self.only_run()))


class Together(WatchCase):
    def test_a_failure_while_it_watches_belongs_to_the_series(self):
        self.put_jax(arrays=[stub_jax.Array(4)])
        with mock.patch.object(_oom, "_failure_count", 0), self.watch() as watch:
            until(lambda: watch.count >= 3, "no profile")
            with self.assertRaises(RuntimeError), memviewd.on_oom(logdir=self.logdir):
                raise stub_jax.out_of_memory()
        names = os.listdir(self.only_run())
        self.assertIn("output.log", names)
        self.assertEqual(self.only_run(), watch.folder)
        self.assertEqual(len([name for name in names if name.endswith(".prof")]), watch.count + 1)

    def test_its_page_is_the_series(self):
        self.addCleanup(_daemon.stop_all)
        self.put_jax()
        with self.watch() as watch:
            until(lambda: watch.count >= 3, "no profile")
            page = watch.page()
            self.assertRegex(page.url, r"^http://127.0.0.1:\d+/\?session=\w+&tool=device_memory&view=series$")
            self.assertEqual(page.session["kind"], "profiles")
