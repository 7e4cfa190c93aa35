# SPDX-License-Identifier: Apache-2.0
"""estimate(): what it records becomes a snapshot that the program replays. PyTorch itself: estimated.py, by hand."""

import os
import pickle
import sys
import types

import memviewd
from memviewd import _estimate
from memviewd._explain import Explanation
from python_box import Case

MIB = 1 << 20


class Storage:
    def __init__(self, size_bytes):
        self.size_bytes = size_bytes

    def nbytes(self):
        return self.size_bytes


class Estimate(Case):
    def explained(self, recorder, capacity):
        folder = os.path.join(self.logdir, "estimated")
        os.makedirs(folder)
        with open(os.path.join(folder, "estimate.pickle"), "wb") as file:
            pickle.dump(recorder.snapshot(), file, protocol=4)
        return Explanation(folder, capacity=capacity)

    def test_a_block_goes_with_its_storage(self):
        recorder = _estimate._Recorder()
        kept = Storage(30 * MIB)
        recorder.take_for(kept)
        recorder.take_for(Storage(50 * MIB))
        recorder.take_for(Storage(0))
        self.assertEqual(
            [(event["action"], event["size"] // MIB) for event in recorder.events],
            [("alloc", 30), ("alloc", 50), ("free_requested", 50), ("free_completed", 50)],
        )
        self.assertEqual((recorder.live_bytes, recorder.peak_bytes), (30 * MIB, 80 * MIB))
        self.assertEqual(recorder.events[0]["frames"][0]["name"], "test_a_block_goes_with_its_storage")

    def test_no_two_blocks_share_an_address(self):
        recorder = _estimate._Recorder()
        blocks = [(recorder.take(size), size) for size in (1, 5 * MIB, 2 * MIB, 512)]
        for (address, size), (other, _) in zip(blocks, blocks[1:]):
            self.assertLessEqual(address + size, other)

    def test_the_program_says_what_its_segments_take(self):
        recorder = _estimate._Recorder()
        kept = [Storage(30 * MIB) for _ in range(4)]
        for each in kept:
            recorder.take_for(each)
        explained = self.explained(recorder, "100MiB")
        self.assertEqual(
            (explained.fits, explained.needed_bytes, explained.capacity_bytes), (False, 120 * MIB, 100 * MIB)
        )
        self.assertIn("That is what PyTorch's segments take", str(explained))
        self.assertNotIn("JAX", str(explained.at("H100-80G")))

    def test_what_is_replaced_comes_back(self):
        place = types.SimpleNamespace(one=1, two=2)
        with self.assertRaises(KeyError):
            with _estimate._replaced([(place, "one", 10), (place, "three", 30), (place, "one", 11)]):
                self.assertEqual(vars(place), {"one": 11, "two": 2})
                raise KeyError
        self.assertEqual(vars(place), {"one": 1, "two": 2})

    def test_settings_of_the_environment_are_told(self):
        for text, expected in (
            ("", False),
            ("expandable_segments:True", True),
            ("max_split_size_mb:64, expandable_segments: true", True),
        ):
            self.set_environment(PYTORCH_CUDA_ALLOC_CONF=text)
            self.assertEqual(_estimate._Recorder().snapshot()["allocator_settings"]["expandable_segments"], expected)

    def test_without_pytorch_it_says_so(self):
        self.put_module("torch", None)
        self.assertNotIn("torch._dynamo", sys.modules)
        with self.assertRaises(ImportError):
            memviewd.estimate(lambda: None)
