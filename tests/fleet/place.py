# SPDX-License-Identifier: Apache-2.0
"""All of a fleet on this machine, from nothing: buckets of S3 and GCS with three weeks of jobs, PostgreSQL, a receiver
of webhooks, indexing processes, two replicas of memviewd behind nginx. Each part can be killed and started again."""

import contextlib
import os
import signal
import subprocess
import urllib.request

import postgres
from harness import ROOT, Skip, wait_until
from jobs import Jobs
from nginx import NAME, Nginx
from harness import free_port
from receiver import Receiver

TOKEN = "0123456789abcdef0123456789abcdef"
SECRET = b"a secret of the receiver"
LOGDIRS = ("s3://profiles", "gs://profiles")
SHARDS = 2
PYTHON = os.path.join(ROOT, "build", "remote-servers", "bin", "python")  # has what tests/remote/requirements.txt names
# Nothing of the person who runs this: no credentials, no proxies.
CLEAN = {
    name: ""
    for name in (
        "AWS_SESSION_TOKEN AWS_PROFILE AWS_REGION AWS_DEFAULT_REGION AWS_ENDPOINT_URL AWS_ROLE_ARN "
        "AWS_WEB_IDENTITY_TOKEN_FILE "
        "AWS_CONTAINER_CREDENTIALS_FULL_URI AWS_CONTAINER_CREDENTIALS_RELATIVE_URI AWS_SHARED_CREDENTIALS_FILE "
        "AWS_CONFIG_FILE "
        "GOOGLE_APPLICATION_CREDENTIALS GCE_METADATA_HOST CLOUDSDK_CONFIG MEMVIEWD_LABELS http_proxy https_proxy "
        "HTTP_PROXY HTTPS_PROXY ALL_PROXY all_proxy"
    ).split()
}


class Place:
    """`t`: a Toolbox of tests/http/harness.py, which has the daemons"""

    def __init__(self, t):
        if not os.path.exists(PYTHON):
            raise Skip("the stand-ins of S3 and GCS, which are not there: make build/remote-servers/ready")
        told = subprocess.run([t.binary, "--version"], capture_output=True, text=True, check=True).stdout
        for library in ("libpq", "libcurl", "expat"):
            if library not in told:
                raise Skip(f"{library}, which this memviewd was built without")
        self.t, self.s3_port, self.gcs_port = t, free_port(), free_port()
        self.environ = {
            **CLEAN,
            "HOME": t.folder("home"),
            "AWS_ACCESS_KEY_ID": "key",
            "AWS_SECRET_ACCESS_KEY": "secret",
            "AWS_EC2_METADATA_DISABLED": "true",
            "NO_GCE_CHECK": "1",
            "no_proxy": "*",
            "AWS_ENDPOINT_URL_S3": f"http://127.0.0.1:{self.s3_port}",
            "STORAGE_EMULATOR_HOST": f"http://127.0.0.1:{self.gcs_port}",
        }
        self.jobs = Jobs(t.need_shared(), t.folder("buckets")).make()
        self.token_file, self.secret_file = (
            self._secret(name, text) for name, text in (("token", TOKEN.encode()), ("secret", SECRET))
        )
        self.receiver = Receiver(SECRET)
        self.ports, self.replicas, self.buckets = [free_port(), free_port()], [None, None], None
        try:
            self.database = postgres.Postgres(is_safe=True)  # it is made to crash
        except postgres.Missing as missing:
            raise Skip(str(missing)) from missing

    def _secret(self, name, text):
        path = self.t.write(f"../{name}", text + b"\n")
        os.chmod(path, 0o600)
        return path

    def __enter__(self):
        with contextlib.ExitStack() as parts:
            parts.enter_context(self.database)
            parts.enter_context(self.receiver.running())
            parts.callback(self.kill_buckets)
            self.start_buckets()
            self._parts = parts.pop_all()
        return self

    def __exit__(self, *why):
        self._parts.close()

    # ---- buckets ----

    def start_buckets(self):
        command = [
            PYTHON,
            os.path.join(ROOT, "tests", "fleet", "buckets.py"),
            self.t.folder("buckets"),
            str(self.s3_port),
            str(self.gcs_port),
        ]
        self.buckets = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        assert self.buckets.stdout.readline() == "ready\n", "the buckets did not start"

    def kill_buckets(self):
        if not self.buckets:
            return
        self.buckets.kill()
        self.buckets.wait()
        self.buckets.stdin.close()
        self.buckets.stdout.close()
        self.buckets = None

    def put(self, path, data):
        """one more object of the S3 bucket, now"""
        with urllib.request.urlopen(
            urllib.request.Request(
                f"http://127.0.0.1:{self.s3_port}/profiles/{path}",
                data,
                {"Content-Type": "application/octet-stream"},
                method="PUT",
            ),
            timeout=60,
        ) as answer:
            assert answer.status == 200

    # ---- indexing ----

    def start_index(self, shard):
        command = [
            self.t.binary,
            "index",
            *LOGDIRS,
            f"--catalog={self.database.url}",
            f"--shard={shard}/{SHARDS}",
            f"--notify={self.receiver.url()}",
            f"--notify-secret={self.secret_file}",
        ]
        return subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env={**os.environ, **self.environ}
        )

    def index(self):
        """as a scheduler does: each shard again until it ends well; what they said"""
        said = []
        for _ in range(10):
            ended = [
                (process, process.communicate(timeout=300)[1])
                for process in [self.start_index(shard) for shard in range(SHARDS)]
            ]
            said += [text for _, text in ended]
            if all(process.returncode == 0 for process, _ in ended):
                return said
        raise AssertionError("\n".join(said))

    def rows(self):
        """what stands in the buckets, by `memviewd index` alone: lines of JSON"""
        done = subprocess.run(
            [self.t.binary, "index", *LOGDIRS],
            capture_output=True,
            text=True,
            env={**os.environ, **self.environ},
            timeout=300,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()

    # ---- replicas ----

    def start_replica(self, at):
        self.replicas[at] = self.t.serve(
            *(f"--logdir={logdir}" for logdir in LOGDIRS),
            f"--catalog={self.database.url}",
            f"--port={self.ports[at]}",
            "--list-every=2",
            f"--token-file={self.token_file}",
            f"--allowed-hosts={NAME}",
            f"--notify={self.receiver.url()}",
            f"--notify-secret={self.secret_file}",
            f"--cache-dir={self.t.folder('cache')}-{at}",
            environ=self.environ,
        )
        wait_until(lambda: self.replicas[at].ask("/-/ready").status == 200, what=f"replica {at}")

    def kill_replica(self, at):
        self.replicas[at].process.send_signal(signal.SIGKILL)
        self.replicas[at].process.wait(60)

    def nginx(self):
        return Nginx(self.t.folder("nginx"), self.ports, TOKEN)
