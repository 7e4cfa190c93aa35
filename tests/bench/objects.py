#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A bucket of a million objects, which `memviewd index --catalog` keeps up with. Prints a table as Markdown;
docs/operate/scale.md has it.

  objects.py --binary PATH [--commits N] [--delay-ms N]

From nothing: a PostgreSQL of its own, and a stand-in for S3 that lists 20 users with 25 jobs of N commits (250) on
eight hosts each, 1,000 keys a request. Of the last five commits (20,000 objects) it has traces; all older objects are
archived (S3 Glacier), so that they are listed, named once and never read. Each request is answered after N ms (0).
Requests are counted by the stand-in; processor time and memory are of memviewd.
By the Python that has tests/remote/requirements.txt (`make bench-objects`).
"""

import argparse
import bisect
import os
import re
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", folder) for folder in ("remote", "http", "catalog")]
import inputs  # noqa: E402: its folder is added above
import postgres  # noqa: E402
import servers  # noqa: E402
from run import CLEAN  # noqa: E402: of tests/remote

USERS, JOBS, HOSTS, READABLE = 20, 25, 8, 5
LABELS = "--label-path={user}/{job}/{commit}"


def key_of(user, job, commit, host):
    return f"user{user:02}/job{job:02}/c{commit:04}/plugins/profile/run/host{host}.xplane.pb"


class Bucket(servers.Lists):
    """its traces are all the same; `read`: bytes of objects that were sent"""

    def __init__(self, commits, delay_s):
        self.commits, self.trace, self.read = commits, inputs.trace("jit_step", 7), 0
        super().__init__(
            [
                key_of(user, job, commit, host)
                for user in range(USERS)
                for job in range(JOBS)
                for commit in range(commits)
                for host in range(HOSTS)
            ],
            delay_s,
            self.facts,
        )

    def facts(self, key):
        is_old = int(re.search(r"/c(\d+)/", key)[1]) < self.commits - READABLE
        return len(self.trace), "0" * 32, "GLACIER" if is_old else "STANDARD"

    def add(self, key):
        bisect.insort(self.keys, key)

    def list(self, handler, request):
        if request[0] == "HEAD" and "xplane" in request[1]:
            handler.reply(
                200,
                {
                    "ETag": '"' + "0" * 32 + '"',
                    "Last-Modified": "Fri, 09 Jan 2026 12:00:00 GMT",
                    "Content-Length": str(len(self.trace)),
                },
            )
            return
        if "Range" not in request[2]:
            super().list(handler, request)
            return
        time.sleep(self.delay_s)
        first, last = (int(part) for part in re.fullmatch(r"bytes=(\d+)-(\d+)", request[2]["Range"]).groups())
        data = self.trace[first : last + 1]
        self.read += len(data)
        handler.reply(
            206,
            {
                "ETag": '"' + "0" * 32 + '"',
                "Last-Modified": "Fri, 09 Jan 2026 12:00:00 GMT",
                "Content-Range": f"bytes {first}-{first + len(data) - 1}/{len(self.trace)}",
            },
            data,
        )


def measure(name, bucket, command, data=b""):
    """a line of the table"""
    bucket.requests.clear()
    bucket.read = 0
    environ = {
        **os.environ,
        **CLEAN,
        "AWS_ENDPOINT_URL_S3": bucket.url,
        "AWS_ACCESS_KEY_ID": "a",
        "AWS_SECRET_ACCESS_KEY": "b",
    }
    with tempfile.TemporaryFile() as given:
        given.write(data)
        given.seek(0)
        began = time.monotonic()
        process = subprocess.Popen(
            command, stdin=given, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environ, text=True
        )
        said = process.stderr.read()
        _, status, used = os.wait4(process.pid, 0)
        took = time.monotonic() - began
    assert status == 0, said
    lists = sum("list-type=2" in request[1] for request in bucket.requests)
    print(
        f"| {name} | {lists:,} | {len(bucket.requests) - lists:,} | {bucket.read / 1e6:.1f} MB | {took:.1f} s | "
        f"{used.ru_utime + used.ru_stime:.1f} s | {used.ru_maxrss >> 10} MiB |",
        flush=True,
    )
    print(said.strip(), file=sys.stderr)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--commits", type=int, default=250)
    parser.add_argument("--delay-ms", type=int, default=0)
    options = parser.parse_args()
    binary = os.path.abspath(options.binary)
    bucket = Bucket(options.commits, options.delay_ms / 1000)
    with postgres.Postgres() as database:
        index = [binary, "index", "s3://bench", LABELS, f"--catalog={database.url}"]
        print(
            f"| {len(bucket.keys):,} objects | lists | reads | read | by the clock | memviewd's processor time | its "
            f"memory |\n|---|---|---|---|---|---|---|"
        )
        measure(
            f"first filling: {USERS * JOBS * READABLE * HOSTS:,} traces are read, the others are archived",
            bucket,
            index,
        )
        measure("idle run", bucket, index)
        measure("idle run of one of eight processes", bucket, [*index, "--shard=0/8"])
        new = [key_of(3, 7, options.commits, host) for host in range(HOSTS)]
        for key in new:
            bucket.add(key)
        measure(f"a commit more: {HOSTS} traces", bucket, index)
        lines = "".join(f"s3://bench/{key}\n" for key in new).encode()
        measure(
            "the same by its events: `index --objects=-`, no list",
            bucket,
            [binary, "index", "--objects=-", "s3://bench", LABELS],
            lines,
        )
        size = database.value(
            "SELECT pg_size_pretty(sum(pg_total_relation_size(c.oid))) FROM pg_class AS c WHERE relnamespace = "
            "'memviewd'::regnamespace AND relkind = 'r'"
        )
        counts = [database.value(f"SELECT count(*) FROM memviewd.{table}") for table in ("files", "rows", "points")]
        print(f"\nthe database: {size}, {counts[0]} files, {counts[1]} rows, {counts[2]} points")
    bucket.stop()


if __name__ == "__main__":
    main()
