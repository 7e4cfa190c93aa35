# SPDX-License-Identifier: Apache-2.0
"""Compiles programs whose memory is known for TPU v5e, without a TPU, and writes what is known beside each.

  scripts/make-programs [OPTION…] OUT [NAME…]

OUT/NAME/ holds the dumped module and truth.json, and nothing of what the compiler wrote besides. Without names every
program of tests/programs/models is made that OUT does not have yet. A NAME may hold * and ?. OUT/pairs.json names
those that are one program before and after a change.

  --list          print names, patterns and notes, compile nothing
  --again         also those that are there
  --split         OUT/open/NAME and OUT/holdout/NAME: one family of programs in three is held out, by its name
  --binary FILE   memviewd, for the peaks (build/release/memviewd)
"""
import argparse
import fnmatch
import glob
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..")
sys.path[:0] = [HERE, os.path.join(HERE, "..", "golden")]
import catalog  # noqa: E402
from daemon import Daemon  # noqa: E402
from module_file import Module  # noqa: E402

LIMIT_S = 300  # for one program
POLL_S = 0.1
REPORT = "*[._]after_optimizations-memory-usage-report.pb"  # written after the module itself
MODULE = "*[._]after_optimizations.hlo.pb"


class NotMade(Exception):
    pass


def is_whole(folder):
    """the report is there and neither file grows any more"""
    files = glob.glob(os.path.join(folder, "dump", REPORT)) + glob.glob(os.path.join(folder, "dump", MODULE))
    if len(files) < 2:
        return False
    sizes = [os.path.getsize(file) for file in files]
    time.sleep(2 * POLL_S)
    return min(sizes) > 0 and sizes == [os.path.getsize(file) for file in files]


def compile_apart(arguments, folder, last=None):
    """Python with these arguments, in a process of its own that is ended as soon as the module and its report are in
    the folder. It goes on until it wrote `last` there, too, if that is asked for"""
    log = os.path.join(folder, "log")
    with open(log, "wb") as out:
        child = subprocess.Popen([sys.executable, "-B", *arguments], stdin=subprocess.DEVNULL, stdout=out, stderr=out,
                                 start_new_session=True)
        end = time.monotonic() + LIMIT_S
        while child.poll() is None and (last or not is_whole(folder)) and time.monotonic() < end:
            time.sleep(POLL_S)
        if child.poll() is None:
            os.killpg(child.pid, signal.SIGKILL)
            child.wait()
    if not is_whole(folder) or (last and not os.path.exists(os.path.join(folder, last))):
        with open(log, encoding="utf-8", errors="replace") as text:
            raise NotMade("".join(text.readlines()[-12:]).strip() or "the compiler said nothing")


def compile_until_assigned(chosen, folder, last=None, target=None):
    """the module's file; for TPU v5e, or for the GPU that the file `target` describes"""
    compile_apart([os.path.join(HERE, "compile_one.py"), chosen.name, chosen.build.__module__, folder,
                   *([target] if target else [])], folder, last)
    modules = glob.glob(os.path.join(folder, "dump", MODULE))
    if len(modules) != 1:
        raise NotMade(f"the compiler wrote {len(modules)} modules")
    return modules[0]


def looked_at(binary, logdir, folder, file):
    """(peak bytes, total bytes, rows alive at the peak) of memory space 0"""
    with Daemon(binary, logdir) as daemon:
        session, module = daemon.find(folder, file)
        spaces = daemon.view("summary", session, module)["spaces"]
        rows = daemon.view("buffers", session, module, space=0, limit=1000)["rows"]  # the largest
    return spaces[0]["peak_bytes"], spaces[0]["total_bytes"], rows


def with_bytes(args, module, name):
    for row in args:
        row["bytes"] = 0 if row["number"] is None else module.argument_bytes[row["number"]]
        called = module.argument_names.get(row["number"])
        if called not in (None, row["path"]):
            raise NotMade(f"argument {row['number']} of {name} is {called}, not {row['path']}")
    return args


def truth_of(chosen, found, module, peak_bytes, total_bytes, rows):
    """(truth, faults): a pattern that the compiler did not keep as the author meant it is told and left out"""
    planted, absent, faults = {}, [], []
    for kind, sign in chosen.has.items():
        is_there, held = sign(module, rows, peak_bytes)
        if is_there:
            planted[kind] = held
        else:
            faults.append(f"{kind} was put in, but is not seen at the peak ({held} bytes)")
    for kind, sign in chosen.lacks.items():
        is_there, held = sign(module, rows, peak_bytes)
        if is_there:
            faults.append(f"{kind} was left out, but is seen at the peak ({held} bytes)")
        else:
            absent.append(kind)
    truth = {"name": chosen.name, "note": chosen.note, "jax": found["jax"], "family": chosen.family,
             "devices": devices_of(chosen),
             "patterns": list(planted),
             "pattern_bytes": {kind: held for kind, held in planted.items() if held is not None},
             "absent": absent, "peak_bytes": peak_bytes, "total_bytes": total_bytes,
             "args": module.arguments}
    if "grads" in found:
        truth["grads"] = found["grads"]
    return truth, faults


