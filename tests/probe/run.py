# SPDX-License-Identifier: Apache-2.0
"""Small real inputs with one thing changed: what `memviewd` says of them.

  run.py --binary build/release/memviewd [--shared ../shared] [--every] [--seed N] [--only TEXT] [--keep FOLDER]

Each module in MODULES has CASES (see case.py). Of each case some variants are tried, drawn by the seed, with --every
all. Asserted of every variant: no command crashes; no file is refused, but for those that the case says; no figure of
an answer is negative or more than its whole; a figure that changes comes with a note, where the new value cannot be;
and where a change says nothing, the answers stay as they were. The last line is "N passed, N failed, N skipped".
"""

import argparse
import concurrent.futures
import gzip
import importlib
import itertools
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time

import checks
from case import LEGAL, ODD, SAME

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "golden"))
from members import loads, with_evidence  # noqa: E402: its folder is added above

ROOT = os.path.dirname(os.path.dirname(HERE))
MODULES = ("unknown_fields", "odd_numbers", "beside_a_dump")
SHOWN = 12  # faults of one case that are printed
GZIP = b"\x1f\x8b"
FILE_ID = re.compile(r'"file":"[0-9a-f]{12}"')  # of a file as it lies on disk, its time included


class Answer:
    """What one command said of a file."""

    def __init__(self, done):
        self.status, self.fault_text = done.returncode, done.stderr.decode(errors="replace").strip()
        self.text = FILE_ID.sub('"file":""', done.stdout.decode(errors="replace"))
        try:
            self.tree = with_evidence(loads(self.text)) if self.text else None
        except ValueError:
            self.tree = None

    def is_refused(self):
        return self.status == 2 or "cannot be read" in self.fault_text


class Asker:
    """Asks the program about one file at a time, in a folder of its own."""

    def __init__(self, binary, case, folder, shared):
        self.binary, self.case, self.folder = binary, case, folder
        self.name = case.file or os.path.basename(case.path)
        os.makedirs(os.path.dirname(os.path.join(folder, self.name)), exist_ok=True)
        for name, path in case.beside:
            shutil.copyfile(path_of(path, shared), os.path.join(folder, name))

    def ask(self, data, command):
        with open(os.path.join(self.folder, self.name), "wb") as file:
            file.write(data)
        asked = self.case.asked or self.name
        return Answer(
            subprocess.run(
                [self.binary, *command.split(), asked], capture_output=True, timeout=300, cwd=self.folder, check=False
            )
        )


def variants_of(case, data, seed):
    """(description, bytes, word) of each variant"""
    for found in case.variants(data, random.Random(seed)):
        description, changed, *word = found
        yield description, changed, word[0] if word else LEGAL


def drawn(case, data, seed, is_every):
    """The variants that are tried: all, or `count` of them, spread over the file by chance."""
    if is_every:
        return list(variants_of(case, data, seed))
    names = [description for description, _, _ in variants_of(case, data, seed)]
    chosen = set(random.Random(f"{seed} {case.name}").sample(range(len(names)), min(case.count, len(names))))
    chosen.update(at for at, name in enumerate(names) if re.search(case.always, name))
    return [variant for at, variant in enumerate(variants_of(case, data, seed)) if at in chosen]


def reason_for(rows, description):
    return next((reason for expression, reason in rows if re.search(expression, description)), None)


def variant_faults(case, command, before, after, description, word):
    if after.status not in (0, 1, 2):
        yield f"status {after.status}: {after.fault_text[-300:]}"
        return
    if after.is_refused() and not before.is_refused():
        if not reason_for(case.refused, description):
            yield f"refused: {after.fault_text[-200:]}"
        return
    if after.tree is None and before.tree is not None:
        yield f"no answer: {after.fault_text[-200:]}"
        return
    yield from (fault for fault in checks.faults(after.tree) if fault not in set(checks.faults(before.tree)))
    if word == SAME and (after.text, after.status) != (before.text, before.status):
        yield f"the answer changed: {first_difference(before.text, after.text)}"
    if word == ODD and not reason_for(case.changes, description):
        old, new = checks.sums(before.tree), checks.sums(after.tree)
        if old != new and checks.notes(after.tree) <= checks.notes(before.tree):
            place = next(place for place in [*old, *new] if old.get(place) != new.get(place))
            yield f"no note, and {place} was {old.get(place)} and is {new.get(place)}"


