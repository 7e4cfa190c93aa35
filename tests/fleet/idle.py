# SPDX-License-Identifier: Apache-2.0
"""What `memviewd index --catalog` asks a bucket for: each object once, and of one that is known nothing. Counted by a
proxy before an S3 of others (buckets.py)."""

import contextlib
import json
import os
import re
import subprocess
import sys

from harness import FIXTURES, ROOT, Skip, equal, free_port
from place import CLEAN, PYTHON
from webhooks import FAILURE, database_of

sys.path.append(os.path.join(ROOT, "tests", "remote"))
import servers  # noqa: E402: its folder is added above

QUIET = b"".join(b"step %d loss 2.31\n" % at for at in range(40000))  # more than what is read at once


class Bucket:
    """`asked`: the requests since it was cleared; (method, key, bytes of the answer)"""

    def __init__(self, t):
        self.t, self.asked = t, []
        self.folder = t.folder("buckets")
        for name in ("s3", "gcs"):
            os.makedirs(os.path.join(self.folder, name))

    def put(self, path, data):
        whole = os.path.join(self.folder, "s3", path)
        os.makedirs(os.path.dirname(whole), exist_ok=True)
        with open(whole, "wb") as file:
            file.write(data)

    def copy(self, path, where):
        for one in servers.files_of(os.path.join(FIXTURES, path)):
            with open(os.path.join(FIXTURES, path, one), "rb") as file:
                self.put(f"{where}/{one}", file.read())

    @contextlib.contextmanager
    def serving(self):
        port = free_port()
        command = [PYTHON, os.path.join(ROOT, "tests", "fleet", "buckets.py"), self.folder, str(port), str(free_port())]
        with subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        ) as process:
            try:
                equal(process.stdout.readline(), "ready\n")
                proxy = servers.Proxy(port, change=self._count)
                self.environ = {
                    **CLEAN,
                    "HOME": self.t.folder("home"),
                    "AWS_ACCESS_KEY_ID": "key",
                    "AWS_SECRET_ACCESS_KEY": "secret",
                    "AWS_EC2_METADATA_DISABLED": "true",
                    "no_proxy": "*",
                    "AWS_ENDPOINT_URL_S3": proxy.url,
                }
                self.port = port
                yield self
                proxy.stop()
            finally:
                process.kill()

    def _count(self, request, status, headers, data):
        key = re.sub(r"^/profiles/?", "", request[1])
        self.asked.append((request[0], "" if key.startswith("?") else key, len(data) if request[0] == "GET" else 0))
        return status, headers, data

    def _ask(self, method, path, data, status, headers=()):
        connection = servers.http.client.HTTPConnection("127.0.0.1", self.port)
        connection.request(
            method,
            f"/profiles/{path}",
            data,
            {
                **dict(headers),
                "Content-Type": "application/octet-stream",
                "Authorization": "AWS4-HMAC-SHA256 Credential=key/20260101/us-east-1/s3/aws4_request",
            },
        )
        equal(connection.getresponse().status, status)
        connection.close()

    def replace(self, path, data, **headers):
        self._ask("PUT", path, data, 200, headers)

    def remove(self, path):
        self._ask("DELETE", path, None, 204)

    def index(self, database, *more):
        """what it said, and what it asked for besides lists"""
        self.asked.clear()
        done = subprocess.run(
            [self.t.binary, "index", "s3://profiles", f"--catalog={database.url}", *more],
            capture_output=True,
            text=True,
            env={**os.environ, **self.environ},
            timeout=300,
        )
        equal(done.returncode, 0, done.stderr)
        return done.stderr, [one for one in self.asked if one[1]]


@contextlib.contextmanager
def filled(t):
    if not os.path.exists(PYTHON):
        raise Skip("the stand-in of S3, which is not there: make build/remote-servers/ready")
    bucket = Bucket(t)
    for folder in ("programs", "memprof", "torch", "oom", "modules", "dumps"):
        bucket.copy(folder, f"job-{folder}/c1")
    for at in range(8):
        bucket.put(f"quiet/run{at}/train.log", QUIET + b"%d\n" % at)
        bucket.put(f"loud/run{at}/train.log", QUIET + FAILURE)
    bucket.put("loud/memviewd.json", json.dumps({"job": "loud", "commit": "c1"}).encode())
    bucket.put("quiet/not-a-log.txt", bytes(range(256)) * 2000)
    bucket.put("quiet/other.json", b'{"steps": 3}')
    with database_of(t) as database, bucket.serving():
        yield bucket, database


def rows(database):
    return database.rows("SELECT id, job, verdict, error FROM memviewd.rows ORDER BY id")


