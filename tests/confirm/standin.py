# SPDX-License-Identifier: Apache-2.0
"""What a library that goes wrong does to a compile: nothing but one sentence.

  standin.py --drive build/release/confirm/drive --standin build/release/confirm/standin.so --module FILE --binary
  memviewd

Each case tells the stand-in (standin.c) how to go wrong, and holds status, sentence and figures; after each no process
and no folder of it may be left. FILE is a program with its buffer assignment, which the stand-in hands out as its dump.
"""

import argparse
import glob
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import whatif
from standin_cases import BESIDE, CASES, GPU, GPUS, PLUGIN_SEARCHES, SEARCHES


class Place:
    """a folder for temporary files, by which all that a case leaves behind is found"""

    def __init__(self):
        self.path = tempfile.mkdtemp(prefix="confirm of ")

    def processes(self):
        found = []
        for environ in glob.glob("/proc/[0-9]*/environ"):
            try:
                with open(environ, "rb") as file:
                    if b"MEMVIEWD_COMPILE=" + self.path.encode() in file.read():
                        found.append(int(environ.split("/")[2]))
            except OSError:
                pass
        return found

    def left(self):
        for _ in range(20):  # one that was killed may take a moment
            left = self.processes()
            if not left:
                break
            time.sleep(0.05)
        for process in left:
            os.kill(process, signal.SIGKILL)
        return [f"process {process} is left" for process in left] + [
            f"{name} is left" for name in os.listdir(self.path)
        ]


def run(arguments, place, word, options, variables=None, module=None):
    environ = {
        **os.environ,
        "TMPDIR": place.path,
        "MEMVIEWD_STANDIN": word,
        "MEMVIEWD_STANDIN_DUMP": os.path.abspath(arguments.module),
        "LD_LIBRARY_PATH": os.path.dirname(os.path.abspath(arguments.module)),
    }
    environ.pop("MEMVIEWD_LIBTPU", None)
    environ.pop("MEMVIEWD_PJRT_PLUGIN", None)
    done = subprocess.run(
        [arguments.drive, *options, module or arguments.module],
        env={**environ, **(variables or {})},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return (
        json.loads(done.stdout)
        if done.returncode == 0
        else {"status": f"exit {done.returncode}", "sentence": done.stderr}
    )


def with_usual(arguments, options):
    """and the library and the chip, where they are not given"""
    given = {option.split("=")[0] for option in options}
    usual = (f"--libtpu={arguments.standin}", "--topology=v5e:2x2")
    return [*options, *(option for option in usual if option.split("=")[0] not in given)]


def site_make(folder, standin):
    """what SEARCHES name, below a folder that is called like the plug-in"""
    os.makedirs(f"{folder}/xla_cuda-site/libtpu")
    os.makedirs(f"{folder}/xla_cuda-site/libtpu-1.2.3.dist-info")
    shutil.copy(standin, f"{folder}/xla_cuda-site/libtpu/libtpu.so")
    os.makedirs(f"{folder}/xla_cuda-site/jax_plugins/xla_cuda12")
    os.makedirs(f"{folder}/xla_cuda-site/jax_cuda12_pjrt-0.11.2.dist-info")
    shutil.copy(standin, f"{folder}/xla_cuda-site/jax_plugins/xla_cuda12/xla_cuda_plugin.so")
    os.makedirs(f"{folder}/python")
    with open(f"{folder}/python/python3", "w", encoding="utf-8") as file:
        file.write('#!/bin/sh\nprintf %s "$WORDS"\nexit $STATUS\n')
    os.chmod(f"{folder}/python/python3", 0o755)
    return {"site": f"{folder}/xla_cuda-site", "python": f"{folder}/python"}


def beside_make(folder, end, data, module):
    """a dump of one module, with one file beside it"""
    os.makedirs(f"{folder}/module_0000.jit_f.cl_1")
    shutil.copy(module, f"{folder}/module_0000.jit_f.cl_1.before_optimizations.hlo.pb")
    with open(f"{folder}/module_0000.jit_f.cl_1{end}", "wb") as file:
        file.write(data)
    return f"{folder}/module_0000.jit_f.cl_1.before_optimizations.hlo.pb"


def faults_of(got, status, sentence, members):
    faults = [] if got["status"] == status else [f"status {got['status']}, not {status}"]
    if not re.fullmatch(sentence, got["sentence"]):
        faults.append(f"says: {got['sentence']}")
    return faults + [
        f"{key} is {got.get(key)!r}, not {value!r}" for key, value in members.items() if got.get(key) != value
    ]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--drive", required=True)
    parser.add_argument("--standin", required=True)
    parser.add_argument("--module", required=True)
    parser.add_argument("--binary", required=True)
    arguments = parser.parse_args()
    place, passed, failed = Place(), 0, 0

    def count(name, faults):
        nonlocal passed, failed
        faults = faults + place.left()
        passed, failed = passed + (not faults), failed + bool(faults)
        for fault in faults:
            print(f"FAILED {name}: {fault}")

    for word, options, status, sentence, members in CASES:
        got = run(arguments, place, word, with_usual(arguments, options))
        count(" ".join([word, *options]), faults_of(got, status, sentence, members))
    with tempfile.TemporaryDirectory() as folder:
        places = site_make(folder, arguments.standin)
        for name, variables, status, sentence, members in SEARCHES:
            told = {"STATUS": "0", **{key: value.format(**places) for key, value in variables.items()}}
            got = run(arguments, place, "stops", ["--topology=v5e:2x2"], told)
            count(name, faults_of(got, status, sentence, members))
        module = beside_make(folder, ".gpu_target_config.pbtxt", GPU, arguments.module)
        for word, status, sentence, members in GPUS:
            got = run(arguments, place, word, [f"--pjrt-plugin={arguments.standin}"], None, module)
            count(f"GPU {word}", faults_of(got, status, sentence, members))
        for name, variables, status, sentence, members in PLUGIN_SEARCHES:
            told = {"STATUS": "0", **{key: value.format(**places) for key, value in variables.items()}}
            count(f"GPU {name}", faults_of(run(arguments, place, "stops", [], told, module), status, sentence, members))
    for source, end, data, status, sentence in BESIDE:
        with tempfile.TemporaryDirectory() as folder:
            module = beside_make(folder, end, data, arguments.module)
            got = run(arguments, place, "stops", [f"--libtpu={arguments.standin}"], None, module)
            count(f"beside it {end}", faults_of(got, status, sentence, {"topology_source": source}))
    for name, faults in whatif.cases(arguments, place):
        count(name, faults)
    os.rmdir(place.path)
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