def first_difference(before, after):
    at = next((at for at, (a, b) in enumerate(zip(before, after)) if a != b), min(len(before), len(after)))
    return f"at {at}: {before[max(0, at - 60) : at + 60]!r}, now {after[max(0, at - 60) : at + 60]!r}"


def unpacked(data):
    return gzip.decompress(data) if data.startswith(GZIP) else data


def probe(case, data, options, pool):
    """(how many variants held, [(description, command, fault)], how many were refused)"""
    is_packed = data.startswith(GZIP)
    plain = unpacked(data)
    chosen = drawn(case, plain, options.seed, options.every)
    with tempfile.TemporaryDirectory(prefix="memviewd-probe-") as folder:
        place = os.path.join(folder, "first")
        os.mkdir(place)
        asker = Asker(options.binary, case, place, options.shared)
        before = {command: asker.ask(data, command) for command in case.commands}
        for command, answer in before.items():
            if answer.status not in (0, 1) or answer.tree is None:
                return 0, [("the unchanged file", command, f"status {answer.status}: {answer.fault_text}")], 0

        def tried(numbered):
            at, (description, changed, word) = numbered
            place = os.path.join(folder, f"{at}")
            os.mkdir(place)
            asker, found = Asker(options.binary, case, place, options.shared), []
            packed = gzip.compress(changed, 1) if is_packed else changed
            is_refused = False
            for command in case.commands:
                after = asker.ask(packed, command)
                is_refused |= after.is_refused()
                found += [
                    (description, command, fault)
                    for fault in variant_faults(case, command, before[command], after, description, word)
                ]
            if found and options.keep:
                os.makedirs(options.keep, exist_ok=True)
                with open(
                    os.path.join(
                        options.keep,
                        re.sub(r"[^\w.=-]+", "_", f"{case.name} {description}")[:160]
                        + "."
                        + os.path.basename(asker.name),
                    ),
                    "wb",
                ) as file:
                    file.write(packed)
            shutil.rmtree(place)
            return found, is_refused

        results = list(pool.map(tried, enumerate(chosen)))
    held = sum(not found for found, _ in results)
    return (
        held,
        list(itertools.chain.from_iterable(found for found, _ in results)),
        sum(refused for _, refused in results),
    )


def path_of(path, shared):
    if path.startswith("shared/"):
        return shared and os.path.join(shared, path[len("shared/") :])
    return os.path.join(ROOT, path)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--shared")
    parser.add_argument("--every", action="store_true")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="")
    parser.add_argument("--keep", metavar="FOLDER", help="write variants that fail into this folder")
    options = parser.parse_args()
    options.binary = os.path.abspath(options.binary)
    print(f"seed {options.seed}{', all variants' if options.every else ''}")
    passed = failed = skipped = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        for case in itertools.chain.from_iterable(importlib.import_module(name).CASES for name in MODULES):
            if options.only not in case.name:
                continue
            path, began = path_of(case.path, options.shared), time.monotonic()
            if not all(path_of(needed, options.shared) for needed in (case.path, *(path for _, path in case.beside))):
                print(f"skipped: {case.name} (needs ../shared)")
                skipped += 1
                continue
            with open(path, "rb") as file:
                held, found, refused = probe(case, file.read(), options, pool)
            passed += held
            failed += len({description for description, _, _ in found})
            words = "FAILED" if found else "ok    "
            print(
                f"{words} {case.name}: {held} variants hold, {refused} refused ({time.monotonic() - began:.1f} s)",
                flush=True,
            )
            for description, command, fault in found[:SHOWN]:
                print(f"  {description} [{command}]: {fault}")
            if len(found) > SHOWN:
                print(f"  and {len(found) - SHOWN} more")
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
