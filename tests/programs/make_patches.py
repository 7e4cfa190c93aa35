# SPDX-License-Identifier: Apache-2.0
"""Applies the patches that memviewd writes to real sources, and compiles what comes of it for TPU v5e, without a TPU.

  scripts/make-programs OUT --patches [OPTION…] [NAME…]

Each program of tests/programs/patched is compiled to OUT/NAME/before; for each advised change with a patch the sources
are copied to OUT/NAME/CHANGE/sources, changed by `git apply`, the same diff is given to `patch -p1`, and what comes of
it is compiled. A line for each change says what was predicted and what the compiler says; the exit status is 1 if a
diff does not apply, or if what it makes does not compile or does not save half of what was said. What is there is not
compiled again.

  --gpu           for an H100, with JAX's CUDA plug-in and without a GPU
  --target FILE   for the GPU that this *.gpu_target_config.pbtxt describes
  --sources DIR   folder of the programs (tests/programs/patched)
  --binary FILE   memviewd (build/release/memviewd)
"""
import argparse
import filecmp
import json
import os
import shutil
import subprocess
import sys

from make import HERE, ROOT, NotMade, compile_apart, is_whole
from make_pairs import H100, total_bytes

PATCHED = os.path.join(HERE, "patched")


def compile_sources(binary, sources, out, target):
    """bytes that the program takes, by the compiler's buffer assignment"""
    if not is_whole(out):
        shutil.rmtree(out, ignore_errors=True)
        os.makedirs(out)
        compile_apart([os.path.join(HERE, "compile_patched.py"), sources, out, *([target] if target else [])], out)
    return total_bytes(binary, os.path.join(out, "dump"))


def applied(diff, sources, into):
    """the sources as git changes them; False where git or patch does not take the diff, or they differ"""
    copies = [os.path.join(into, "sources"), os.path.join(into, "by-patch")]
    for copy, command in zip(copies, (["git", "apply", "-"], ["patch", "-s", "-p1"]), strict=True):
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(sources, copy, ignore=shutil.ignore_patterns("__pycache__"))
        environment = dict(os.environ, GIT_CEILING_DIRECTORIES=os.path.abspath(into))
        if subprocess.run(command, input=diff, cwd=copy, env=environment).returncode:
            return False
    files = [os.path.relpath(os.path.join(folder, name), copies[0]) for folder, _, names in os.walk(copies[0])
             for name in names]
    same, different, failed = filecmp.cmpfiles(*copies, files, shallow=False)
    return not different and not failed and len(same) == len(files)


def judge(binary, folder, name, out, target):
    """(patches, those that hold)"""
    sources, dump = os.path.join(folder, name), os.path.join(out, name, "before")
    before = compile_sources(binary, sources, dump, target)
    command = [binary, "explain", os.path.join(dump, "dump"), "--source-root", sources]
    (answer,) = json.loads(subprocess.run([*command, "--json"], stdout=subprocess.PIPE, check=True).stdout)
    count = good = 0
    for advice in answer["answer"]["advice"]:
        if "patch" not in advice:
            continue
        count += 1
        said, what = advice.get("lands_at_bytes"), f"{name} {advice['change']}"
        if "diff" not in advice["patch"]:
            print(f"{what}: not written, because {advice['patch']['reason']}", flush=True)
            continue
        diff = subprocess.run([*command, "--patch", "--change", advice["change"]], stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, check=True).stdout
        into = os.path.join(out, name, advice["kind"])
        if not applied(diff, sources, into):
            print(f"{what}: DOES NOT APPLY", flush=True)
            continue
        try:
            after = compile_sources(binary, os.path.join(into, "sources"), os.path.join(into, "after"), target)
        except NotMade as error:
            print(f"{what}: DOES NOT COMPILE: {error}", flush=True)
            continue
        holds = before - after >= (before - said) / 2 if said is not None else after <= before
        good += holds
        told = "no figure" if said is None else f"{said / 2**20:.1f} ({advice['confidence']})"
        apart = "" if said is None else f", {100 * (said - after) / after:+.1f} %"
        print(f"{what}: {before / 2**20:.1f} MiB, said {told}, compiled {after / 2**20:.1f}{apart}"
              f"{'' if holds else ', SAVES LESS THAN HALF'}", flush=True)
    return count, good


def main():
    parser = argparse.ArgumentParser(usage=__doc__, add_help=False)
    parser.add_argument("out")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--patches", action="store_true", required=True)
    parser.add_argument("--gpu", action="store_true")
    parser.add_argument("--target", default=H100)
    parser.add_argument("--sources", default=PATCHED)
    parser.add_argument("--binary", default=os.path.join(ROOT, "build", "release", "memviewd"))
    options = parser.parse_intermixed_args()
    counts = [judge(options.binary, os.path.abspath(options.sources), name, os.path.abspath(options.out),
                    options.target if options.gpu else None)
              for name in options.names or sorted(os.listdir(options.sources))]
    count, good = (sum(each) for each in zip(*counts, strict=True))
    print(f"{good} of {count} advised changes were written, apply and land as said")
    return 0 if good == count else 1


if __name__ == "__main__":
    sys.exit(main())
