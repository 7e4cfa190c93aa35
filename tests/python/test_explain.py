# SPDX-License-Identifier: Apache-2.0
"""explain(): what is compiled how, and that what it says is what the command line prints."""

import glob
import os
import subprocess
import sys
import types
from unittest import mock

import memviewd
import stub_jax
from memviewd import _daemon, _explain
from python_box import Case, HERE, fixture

sys.path.append(os.path.join(HERE, "..", "http"))
from document import Document  # noqa: E402: its folder is added above

DUMP = os.path.join(stub_jax.DUMP, "d-tile-padding")
FILES = [path for path in glob.glob(os.path.join(DUMP, "module_*.pb"))]


def too_large():
    return stub_jax.JaxRuntimeError(fixture("dumps", "d-tile-padding", "error.txt").decode())


class Explaining(Case):
    def printed(self, *words):
        return subprocess.run(
            [os.environ["MEMVIEWD"], "explain", *words], stdout=subprocess.PIPE, check=True
        ).stdout.decode()

    def test_what_may_be_absent_is_what_the_document_says(self):
        document = Document(os.path.join(HERE, "..", "..", "docs", "openapi.yaml"))
        answer = document.tree["components"]["schemas"]["Verdict"]
        rows = (answer, answer["properties"]["advice"]["items"])
        self.assertEqual(
            _explain.MAY_BE_ABSENT, {name for row in rows for name in row["properties"] if name not in row["required"]}
        )

    def test_what_does_not_fit(self):
        error, lowered = too_large(), stub_jax.Lowered(FILES)
        lowered.error = error
        found = memviewd.explain(lowered)
        self.assertEqual(lowered.asked, [{"xla_dump_hlo_as_proto": True, "xla_dump_to": found.folder}])
        self.assertIs(found.error, error)
        self.assertIs(found.fits, False)
        self.assertEqual(
            found.verdict, "jit_f needs 520.25 GiB and HBM has 15.75 GiB, over by 504.50 GiB: padding, 500.00 GiB."
        )
        self.assertTrue(found.cause.startswith("Padding holds 500.00 GiB"), found.cause)
        self.assertEqual((found.needed_bytes >> 28, found.capacity_bytes >> 28), (520 * 4 + 1, 63))
        self.assertTrue(found.advice and all(row.title and row["do"] for row in found.advice))
        with self.assertRaises(AttributeError):
            found.advice[0].nothing
        self.assertIsNone(memviewd._explain.Row().saves_bytes)
        self.assertIsNone(memviewd._explain.Row().allocated_bytes)
        self.assertEqual(str(found) + "\n", self.printed(found.folder))
        shown = found._repr_html_()
        self.assertIn("Padding holds 500.00 GiB", shown.split("<iframe", 1)[0])
        self.assertIn("520.25 GiB", shown.split('srcdoc="', 1)[1])
        self.assertNotIn("<s>", Explained(found, "<s>")._repr_html_())
        self.assertIn(found.verdict, repr(found))

    def test_what_fits_and_another_capacity(self):
        found = memviewd.explain(stub_jax.Lowered(FILES))
        self.assertIsNone(found.error)
        larger = found.at("600GiB")
        self.assertIs(larger.fits, True)
        self.assertEqual(str(larger) + "\n", self.printed("--capacity=600GiB", found.folder))
        with self.assertRaisesRegex(RuntimeError, "neither a device"):
            found.at("v99")

    def test_a_capacity_that_is_asked_for(self):
        for capacity, fits in (("600GiB", True), ("80GiB", False), (600 << 30, True)):
            found = memviewd.explain(stub_jax.Lowered(FILES), capacity=capacity)
            self.assertIs(found.fits, fits)
            self.assertEqual(str(found) + "\n", self.printed("--capacity={}".format(capacity), found.folder))
        compiled = types.SimpleNamespace(runtime_executable=lambda: stub_jax.Executable("jit_f", 1))
        self.assertEqual(memviewd.explain(compiled, capacity="80GiB").capacity_bytes, 80 << 30)

    def test_a_capacity_that_is_none_is_told_before_the_compile(self):
        lowered = stub_jax.Lowered(FILES)
        for capacity in ("v99", ""):
            with self.assertRaisesRegex(RuntimeError, "capacity"):
                memviewd.explain(lowered, capacity=capacity)
        self.assertEqual(lowered.asked, [])

    def test_a_function_that_takes_a_capacity_gets_it(self):
        seen = []
        jax, _ = stub_jax.make()
        jax.jit = lambda f: types.SimpleNamespace(
            lower=lambda *args, **kwargs: seen.append((args, kwargs)) or stub_jax.Lowered(FILES)
        )
        self.put_module("jax", jax)
        memviewd.explain(lambda x, capacity: x, 1, capacity=2)
        memviewd.explain(lambda x, **more: x, 1, capacity="600GiB")
        self.assertEqual(seen, [((1,), {"capacity": 2}), ((1,), {})])

    def test_other_errors_of_the_compiler_are_raised(self):
        error = stub_jax.JaxRuntimeError("INTERNAL: Mosaic failed")
        with self.assertRaises(stub_jax.JaxRuntimeError) as caught:
            memviewd.explain(stub_jax.Lowered(error=error))
        self.assertIs(caught.exception, error)

    def test_a_compiler_without_such_options(self):
        lowered = stub_jax.Lowered(knows_options=False, executable=stub_jax.Executable("jit_f", 1))
        found = memviewd.explain(lowered)
        self.assertEqual(lowered.asked[-1], None)
        self.assertEqual(sorted(os.listdir(found.folder)), ["program.buffer_assignment.pb", "program.hlo.pb"])

    def test_what_is_compiled_already(self):
        compiled = types.SimpleNamespace(runtime_executable=lambda: stub_jax.Executable("jit_f", 1))
        self.assertEqual(
            sorted(os.listdir(memviewd.explain(compiled).folder)), ["program.buffer_assignment.pb", "program.hlo.pb"]
        )
        compiled = types.SimpleNamespace(runtime_executable=lambda: stub_jax.Executable("jit_f", -1))
        with self.assertRaisesRegex(RuntimeError, "explain.. the function itself"):
            memviewd.explain(compiled)

    def test_a_function_and_its_arguments(self):
        lowered, seen = stub_jax.Lowered(FILES), []
        jax, _ = stub_jax.make()
        jax.jit = lambda f: types.SimpleNamespace(
            lower=lambda *args, **kwargs: seen.append((f, args, kwargs)) or lowered
        )
        self.put_module("jax", jax)

        def step(f, x):
            pass

        first, second = memviewd.explain(step, 1, f=2), memviewd.explain(step, 3)
        self.assertEqual(seen, [(step, (1,), {"f": 2}), (step, (3,), {})])
        self.assertEqual([os.path.basename(each.folder) for each in (first, second)], ["step", "step-2"])
        memviewd.explain(lambda: 0)

    def test_without_the_program_nothing_is_compiled(self):
        lowered = stub_jax.Lowered(FILES)
        self.set_environment(MEMVIEWD="/nowhere")
        self.assertRaises(memviewd.NotFound, memviewd.explain, lowered)
        self.assertEqual(lowered.asked, [])

    def test_the_folder_goes_with_the_process_and_save_keeps_it(self):
        found = memviewd.explain(stub_jax.Lowered(FILES))
        kept = found.save(os.path.join(self.folder, "kept"))
        with mock.patch.object(os, "getpid", lambda: 0):
            _explain._forget(os.path.dirname(found.folder), 1)
        self.assertTrue(os.path.isdir(found.folder))
        _explain._forget(os.path.dirname(found.folder), os.getpid())
        self.assertFalse(os.path.exists(found.folder))
        self.assertEqual(len(os.listdir(kept)), len(FILES))

    def test_its_page(self):
        self.addCleanup(_daemon.stop_all)
        first, second = memviewd.explain(stub_jax.Lowered(FILES)), memviewd.explain(stub_jax.Lowered(FILES))
        self.assertNotEqual(first.url, second.url)
        self.assertEqual(first.page().session["name"], os.path.basename(first.folder))
        with mock.patch("webbrowser.open") as opened, mock.patch("builtins.print"):
            first.open()
        opened.assert_called_once_with(first.url)


class Explained(memviewd.Explanation):
    """one whose text is chosen"""

    def __init__(self, other, text):
        self.__dict__ = dict(other.__dict__, _text=text)
