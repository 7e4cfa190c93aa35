# SPDX-License-Identifier: Apache-2.0
"""What the processes of runs in the watched folders have in use: which runs are listed, their lines, hostile
folders."""

import contextlib
import fcntl
import os

from harness import equal

PATH = "/api/v1/live"
GIB = 1 << 30
LINES = (
    f"device 0 allocator {16 * GIB} cuda:0\nat 1000 0 {GIB} {2 * GIB} {3 * GIB} {8 * GIB}\n"
    f"peak 1000 0 {2 * GIB}\nat 2000 0 {GIB} {GIB} {3 * GIB} {8 * GIB}\n"
)
GROWING = f"device 0 allocator {16 * GIB} cuda:0\n" + "".join(
    f"at {at}000 0 {at << 20} {at << 20} - -\n" for at in range(100)
)


def put(t, name, text, process="rank3.4711-1f2e3d4c", below="runs"):
    """a run of that name in folder(below)"""
    folder = os.path.join(t.folder(below), name)
    os.makedirs(os.path.join(folder, ".live"), exist_ok=True)
    open(os.path.join(folder, "run.lock"), "ab").close()
    with open(os.path.join(folder, ".live", process), "w", encoding="utf-8") as file:
        file.write(text)
    return folder


@contextlib.contextmanager
def going_on(folder):
    with open(os.path.join(folder, "run.lock"), "ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def test_runs_that_go_on_are_first_and_have_their_lines(t):
    put(t, "run-2026-01-09-101500-2", LINES)
    with going_on(put(t, "run-2026-01-09-101500-1", LINES)):
        daemon = t.serve(f"--logdir={t.folder('runs')}")
        runs = daemon.get_json(PATH)["runs"]
        equal(
            [(run["name"], run["is_running"]) for run in runs],
            [("run-2026-01-09-101500-1", True), ("run-2026-01-09-101500-2", False)],
        )
        (line,) = runs[0]["lines"]
        equal(
            {
                name: line[name]
                for name in (
                    "process",
                    "device",
                    "name",
                    "kind",
                    "used_bytes",
                    "reserved_bytes",
                    "free_bytes",
                    "room_bytes",
                    "total_bytes",
                    "peak_bytes",
                    "peak_ms",
                    "at_ms",
                )
            },
            {
                "process": "rank3.4711",
                "device": "cuda:0",
                "name": "cuda:0 of rank3.4711",
                "kind": "allocator",
                "used_bytes": GIB,
                "reserved_bytes": 3 * GIB,
                "free_bytes": 8 * GIB,
                "room_bytes": 10 * GIB,
                "total_bytes": 16 * GIB,
                "peak_bytes": 2 * GIB,
                "peak_ms": 1000,
                "at_ms": 2000,
            },
        )
        equal(line["sentence"], "cuda:0: 1.00 GiB in use, peak 2.00 GiB, 8.00 GiB of 16.00 GiB free, 3.00 GiB reserved")
        assert "samples" not in line
        one = daemon.get_json(f"{PATH}/{runs[0]['id']}")
        equal(
            one["lines"][0]["samples"],
            {
                "at_ms": [1000, 2000],
                "low_bytes": [GIB, GIB],
                "high_bytes": [2 * GIB, GIB],
                "reserved_bytes": [3 * GIB] * 2,
                "free_bytes": [8 * GIB] * 2,
            },
        )


def test_what_is_written_meanwhile_is_in_the_next_answer(t):
    with going_on(put(t, "run-1", LINES)) as _:
        daemon = t.serve(f"--logdir={t.folder('runs')}")
        address = f"{PATH}/{daemon.get_json(PATH)['runs'][0]['id']}"
        equal(len(daemon.get_json(address)["lines"][0]["samples"]["at_ms"]), 2)
        put(t, "run-1", LINES + f"at 3000 0 {GIB} {GIB} - -\nat 4000 0 5")  # of the last line the end is not there yet
        equal(daemon.get_json(address)["lines"][0]["samples"]["at_ms"], [1000, 2000, 3000])


def test_growth_is_told_with_its_rate(t):
    put(t, "run-1", GROWING)
    (line,) = t.serve(f"--logdir={t.folder('runs')}").get_json(PATH)["runs"][0]["lines"]
    equal((line["finding"]["kind"], line["grown_per_minute_bytes"] >> 20), ("grows", 60))
    assert line["finding"]["sentence"].startswith("grows 60."), line["finding"]["sentence"]
    equal(line["growth_sentence"], f"{line['name']} {line['finding']['sentence']}")


def test_what_is_no_run_is_not_listed(t):
    secret = t.folder("secret")
    os.makedirs(os.path.join(secret, ".live"))
    for name in ("run.lock", ".live/rank0.1-0"):
        with open(os.path.join(secret, name), "w", encoding="utf-8") as file:
            file.write(LINES)
    runs = t.folder("runs")
    os.symlink(secret, os.path.join(runs, "run-link"))
    os.makedirs(os.path.join(runs, "run-without-lock", ".live"))
    os.rename(put(t, "run-other", LINES), os.path.join(runs, "other"))
    folder = put(t, "run-good", LINES)
    os.symlink(os.path.join(secret, ".live", "rank0.1-0"), os.path.join(folder, ".live", "rank9.9-0"))
    os.mkfifo(os.path.join(folder, ".live", "rank8.8-0"))
    os.makedirs(os.path.join(folder, ".live", "rank7.7-0"))
    os.symlink(os.path.join(secret, ".live"), os.path.join(put(t, "run-inner", LINES), "live"))
    for name in os.listdir(os.path.join(runs, "run-inner", ".live")):
        os.unlink(os.path.join(runs, "run-inner", ".live", name))
    os.rmdir(os.path.join(runs, "run-inner", ".live"))
    os.rename(os.path.join(runs, "run-inner", "live"), os.path.join(runs, "run-inner", ".live"))
    found = t.serve(f"--logdir={runs}").get_json(PATH)["runs"]
    equal([(run["name"], [line["process"] for line in run["lines"]]) for run in found], [("run-good", ["rank3.4711"])])


def test_many_runs_and_files_are_limited(t):
    for at in range(20):
        put(t, f"run-{at:03}", LINES)
    for at in range(300):
        put(t, "run-019", LINES, f"rank{at}.1-0")
    daemon = t.serve(f"--logdir={t.folder('runs')}")
    runs = daemon.get_json(PATH)["runs"]
    equal([run["name"] for run in runs], [f"run-{at:03}" for at in range(19, 3, -1)])
    equal((len(runs[0]["lines"]), runs[0]["left_out_file_count"]), (256, 45))


def test_without_runs_there_are_none(t):
    equal(t.serve("--demo").get_json(PATH), {"runs": []})


def run_of(t, daemon):
    """the id of one that a daemon over folder() shows"""
    put(t, "run-1", LINES, below="inputs")
    return daemon.get_json(PATH)["runs"][0]["id"]


def walk_live(walk, t):
    """every answer of openapi.yaml that a run adds; `walk` is that of openapi.py"""
    put(t, "run-1", GROWING + "failed RuntimeError: gone\n")
    put(t, "run-1", "device 0 arrays - cpu\nat 1 0 5 5 - -\nend 7\n", "pid1-0")
    daemon = t.serve(f"--logdir={t.folder('runs')}")
    (run,) = walk.ask(PATH, PATH, daemon=daemon).json["runs"]
    address = f"{PATH}/{run['id']}"
    equal(walk.ask(PATH + "/{run}", address, daemon=daemon).status, 200)
