#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Calls of the system that fail under a running daemon: opening, listing, reading, memory, threads, connections.

  faults.py --binary PATH --faulty PATH [--every]

faulty.so (faulty.c) makes the n-th of them fail, once or from there on. Every question is asked meanwhile: an answer
must be the one that is given without a fault, or a problem that may pass (404 of what cannot be listed, 409, 503, no
connection where there is no memory for one); never that the file is bad, and never a fault of ours. Afterwards every
answer must be as ever, without a restart; only where much memory in a row is refused the daemon may end, with status 70
and a line. --every: more places. The last line has the counts.
"""

import argparse
import contextlib
import errno
import http.client
import itertools
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import traceback

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "http"))
import inputs  # noqa: E402
from harness import FIXTURES, PATIENCE_SECONDS, Daemon, equal, wait_until  # noqa: E402

DUMP = os.path.join(FIXTURES, "dumps", "seed-matmul-327680")
VIEWS = (
    "memory_viewer/summary",
    "memory_viewer/buffers",
    "memory_profile/summary",
    "device_memory/summary",
    "oom",
    "verdict",
)
# These say in themselves what could not be read.
TELLS_PARTS = ("sessions", "verdict", "oom", "memory_profile")
PASSING = {
    None: {"no connection"},
    404: {"notfound"},
    409: {"changed"},
    503: {"io", "memory", "changed", "busy", "unavailable", "exhausted"},
}
ONCE, LONG = 1, 1 << 30
ENDED = 99  # the status of a process that faulty.so has ended
RECENT_SECONDS = 2  # a folder that changed later is listed again anyway (server/gather/tree.c)
# call, errno, how many fail
FAULTS = (
    ("open", errno.EACCES, ONCE),
    ("open", errno.EMFILE, LONG),
    ("open", errno.EIO, LONG),
    ("list", errno.EIO, LONG),
    ("read", errno.EIO, ONCE),
    ("read", errno.EIO, LONG),
    ("read", errno.EINTR, 3),
    ("alloc", errno.ENOMEM, ONCE),
    ("alloc", errno.ENOMEM, 20),
    ("alloc_any", errno.ENOMEM, ONCE),
    ("accept", errno.EMFILE, 3),
    ("accept", errno.ECONNABORTED, ONCE),
    ("send", errno.EAGAIN, ONCE),
    ("thread", errno.EAGAIN, LONG),
)


def lay_out(folder):
    def put(path, data):
        path = os.path.join(folder, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(data)

    shutil.copytree(DUMP, os.path.join(folder, "dump"))
    put("plugins/profile/run/h.xplane.pb", inputs.trace(buffer_count=2000))
    os.mkdir(os.path.join(folder, "heap"))
    shutil.copy(os.path.join(FIXTURES, "memprof", "memory1.prof"), os.path.join(folder, "heap"))
    put("logs/job.log", b"step 1\nRESOURCE_EXHAUSTED: Out of memory while trying to allocate 17179869184 bytes.\n" * 50)


def questions():
    return [
        "/api/v1/sessions/{id}",
        "/api/v1/sessions/{id}/modules",
        *(f"/api/v1/{view}?session={{id}}" for view in VIEWS),
    ]


def ask(daemon, path):
    """(status, JSON without what differs each time); the connection may have been one that was not accepted: again
    then"""
    for _ in range(5):
        with contextlib.suppress(ConnectionError):
            answer = daemon.ask(path)
            told = answer.json if "json" in answer.headers["content-type"] else answer.text
            if answer.status >= 500 and isinstance(
                told, str
            ):  # the library's own, when it has no memory for the request
                return None, "no connection"
            if answer.status >= 400:
                return answer.status, told.get("code")
            return answer.status, json.dumps(
                {key: value for key, value in told.items() if not key.startswith("modified")}, sort_keys=True
            )
    return None, "no connection"


class Trial:
    def __init__(self, options, folder, scratch):
        self.options, self.folder, self.scratch = options, folder, scratch
        daemon = self.serve(None)
        self.ids = {name: row["id"] for name, row in daemon.sessions().items()}
        assert len(self.ids) >= 4, self.ids
        before, self.expected = None, self.walk(daemon)
        while before != self.expected:  # logs are read in the background
            daemon.wait_until_calm()
            before, self.expected = self.expected, self.walk(daemon)
        assert sum(status == 200 for status, _ in self.expected.values()) > 12, {
            path: status for path, (status, _) in self.expected.items()
        }
        assert daemon.stop() == 0

    def serve(self, fault):
        go = os.path.join(self.scratch, "go")
        environ = (
            {"LD_PRELOAD": self.options.faulty, "MEMVIEWD_FAULT": fault, "MEMVIEWD_FAULT_GO": go} if fault else None
        )
        daemon = Daemon(self.options.binary, ["--port=0", f"--logdir={self.folder}"], self.scratch, environ=environ)
        until = time.monotonic() + PATIENCE_SECONDS
        while daemon.ask("/-/ready").status != 200 or len(daemon.sessions()) < 4:
            assert time.monotonic() < until, "not ready"
            time.sleep(0.02)
        return daemon

    def walk(self, daemon):
        return {
            path: ask(daemon, path) for id in self.ids.values() for path in (each.format(id=id) for each in questions())
        }

    def run(self, call, number, at, count):
        go, late = os.path.join(self.scratch, "go"), os.path.join(self.folder, "late")
        daemon = self.serve(f"{call}:{at}:{count}:{number}")
        try:
            open(go, "w", encoding="ascii").close()
            met = set()
            for path, told in self.walk(daemon).items():
                if told != self.expected[path] and not (
                    told[0] == 200 and path.split("?")[0].split("/")[3] in TELLS_PARTS
                ):
                    assert told[1] in PASSING.get(told[0], ()), (
                        f"{path}: {told}, expected {self.expected[path][0]} or what may pass"
                    )
                    met.add(
                        " ".join(str(word) for word in told if word)
                        if told[0] != 200
                        else "200 with what could not be read"
                    )
            if call == "list":  # a folder that comes meanwhile, and is old news when it can be listed again
                shutil.copytree(DUMP, late)
                time.sleep(RECENT_SECONDS + 1)
            os.remove(go)
            if (
                call == "alloc" and count != ONCE and not self.recovers(daemon, call)
            ):  # nothing was left even of what is set aside
                assert daemon.stop() == 70 and "memviewd: out of memory" in daemon.log(), daemon.log()[-1000:]
                return {"ended with status 70 and said so"}
            assert self.recovers(daemon, call), "it ended"
            if call == "list":
                wait_until(lambda: "late" in daemon.sessions(), what="the folder that came meanwhile")
            assert daemon.is_alive()
        finally:
            shutil.rmtree(late, ignore_errors=True)
            with contextlib.suppress(FileNotFoundError):
                os.remove(go)
            ended, status = not daemon.is_alive(), daemon.stop()
        assert not ended and status == 0, f"exit status {status}: {daemon.log()[-1000:]}"
        return met

    def recovers(self, daemon, call):
        """what failed for lack of memory is kept for a minute: of that it is enough that it says so. False when it has
        ended"""
        until = time.monotonic() + PATIENCE_SECONDS
        while True:
            if not daemon.is_alive():
                return False
            left = {path: told for path, told in self.walk(daemon).items() if told != self.expected[path]}
            left = {
                path: told for path, told in left.items() if not call.startswith("alloc") or told != (503, "memory")
            }
            if not left:
                return True
            assert time.monotonic() < until, f"still after the fault: {left}"
            time.sleep(0.2)


def is_named_by_the_next_start(options):
    """a trace whose programs stand in another file, which cannot be opened: neither kept in memory for long nor on
    disk"""
    with tempfile.TemporaryDirectory() as scratch:
        folder, go = os.path.join(scratch, "logs", "plugins", "profile", "run"), os.path.join(scratch, "go")
        os.makedirs(folder)
        for name, data in (("host0", inputs.gpu_trace(2, has_programs=False)), ("host1", inputs.gpu_trace(1))):
            with open(os.path.join(folder, f"{name}.xplane.pb"), "wb") as file:
                file.write(data)

        def told(fault):
            environ = (
                {"LD_PRELOAD": options.faulty, "MEMVIEWD_FAULT": fault, "MEMVIEWD_FAULT_GO": go} if fault else None
            )
            arguments = ["--port=0", f"--logdir={scratch}/logs", f"--cache-dir={scratch}/kept"]
            daemon = Daemon(options.binary, arguments, scratch, environ=environ)
            try:
                session = daemon.session_id("run")
                host = daemon.get_json(f"/api/v1/sessions/{session}")["hosts"][0]["id"]
                open(go, "w", encoding="ascii").close()
                summary = daemon.ask(f"/api/v1/memory_profile/summary?session={session}&host={host}").text
                return "programs_beside" in summary, "programs_beside" in daemon.ask(
                    f"/api/v1/memory_profile/events?session={session}&host={host}"
                ).text
            finally:
                assert daemon.stop() == 0

        assert told(f"open:1:{LONG}:{errno.EMFILE}:host1.xplane.pb") == (False, False)
        assert told(None) == (True, True)


def killed_at_each_change(options):
    """a daemon that keeps answers on disk is killed before its n-th change there, for every n; the next one
    answers as without a disk, and takes away what was left under way when it is old"""
    with tempfile.TemporaryDirectory() as scratch:
        logs, kept = os.path.join(scratch, "logs"), os.path.join(scratch, "kept")
        os.mkdir(logs)
        lay_out(logs)
        paths = []

        def told(fault, *arguments):
            """{path: what is said}; None where the daemon was killed meanwhile"""
            environ = {"LD_PRELOAD": options.faulty, "MEMVIEWD_FAULT": fault} if fault else None
            try:
                daemon = Daemon(options.binary, ["--port=0", f"--logdir={logs}", *arguments], scratch, environ=environ)
            except AssertionError as error:  # it has printed no address
                assert f"exit {ENDED}:" in str(error), error
                return None
            try:
                paths.extend(
                    []
                    if paths
                    else (each.format(id=row["id"]) for row in daemon.sessions().values() for each in questions())
                )
                answers = {path: ask(daemon, path) for path in paths}
            except (OSError, http.client.HTTPException):
                answers = None
            status = daemon.stop()
            assert status in (0, ENDED), f"exit status {status}: {daemon.log()[-1000:]}"
            return answers if status == 0 else None

        expected = told(None)
        left_count = 0
        for at in itertools.count(1):
            is_whole = told(f"change:{at}:1:0", f"--cache-dir={kept}") is not None
            left = [
                os.path.join(kept, name)
                for name in (os.listdir(kept) if os.path.exists(kept) else [])
                if not re.fullmatch("[0-9a-f]+", name)
            ]
            for path in left:
                os.utime(path, (0, 0))
            left_count += len(left)
            equal(told(None, f"--cache-dir={kept}"), expected, f"after the end before change {at}")
            equal(
                [name for name in os.listdir(kept) if not re.fullmatch("[0-9a-f]+", name)],
                [],
                f"left under way before change {at}",
            )
            shutil.rmtree(kept)
            if is_whole:
                break
        assert at > 30 and left_count > 20, f"{at} changes, {left_count} left under way"


COMMANDS = (
    ["summary", DUMP, "--json"],
    ["whose", DUMP],
    ["explain", DUMP],
    ["check", DUMP, "--max-total=1KiB"],
    ["diff", DUMP, DUMP],
    ["export", DUMP, "--format=json"],
    ["export", DUMP, "--out=/dev/full"],
    ["top", os.path.join(FIXTURES, "memprof", "memory1.prof")],
    ["--help"],
    ["--licenses"],
)


# What each prints of inputs that it cannot read is its own; none says that nothing is there.
READING = (
    ["summary", "{}"],
    ["summary", "{}", "--json"],
    ["whose", DUMP],
    ["explain", DUMP],
    ["explain", "{}/heap"],
    ["check", "{}", "--max-total=1TiB"],
    ["diff", DUMP, DUMP],
    ["export", DUMP, "--format=json"],
    ["top", "{}/heap/memory1.prof"],
    ["index", "{}", "--format=csv"],
)
ABSENT = "holds no profile|has no HLO module|has no module|is not a profile"


def commands_that_cannot_read(options, folder, words):
    """a command whose reading, opening or listing fails prints the same as without, or what could not be read"""

    def told(fault):
        environ = {**os.environ, **({"LD_PRELOAD": options.faulty, "MEMVIEWD_FAULT": fault} if fault else {})}
        done = subprocess.run(
            [options.binary, *(word.format(folder) for word in words)],
            capture_output=True,
            text=True,
            timeout=60,
            env=environ,
        )
        return done.returncode, done.stdout, done.stderr

    expected = told(None)
    for call, number in (("read", errno.EIO), ("open", errno.EMFILE), ("list", errno.EIO)):
        for at in (1, 8, 21):
            for count in (ONCE, LONG):
                status, out, err = told(f"{call}:{at}:{count}:{number}")
                fault = f"{call} {at} {count}: status {status}, {err}"
                assert status in (0, 1, 2) and (status, out) == expected[:2] or not re.search(ABSENT, err), fault
                assert (
                    status in (0, expected[0]) or err.strip() or re.search("cannot be read|Input/output|Too many", out)
                ), fault


def reading_commands(options, words):
    with tempfile.TemporaryDirectory() as folder:
        lay_out(folder)
        commands_that_cannot_read(options, folder, words)


def on_a_full_disk(binary, words):
    """what cannot be printed is told: status 2 and one line"""
    with open("/dev/full", "wb") as full:
        done = subprocess.run([binary, *words], stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
    assert done.returncode == 2 and re.search(
        "No space left on device|standard output: not all", done.stderr.splitlines()[-1]
    ), (done.returncode, done.stderr)


def places(call, is_every):
    """the call that fails: of small allocations there are thousands in each walk"""
    if call == "alloc_any":
        return range(1, 12000, 97) if is_every else (1, 50, 400, 3000, 9000)
    return (1, 2, 3, 5, 8, 13, 21, 34, 55, 89) if is_every else (1, 4, 20)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--faulty", required=True)
    parser.add_argument("--every", action="store_true")
    options = parser.parse_args()
    options.faulty = os.path.abspath(options.faulty)
    passed = failed = 0
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as scratch:
        lay_out(folder)
        trial = Trial(options, folder, scratch)
        for call, number, count in FAULTS:
            for at in places(call, options.every):
                name = (
                    f"{call} fails with {errno.errorcode[number]}, "
                    f"{'once' if count == ONCE else 'from there on' if count == LONG else f'{count} times'}, from "
                    f"call {at}"
                )
                try:
                    met = trial.run(call, number, at, count)
                    passed += 1
                    print("ok     ", name + (": " + ", ".join(sorted(met)) if met else ""), flush=True)
                except Exception:  # noqa: a test may fail in any way
                    failed += 1
                    print("FAILED ", name, traceback.format_exc(), flush=True)
    singles = [
        ("a neighbour that cannot be opened", lambda: is_named_by_the_next_start(options)),
        ("killed before each change of the disk", lambda: killed_at_each_change(options)),
    ]
    singles += [
        (f"a full disk: {words[0]}", lambda words=words: on_a_full_disk(options.binary, words)) for words in COMMANDS
    ]
    for name, single in singles + [
        (f"what cannot be read: {' '.join(words)}", lambda words=words: reading_commands(options, words))
        for words in READING
    ]:
        try:
            single()
            passed += 1
            print("ok     ", name, flush=True)
        except Exception:  # noqa: a test may fail in any way
            failed += 1
            print("FAILED ", name, traceback.format_exc(), flush=True)
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
