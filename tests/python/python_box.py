# SPDX-License-Identifier: Apache-2.0
"""A folder of its own for each test, what is printed, and inputs."""

import contextlib
import glob
import io
import os
import shutil
import sys
import tempfile
import time
import unittest

from memviewd import _labels

HERE = os.path.dirname(os.path.abspath(__file__))
FIXTURES = os.path.join(HERE, "..", "fixtures")


def fixture(*path):
    with open(os.path.join(FIXTURES, *path), "rb") as file:
        return file.read()


COMPILE_TEXT = fixture("oom", "0.10.2-libtpu0.0.52-v5e-dots.txt").decode()
PROFILES = [fixture("memprof", f"memory{number}.prof") for number in range(1, 10)]


def until(condition, what, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, what
        time.sleep(0.02)


class Case(unittest.TestCase):
    def setUp(self):
        self.set_environment(
            **{variable: None for _, variable in _labels.VARIABLES},
            MEMVIEWD_LABELS=None,
            KUBERNETES_SERVICE_HOST=None,
            RAY_JOB_CONFIG_JSON_ENV_VAR=None,
        )  # a session has memviewd.json only in tests of it
        self.folder = os.path.realpath(tempfile.mkdtemp(prefix="memviewd-python-"))
        self.addCleanup(shutil.rmtree, self.folder)
        before = os.getcwd()
        self.addCleanup(os.chdir, before)
        os.chdir(self.folder)
        self.logdir = os.path.join(self.folder, "runs")
        self.stderr = io.StringIO()
        stack = contextlib.ExitStack()
        stack.enter_context(contextlib.redirect_stderr(self.stderr))
        self.addCleanup(stack.close)

    def set_environment(self, **variables):
        for name, value in variables.items():
            before = os.environ.get(name)
            self.addCleanup(
                os.environ.pop if before is None else os.environ.__setitem__,
                name,
                *([None] if before is None else [before]),
            )
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value

    def put_module(self, name, module):
        """in sys.modules while the test runs; None: it is not there"""
        before = sys.modules.get(name)
        self.addCleanup(
            sys.modules.pop if before is None else sys.modules.__setitem__,
            name,
            *([None] if before is None else [before]),
        )
        sys.modules[name] = module

    def runs(self):
        return sorted(glob.glob(os.path.join(self.logdir, "run-*")))

    def only_run(self):
        runs = self.runs()
        self.assertEqual(len(runs), 1, runs)
        return runs[0]

    def read(self, *path):
        with open(os.path.join(*path), encoding="utf-8") as file:
            return file.read()
