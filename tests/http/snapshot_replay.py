# SPDX-License-Identifier: Apache-2.0
"""A snapshot's recording played again as it is: what agrees with it and what does not."""

import os
import pickle
import sys

from harness import ROOT, equal
from snapshot_whatif import MIB, answer_of, fragmented, trained

sys.path.append(os.path.join(ROOT, "tests", "golden"))  # behind our own: both have a module "verdict"
import made_allocator  # noqa: E402


def test_a_recording_as_it_is(t):
    answer = answer_of(t, fragmented(t))
    equal(
        (answer["peak_bytes_before"], answer["allocated_bytes_before"], answer["reserved_bytes_before"]),
        (60 * MIB, 60 * MIB, 60 * MIB),
    )
    equal((answer["peak_bytes_after"], answer["reserved_bytes_after"], answer["changes"]), (60 * MIB, 60 * MIB, []))
    equal(
        (answer["replay"]["is_exact"], answer["replay"]["is_whole"], answer["replay"]["segment_count"]), (True, True, 3)
    )
    equal(
        answer["failed_request"],
        {"requested_bytes": 24 * MIB, "is_placed": False, "is_left_out": False, "failure_count": 1, "placed_count": 0},
    )
    equal((answer["request_word"], answer_of(t, trained(t))["request_word"]), ("fails", None))


def written(t, one):
    return t.write(f"{one.__class__.__name__}/rank0.pickle", pickle.dumps(made_allocator.snapshot(one), 4))


def test_each_emptying_of_the_cache_counts_by_itself(t):
    """what is freed between two of them goes back with the second one"""
    one = made_allocator.Caching(1)
    first, second = one.allocate(30 * MIB), one.allocate(40 * MIB)
    for address in (first, second):
        one.free(address)
        one.release()
    one.allocate(50 * MIB)
    replay = answer_of(t, written(t, one))["replay"]
    equal(
        (replay["is_exact"], replay["difference"], replay["segment_count"], replay["made_segment_count"]),
        (True, None, 3, 3),
    )


def test_a_segment_that_no_request_explains_is_a_difference(t):
    one = made_allocator.Caching(1)
    one.free(one.allocate(30 * MIB))
    one.write("segment_alloc", one.next, 20 * MIB, 0, [])
    replay = answer_of(t, written(t, one))["replay"]
    equal(
        (replay["is_exact"], replay["difference"]),
        (False, {"event": 2, "is_given_back": False, "recorded_bytes": 20 * MIB, "made_bytes": 0}),
    )


class Highest(made_allocator.Caching):
    """of equal holes it takes the one at the highest address, which PyTorch does not"""

    def find(self, size, stream, pool):
        fitting = [
            (block[1], -block[0], segment, block)
            for segment in self.segments
            for block in segment.blocks
            if block[2] == made_allocator.INACTIVE and block[1] >= size
        ]
        return min(fitting, key=lambda one: one[:2])[2:] if fitting else None


def test_blocks_at_other_addresses_are_not_exact(t):
    one = Highest(1)
    live = [one.allocate(3 * MIB) for _ in range(6)]
    for address in live[::2]:
        one.free(address)
    one.allocate(3 * MIB)
    path = written(t, one)
    answer = answer_of(t, path, "--change", "max_split_size=64MiB")
    equal((answer["replay"]["is_exact"], answer["replay"]["moved_block_count"]), (True, 1))
    equal(answer["changes"][0]["confidence"], "model")
    equal(
        answer["changes"][0]["reason"],
        "With the recorded settings the replay puts 1 block at another address than recorded.",
    )
    text = t.run("whatif", path).stdout
    assert (
        "Replayed: the allocator's rules give the 1 segment that was recorded, and put 1 block at another address."
        in text
    ), text
