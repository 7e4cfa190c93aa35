# SPDX-License-Identifier: Apache-2.0
"""The calls with real JAX: on CPU, and compiled ahead of time for TPU v5e, which needs none; and in a real IPython.

Run by run.py --pattern real.py with the Python of build/jax, libtpu and IPython in PYTHONPATH.
"""

import os
import subprocess
import sys
import urllib.request

# libtpu asks no metadata server and takes no lock for a chip that is not there.
os.environ.update(
    TPU_SKIP_MDS_QUERY="1",
    TPU_ACCELERATOR_TYPE="v5litepod-1",
    TPU_WORKER_HOSTNAMES="localhost",
    TPU_WORKER_ID="0",
    ALLOW_MULTIPLE_LIBTPU_LOAD="1",
    PLATFORM="tpu",
    JAX_PLATFORMS="cpu",
)

import jax
import jax.numpy as jnp
import memviewd
from jax.experimental import topologies
from memviewd import _daemon, _jax, _show
from python_box import Case, until


def matmul_sum(x, w):
    return jnp.tanh(x @ w).sum()


def loss(weights, x):
    for w in weights:
        x = jnp.tanh(x @ w)
    return (x * x).mean()


def array(*shape, device=None):
    return jax.ShapeDtypeStruct(
        shape, jnp.float32, sharding=jax.sharding.SingleDeviceSharding(device) if device else None
    )


def take_64_tib():
    """what no machine has"""
    sort = jax.jit(lambda x: jnp.cos(jnp.broadcast_to(x, (1 << 20, 1 << 24))).sort(0))
    sort(jnp.ones((1 << 24,))).block_until_ready()


class RealCase(Case):
    def setUp(self):
        super().setUp()
        self.addCleanup(_daemon.stop_all)


class Explain(RealCase):
    def test_on_cpu_function_jitted_lowered_and_compiled_are_the_same(self):
        x = array(256, 256)
        jitted = jax.jit(jax.grad(matmul_sum))
        compiled = jitted.lower(x, x).compile()
        found = [
            memviewd.explain(f, *more)
            for f, more in ((jax.grad(matmul_sum), (x, x)), (jitted, (x, x)), (jitted.lower(x, x), ()), (compiled, ()))
        ]
        stats = compiled.memory_analysis()
        needed = stats.argument_size_in_bytes + stats.output_size_in_bytes + stats.temp_size_in_bytes
        for each in found:
            self.assertEqual(each.needed_bytes, needed, each)
            self.assertIsNone(each.fits)
            self.assertIsNone(each.error)
        self.assertIs(found[0].at("1GiB").fits, True)
        self.assertIs(found[0].at("100KiB").fits, False)

    def test_a_compiled_function_out_of_the_compilation_cache(self):
        for name, value in (
            ("jax_compilation_cache_dir", self.folder),
            ("jax_persistent_cache_min_compile_time_secs", 0),
            ("jax_persistent_cache_min_entry_size_bytes", -1),
        ):
            self.addCleanup(jax.config.update, name, getattr(jax.config, name))
            jax.config.update(name, value)
        x = array(128, 128)
        for _ in range(2):
            jax.jit(matmul_sum).lower(x, x).compile()
            self.assertEqual(memviewd.explain(matmul_sum, x, x).needed_bytes, 2 * 128 * 128 * 4 + 4)
            jax.clear_caches()

    def test_for_tpu_it_does_not_fit(self):
        device = topologies.get_topology_desc(
            platform="tpu", topology_name="v5e:1x1", chips_per_host_bounds=(1, 1, 1)
        ).devices[0]
        weights, x = [array(4096, 4096, device=device)] * 4, array(1 << 18, 4096, device=device)
        found = memviewd.explain(jax.value_and_grad(loss), weights, x)
        self.assertIs(found.fits, False)
        self.assertIn("RESOURCE_EXHAUSTED", str(found.error))
        self.assertIn(
            "jit_loss needs 18.50 GiB and HBM has 15.75 GiB, over by 2.75 GiB: saved activations, 12.00 GiB.",
            found.verdict,
        )
        self.assertIn("Checkpoint the 4 layers", [row.title for row in found.advice])
        self.assertIn("What will make it fit?", str(found))
        small = memviewd.explain(jax.value_and_grad(loss), weights, array(1 << 10, 4096, device=device))
        self.assertIs(small.fits, True)
        self.assertIsNone(small.error)
        with urllib.request.urlopen(found.url, timeout=20) as answer:
            self.assertIn(b"<!DOCTYPE html>", answer.read())
        self.assertEqual(found.page().session["failure"]["needed_bytes"] >> 29, 37)