def devices_of(chosen):
    count = 1
    for size in chosen.mesh.values():
        count *= size
    return count


def written(truth):
    """JSON with a row of args and grads on each line"""
    lines = []
    for key, value in truth.items():
        rows = ",\n  ".join(json.dumps(row) for row in value) if key in ("args", "grads") else None
        lines.append(f' "{key}": ' + (json.dumps(value) if rows is None else f"[\n  {rows}\n ]"))
    return "{\n" + ",\n".join(lines) + "\n}\n"


def make(chosen, into, binary):
    """the faults of what was planted"""
    with tempfile.TemporaryDirectory() as folder:
        file = compile_until_assigned(chosen, folder)
        with open(os.path.join(folder, "arguments.json"), encoding="utf-8") as text:
            found = json.load(text)
        fresh = os.path.join(folder, chosen.name)
        os.mkdir(fresh)
        shutil.move(file, fresh)
        file = os.path.join(fresh, os.path.basename(file))
        peak_bytes, total_bytes, rows = looked_at(binary, folder, chosen.name, os.path.basename(file))
        module = Module(file)
        module.arguments = with_bytes(found["args"], module, chosen.name)
        truth, faults = truth_of(chosen, found, module, peak_bytes, total_bytes, rows)
        with open(os.path.join(fresh, "truth.json"), "w", encoding="utf-8") as out:
            out.write(written(truth))
        shutil.rmtree(into, ignore_errors=True)
        os.makedirs(os.path.dirname(into), exist_ok=True)
        shutil.move(fresh, into)
    return truth, faults


def write_pairs(folder, programs):
    """pairs.json: programs before and after one change, as far as both are in the folder"""
    pairs = []
    for chosen in programs.values():
        files = [os.path.join(folder, name, "truth.json") for name in (*chosen.change[:1], chosen.name)]
        if not chosen.change or not all(map(os.path.exists, files)):
            continue
        sides = []
        for file in files:
            with open(file, encoding="utf-8") as text:
                sides.append(json.load(text))
        pairs.append({"before": sides[0]["name"], "after": sides[1]["name"], "change": chosen.change[1],
                      **{f"{key}_{side}": truth[key] for key in ("total_bytes", "peak_bytes")
                         for side, truth in zip(("before", "after"), sides, strict=True)}})
    if pairs:
        with open(os.path.join(folder, "pairs.json"), "w", encoding="utf-8") as out:
            out.write("[\n " + ",\n ".join(map(json.dumps, pairs)) + "\n]\n")


def place(out, chosen, is_split):
    held_out = hashlib.sha256(chosen.family.encode()).digest()[0] % 3 == 0
    return os.path.join(out, *(["holdout" if held_out else "open"] if is_split else []), chosen.name)


def main():
    parser = argparse.ArgumentParser(usage=__doc__, add_help=False)
    parser.add_argument("out", nargs="?")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--split", action="store_true")
    parser.add_argument("--binary", default=os.path.join(ROOT, "build", "release", "memviewd"))
    options = parser.parse_args()
    programs = catalog.load()
    if options.list:
        for chosen in programs.values():
            print(chosen.name, ",".join([*chosen.has, *("-" + kind for kind in chosen.lacks)]) or ".", chosen.note,
                  sep="\t")
        return 0
    if not options.out:
        parser.error("where to?")
    wanted = [chosen for chosen in programs.values() if not options.names
              or any(fnmatch.fnmatch(chosen.name, name) for name in options.names)]
    failed = 0
    for chosen in wanted:
        into = place(options.out, chosen, options.split)
        if os.path.exists(into) and not options.again:
            continue
        begun = time.monotonic()
        try:
            truth, faults = make(chosen, into, options.binary)
            print(f"{chosen.name}: peak {truth['peak_bytes'] / 2**20:.1f} MiB, {time.monotonic() - begun:.1f} s",
                  *truth["patterns"],
                  *("no-" + kind for kind in truth["absent"]), flush=True)
        except NotMade as error:
            faults = [str(error)]
        failed += bool(faults)
        for fault in faults:
            print(f"  {chosen.name}: {fault}", flush=True)
    for folder in {os.path.dirname(place(options.out, chosen, options.split)) for chosen in programs.values()}:
        write_pairs(folder, programs)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
