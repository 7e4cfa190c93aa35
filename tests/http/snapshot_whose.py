# SPDX-License-Identifier: Apache-2.0
"""memviewd whose on allocator snapshots: the lines of code that hold the memory, in a terminal, as JSON and from the
API."""

import os
import pickle
import sys

from harness import ROOT, equal, loads
from inputs import hlo_proto, memory_plane

sys.path.append(os.path.join(ROOT, "tests", "golden"))  # behind our own: both have a module "verdict"
import made_allocator  # noqa: E402
import made_trainings  # noqa: E402
import made_snapshots  # noqa: E402

MIB = 1 << 20


def test_lines_of_a_library_are_told_apart(t):
    """where the person's own code is one line for all of them; the moment is that of the failed request"""
    path = t.write("run/rank0.pickle", pickle.dumps(made_trainings.computed(96 * MIB, 16 * MIB), 4))
    (answer,) = loads(t.run("whose", "--json", path).stdout)["modules"]
    lines = {(group["source"], group["category"]): (group["count"], group["size_bytes"]) for group in answer["groups"]}
    equal(lines["modeling_llama.py:208 eager_attention_forward", "saved_activation"], (2, 144 * MIB))
    equal(lines["loss_utils.py:40 fixed_cross_entropy", "saved_activation"], (2, 24 * MIB))
    equal(
        (answer["moment"], sum(one["size_bytes"] for one in answer["categories"])), ("failure", answer["in_use_bytes"])
    )
    equal(
        [group["size_bytes"] for group in answer["groups"]],
        sorted((group["size_bytes"] for group in answer["groups"]), reverse=True),
    )
    text = t.run("whose", path).stdout
    for words in (
        "rank0.pickle, GPU 0: 204.00 MiB in use when the last request failed",
        "    144.00 MiB     71 %  2 × saved activations  modeling_llama.py:208 eager_attention_forward",
    ):
        assert words in text, text
    daemon = t.serve(os.path.dirname(os.path.dirname(path)))
    equal(
        daemon.get_json("/api/v1/memory_profile/whose", session=daemon.session_id("run"))["data"],
        {key: value for key, value in answer.items() if key != "file"},
    )


def test_without_a_failed_request_it_is_the_peak(t):
    """of each file; beside programs both are told; of one without a history it is the end"""
    for at in (0, 1):
        one = made_allocator.Caching(1, device=at)
        one.free(one.allocate(30 * MIB))
        t.write(f"job/rank{at}.pickle", pickle.dumps(made_allocator.snapshot(one), 4))
    answers = loads(t.run("whose", "--json", os.path.join(t.folder(), "job")).stdout)["modules"]
    equal(
        [(answer["file"], answer["memory"], answer["moment"], answer["in_use_bytes"]) for answer in answers],
        [(f"rank{at}.pickle", "GPU 0", "peak", 30 * MIB) for at in (0, 1)],
    )
    t.write("job/module_0001.jit_made.after_optimizations.hlo.pb", hlo_proto("jit_made", 8))
    answers = loads(t.run("whose", "--json", t.folder()).stdout)["modules"]
    equal(
        [answer.get("file", answer.get("name")) for answer in answers],
        ["job/rank0.pickle", "job/rank1.pickle", "jit_made"],
    )
    end = t.write("end/rank0.pickle", pickle.dumps(made_snapshots.without_history(made_trainings.trained("plain")), 4))
    assert "MiB in use at the end" in t.run("whose", end).stdout


def test_a_trace_has_no_stacks(t):
    t.write("job/plugins/profile/run/host.xplane.pb", memory_plane(4))
    daemon = t.serve(t.folder())
    data = daemon.get_json("/api/v1/memory_profile/whose", session=daemon.session_id("job/run"))["data"]
    equal((data["categories"], data["groups"], data["reason"]["code"]), (None, [], "no_stacks"))
    assert "Only allocator snapshots of PyTorch" in data["reason"]["text"], data
