#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How fast addresses are listed and read. Nothing is asserted; docs/operate/remote.md has figures.

  bench.py --binary PATH --make-trace PATH [--sessions N] [--size-mb N]

Listing: a stand-in for S3 that answers each request after 50 ms, with N sessions of one trace each, in one folder and
in 20. Reading: a trace of N MB by https from nginx, as fast as it goes and at 250 and 60 MB/s for each connection;
beside it the same file read whole by curl, and the answer from disk.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "http")]
import harness
import run
import servers


def measure_list(toolbox, name, keys):
    server = servers.Lists(keys, 0.05)
    began = time.monotonic()
    daemon = toolbox.daemon(
        "--logdir=s3://bench", AWS_ENDPOINT_URL=server.url, AWS_ACCESS_KEY_ID="a", AWS_SECRET_ACCESS_KEY="b"
    )
    harness.wait_until(lambda: daemon.get_json("/api/v1/about")["roots"][0]["file_count"] == len(keys), 600)
    print(
        f"{name}: {len(keys)} sessions in {time.monotonic() - began:.1f} s, {len(server.requests)} requests, "
        f"daemon {daemon.status_kib('VmRSS') >> 10} MiB",
        flush=True,
    )
    daemon.stop()
    server.stop()


def seconds(command, **more):
    began = time.monotonic()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **more)
    return time.monotonic() - began


def measure_read(toolbox, make_trace, size_mb):
    work = toolbox.folder("nginx")
    trace = os.path.join(work, "files", "host.xplane.pb")
    os.makedirs(os.path.dirname(trace))
    subprocess.run([make_trace, trace, "--events", str(size_mb * 7908)], check=True, stdout=subprocess.DEVNULL)
    size = os.path.getsize(trace)
    for name, more in (
        ("as fast as it goes", ""),
        ("250 MB/s a connection", "limit_rate 250m;"),
        ("60 MB/s a connection", "limit_rate 60m;"),
    ):
        nginx = servers.Nginx(os.path.join(work, "files"), work, more)
        environ = toolbox.environ(CURL_CA_BUNDLE=nginx.ca)
        url = f"{nginx.url}/host.xplane.pb"
        whole = seconds(["curl", "-s", "--cacert", nginx.ca, "-o", "/dev/null", url])
        disk = seconds([toolbox.binary, "summary", "--json", trace])
        asked_before = len(nginx.asked().splitlines())
        remote = seconds([toolbox.binary, "summary", "--json", url], env=environ)
        asked = [line.split() for line in nginx.asked().splitlines()[asked_before:]]
        sent = sum(int(line[9]) for line in asked)
        print(
            f"{name}: {size / 1e6:.0f} MB read whole by curl in {whole:.1f} s; first answer from disk {disk:.1f} s, "
            f"by https {remote:.1f} s "
            f"({remote / whole:.2f} x curl, {remote / (whole + disk):.2f} x curl and then from disk), {len(asked)} "
            f"requests, {sent / 1e6:.0f} MB",
            flush=True,
        )
        nginx.stop()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--make-trace", required=True)
    parser.add_argument("--sessions", type=int, default=100000)
    parser.add_argument("--size-mb", type=int, default=1000)
    options = parser.parse_args()
    with run.Toolbox(os.path.abspath(options.binary), None) as toolbox:
        each = range(options.sessions)
        measure_list(toolbox, "one folder", [f"plugins/profile/{at:06}/host.xplane.pb" for at in each])
        measure_list(toolbox, "20 folders", [f"user{at % 20}/plugins/profile/{at:06}/host.xplane.pb" for at in each])
        measure_read(toolbox, os.path.abspath(options.make_trace), options.size_mb)


if __name__ == "__main__":
    main()
