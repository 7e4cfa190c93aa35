# SPDX-License-Identifier: Apache-2.0
"""Programs of a GPU compiled without one by JAX's CUDA plug-in, against what was compiled on the GPU.

  cuda.py --drive build/release/confirm/drive --plugin PATH --binary memviewd --shared DIR [--every]

Unchanged programs of data/gpu-h200/dumps: arguments, outputs and what is aliased are the dump's to the byte,
temporaries to a thousandth of the total, since nothing is autotuned here. Of changed ones (data/gpu-h200/compiled.json)
the total is printed beside the real one, and has to lie within 1 % where `whatif --confirm` calls it confirmed. Without
--every only what compiles in seconds. Was all run with jax-cuda12-pjrt 0.11.2, which wrote the dumps.
"""

import argparse
import glob
import json
import os
import subprocess
import sys

sys.path.append(
    os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "golden")
)  # behind our own: both have a module "whatif"
from members import loads  # noqa: E402: its folder is added above

SAME = {"argument_bytes": "parameter_bytes", "output_bytes": "output_bytes", "alias_bytes": "output_reused_bytes"}
QUICK = ["decode"]
# An edit confirms what it edits: these are other programs than their edit (the first another kernel, the second
# autotuned).
OTHERS = {"lm.flash", "rnn.remat"}


def space_of(binary, folder):
    done = subprocess.run(
        [binary, "summary", folder, "--json", "--space=0"], capture_output=True, text=True, check=True
    )
    modules = [
        module for session in loads(done.stdout)["sessions"] for module in session["modules"] if module["summary"]
    ]
    return modules[0]["summary"]["data"]["spaces"][0]


def unchanged_faults(arguments, name):
    folder = os.path.join(arguments.shared, "data", "gpu-h200", "dumps", name)
    module = glob.glob(f"{glob.escape(folder)}/*.before_optimizations.hlo.pb")[0]
    wanted = space_of(arguments.binary, folder)
    done = subprocess.run(
        [arguments.drive, f"--pjrt-plugin={arguments.plugin}", module], capture_output=True, text=True, check=True
    )
    got = loads(done.stdout)
    print(
        f"{name:12} {got['status']:8} {got['took_ms'] / 1000:6.1f} s {got['resident_bytes'] >> 20:5} MiB "
        f"{got['total_bytes']:15,} B, "
        f"temporaries {got['temporary_bytes'] - wanted['temporary_bytes']:+,} B",
        flush=True,
    )
    if got["status"] != "done":
        return [got["sentence"]]
    faults = [f"{key} is {got[key]:,}, not {wanted[of]:,}" for key, of in SAME.items() if got[key] != wanted[of]]
    is_near = abs(got["temporary_bytes"] - wanted["temporary_bytes"]) <= wanted["total_bytes"] / 1000
    return faults + (
        [] if is_near else [f"temporaries are {got['temporary_bytes']:,}, not {wanted['temporary_bytes']:,}"]
    )


def changed_faults(arguments, name, pair):
    folder = os.path.join(arguments.shared, "data", "gpu-h200", "dumps", pair["base"])
    done = subprocess.run(
        [
            arguments.binary,
            "whatif",
            folder,
            "--json",
            "--confirm",
            f"--pjrt-plugin={arguments.plugin}",
            *(f"--change={change}" for change in pair["change"]),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    said = loads(done.stdout)["modules"][0]["confirmed"]
    after, real = said["total_bytes_after"], pair["total_bytes"]
    print(f"{name:12} {said['state']:10} {after or 0:15,} B, real {real:15,} B  {said['sentence']}", flush=True)
    if said["state"] not in ("confirmed", "refuted", "partial") or name in OTHERS:
        return []
    return [] if abs(after - real) <= real / 100 else [f"confirmed {after:,}, real {real:,}"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--drive", required=True)
    parser.add_argument("--plugin", required=True)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--shared", required=True)
    parser.add_argument("--every", action="store_true")
    arguments = parser.parse_args()
    passed = failed = 0

    def count(name, faults):
        nonlocal passed, failed
        passed, failed = passed + (not faults), failed + bool(faults)
        for fault in faults:
            print(f"FAILED {name}: {fault}")

    for name in ["decode", "lm", "rnn"] if arguments.every else QUICK:
        count(name, unchanged_faults(arguments, name))
    with open(os.path.join(arguments.shared, "data", "gpu-h200", "compiled.json"), encoding="utf-8") as file:
        pairs = json.load(file)["pairs"] if arguments.every else {}
    for name, pair in pairs.items():
        count(name, changed_faults(arguments, name, pair))
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
