#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How fast addresses are listed and read. Nothing is asserted; docs/operate/remote.md has figures.

  bench.py --binary PATH --make-trace PATH [--sessions N] [--size-mb N]

Listing: a stand-in for S3 that answers each request after 50 ms, with N sessions of one trace each, in one folder and in 20.
Reading: a trace of N MB by https from nginx, as fast as it goes and at 250 and 60 MB/s for each connection; beside it the
same file read whole by curl, and the answer from disk.
"""
import argparse
import bisect
import os
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.parse

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "http")]
import harness
import run
import servers

PAGE = 1000


class Lists(servers.Server):
    """ListObjectsV2 of sorted keys"""

    def __init__(self, keys, delay_s):
        self.keys, self.delay_s = sorted(keys), delay_s
        super().__init__(self.list)

    def list(self, handler, request):
        time.sleep(self.delay_s)
        query = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(request[1]).query))
        if "list-type" not in query:
            return handler.reply(404)
        prefix, parts, count = query.get("prefix", ""), [], 0
        at = int(query.get("continuation-token") or bisect.bisect_left(self.keys, prefix))
        while at < len(self.keys) and self.keys[at].startswith(prefix) and count < PAGE:
            key = self.keys[at]
            slash = key.find("/", len(prefix)) if query.get("delimiter") else -1
            if slash >= 0:
                parts.append(f"<CommonPrefixes><Prefix>{key[:slash + 1]}</Prefix></CommonPrefixes>")
                at = bisect.bisect_left(self.keys, key[:slash] + "0")
            else:
                parts.append(f"<Contents><Key>{key}</Key><LastModified>2026-01-09T12:00:00.000Z</LastModified><ETag>&quot;{at:032x}&quot;</ETag><Size>1000000</Size></Contents>")
                at += 1
            count += 1
        is_cut = at < len(self.keys) and self.keys[at].startswith(prefix)
        next_token = f"<NextContinuationToken>{at}</NextContinuationToken>" if is_cut else ""
        body = f'<?xml version="1.0"?><ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">{"".join(parts)}<IsTruncated>{str(is_cut).lower()}</IsTruncated>{next_token}</ListBucketResult>'
        return handler.reply(200, {"Content-Type": "application/xml"}, body.encode())


def measure_list(toolbox, name, keys):
    server = Lists(keys, 0.05)
    began = time.monotonic()
    daemon = toolbox.daemon("--logdir=s3://bench", AWS_ENDPOINT_URL=server.url, AWS_ACCESS_KEY_ID="a", AWS_SECRET_ACCESS_KEY="b")
    harness.wait_until(lambda: daemon.get_json("/api/v1/about")["roots"][0]["file_count"] == len(keys), 600)
    print(f"{name}: {len(keys)} sessions in {time.monotonic() - began:.1f} s, {len(server.requests)} requests, "
          f"daemon {daemon.status_kib('VmRSS') >> 10} MiB", flush=True)
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
    for name, more in (("as fast as it goes", ""), ("250 MB/s a connection", "limit_rate 250m;"), ("60 MB/s a connection", "limit_rate 60m;")):
        nginx = servers.Nginx(os.path.join(work, "files"), work, more)
        environ = toolbox.environ(CURL_CA_BUNDLE=nginx.ca)
        url = f"{nginx.url}/host.xplane.pb"
        whole = seconds(["curl", "-s", "--cacert", nginx.ca, "-o", "/dev/null", url])
        disk = seconds([toolbox.binary, "summary", "--json", trace])
        asked_before = len(nginx.asked().splitlines())
        remote = seconds([toolbox.binary, "summary", "--json", url], env=environ)
        asked = [line.split() for line in nginx.asked().splitlines()[asked_before:]]
        sent = sum(int(line[9]) for line in asked)
        print(f"{name}: {size / 1e6:.0f} MB read whole by curl in {whole:.1f} s; first answer from disk {disk:.1f} s, by https {remote:.1f} s "
              f"({remote / whole:.2f} x curl, {remote / (whole + disk):.2f} x curl and then from disk), {len(asked)} requests, {sent / 1e6:.0f} MB", flush=True)
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
