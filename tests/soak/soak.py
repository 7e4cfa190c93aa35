#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Many clients for a while, on files that appear, grow, are replaced and vanish; nothing may fail that should not,
nothing may pile up.

  soak.py --binary PATH [--seconds N] [--clients N]

All on loopback, bounded in time. 64 clients ask for sessions, every view of openapi.yaml, pages, uploads and metrics;
some read slowly, some leave in the middle, some send half a request. Four writers keep some forty sessions changing.
Then 10,000 connections that say nothing are opened at once. At the end: no answer of 500, none that is not documented
for what happened, no leak of memory, files or threads, an end with status 0. The last line has the counts.
"""

import argparse
import collections
import contextlib
import os
import pickle
import random
import resource
import shutil
import socket
import sys
import tempfile
import threading
import time
import traceback
import urllib.parse

sys.path[:0] = [
    os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", name) for name in ("http", "matrix", "golden")
]
import inputs  # noqa: E402
import made_snapshots  # noqa: E402
import views  # noqa: E402
from harness import FIXTURES, PATIENCE_SECONDS, Daemon  # noqa: E402

# What may come of a file that is being written, replaced or gone: 422 of half a file, 404, 409, 503 where it changed
# meanwhile or memory is short, 413 over the limit, 429 and 431 are not asked for here.
EXPECTED = {200, 201, 304, 400, 404, 409, 413, 422, 503}
IDLE = 10000
MEMORY_MIB = 192
ROUND_ANSWERS, ROUNDS_MIN = 100, 30  # one look at its memory in so many answers; so many looks


class Writers:
    """keeps the files of a folder changing"""

    def __init__(self, folder, seed):
        self.folder, self.random = folder, random.Random(seed)
        self.trace, self.proto = inputs.trace(buffer_count=3000), inputs.hlo_proto("jit_soak", 2000)
        self.bomb = inputs.gzip_bomb(64)
        self.snapshot = pickle.dumps(made_snapshots.made(seed, 2, 200, 50))
        self.log = b"step\nRESOURCE_EXHAUSTED: Out of memory while trying to allocate 17179869184 bytes.\n"

    def path(self, *parts):
        path = os.path.join(self.folder, *parts)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        return path

    def change(self):
        number, pick = self.random.randrange(40), self.random.random()
        run = f"run{number}"
        if pick < 0.3:  # whole, or written in two pieces
            with open(self.path("plugins", "profile", run, "h.xplane.pb"), "wb") as file:
                half = self.random.randrange(len(self.trace))
                file.write(self.trace[:half])
                file.flush()
                time.sleep(self.random.random() * 0.05)
                file.write(self.trace[half:])
        elif pick < 0.5:  # replaced at once
            path = self.path("dump" + run, f"module_{number:04}.jit_soak.hlo.pb")
            with open(path + ".part", "wb") as file:
                file.write(self.proto)
            os.replace(path + ".part", path)
        elif pick < 0.7:  # grows
            with open(self.path("logs", run, "job.log"), "ab") as file:
                file.write(self.log * self.random.randrange(1, 50))
        elif pick < 0.74:
            with open(self.path("plugins", "profile", run, "bomb.xplane.pb.gz"), "wb") as file:
                file.write(self.bomb)
        elif pick < 0.76:  # cut while it is read
            with open(self.path("plugins", "profile", run, "h.xplane.pb"), "r+b") as file:
                file.truncate(self.random.randrange(len(self.trace)))
        elif pick < 0.79:  # whole, or as far as it was written when the job was killed
            with open(self.path("ranks" + run, "rank0.pickle"), "wb") as file:
                file.write(
                    self.snapshot[: self.random.choice((len(self.snapshot), self.random.randrange(len(self.snapshot))))]
                )
        elif pick < 0.82:
            shutil.copy(os.path.join(FIXTURES, "memprof", "memory1.prof"), self.path("heap" + run, "memory1.prof"))
        else:  # vanishes
            for place in (
                ("plugins", "profile", run),
                ("dump" + run,),
                ("logs", run),
                ("heap" + run,),
                ("ranks" + run,),
            ):
                if self.random.random() < 0.5:
                    shutil.rmtree(os.path.join(self.folder, *place), ignore_errors=True)


class Soak:
    def __init__(self, options, folder, scratch):
        self.options, self.folder = options, folder
        self.daemon = Daemon(
            options.binary, ["--port=0", f"--memory-limit={MEMORY_MIB}", f"--logdir={folder}"], scratch
        )
        self.statuses, self.faults, self.lock = collections.Counter(), [], threading.Lock()
        self.samples, self.is_sampled, self.is_over = [], threading.Event(), threading.Event()
        self.views, self.seconds = list(views.of_sessions()), []

    def note(self, kind, status, what):
        with self.lock:
            self.statuses[kind, status] += 1
            if status not in EXPECTED:
                self.faults.append(what)

    def get(self, path, view=None, **more):
        begin = time.monotonic()
        answer = self.daemon.ask(path, **more)
        self.seconds.append(time.monotonic() - begin)
        self.note(view or path.split("?")[0], answer.status, f"{path}: {answer}")
        return answer

    def one_question(self, dice):
        pick = dice.random()
        if pick < 0.2:
            self.get("/api/v1/sessions?limit=100")
        elif pick < 0.7:
            answer = self.get("/api/v1/sessions?limit=100")
            rows = answer.json["sessions"] if answer.status == 200 else []
            for row in dice.sample(rows, min(2, len(rows))):
                view, about, more = dice.choice(self.views)
                values = {**more, **{name: dice.choice((row, rows[0]))["id"] for name in about}}
                path = view.replace("{session}", values.pop("session")) if "{session}" in view else view
                self.get(f"{path}?{urllib.parse.urlencode(values)}", view)
        elif pick < 0.76:
            body = b"RESOURCE_EXHAUSTED: out of memory\n" * dice.randrange(1, 100000)
            self.get(
                "/api/v1/uploads?name=job.log",
                method="POST",
                headers={"Content-Type": "application/octet-stream"},
                body=body,
            )
        elif pick < 0.8:
            self.get("/metrics")
        elif pick < 0.86:
            self.get("/")
        else:
            self.rudely(dice)

    def rudely(self, dice):
        """half a request, large headers, an answer that is read slowly or not at all"""
        head = f"GET /api/v1/sessions?limit=1000 HTTP/1.1\r\nHost: localhost:{self.daemon.port}\r\n"
        text = dice.choice(
            (
                head,
                head + "\r\n",
                head + "X: " + "y" * 200000 + "\r\n\r\n",
                "\x16\x03\x01\0" * 20,
                f"POST /api/v1/uploads?name=a.log HTTP/1.1\r\nHost: localhost:{self.daemon.port}\r\n"
                "Content-Type: application/octet-stream\r\nContent-Length: 5000000\r\n\r\nabc",
            )
        )
        with (
            contextlib.suppress(OSError),
            socket.create_connection((self.daemon.host, self.daemon.port), timeout=2) as connection,
        ):
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            connection.sendall(text.encode("latin-1"))
            for _ in range(dice.randrange(4)):
                connection.recv(100)
                time.sleep(0.05)
        self.note("rude", 200, "")

    def client(self, seed):
        dice = random.Random(seed)
        while not self.is_over.is_set():
            try:
                self.one_question(dice)
            except (ConnectionError, TimeoutError, OSError) as error:
                self.note("connection lost", 200 if self.daemon.is_alive() else 0, f"{error!r}")
            except Exception:  # noqa: what a client meets is a fault
                self.note("client", 0, traceback.format_exc())

    def writer(self, seed):
        writers = Writers(self.folder, seed)
        while not self.is_over.is_set():
            with contextlib.suppress(
                FileNotFoundError, NotADirectoryError, FileExistsError
            ):  # another writer took the folder away
                writers.change()
            time.sleep(0.02)

    def watch(self):
        """by answers, not by time: on a busy machine the daemon comes to its full memory later"""
        sampled_at = 0
        while not self.is_over.wait(0.1):
            if len(self.seconds) >= sampled_at + ROUND_ANSWERS and self.daemon.is_alive():
                sampled_at = len(self.seconds)
                self.samples.append(self.daemon.status_kib("VmRSS") / 1024)
            if len(self.samples) >= ROUNDS_MIN:
                self.is_sampled.set()

    def run(self):
        threads = [threading.Thread(target=self.client, args=(seed,)) for seed in range(self.options.clients)]
        threads += [threading.Thread(target=self.writer, args=(seed,)) for seed in range(1000, 1004)] + [
            threading.Thread(target=self.watch)
        ]
        for thread in threads:
            thread.start()
        time.sleep(self.options.seconds)
        self.is_sampled.wait(PATIENCE_SECONDS)
        self.is_over.set()
        for thread in threads:
            thread.join()

    # ---- what has to hold ----

    def test_no_answer_is_an_unintended_error(self):
        assert not self.faults, f"{len(self.faults)}: " + "\n".join(self.faults[:5])
        assert sum(self.statuses.values()) > self.options.clients, self.statuses
        assert self.statuses["/api/v1/sessions", 200] > 0, self.statuses

    def test_memory_is_flat(self):
        """the end is not above the middle by more than what goes to and fro"""
        third = len(self.samples) // 3
        middle, end = (sum(part) / len(part) for part in (self.samples[third : 2 * third], self.samples[2 * third :]))
        print(
            f"  resident MiB: {self.samples[0]:.0f} at first, {middle:.0f} in the middle third, {end:.0f} in the "
            f"last, {max(self.samples):.0f} at most"
        )
        assert end < middle * 1.25 + 32, self.samples
        assert max(self.samples) < 3 * MEMORY_MIB, self.samples

    def test_silent_connections_take_nothing_from_others(self):
        """they are closed as others come; each that is refused or closed is fine, as long as whoever asks is
        answered"""
        limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
        count = min(IDLE, limit - 500)
        held, slowest = [], 0
        before = self.daemon.status_kib("VmRSS")
        for at in range(count):
            with contextlib.suppress(OSError):
                held.append(socket.create_connection((self.daemon.host, self.daemon.port), timeout=PATIENCE_SECONDS))
            if at % 500 == 499:
                begin = time.monotonic()
                assert self.daemon.ask("/-/healthy").status == 200
                slowest = max(slowest, time.monotonic() - begin)
        grown = (self.daemon.status_kib("VmRSS") - before) / 1024
        for each in held:
            each.close()
        print(f"  {len(held)} connections: /-/healthy within {slowest:.2f} s, {grown:.0f} MiB more")
        assert len(held) > count * 0.9 and grown < 128, (len(held), grown)

    def test_nothing_stays_open(self):
        def now():
            descriptors = f"/proc/{self.daemon.process.pid}/fd"
            return len(os.listdir(descriptors))

        until = time.monotonic() + PATIENCE_SECONDS
        while now() > 60:
            assert time.monotonic() < until, f"{now()} descriptors are open"
            time.sleep(0.5)

    def test_it_ends_well(self):
        assert self.daemon.is_alive()
        assert self.daemon.ask("/-/ready").status == 200
        status, log = self.daemon.stop(), self.daemon.log()
        assert status == 0 and "Sanitizer" not in log and "internal" not in log, (status, log[-2000:])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--seconds", type=float, default=40)
    parser.add_argument("--clients", type=int, default=64)
    options = parser.parse_args()
    passed = failed = 0
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as scratch:
        soak = Soak(options, folder, scratch)
        try:
            soak.run()
            seconds = sorted(soak.seconds)
            print(
                f"  {len(seconds)} answers; seconds: {seconds[len(seconds) // 2]:.3f} the middle one, "
                f"{seconds[len(seconds) * 99 // 100]:.2f} 99 %, {seconds[-1]:.1f} the slowest"
            )
            for (kind, status), count in sorted(soak.statuses.items()):
                print(f"  {count:7} {status} {kind}")
            for name, function in [item for item in vars(Soak).items() if item[0].startswith("test_")]:
                try:
                    function(soak)
                    passed += 1
                    print("ok     ", name[len("test_") :], flush=True)
                except Exception:  # noqa: a test may fail in any way
                    failed += 1
                    print("FAILED ", name[len("test_") :], traceback.format_exc(), flush=True)
        finally:
            if soak.daemon.is_alive():
                soak.daemon.process.kill()
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
