# SPDX-License-Identifier: Apache-2.0
"""A folder with memviewd run in it, commands that stand in for jobs, and what the tests look at."""

import argparse
import fcntl
import glob
import json
import os
import pty
import re
import select
import struct
import subprocess
import sys
import tempfile
import termios
import time
import traceback
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
FIXTURES = os.path.join(HERE, "..", "fixtures")
COMPILE_TEXT = os.path.join(FIXTURES, "oom", "0.10.2-libtpu0.0.52-v5e-dots.txt")
MODULE = os.path.join(HERE, "..", "..", "build", "fixtures", "hlo-two-buffers.pb")
PYTHON = sys.executable

PATIENCE_SECONDS = 60  # ends a test that hangs; measures nothing


# Of these, memviewd.json has labels (python/memviewd/_labels.py).
LABEL_VARIABLES = (
    "USER",
    "LOGNAME",
    "MEMVIEWD_LABELS",
    "GIT_COMMIT",
    "GITHUB_SHA",
    "CI_COMMIT_SHA",
    "GITHUB_ACTOR",
    "GITLAB_USER_LOGIN",
    "KUBERNETES_SERVICE_HOST",
    "JOBSET_NAME",
    "JOB_COMPLETION_INDEX",
    *(name for name in os.environ if name.startswith(("SLURM_", "WANDB_", "TORCHELASTIC_"))),
)


class Skip(Exception):
    pass


class Box:
    """a folder, and memviewd run in it"""

    def __init__(self, binary, folder):
        self.binary, self.folder = binary, folder
        self.runs = os.path.join(folder, "runs")
        self.word = "run"
        self.patience_seconds = PATIENCE_SECONDS
        self.environment = {**os.environ, "LC_ALL": "C.UTF-8"}
        for name in ("XLA_FLAGS", *LABEL_VARIABLES):
            self.environment.pop(name, None)

    def command(self, *command, options=()):
        return [self.binary, self.word, f"--logdir={self.runs}", *options, "--", *command]

    def script(self, text):
        path = os.path.join(self.folder, f"script{len(os.listdir(self.folder))}.py")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return [PYTHON, path]

    def run(self, *command, options=(), variables=(), **more):
        return subprocess.run(
            self.command(*command, options=options),
            capture_output=True,
            timeout=self.patience_seconds,
            cwd=self.folder,
            env={**self.environment, **dict(variables)},
            **more,
        )

    def start(self, *command, options=(), **more):
        return subprocess.Popen(self.command(*command, options=options), cwd=self.folder, env=self.environment, **more)

    def sessions(self):
        return sorted(glob.glob(os.path.join(self.runs, "run-*")))

    def only_session(self):
        sessions = self.sessions()
        assert len(sessions) == 1, sessions
        return sessions[0]


def tests_run(names, words, *paths):
    """the functions test_…(box, options) of a program whose options are --binary and `paths`: prints what came of each;
    the exit status"""
    parser = argparse.ArgumentParser(description=words, formatter_class=argparse.RawDescriptionHelpFormatter)
    for path in ("--binary", *paths):
        parser.add_argument(path, required=True, type=os.path.abspath)
    options = parser.parse_args()
    counts = {"passed": 0, "failed": 0}
    for name, test in [each for each in names.items() if each[0].startswith("test_")]:
        with tempfile.TemporaryDirectory(prefix="memviewd-run-") as folder:
            began, word = time.monotonic(), "passed"
            try:
                test(Box(options.binary, folder), options)
            except Exception:  # noqa: a test may fail in any way
                word = "failed"
                traceback.print_exc(file=sys.stdout)
            counts[word] += 1
            print(
                f"{'ok     ' if word == 'passed' else 'FAILED '} {name[5:].replace('_', ' ')} "
                f"({time.monotonic() - began:.1f} s)",
                flush=True,
            )
    print("{passed} passed, {failed} failed, 0 skipped".format(**counts))
    return counts["failed"] > 0


def until(condition, what, seconds=PATIENCE_SECONDS):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, what
        time.sleep(0.02)


def read_to(descriptor, end, seconds=PATIENCE_SECONDS):
    """what comes until `end` is among it"""
    got, last = b"", time.monotonic() + seconds
    while end not in got:
        assert select.select([descriptor], [], [], max(0, last - time.monotonic()))[0], got
        got += os.read(descriptor, 65536)
    return got


DUMPING = f"""
import os, re, shutil, sys, time
FLAGS = os.environ["XLA_FLAGS"]
DUMP = re.findall(r"--xla_dump_to=(\\S+)", FLAGS)[-1]
os.makedirs(DUMP, exist_ok=True)
def dump(number, name="jit_step", extra=0):
    stem = f"{{DUMP}}/module_{{number:04d}}.{{name}}"
    os.makedirs(stem, exist_ok=True)
    for part in ("topology.pb", "module.mlir"):
        open(f"{{stem}}/{{part}}", "w").write("x")
    for ending in (".debug_options", ".wrapped_add.ir-no-opt.ll", ".after_codegen.hlo.pb", ".target_arguments.pb"):
        open(stem + ending, "w").write("x")
    shutil.copy({MODULE!r}, stem + ".before_optimizations.hlo.pb")
    shutil.copy({MODULE!r}, stem + ".after_optimizations.hlo.pb")
    with open(stem + ".after_optimizations.hlo.pb", "ab") as file:
        file.write(b"\\0" * extra)
"""
OUT_OF_MEMORY = f"\nprint(open({COMPILE_TEXT!r}).read(), file=sys.stderr)\nsys.exit(1)\n"


def on_terminal(box, *command, rows=31, columns=97, options=()):
    ours, theirs = pty.openpty()
    fcntl.ioctl(ours, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    job = box.start(
        *command,
        options=options,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
    )
    os.close(theirs)
    return job, ours


def state_of(process):
    with open(f"/proc/{process}/stat", encoding="utf-8") as file:
        return file.read().rsplit(")", 1)[1].split()[0]


def child_of(process):
    with open(f"/proc/{process}/task/{process}/children", encoding="utf-8") as file:
        return int(file.read().split()[0])


def answer_of(port, path):
    with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=20) as answer:
        return json.load(answer)


def serve(box, port=0):
    daemon = subprocess.Popen(
        [box.binary, f"--logdir={box.runs}", f"--port={port}"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    line = daemon.stdout.readline()
    return daemon, re.search(r":(\d+)/", line)[1] if line else None
