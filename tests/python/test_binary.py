# SPDX-License-Identifier: Apache-2.0
"""Where the program is found, and that it decides what a lack of memory is."""

import ast
import glob
import json
import os
import subprocess
import sys
import sysconfig
from unittest import mock

import memviewd
from memviewd import _binary
from python_box import COMPILE_TEXT, HERE, Case

PACKAGE = os.path.dirname(memviewd.__file__)


class Finding(Case):
    def program(self, *path):
        path = os.path.join(self.folder, *path)
        os.makedirs(os.path.dirname(path))
        with open(path, "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\necho memviewd 7.8.9\n")
        os.chmod(path, 0o755)
        return path

    def test_the_variable_is_first_then_the_scripts_folder_then_the_path(self):
        named, scripts, in_path = (
            self.program("a", "other"),
            self.program("b", "memviewd"),
            self.program("c", "memviewd"),
        )
        with mock.patch.object(sysconfig, "get_path", lambda *_: os.path.dirname(scripts)):
            self.set_environment(PATH=os.path.dirname(in_path) + ":" + os.environ["PATH"], MEMVIEWD=named)
            self.assertEqual(_binary.find(), named)
            self.set_environment(MEMVIEWD=None)
            self.assertEqual(_binary.find(), scripts)
            os.unlink(scripts)
            self.assertEqual(_binary.find(), in_path)

    def test_a_variable_that_names_nothing_is_told_and_not_passed_over(self):
        self.set_environment(MEMVIEWD="/nowhere/memviewd")
        with self.assertRaisesRegex(memviewd.NotFound, "MEMVIEWD=/nowhere/memviewd"):
            _binary.find()

    def test_nowhere(self):
        self.set_environment(MEMVIEWD=None, PATH=self.folder)
        with mock.patch.object(sysconfig, "get_path", lambda *_: self.folder), mock.patch.object(sys, "executable", ""):
            with self.assertRaisesRegex(memviewd.NotFound, "PATH"):
                _binary.find()

    def test_the_version_is_the_programs(self):
        printed = subprocess.run(
            [os.environ["MEMVIEWD"], "--version"], capture_output=True, text=True, check=True
        ).stdout
        self.assertEqual("memviewd {}".format(memviewd.__version__), printed.splitlines()[0])
        self.set_environment(MEMVIEWD=self.program("a", "memviewd"))
        self.assertEqual(memviewd.__version__, "7.8.9")


class Running(Case):
    def as_module(self, *words, **environment):
        path = os.path.dirname(PACKAGE)
        return subprocess.run(
            [sys.executable, "-m", "memviewd", *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            input=b"",
            env={**os.environ, "PYTHONPATH": path, **environment},
        )

    def test_python_m_is_the_command_line(self):
        for words in (
            ["--version"],
            ["summary", "/nowhere"],
            ["run", "--quiet", "--", "sh", "-c", 'echo "$2 $LD_PRELOAD"; exit 7', "sh", "a  b"],
        ):
            preload = {"LD_PRELOAD": "libc.so.6"}  # of the job
            own = subprocess.run(
                [os.environ["MEMVIEWD"], *words],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                input=b"",
                env={**os.environ, **preload},
            )
            ours = self.as_module(*words, **preload)
            self.assertEqual((ours.returncode, ours.stdout, ours.stderr), (own.returncode, own.stdout, own.stderr))

    def test_python_m_without_the_program(self):
        done = self.as_module("--version", MEMVIEWD="/nowhere/memviewd")
        self.assertEqual((done.returncode, done.stdout), (2, b""))
        self.assertEqual(done.stderr.decode(), "memviewd: MEMVIEWD=/nowhere/memviewd is no program that can be run\n")


class Deciding(Case):
    def test_every_family_that_the_program_knows_is_one(self):
        with open(os.path.join(HERE, "..", "golden", "oom_families.json"), encoding="utf-8") as file:
            cases = json.load(file)
        self.assertGreater(len(cases), 50)
        for case in cases[::10]:
            self.assertEqual(len(_binary.failures_in(case["text"])), case["count"], case["text"])

    def test_other_texts_are_none(self):
        for text in (
            "",
            "ValueError: 3",
            "KeyError: 'memory'",
            "Traceback (most recent call last):\n  out of range",
            "\ud800 \0",
        ):
            self.assertEqual(_binary.failures_in(text), [], text)

    def test_the_failure_comes_with_its_figures(self):
        (failure,) = _binary.failures_in("noise\n" + COMPILE_TEXT)
        self.assertEqual((failure["module"], failure["needed_bytes"]), ("jit_f", 20 << 30))


class Source(Case):
    def test_python_38_reads_it_and_it_needs_the_standard_library_alone(self):
        allowed = {"jax", "torch", "jupyter_server", "google", "IPython", "sitecustomize", "memviewd"}
        for path in glob.glob(os.path.join(PACKAGE, "*.py")):
            tree = ast.parse(self.read(path), path, feature_version=(3, 8))
            for node in ast.walk(tree):
                names = (
                    [each.name for each in node.names]
                    if isinstance(node, ast.Import)
                    else ([node.module] if isinstance(node, ast.ImportFrom) and node.level == 0 else [])
                )
                for name in names:
                    self.assertIn(name.split(".")[0], allowed | sys.stdlib_module_names, path)

    def test_importing_it_imports_no_framework_and_starts_nothing(self):
        code = (
            "import sys, threading, memviewd\n"
            "assert not {'jax', 'IPython', 'numpy', 'torch'} & set(sys.modules), sys.modules\n"
            "assert threading.active_count() == 1\n"
        )
        subprocess.run([sys.executable, "-W", "error", "-c", code], check=True, cwd=os.path.dirname(PACKAGE))