def test_what_is_known_is_not_asked_for_again(t):
    with filled(t) as (bucket, database):
        _, first = bucket.index(database)
        equal([one for one in first if one[0] == "HEAD"], [], "asked for what the list told")
        assert len(first) > 50
        made, lists = rows(database), len([one for one in bucket.asked if not one[1]])
        assert sum(row["job"] == "loud" for row in made) == 8, made
        for more in ((), ("--shard=0/2",), ("--shard=1/2",), ()):
            said, asked = bucket.index(database, *more)
            equal(asked, [], f"{more}: {said}")
            equal(len(bucket.asked), lists, "lists")
            assert said.startswith("memviewd: 0 rows of 0 files written"), said
        equal(rows(database), made)


def test_what_changed_alone_is_asked_for(t):
    with filled(t) as (bucket, database):
        bucket.index(database)
        bucket.replace("quiet/run3/train.log", QUIET + FAILURE)
        bucket.replace("loud/run3/train.log", QUIET)
        bucket.replace("quiet/run4/train.log", QUIET + b"more\n")
        said, asked = bucket.index(database)
        equal({key for _, key, _ in asked}, {"quiet/run3/train.log", "loud/run3/train.log", "quiet/run4/train.log"})
        assert said.startswith("memviewd: 1 rows of 1 files written"), said
        equal(bucket.index(database)[1], [])
        bucket.replace("loud/memviewd.json", json.dumps({"job": "louder", "commit": "c1"}).encode())
        bucket.index(database)
        equal(sum(row["job"] == "louder" for row in rows(database)), 7)
        equal(bucket.index(database)[1], [])


def test_rows_of_older_rules_are_made_anew_when_that_is_asked_for(t):
    with filled(t) as (bucket, database):
        bucket.index(database)
        made = rows(database)
        equal(
            database.rows("SELECT DISTINCT rules_version FROM memviewd.files"),
            database.rows("SELECT DISTINCT rules_version FROM memviewd.facts"),
        )
        equal(bucket.index(database, "--reindex-older-than=0.0.9")[1], [])
        database.execute(
            "UPDATE memviewd.files SET rules_version = '0.0.9' WHERE logdir = 's3://profiles' AND file LIKE 'job-%'"
        )
        database.execute("UPDATE memviewd.facts SET rules_version = '0.0.10' WHERE file = 'quiet/run2/train.log'")
        equal(bucket.index(database)[1], [])
        said, asked = bucket.index(database, "--reindex-older-than=0.0.10")
        assert asked and all(key.startswith("job-") for _, key, _ in asked), asked
        said, asked = bucket.index(database, "--reindex-older-than=0.1")
        equal({key for _, key, _ in asked}, {"quiet/run2/train.log"}, said)
        equal(bucket.index(database, "--reindex-older-than=0.1")[1], [])
        equal(rows(database), made)
        for wrong in ("new", "1.", ".1", "1.2.3.4.5", "1234567", "1,2"):
            done = subprocess.run(
                [t.binary, "index", "s3://profiles", f"--catalog={database.url}", f"--reindex-older-than={wrong}"],
                capture_output=True,
                text=True,
                env={**os.environ, **bucket.environ},
                timeout=60,
            )
            assert done.returncode == 2 and "it is a version" in done.stderr, (wrong, done.stderr)


def test_facts_of_files_that_are_gone_are_forgotten(t):
    with filled(t) as (bucket, database):
        bucket.index(database)
        bucket.remove("quiet/run5/train.log")
        bucket.index(database, "--shard=0/2")
        equal(database.rows("SELECT file FROM memviewd.facts WHERE file LIKE 'quiet/run5/%'"), [])
        equal(bucket.index(database)[1], [])


def test_an_archived_object_is_named_once(t):
    with filled(t) as (bucket, database):
        for path, storage in (
            ("cold/train.log", "GLACIER"),
            ("cold/w.xplane.pb", "DEEP_ARCHIVE"),
            ("cool/train.log", "GLACIER_IR"),
        ):
            bucket.replace(path, QUIET + FAILURE, **{"x-amz-storage-class": storage})
        _, asked = bucket.index(database)
        equal({key for _, key, _ in asked if key.startswith("co")}, {"cool/train.log"})
        equal(
            database.rows(
                "SELECT file, kind, error_code, error FROM memviewd.rows WHERE file LIKE 'cold/%' ORDER BY file"
            ),
            [
                {
                    "file": path,
                    "kind": "nothing",
                    "error_code": "unsupported",
                    "error": "is archived (S3 Glacier) and cannot be read before it is restored",
                }
                for path in ("cold/train.log", "cold/w.xplane.pb")
            ],
        )
        said, asked = bucket.index(database)
        equal(asked, [])
        assert said.startswith("memviewd: 0 rows of 0 files written"), said
