# SPDX-License-Identifier: Apache-2.0
"""`memviewd capture` of a program that called install()."""

import json
import os
import subprocess
import sys

import memviewd
import stub_jax
from memviewd import _capture
from python_box import PROFILES, Case

PACKAGES = os.path.dirname(os.path.dirname(memviewd.__file__))


class Capturing(Case):
    def capture(self, *words, status=0):
        done = subprocess.run(
            [os.environ["MEMVIEWD"], "capture", *words, "--wait=60"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            timeout=60,
        )
        self.assertEqual(done.returncode, status, done)
        return done

    def put_jax(self, **given):
        jax, bridge = stub_jax.make(**given)
        self.put_module("jax", jax)
        self.put_module("jax._src.xla_bridge", bridge)
        return jax

    def install(self):
        installed = memviewd.install(self.logdir)
        self.addCleanup(installed.remove)
        return installed

    def files(self):
        return sorted(
            os.path.relpath(os.path.join(at, name), self.only_run())
            for at, _, names in os.walk(self.only_run())
            for name in names
            if not name.startswith(".") and ".capture" not in at
        )

    def test_what_is_held_is_written(self):
        self.put_jax(arrays=[stub_jax.Array(400, 12)])
        installed = self.install()
        process = "pid{}".format(os.getpid())
        done = self.capture(self.logdir)
        self.assertEqual(
            [os.path.relpath(line.split("  ")[0], self.only_run()) for line in done.stdout.splitlines()],
            [process + "/memory-000001.prof", process + "/live_arrays-000001.json"],
        )
        with open(os.path.join(self.only_run(), process, "memory-000001.prof"), "rb") as file:
            self.assertEqual(file.read(), PROFILES[0])
        self.assertEqual(json.loads(self.read(self.only_run(), process, "live_arrays-000001.json"))["bytes"], 400)
        self.capture(self.only_run())
        installed.remove()
        self.assertEqual(
            self.files(),
            sorted(
                ["run.lock"]
                + [
                    "{}/{}-00000{}.{}".format(process, *each)
                    for each in (
                        ("memory", 1, "prof"),
                        ("memory", 2, "prof"),
                        ("live_arrays", 1, "json"),
                        ("live_arrays", 2, "json"),
                    )
                ]
            ),
        )
        self.assertNotIn(_capture.FOLDER_NAME, os.listdir(self.only_run()))
        self.assertIn("has ended", self.capture(self.logdir, status=2).stderr)

    def test_what_holds_nothing_leaves_nothing(self):
        self.put_jax(has_devices=False)
        installed = self.install()
        done = self.capture(self.logdir, status=2)
        self.assertEqual(
            done.stderr, "memviewd: pid{}: neither PyTorch nor JAX uses a device in it yet\n".format(os.getpid())
        )
        installed.remove()
        self.assertFalse(os.path.exists(self.logdir))

    def test_what_cannot_be_had_is_said_beside_what_can(self):
        jax = self.put_jax(arrays=[stub_jax.Array(400, 12)])
        jax.live_arrays = lambda: 1 / 0
        self.install()
        done = self.capture(self.logdir, status=1)
        self.assertIn("live arrays: ZeroDivisionError: division by zero\n", done.stderr)
        self.assertEqual(len(done.stdout.splitlines()), 1)

    def test_a_folder_that_cannot_be_written_is_said_and_the_rest_works(self):
        with open(self.logdir, "w", encoding="utf-8"):
            pass
        self.install()
        self.assertIn("memviewd capture cannot ask this process: FileExistsError", self.stderr.getvalue())

    def test_below_memviewd_run_its_hook_answers(self):
        self.put_module("_memviewd_hook", sys.modules[__name__])
        self.install()
        self.assertFalse(os.path.exists(self.logdir))

    def test_children_that_are_forked_answer_until_a_device_is_taken(self):
        code = (
            "import memviewd, os, sys, types\nmemviewd.install({!r})\n"
            "def fork():\n    ours, theirs = os.pipe()\n    child = os.fork()\n    if child == 0:\n"
            "        os.write(1, b'%r\\n' % (memviewd._capture._listener is not None))\n        os.close(theirs)\n"
            "        os.read(ours, 1)\n        os._exit(0)\n"
            "    return child, theirs\n"
            "first = fork()\n"
            "sys.modules['torch'] = types.SimpleNamespace(cuda=types.SimpleNamespace(is_initialized=lambda: True))\n"
            "second = fork()\n"
            "sys.stdin.read()\n[os.close(end) for _, end in (first, second)]\n"
            "[os.waitpid(child, 0) for child, _ in (first, second)]\n"
        ).format(self.logdir)
        with subprocess.Popen(
            [sys.executable, "-c", code],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=dict(os.environ, PYTHONPATH=PACKAGES),
        ) as job:
            self.assertEqual(sorted(job.stdout.readline() for _ in range(2)), ["False\n", "True\n"])
            self.assertEqual(len(self.capture(self.logdir, status=2).stderr.splitlines()), 2)
            out, err = job.communicate(timeout=60)
        self.assertEqual((job.returncode, out, err), (0, "", ""))
        self.assertFalse(os.path.exists(self.logdir))
