# SPDX-License-Identifier: Apache-2.0
"""on_oom() and install(): what is saved and told when a lack of memory passes, and that nothing else changes."""

import asyncio
import glob
import json
import os
import subprocess
import sys
import threading
from unittest import mock

import memviewd
import stub_jax
from memviewd import _binary, _oom, _session
from python_box import COMPILE_TEXT, PROFILES, Case


class OomCase(Case):
    def setUp(self):
        super().setUp()
        self.addCleanup(mock.patch.object(_oom, "_failure_count", 0).__enter__)

    def put_jax(self, **given):
        jax, bridge = stub_jax.make(**given)
        self.put_module("jax", jax)
        self.put_module("jax._src.xla_bridge", bridge)
        return jax

    def pass_by(self, error, **more):
        with self.assertRaises(type(error)) as caught:
            with memviewd.on_oom(logdir=self.logdir, **more):
                raise error
        self.assertIs(caught.exception, error)


class Passing(OomCase):
    def test_what_is_saved_and_told(self):
        self.put_jax(
            arrays=[stub_jax.Array(400, 12), stub_jax.Array(4000), stub_jax.Array(8000, is_gone=True)],
            executables=[
                stub_jax.Executable("jit_small", 10),
                stub_jax.Executable("jit_large", 20),
                stub_jax.Executable("jit_odd", -1),
            ],
        )
        error = stub_jax.out_of_memory()
        self.pass_by(error)
        run = self.only_run()
        text = self.read(run, "output.log")
        self.assertIn(COMPILE_TEXT.strip().splitlines()[0], text)
        self.assertIn("raise error", text)  # the traceback: where it was
        with open(os.path.join(run, "memory-000001.prof"), "rb") as file:
            self.assertEqual(file.read(), PROFILES[0])
        arrays = json.loads(self.read(run, "live_arrays.json"))
        self.assertEqual((arrays["count"], arrays["bytes"]), (2, 4400))
        self.assertEqual(
            [(each["bytes"], each["line"], each["shape"]) for each in arrays["arrays"]],
            [(4000, None, [1000]), (400, "/home/me/train.py:12", [100])],
        )
        self.assertEqual(
            sorted(os.path.basename(path) for path in glob.glob(run + "/*.pb")),
            [
                "0000.jit_large.buffer_assignment.pb",
                "0000.jit_large.hlo.pb",
                "0001.jit_small.buffer_assignment.pb",
                "0001.jit_small.hlo.pb",
            ],
        )
        printed = self.stderr.getvalue()
        told = subprocess.run(
            [os.environ["MEMVIEWD"], "explain", run], stdout=subprocess.PIPE, text=True, check=True
        ).stdout
        self.assertIn("jit_f needs 20.00 GiB; 15.75 GiB of HBM are available", told)
        self.assertEqual(
            printed,
            "{}memviewd: saved in {}\nmemviewd: the page: memviewd.show({!r}) or memviewd --logdir={}\n".format(
                told, run, run, self.logdir
            ),
        )
        self.assertEqual(os.stat(run).st_mode & 0o777, 0o700)

    def test_every_other_exception_passes_and_nothing_is_made(self):
        self.put_jax()
        for error in (
            ValueError("3"),
            stub_jax.JaxRuntimeError("INVALID_ARGUMENT: memory"),
            KeyboardInterrupt(),
            SystemExit(3),
        ):
            self.pass_by(error)
        self.assertFalse(os.path.exists(self.logdir))
        self.assertEqual(self.stderr.getvalue(), "")

    def test_a_host_without_memory_and_no_jax(self):
        self.put_module("jax", None)
        self.pass_by(MemoryError())
        self.assertEqual(sorted(os.listdir(self.only_run())), ["output.log", "run.lock"])
        self.assertIn("host memory ran out", self.stderr.getvalue().lower())

    def test_the_session_says_whose_it_is(self):
        self.set_environment(USER="ada", SLURM_JOB_NAME="pretrain", GIT_COMMIT="c0ffee")
        self.put_module("jax", None)
        self.pass_by(MemoryError())
        with open(os.path.join(self.only_run(), "memviewd.json"), encoding="utf-8") as file:
            self.assertEqual(json.load(file), {"job": "pretrain", "commit": "c0ffee", "user": "ada"})
        empty = _session.open_new(os.path.join(self.folder, "other"))
        self.assertIn("memviewd.json", os.listdir(empty.path))
        empty.close()
        self.assertFalse(os.path.exists(empty.all), "labels alone are no session")

    def test_a_jax_without_devices_is_not_asked(self):
        jax = self.put_jax(has_devices=False)
        jax.live_arrays = jax.devices = lambda: self.fail("it would take the devices")
        self.pass_by(MemoryError())
        self.assertEqual(sorted(os.listdir(self.only_run())), ["output.log", "run.lock"])

    def test_nested_ones_look_once_also_where_it_is_raised_from_another(self):
        self.put_jax()
        with self.assertRaises(ValueError):
            with memviewd.on_oom(logdir=self.logdir):
                self.pass_by(stub_jax.out_of_memory())
                try:
                    with memviewd.on_oom(logdir=self.logdir), memviewd.on_oom(logdir=self.logdir):
                        raise stub_jax.out_of_memory()
                except RuntimeError as error:
                    raise ValueError("the step failed") from error
        self.assertEqual(len(self.runs()), 2)

    def test_faults_of_ours_are_told_and_the_exception_stays(self):
        jax = self.put_jax()
        jax.profiler.device_memory_profile = lambda: 1 / 0
        jax.devices = lambda: 1 / 0
        self.pass_by(stub_jax.out_of_memory())
        self.assertEqual(self.stderr.getvalue().count("ZeroDivisionError"), 2)
        self.assertEqual(sorted(os.listdir(self.only_run())), ["live_arrays.json", "output.log", "run.lock"])
        self.set_environment(MEMVIEWD="/nowhere")
        self.pass_by(stub_jax.out_of_memory())
        self.assertIn("could not look into it: NotFound", self.stderr.getvalue())

    def test_a_folder_that_cannot_be_written(self):
        with open(self.logdir, "w", encoding="utf-8"):
            pass
        self.pass_by(stub_jax.out_of_memory())
        self.assertIn("could not look into it: FileExistsError", self.stderr.getvalue())

    def test_a_stderr_that_is_closed(self):
        self.stderr.close()
        self.pass_by(stub_jax.out_of_memory())
        self.assertIn("output.log", os.listdir(self.only_run()))

    def test_threads(self):
        def work():
            with memviewd.on_oom(logdir=self.logdir):
                raise stub_jax.out_of_memory()

        with mock.patch.object(threading, "excepthook", lambda what: None):
            threads = [threading.Thread(target=work) for _ in range(4)]
            [each.start() for each in threads]
            [each.join() for each in threads]
        self.assertEqual(len(self.runs()), 4)

    def test_a_program_that_fails_again_and_again_does_not_fill_the_disk(self):
        with mock.patch.object(_oom, "MAX_FAILURES", 2):
            for _ in range(5):
                self.pass_by(stub_jax.out_of_memory())
        self.assertEqual(len(self.runs()), 2)
        self.assertEqual(self.stderr.getvalue().count("further ones are not"), 1)

    def test_without_an_exception_nothing_is_asked(self):
        with mock.patch.object(_binary, "run", lambda *_, **__: self.fail("a program was started")):
            with memviewd.on_oom():
                pass
            self.assertEqual(memviewd.on_oom(lambda x: x + 1)(2), 3)


