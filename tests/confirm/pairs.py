# SPDX-License-Identifier: Apache-2.0
"""Programs that were really changed, against the same change done to the program of the base and compiled.

  pairs.py --binary memviewd --libtpu PATH --shared DIR [--every]

Prints for each pair what the real changed program takes, what is predicted and what `whatif --confirm` finds. Exit
status 1 where the base is byte-exact in fewer than 90 % of the pairs, or of these (donate, batch, sequence, checkpoint,
shard) fewer than 90 % of the changed programs are. Casts are told and not counted: a program does not say which types
its source asks for. Without --every only programs that compile in seconds.
"""

import argparse
import json
import os
import subprocess
import sys

sys.path.append(
    os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "golden")
)  # behind our own: both have a module "whatif"
from members import loads  # noqa: E402: its folder is added above

QUICK = {"mlp.half-batch", "mlp.remat", "kv.donate", "fsdp.shard4"}
ASKED = ("donate", "batch", "sequence", "checkpoint", "shard", "cast")
TOPOLOGY = "v5e:2x2"
# The compiler leaves temporaries that are tables of pointers alone out of its count.
TABLES_ALONE = {"kv.half-batch": 32768}


def confirm(arguments, folder, changes):
    command = [
        arguments.binary,
        "whatif",
        folder,
        "--json",
        "--confirm",
        f"--libtpu={arguments.libtpu}",
        f"--topology={TOPOLOGY}",
    ]
    done = subprocess.run(
        command + [f"--change={change}" for change in changes], capture_output=True, text=True, check=False
    )
    modules = loads(done.stdout)["modules"] if done.stdout else []
    return (modules[0]["confirmed"], "") if modules else (None, done.stderr.strip().splitlines()[-1])


def mib(figure):
    return f"{figure / 2**20:10.1f}" if figure is not None else f"{'-':>10}"


def run(arguments):
    """(passed, failed) of the table"""
    bases = pairs = exact = counted = 0
    print(
        f"{'pair':20} {'change':24} {'before':>10} {'predicted':>10} {'confirmed':>10} {'real':>10} {'difference':>12}"
    )
    with open(os.path.join(arguments.shared, "data", "whatif", "actual.json"), encoding="utf-8") as file:
        table = json.load(file)
    for pair, truth in table.items():
        if (not arguments.every and pair not in QUICK) or not truth["change"][0].startswith(ASKED):
            continue
        said, reason = confirm(
            arguments, os.path.join(arguments.shared, "data", "whatif", truth["base"]), truth["change"]
        )
        after, predicted = said and said["total_bytes_after"], said and said["predicted_total_bytes"]
        real = truth["total_bytes_after"] + TABLES_ALONE.get(pair, 0)
        is_base = bool(said) and said["state"] in ("confirmed", "refuted", "partial")
        is_counted = is_base and not truth["change"][0].startswith("cast")
        pairs, bases, counted = pairs + 1, bases + is_base, counted + is_counted
        # Which dimension a person splits is a choice; within 1 % it is another one.
        is_near = truth["change"][0].startswith("shard") and after is not None and abs(after - real) <= real / 100
        exact += is_counted and (after == real or is_near)
        difference = f"{after - real:,}" if after is not None else "-"
        print(
            f"{pair:20} {' '.join(truth['change']):24} {mib(truth['total_bytes_before'])} {mib(predicted)} "
            f"{mib(after)} {mib(real)} "
            f"{difference:>12}{'' if is_base else '  ' + (said['sentence'] if said else reason)[-150:]}",
            flush=True,
        )
    print(f"base byte-exact: {bases} of {pairs}; changed program byte-exact: {exact} of {counted} (casts not counted)")
    is_good = bases >= 0.9 * pairs and exact >= 0.9 * counted > 0
    return int(is_good), int(not is_good)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--libtpu", required=True)
    parser.add_argument("--shared", required=True)
    parser.add_argument("--every", action="store_true")
    passed, failed = run(parser.parse_args())
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