class OnOom(RealCase):
    def test_a_failing_step(self):
        kept = jnp.ones((512, 1024)) + 1
        with self.assertRaises(jax.errors.JaxRuntimeError) as caught, memviewd.on_oom(logdir=self.logdir):
            take_64_tib()
        self.assertIn("Out of memory allocating 70368744177664 bytes", str(caught.exception))
        run = self.only_run()
        self.assertIn("a request asks for 64.00 TiB", self.stderr.getvalue())
        self.assertIn("live arrays", self.stderr.getvalue())  # the ledger has the device profile
        arrays = _jax.live_arrays()
        mine = [each for each in arrays["arrays"] if each["shape"] == [512, 1024]]
        self.assertEqual((mine[0]["bytes"], mine[0]["dtype"]), (kept.nbytes, "float32"))
        self.assertIn(os.path.basename(__file__), mine[0]["line"])
        page = memviewd.show(run)
        self.assertEqual(page.session["failure"]["needed_bytes"], 1 << 46)
        modules = page.daemon.get("sessions/{}/modules".format(page.session["id"]))["modules"]
        self.assertIn("jit__lambda", [module["name"] for module in modules])


class Watch(RealCase):
    def test_a_list_that_grows(self):
        kept = []
        with memviewd.watch(every=0.1, logdir=self.logdir) as watch:
            for _ in range(4):
                kept.append(jnp.full((256, 1024), 7.0) + len(kept))
                kept[-1].block_until_ready()
                before = watch.count
                until(lambda: watch.count > before, "no profile")
        page = watch.page()
        series = page.daemon.get("device_memory/series", session=page.session["id"])["data"]
        self.assertEqual(len(series["profiles"]), watch.count)
        grown = [site for site in series["sites"] if site["change"] >= 3 << 20]
        self.assertTrue(grown, series["sites"])
        self.assertIn("grow", memviewd.Explanation(watch.folder).verdict)


class Show(RealCase):
    def test_the_page_is_fetched_with_what_it_names(self):
        x = jax.ShapeDtypeStruct((64, 64), jnp.float32)
        folder = memviewd.explain(matmul_sum, x, x).save(os.path.join(self.folder, "kept"))
        page = memviewd.show(folder)
        with urllib.request.urlopen(page.url, timeout=20) as answer:
            self.assertIn(b"<!DOCTYPE html>", answer.read())
        (session,) = page.daemon.get("sessions")["sessions"]
        self.assertEqual(session["kind"], "dump")


CELLS = """
import sys; sys.path[:0] = {paths!r}
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
shell.run_cell('import jax, jax.numpy as jnp')
shell.run_cell('def double(x): return 2 * x')
shell.run_cell('%load_ext memviewd')
found = shell.run_cell('%memviewd explain double(jnp.ones((1024, 1024)))')
print('VERDICT', found.result.verdict)
shell.run_cell('%memviewd install')
failed = shell.run_cell('raise MemoryError("no room")')
print('ERROR', type(failed.error_in_exec).__name__)
shell.run_cell('%memviewd show memviewd-runs')
shell.run_cell('%unload_ext memviewd')
print('LEFT', 'memviewd' in shell.magics_manager.magics['line'])
"""


class Notebook(RealCase):
    def test_the_extension(self):
        done = subprocess.run(
            [sys.executable, "-c", CELLS.format(paths=sys.path[:2])],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            timeout=300,
            env=dict(os.environ, IPYTHONDIR=self.folder, PYTHONWARNINGS="ignore"),
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("VERDICT jit_double needs 8.00 MiB", done.stdout)
        self.assertIn("ERROR MemoryError", done.stdout)
        self.assertLess(done.stdout.index("no room"), done.stdout.index("ERROR MemoryError"))  # the traceback, as ever
        self.assertIn("saved in " + os.path.join(self.folder, "memviewd-runs", "run-"), done.stderr)
        self.assertRegex(done.stdout, r"memviewd: http://127\.0\.0\.1:\d+/")
        self.assertEqual(done.stdout.count("memviewd: http:"), 1)
        self.assertIn("LEFT False", done.stdout)
        self.assertFalse(_show.is_notebook())