class Decorating(OomCase):
    def test_functions_generators_and_coroutines(self):
        @memviewd.on_oom(logdir=self.logdir)
        def step(x):
            """does a step"""
            raise stub_jax.out_of_memory()

        @memviewd.on_oom(logdir=self.logdir)
        def steps():
            got = yield 1
            self.assertEqual(got, "sent")
            raise stub_jax.out_of_memory()

        @memviewd.on_oom(logdir=self.logdir)
        async def later():
            raise stub_jax.out_of_memory()

        self.assertEqual((step.__name__, step.__doc__), ("step", "does a step"))
        walk = steps()
        self.assertEqual(next(walk), 1)
        for act in (lambda: step(1), lambda: walk.send("sent"), lambda: asyncio.run(later())):
            self.assertRaises(stub_jax.JaxRuntimeError, act)
        self.assertEqual(len(self.runs()), 3)


class Dumping(OomCase):
    def test_the_dump_of_the_environment_is_copied(self):
        dump = os.path.join(self.folder, "a dump")
        os.mkdir(dump)
        for name, age in (
            ("module_0001.jit_old.after_optimizations.hlo.pb", 1e9),
            ("module_0002.jit_f.after_optimizations.hlo.pb", 0),
            ("module_0002.jit_f.thread.ll", 0),
            ("notes.txt", 0),
        ):
            with open(os.path.join(dump, name), "w", encoding="utf-8") as file:
                file.write(name)
            if age:
                os.utime(file.name, (age, age))
        self.put_jax(executables=[stub_jax.Executable("jit_f", 1)])
        self.set_environment(XLA_FLAGS="--xla_a=1 --xla_dump_to='{}'".format(dump))
        self.pass_by(stub_jax.out_of_memory())
        self.assertEqual(
            [name for name in sorted(os.listdir(self.only_run())) if "jit" in name],
            ["module_0002.jit_f.after_optimizations.hlo.pb"],
        )

    def test_processes_that_share_a_dump_are_told_apart(self):
        self.assertEqual(
            [
                _oom._program_of(name + ".after_optimizations.hlo.pb")
                for name in ("module_0004.jit_f", "17.module_0004.jit_f", "18.module_0004.jit_g")
            ],
            ["module_0004.jit_f", "17.module_0004.jit_f", "18.module_0004.jit_g"],
        )

    def test_inside_of_memviewd_run_it_goes_to_its_folder(self):
        self.put_jax()
        os.mkdir(self.logdir)
        self.set_environment(MEMVIEWD_RUN=self.logdir)
        with self.assertRaises(RuntimeError), memviewd.on_oom():
            raise stub_jax.out_of_memory()
        self.assertEqual(sorted(os.listdir(self.logdir)), ["live_arrays.json", "memory-000001.prof"])
        self.assertEqual(self.stderr.getvalue(), "")


