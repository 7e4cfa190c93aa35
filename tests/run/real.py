# SPDX-License-Identifier: Apache-2.0
"""`memviewd run` around real programs: JAX on CPU, and compiled ahead of time for TPU v5e, which needs none.

  real.py --binary build/release/memviewd --python build/jax/bin/python --libtpu
  build/libtpu/lib/python3.11/site-packages

From the start of the program to the printed verdict, and the session that the daemon makes of it.
"""

import glob
import json
import os
import re
import subprocess
import sys

import box
from agent import test_an_agent_that_follows_the_first_advice_makes_it_fit  # noqa: F401

JOBS = os.path.join(box.HERE, "jobs")
# libtpu asks no metadata server and takes no lock for a chip that is not there.
AOT = {
    "TPU_SKIP_MDS_QUERY": "1",
    "TPU_ACCELERATOR_TYPE": "v5litepod-1",
    "TPU_WORKER_HOSTNAMES": "localhost",
    "TPU_WORKER_ID": "0",
    "ALLOW_MULTIPLE_LIBTPU_LOAD": "1",
    "PLATFORM": "tpu",
}


def job(options, name):
    return [options.python, os.path.join(JOBS, name)]


def session_of(here):
    """the dump that the daemon finds, beside nothing but device profiles of the same run, and the names of its
    modules"""
    daemon, port = box.serve(here)
    try:
        sessions = box.answer_of(port, "/api/v1/sessions")["sessions"]
        dumps = [each for each in sessions if each["kind"] != "profiles"]
        assert len(dumps) == 1 and len({each["name"] for each in sessions}) == 1, sessions
        sessions = dumps
        modules = box.answer_of(port, f"/api/v1/sessions/{sessions[0]['id']}/modules")["modules"]
        return sessions[0], [module["name"] for module in modules]
    finally:
        daemon.terminate()
        daemon.communicate(timeout=20)


def check_verdict(here, done, module, needed):
    text = done.stderr.decode()
    assert done.returncode == 1 and needed in text, text
    session, modules = session_of(here)
    assert session["kind"] == "dump" and session["failure"]["count"] == 1 and module in modules, (session, modules)
    assert re.search(
        rf"the page: http://localhost:6006/\?session={session['id']}( after memviewd "
        rf"--logdir={re.escape(here.runs)})?\n$",
        text,
    ), text


def test_cpu_has_no_place_for_a_buffer(here, options):
    done = here.run(*job(options, "too_large_cpu.py"), variables={"JAX_PLATFORMS": "cpu"})
    assert done.stdout == b"step 1\n", done
    check_verdict(here, done, "jit__lambda", "64.00 TiB")


def test_a_program_does_not_fit_a_tpu(here, options):
    done = here.run(
        *job(options, "too_large_tpu.py"), variables={**AOT, "JAX_PLATFORMS": "cpu", "PYTHONPATH": options.libtpu}
    )
    check_verdict(here, done, "jit_loss", "18.50 GiB")
    assert done.stderr.count(b"Did it fit?") == 1 and b"saved activations, 12.00 GiB" in done.stderr, (
        done
    )  # the text and its program are one
    whose = subprocess.run([options.binary, "whose", here.only_session()], capture_output=True, timeout=60, text=True)
    assert "jit_loss, HBM: 18.50 GiB at the peak" in whose.stdout, whose


def test_live_arrays_are_saved_at_the_failure(here, options):
    for where in ("main", "thread"):
        here.runs = os.path.join(here.folder, where)
        done = here.run(*job(options, "array_lives.py"), variables={"JAX_PLATFORMS": "cpu", "WHERE": where})
        names = os.listdir(here.only_session())
        assert done.returncode == 1 and "memory-000001.prof" in names and done.stderr.count(b"Traceback") < 3, (
            where,
            done,
        )
        assert (
            b"armed: JAX in 1 of 1 Python process\n" in done.stderr
            and b" 12.00 MiB of it from train array_lives.py:14.\n" in done.stderr
        ), (where, done)
        with open(os.path.join(here.only_session(), "live_arrays.json"), encoding="utf-8") as file:
            held = json.load(file)["arrays"]
        assert [3, 1 << 20] in [each["shape"] for each in held], (where, held)


