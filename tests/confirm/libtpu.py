# SPDX-License-Identifier: Apache-2.0
"""Unchanged programs compiled by a real libtpu: the figures are those of the compiler, and of its own dump, byte for
byte.

  libtpu.py --drive build/release/confirm/drive --libtpu PATH --binary memviewd [--shared DIR] [--every]

Programs of tests/fixtures always, with --shared those of data/whatif and data/chips as well (--every: all there are).
Beside a program that compiled lies memory_analysis.json, JAX's own count; of one that does not fit, the dump itself
says what it takes. Programs were compiled by libtpu 0.0.52: another version may come to other figures.
"""

import argparse
import glob
import json
import os
import subprocess
import sys

import pairs

sys.path.append(
    os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "golden")
)  # behind our own: both have a module "whatif"
from members import loads  # noqa: E402: its folder is added above

HERE = os.path.dirname(os.path.abspath(__file__))
FIXTURES = os.path.join(HERE, "..", "fixtures")
PROGRAMS = [
    "modules/mlp-adam",
    "modules/pallas-matmul",
    "dumps/seed-matmul-327680",
    "dumps/d-tile-padding",
    "dumps/h-long-context",
]
SHARED_PROGRAMS = ["whatif/mlp.base", "whatif/kv.base", "whatif/pad.base", "chips/v4", "chips/v6e"]
COUNTS = {
    "argument_bytes": "argument_size_in_bytes",
    "output_bytes": "output_size_in_bytes",
    "alias_bytes": "alias_size_in_bytes",
    "temporary_bytes": "temp_size_in_bytes",
}
ASSIGNED = {
    "argument_bytes": "parameter_bytes",
    "output_bytes": "output_bytes",
    "alias_bytes": "output_reused_bytes",
    "temporary_bytes": "temporary_bytes",
}
PAGE_BYTES = 16384
# Temporaries that are tables of pointers alone: in the assignment, not in the compiler's count.
TABLES_ALONE = {"kv.half-batch": 32768}


def one(pattern):
    found = sorted(glob.glob(pattern))
    return found[0] if found else None


def counted(folder):
    """the compiler's own count, or None"""
    path = one(f"{glob.escape(folder)}/memory_analysis.json")
    if not path:
        return None
    with open(path, encoding="utf-8") as file:
        said = json.load(file)
    return {key: said[name] for key, name in COUNTS.items()}


def assigned(binary, folder):
    """what the dump's own assignment takes, its temporaries in whole pages"""
    done = subprocess.run(
        [binary, "summary", folder, "--json", "--space=0"], capture_output=True, text=True, check=True
    )
    modules = [
        module for session in loads(done.stdout)["sessions"] for module in session["modules"] if module["summary"]
    ]
    space = next(space for module in modules for space in module["summary"]["data"]["spaces"] if space["space"] == 0)
    figures = {key: space[name] for key, name in ASSIGNED.items()}
    return {**figures, "temporary_bytes": -(-figures["temporary_bytes"] // PAGE_BYTES) * PAGE_BYTES}


def compile_it(arguments, module, options):
    topology = [] if "/chips/" in module else ["--topology=v5e:4x4" if "4x4" in module else "--topology=v5e:2x2"]
    done = subprocess.run(
        [arguments.drive, f"--libtpu={arguments.libtpu}", *topology, *options, module],
        capture_output=True,
        text=True,
        timeout=900,
        check=True,
    )
    return loads(done.stdout)


def faults_of(got, status, wanted):
    faults = [] if got["status"] == status else [f"{got['status']}: {got['sentence']}"]
    return faults + [f"{key} is {got[key]:,}, not {value:,}" for key, value in wanted.items() if got[key] != value]


def check(arguments, folder, options):
    module = one(f"{glob.escape(folder)}/*.before_optimizations.hlo.pb*")
    wanted, status = counted(folder), "done"
    if wanted and not options:
        wanted["temporary_bytes"] += TABLES_ALONE.get(os.path.basename(folder), 0)
    if not wanted:
        wanted, status = assigned(arguments.binary, folder), "does_not_fit"
    got = compile_it(arguments, module, options)
    print(
        f"{os.path.basename(folder):32s} {got['status']:13s} {got['took_ms'] / 1000:6.1f} s "
        f"{got['resident_bytes'] >> 20:5d} MiB"
        f" {got['total_bytes']:15,d} B {'of the compiler' if got['is_of_compiler'] else 'of its dump'}",
        flush=True,
    )
    return faults_of(got, status, wanted)


# Layers that only their parameters tell: what jax.checkpoint around each takes, compiled from the changed source.
PLAIN, PLAIN_BYTES = os.path.join(FIXTURES, "edits", "plain-layers"), 346_661_376


def plain_faults(arguments):
    """the edited program takes to the byte what the really changed one does"""
    done = subprocess.run(
        [
            arguments.binary,
            "whatif",
            PLAIN,
            "--change=checkpoint=*",
            "--confirm",
            "--json",
            f"--libtpu={arguments.libtpu}",
        ],
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    modules = loads(done.stdout)["modules"] if done.stdout else []
    said = (
        modules[0]["confirmed"]
        if modules
        else {"state": "none", "sentence": done.stderr[-200:], "total_bytes_after": None}
    )
    is_good = said["state"] == "confirmed" and said["total_bytes_after"] == PLAIN_BYTES
    return [] if is_good else [f"{said['sentence']}, not {PLAIN_BYTES:,} B"]


def every(shared):
    modules = glob.glob(f"{shared}/data/*/*/*.before_optimizations.hlo.pb")
    tpu = [os.path.dirname(module) for module in modules if "/dumps-text/" not in module]
    return sorted(
        folder for folder in tpu if "-vmem-" not in folder and "-smem-" not in folder
    )  # refused while code is made


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--drive", required=True)
    parser.add_argument("--libtpu", required=True)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--shared")
    parser.add_argument("--every", action="store_true")
    arguments = parser.parse_args()
    folders = [os.path.join(FIXTURES, name) for name in PROGRAMS]
    if arguments.shared:
        folders += (
            every(arguments.shared)
            if arguments.every
            else [os.path.join(arguments.shared, "data", name) for name in SHARED_PROGRAMS]
        )
    runs = [(folder, []) for folder in folders] + [(os.path.join(FIXTURES, PROGRAMS[0]), ["--code"])]
    passed = failed = 0
    for folder, options in runs:
        faults = check(arguments, folder, options)
        passed, failed = passed + (not faults), failed + bool(faults)
        for fault in faults:
            print(f"FAILED {folder} {' '.join(options)}: {fault}")
    faults = plain_faults(arguments)
    passed, failed = passed + (not faults), failed + bool(faults)
    for fault in faults:
        print(f"FAILED {PLAIN}: {fault}")
    if arguments.shared:
        pairs_passed, pairs_failed = pairs.run(arguments)
        passed, failed = passed + pairs_passed, failed + pairs_failed
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