class Installing(OomCase):
    def test_exceptions_that_nobody_catches(self):
        code = (
            "import memviewd, sys, threading\nmemviewd.install({!r})\nmemviewd.install({!r})\n"
            "def fall(): raise MemoryError('of ' + threading.current_thread().name)\n"
            "t = threading.Thread(target=fall, name='a thread'); t.start(); t.join(); fall()\n"
        ).format("nowhere", self.logdir)
        done = subprocess.run(
            [sys.executable, "-c", code],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=dict(os.environ, PYTHONPATH=os.path.dirname(os.path.dirname(memviewd.__file__))),
        )
        self.assertEqual((done.returncode, done.stdout), (1, ""), done.stderr)
        self.assertEqual(len(self.runs()), 2, done.stderr)
        self.assertFalse(os.path.exists("nowhere"))
        self.assertLess(
            done.stderr.index("MemoryError: of MainThread"), done.stderr.index("saved in " + self.runs()[1])
        )

    def test_remove_puts_back_what_was_there(self):
        before = sys.excepthook, threading.excepthook
        memviewd.install().remove()
        self.assertEqual((sys.excepthook, threading.excepthook), before)
        installed = memviewd.install()
        other = mock.Mock()
        with mock.patch.object(sys, "excepthook", other):
            installed.remove()
            self.assertIs(sys.excepthook, other)
        with mock.patch.object(installed, "_before"):
            installed._on_exception(MemoryError, MemoryError(), None)
        self.assertFalse(os.path.exists("memviewd-runs"))
        self.assertEqual(threading.excepthook, before[1])
        sys.excepthook = before[0]


class Folders(OomCase):
    def test_oldest_runs_that_have_ended_go(self):
        os.makedirs(os.path.join(self.logdir, "run-0000-mine"))  # without a lock: of other origin
        sessions = []
        for at in range(4):
            sessions.append(_session.open_new(self.logdir))
            sessions[-1].write("output.log", b"x" * 40000)
        sessions[1].close()
        sessions[2].close()
        with mock.patch.object(_session, "MAX_ALL_BYTES", 0):
            _session._remove_oldest(self.logdir, sessions[2].path, 100000)
        left = [os.path.basename(path) for path in self.runs()]
        self.assertEqual(left, sorted(["run-0000-mine"] + [sessions[at].name for at in (0, 2, 3)]))
        for session in sessions:
            session.close()

    def test_a_run_is_locked_when_it_gets_its_name(self):
        named = []

        def rename(begun, path, real=os.rename):
            self.assertIsNone(_session._take(begun))
            named.append(path)
            real(begun, path)

        with mock.patch.object(os, "rename", rename):
            sessions = [_session.open_new(self.logdir) for _ in range(2)]
        self.assertEqual(sorted({each.path for each in sessions}), self.runs())
        self.assertTrue(set(self.runs()) <= set(named))
        for session in sessions:
            session.close()
        self.assertFalse(os.path.exists(self.logdir))

    def test_what_is_empty_leaves_nothing(self):
        _session.open_new(self.logdir).close()
        self.assertFalse(os.path.exists(self.logdir))

    def test_a_working_folder_that_cannot_be_written(self):
        self.set_environment(TMPDIR=os.path.join(self.folder, "tmp"))
        os.mkdir("tmp")
        with open("memviewd-runs", "w", encoding="utf-8"):
            pass
        with mock.patch.object(_session.tempfile, "tempdir", None):
            session = _session.open_new()
        own = os.path.join(self.folder, "tmp", "memviewd-runs-{}".format(os.geteuid()))
        self.assertTrue(session.path.startswith(own + "/run-"), session.path)
        session.close()
        os.symlink(self.folder, own)  # somebody else made it: another place is taken
        with mock.patch.object(_session.tempfile, "tempdir", None), mock.patch.object(_session, "say") as said:
            session = _session.open_new()
        self.assertTrue(session.path.startswith(own + "-"), session.path)
        self.assertIn("not a folder that only you can write to", said.call_args[0][0])
        session.close()
