# SPDX-License-Identifier: Apache-2.0
"""memviewd fit: what a program or a snapshot needs beside what each device has, without a compiler."""

import os
import pickle
import sys

from harness import ROOT, equal, loads

sys.path.append(os.path.join(ROOT, "tests", "golden"))  # behind our own: both have a module "verdict"
import made_allocator  # noqa: E402

MIB = 1 << 20
PADDED = os.path.join("dumps", "d-tile-padding")


def program_of(t, path, code, *arguments):
    process = t.run("fit", path, "--json", *arguments)
    equal((process.returncode, process.stderr), (code, ""))
    answer = loads(process.stdout)
    equal(answer["not_read"], [])
    (program,) = answer["programs"]
    return program


def test_a_program_on_each_device(t):
    program = program_of(t, os.path.join(t.fixtures, PADDED), 1, "--device", "v5e,h200", "--device=V5E")
    equal(
        (program["kind"], program["needed_bytes"] >> 20, program["is_least"], program["devices"]),
        ("module", 532736, False, 1),
    )
    equal([row["device"] for row in program["rows"]], ["v5e", "H200"])
    for row in program["rows"]:
        equal((row["fits"], row["word"], row["compile"]), (False, "over", None))
        equal(row["headroom_bytes"], row["capacity_bytes"] - program["needed_bytes"])
        assert row["remedy"]["changes"] == ["unpad=*"] and row["remedy"]["total_bytes"] <= row["capacity_bytes"], row[
            "remedy"
        ]


def test_what_fits_everywhere_ends_with_0(t):
    program = program_of(t, os.path.join(t.fixtures, "modules", "mlp-adam"), 0, "--device=v5e,h100,a100,mi300x")
    equal(
        [(row["device"], row["fits"], row["remedy"]) for row in program["rows"]],
        [(name, True, None) for name in ("v5e", "H100-80G", "A100-40G", "MI300X")],
    )


def test_split_over_devices(t):
    program = program_of(t, os.path.join(t.fixtures, PADDED), 1, "--device=v5e,v5p", "--devices=8")
    equal(
        (program["devices"], program["needed_bytes"] >> 20), (8, 67392)
    )  # without what the compiler computed again for one device
    equal([row["fits"] for row in program["rows"]], [False, True])
    assert "bound" in program["note"], program["note"]


def test_a_snapshot_whose_request_failed_needs_at_least_both(t):
    path = t.write("run/rank0.pickle", pickle.dumps(made_allocator.snapshot(made_allocator.fragmented()), 4))
    program = program_of(t, path, 1, "--device=h200")
    equal((program["kind"], program["needed_bytes"], program["is_least"]), ("snapshot", 84 * MIB, True))
    equal(
        [(row["word"], row["fits"], row["share_bytes"], row["source"]) for row in program["rows"]],
        [("perhaps", False, None, "replay")],
    )


def test_a_table_in_a_terminal(t):
    process = t.run("fit", os.path.join(t.fixtures, PADDED), "--device=v5e")
    equal((process.returncode, process.stderr), (1, ""))
    for words in ("by this dump's plan", "v5e ", " over ", "unpad=* → ", "--confirm compiles it"):
        assert words in process.stdout, process.stdout


def test_what_cannot_be_asked(t):
    path = os.path.join(t.fixtures, PADDED)
    for arguments, words in (
        ((path,), "fit wants --device"),
        ((path, "--device=v99"), 'there is no device "v99"'),
        ((path, "--device=v5e", "--devices=0"), "--devices=0: 1 to 65536"),
        (("--device=v5e",), "fit wants one PATH"),
        (("/nowhere/at-all", "--device=v5e"), "/nowhere/at-all"),
    ):
        process = t.run("fit", *arguments)
        equal((process.returncode, process.stdout), (2, ""))
        assert words in process.stderr, process.stderr
