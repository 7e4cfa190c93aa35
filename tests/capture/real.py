#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Captures of real JAX jobs on the CPU.

  real.py --binary PATH --python build/jax/bin/python [--only TEXT]...

From the running job to what the daemon and the commands say of the trace. The last line is "N passed, N failed, N
skipped".
"""

import contextlib
import os
import signal
import subprocess
import sys
import time

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "http")]
import harness
import running
from box import capture, left


@contextlib.contextmanager
def job(python):
    """its address; it runs until the block ends"""
    port = harness.free_port()
    with subprocess.Popen(
        [python, os.path.join(HERE, "job.py"), str(port)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "JAX_PLATFORMS": "cpu"},
    ) as process:
        assert process.stdout.readline() == b"running\n"
        try:
            yield f"localhost:{port}"
        finally:
            process.stdin.close()


def test_a_job_that_runs_is_captured(t, python):
    with job(python) as address:
        done = capture(t, address)
        capture(t, address)
    path = done.stdout.split("  ")[0]
    said = t.run("summary", path).stdout
    assert "jit_step" in said and "f32[256,512]" in said, said
    daemon = t.serve(f"--logdir={t.folder('logs')}")
    assert len(daemon.sessions()) == 2
    session = done.stderr.split("?session=")[1].split(" ")[0]
    names = [module["name"] for module in daemon.get_json(f"/api/v1/sessions/{session}/modules")["modules"]]
    assert "jit_step" in names, names


def test_two_jobs_in_one_window(t, python):
    with job(python) as one, job(python) as two:
        began = time.monotonic()
        done = capture(t, one, two)
        assert time.monotonic() - began >= 2  # a second ahead, a second recorded
    assert len(done.stdout.splitlines()) == 2, done
    assert len({os.path.dirname(line.split("  ")[0]) for line in done.stdout.splitlines()}) == 1


def test_a_job_that_is_recorded_already_says_so_and_an_interrupt_frees_it(t, python):
    with job(python) as address:
        words = [t.binary, "capture", f"--logdir={t.folder('other')}", "--seconds=600", address]
        first = None

        def refused():
            nonlocal first
            if first is None or first.poll() is not None:  # the other one was asked sooner: it begins again, alone
                first = subprocess.Popen(words, stderr=subprocess.PIPE, text=True)
                return False
            done = t.run("capture", f"--logdir={t.folder('logs')}", "--seconds=1", address)
            return done.returncode == 2 and "another profile of it is being recorded" in done.stderr

        harness.wait_until(refused, what="the refusal")
        first.send_signal(signal.SIGINT)
        harness.equal((first.wait(), first.stderr.read()), (130, "memviewd: interrupted: nothing was kept\n"))
        harness.wait_until(
            lambda: t.run("capture", f"--logdir={t.folder('logs')}", "--seconds=1", address).returncode == 0,
            what="its end",
        )
    harness.equal([name for name in left(t) if name.endswith(".part")], [])


def main():
    parser = running.parser_of(__doc__)
    parser.add_argument("--python", required=True)
    options = parser.parse_args()

    def run_one(name, function):
        return running.run_one(name, function, harness.Toolbox(os.path.abspath(options.binary), None), options.python)

    tests = [(name[5:], function) for name, function in globals().items() if name.startswith("test_")]
    chosen = [test for test in tests if any(text in test[0] for text in options.only or [""])]
    sys.exit(running.in_turn(chosen, run_one).end())


if __name__ == "__main__":
    main()