def test_a_running_job_is_asked_for_its_device_profile(here, options):
    here.environment["JAX_PLATFORMS"] = "cpu"
    job_runs = here.start(
        *job(options, "holds.py"), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    try:
        box.read_to(job_runs.stdout.fileno(), b"ready\n")
        for number in (1, 2):
            done = subprocess.run(
                [options.binary, "capture", here.runs, f"--wait={box.PATIENCE_SECONDS}"],
                capture_output=True,
                timeout=box.PATIENCE_SECONDS,
                text=True,
            )
            paths = [line.split("  ")[0] for line in done.stdout.splitlines()]
            assert done.returncode == 0 and [os.path.basename(path) for path in paths] == [
                f"memory-{number:06d}.prof",
                f"live_arrays-{number:06d}.json",
            ], done
        top = subprocess.run([options.binary, "top", paths[0]], capture_output=True, timeout=60, text=True).stdout
        assert re.search(r" 12\.00 MiB  100\.00%  hold \S*/holds\.py:8\n", top), top
        with open(paths[1], encoding="utf-8") as file:
            assert [3, 1 << 20] in [each["shape"] for each in json.load(file)["arrays"]]
        daemon, port = box.serve(here)
        try:
            (session,) = [
                each for each in box.answer_of(port, "/api/v1/sessions")["sessions"] if each["kind"] == "profiles"
            ]
            assert (
                f"?session={session['id']} " in done.stderr
                and len(box.answer_of(port, f"/api/v1/sessions/{session['id']}/profiles")["profiles"]) == 2
            ), (session, done)
        finally:
            daemon.terminate()
            daemon.communicate(timeout=20)
    finally:
        out, err = job_runs.communicate(timeout=box.PATIENCE_SECONDS)
    assert (job_runs.returncode, out) == (0, b"went on 3145728.0\n"), (out, err)


def test_watch_shows_live_arrays(here, options):
    here.word = "watch"
    here.environment["JAX_PLATFORMS"] = "cpu"
    job_runs = here.start(
        *job(options, "holds.py"),
        options=["--every=0.05"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    box.read_to(job_runs.stdout.fileno(), b"ready\n")
    looks = lambda: sum(
        open(path, encoding="utf-8").read().count("at ")
        for path in glob.glob(os.path.join(here.runs, "run-*", ".live", "pid*"))
    )
    before = looks()
    box.until(lambda: looks() > before, "nobody looks")
    out, err = job_runs.communicate(timeout=box.PATIENCE_SECONDS)
    assert (job_runs.returncode, out) == (0, b"went on 3145728.0\n") and re.search(
        rb"most in use: 12\.00 MiB, cpu of pid\d+, \d+ s after the start", err
    ), (out, err)
    assert not os.path.exists(here.runs)


def test_what_fits_leaves_nothing(here, options):
    done = here.run(*job(options, "fits.py"), variables={"JAX_PLATFORMS": "cpu"})
    assert (
        done.returncode == 0
        and done.stderr == b""
        and re.fullmatch(rb"compiled .*\nstepped .*\nloss 7\.\d+\ntook .*\n", done.stdout)
    ), done
    assert not os.path.exists(here.runs)


def test_jaxs_compilation_cache_is_the_same_with_us(here, options):
    cache = os.path.join(here.folder, "cache")
    here.environment.update(
        {
            "JAX_PLATFORMS": "cpu",
            "JAX_COMPILATION_CACHE_DIR": cache,
            "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
            "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1",
        }
    )
    subprocess.run(job(options, "fits.py"), check=True, capture_output=True, timeout=60, env=here.environment)
    before = sorted(name for name in os.listdir(cache) if name.endswith("-cache"))
    here.run(*job(options, "fits.py"))
    assert before and before == sorted(name for name in os.listdir(cache) if name.endswith("-cache"))


if __name__ == "__main__":
    sys.exit(box.tests_run(globals(), __doc__, "--python", "--libtpu"))
