# SPDX-License-Identifier: Apache-2.0
"""on_oom() around a step of PyTorch: the allocator's snapshot is saved beside the text, and both are told as one."""

import os
import pickle
import sys
import types
from unittest import mock

import memviewd
from memviewd import _oom
from python_box import HERE, Case

sys.path.append(os.path.join(HERE, "..", "golden"))
import made_allocator as made  # noqa: E402


class OutOfMemoryError(RuntimeError):
    pass


class Torch(Case):
    def setUp(self):
        super().setUp()
        self.addCleanup(mock.patch.object(_oom, "_failure_count", 0).__enter__)
        self.put_module("jax", None)
        self.device, failed = made.filled(24 << 20)
        self.error = OutOfMemoryError(made.text_of(self.device, failed).decode().split("OutOfMemoryError: ")[1])

    def put_torch(self, is_initialized=True, dump=None):
        def write(path):
            with open(path, "wb") as file:
                pickle.dump(made.snapshot(self.device), file)

        torch = types.ModuleType("torch")
        torch.cuda = types.SimpleNamespace(
            is_initialized=lambda: is_initialized, memory=types.SimpleNamespace(_dump_snapshot=dump or write)
        )
        self.put_module("torch", torch)

    def pass_by(self):
        with self.assertRaises(OutOfMemoryError) as caught:
            with memviewd.on_oom(logdir=self.logdir):
                raise self.error
        self.assertIs(caught.exception, self.error)
        return sorted(os.listdir(self.only_run()))

    def test_the_snapshot_is_saved_and_told_with_the_text(self):
        self.put_torch()
        self.assertEqual(self.pass_by(), ["output.log", "run.lock", "snapshot.pickle"])
        with open(os.path.join(self.only_run(), "snapshot.pickle"), "rb") as file:
            self.assertEqual(pickle.load(file), made.snapshot(self.device))
        told = self.stderr.getvalue()
        self.assertIn("The allocator snapshot snapshot.pickle belongs to this failure", told)
        self.assertEqual(told.count("Did it fit?"), 1, told)
        self.assertNotIn("no allocator snapshot", self.stderr.getvalue())

    def test_a_rank_of_a_job_names_its_snapshot(self):
        self.put_torch()
        self.set_environment(RANK="3")
        self.assertIn("rank3.pickle", self.pass_by())

    def test_a_torch_without_a_gpu_is_not_asked(self):
        self.put_torch(is_initialized=False, dump=lambda path: self.fail("it would take the GPU"))
        self.assertEqual(self.pass_by(), ["output.log", "run.lock"])

    def test_a_snapshot_that_cannot_be_written_leaves_nothing_and_is_told(self):
        def fall(path):
            with open(path, "wb") as file:
                file.write(b"half of it")
            raise RuntimeError("of PyTorch's own")

        self.put_torch(dump=fall)
        self.assertEqual(self.pass_by(), ["output.log", "run.lock"])
        self.assertIn("no allocator snapshot: RuntimeError: of PyTorch's own", self.stderr.getvalue())


class OlderTorch(Torch):
    """One without snapshots of its allocator, before 2.0."""

    def put_torch(self, is_initialized=True, dump=None):
        super().put_torch(is_initialized, dump)
        del sys.modules["torch"].cuda.memory._dump_snapshot

    def test_the_snapshot_is_saved_and_told_with_the_text(self):
        self.put_torch()
        self.assertEqual(self.pass_by(), ["output.log", "run.lock"])

    test_a_rank_of_a_job_names_its_snapshot = None
    test_a_snapshot_that_cannot_be_written_leaves_nothing_and_is_told = None
