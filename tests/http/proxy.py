#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""memviewd behind nginx, as docs/operate/proxy.md says: its server block stands in the configuration as it is written
there, but for the port, the files and the socket, which lie in a folder of the test.

  proxy.py --binary PATH

Needs nginx and openssl. The last line is "N passed, N failed, N skipped".
"""

import argparse
import base64
import contextlib
import grp
import http.client
import json
import os
import re
import shutil
import socket
import ssl
import subprocess
import sys
import tempfile
import time
import traceback

from harness import free_port

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
USER, PASSWORD = "somebody", "secret-of-the-proxy"
NAME = "profiles.example"
CONFIGURATION = """\
{user}
worker_processes 1;
daemon off;
pid {folder}/nginx.pid;
error_log {folder}/error.log;
events {{ worker_connections 64; }}
http {{
    access_log off;
    client_body_temp_path {folder}/temporary-body;
    proxy_temp_path {folder}/temporary-proxy;
    fastcgi_temp_path {folder}/temporary-fastcgi;
    uwsgi_temp_path {folder}/temporary-uwsgi;
    scgi_temp_path {folder}/temporary-scgi;
{server}
}}
"""


def equal(mine, expected, what=""):
    assert mine == expected, f"{what}: {mine!r}, expected {expected!r}"


def blocks_of(text):
    """the indented blocks of a text, by their first line"""
    return {
        block.strip().splitlines()[0].strip(): block
        for block in re.findall(r"(?:^    .*\n|^\n)+", text, re.M)
        if block.strip()
    }


def wait_until(condition, what):
    until = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < until, what
        time.sleep(0.02)


class Place:
    """nginx and memviewd, put up as the text says"""

    def __init__(self, binary, folder):
        self.binary, self.folder, self.port = binary, folder, free_port()
        with open(os.path.join(ROOT, "docs", "operate", "proxy.md"), encoding="utf-8") as file:
            blocks = blocks_of(file.read())
        self.command = " ".join(
            blocks["memviewd --logdir=/tmp/xprof --listen=unix:/run/memviewd/socket,mode=0660 \\"]
            .replace("\\\n", " ")
            .split()
        )
        self.server = blocks["server {"]

    def path(self, name):
        return os.path.join(self.folder, name)

    def set_up(self):
        """what the text asks for: a certificate, who is let in, a folder of the socket that the proxy's group may
        enter"""
        os.chmod(self.folder, 0o755)
        subprocess.run(
            [
                "openssl",
                "req",
                "-x509",
                "-newkey",
                "rsa:2048",
                "-nodes",
                "-days",
                "2",
                "-subj",
                f"/CN={NAME}",
                "-addext",
                f"subjectAltName=DNS:{NAME}",
                "-keyout",
                self.path("profiles.key"),
                "-out",
                self.path("profiles.pem"),
            ],
            check=True,
            stderr=subprocess.DEVNULL,
        )
        hashed = (
            subprocess.run(["openssl", "passwd", "-apr1", PASSWORD], check=True, stdout=subprocess.PIPE)
            .stdout.decode()
            .strip()
        )
        with open(self.path("profiles.htpasswd"), "w", encoding="ascii") as file:
            file.write(f"{USER}:{hashed}\n")
        os.mkdir(self.path("run"))
        if os.geteuid() == 0:
            shutil.chown(self.path("run"), group="www-data")
        os.chmod(self.path("run"), 0o2750)
        for name in ("logdir", "logdir/empty"):
            os.mkdir(self.path(name))

    @contextlib.contextmanager
    def nginx(self):
        server = self.server.replace("listen 443 ssl", f"listen 127.0.0.1:{self.port} ssl").replace(
            "/run/memviewd/socket", self.path("run/socket")
        )
        for name in ("profiles.pem", "profiles.key", "profiles.htpasswd"):
            server = re.sub(rf"/etc/\S*/{re.escape(name)}", self.path(name), server)
        user = "user www-data;" if os.geteuid() == 0 else ""
        with open(self.path("nginx.conf"), "w", encoding="utf-8") as file:
            file.write(CONFIGURATION.format(user=user, folder=self.folder, server=server))
        process = subprocess.Popen(
            ["nginx", "-c", self.path("nginx.conf"), "-e", self.path("error.log")], stderr=subprocess.PIPE
        )
        try:
            wait_until(
                lambda: (
                    process.poll() is not None
                    or os.path.exists(self.path("nginx.pid"))
                    and os.path.getsize(self.path("nginx.pid"))
                ),
                "nginx",
            )
            assert process.poll() is None, process.stderr.read().decode()
            yield
        finally:
            process.terminate()
            process.wait(30)

    @contextlib.contextmanager
    def memviewd(self, *more):
        words = (
            self.command.replace("/run/memviewd/socket", self.path("run/socket"))
            .replace("/tmp/xprof", self.path("logdir"))
            .split()
        )
        process = subprocess.Popen(
            [self.binary, *words[1:], "--demo", "--verbose", *more], stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        try:
            equal(process.stdout.readline().decode().strip(), "unix:" + self.path("run/socket"))
            yield
        finally:
            process.terminate()
            self.log = process.communicate(timeout=60)[1].decode("utf-8", "replace")
        equal(process.returncode, 0, self.log)

    def ask(self, path, method="GET", body=None, headers=None, host=NAME, is_known=True):
        context = ssl.create_default_context(cafile=self.path("profiles.pem"))
        connection = http.client.HTTPSConnection("127.0.0.1", self.port, timeout=120, context=context)
        connection.sock = context.wrap_socket(
            socket.create_connection(("127.0.0.1", self.port), timeout=120), server_hostname=NAME
        )
        shown = (
            {"Authorization": "Basic " + base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()} if is_known else {}
        )
        connection.request(method, path, body, {"Host": f"{host}:{self.port}", **shown, **(headers or {})})
        answer = connection.getresponse()
        answer.text = answer.read()
        connection.close()
        return answer


def test_the_pages_and_all_that_they_load_come_below_the_prefix(place):
    with place.nginx(), place.memviewd():
        equal(place.ask("/memviewd/", is_known=False).status, 401, "without the proxy's login")
        bare = place.ask("/memviewd")
        assert bare.status in (301, 302, 307, 308) and bare.getheader("Location").endswith("/memviewd/"), (
            bare.status,
            bare.getheader("Location"),
        )
        page = place.ask("/memviewd/")
        files = set(re.findall(r'"([\w./-]+-[0-9a-f]{16}\.\w+)"', page.text.decode()))
        assert page.status == 200 and len(files) > 3, page.text[:500]
        for file in files:
            equal(place.ask("/memviewd/" + file.removeprefix("./").removeprefix("/memviewd/")).status, 200, file)
        session = json.loads(place.ask("/memviewd/api/v1/sessions").text)["sessions"][0]["id"]
        equal(place.ask(f"/memviewd/api/v1/memory_viewer/summary?session={session}").status, 200)
        equal(place.ask("/api/v1/sessions").status, 404, "beside the prefix")


def test_other_names_are_refused(place):
    with place.nginx(), place.memviewd():
        equal(place.ask("/memviewd/", host="evil.example").status, 403)


def test_large_uploads_pass(place):
    body = b"RESOURCE_EXHAUSTED: out of memory while trying to allocate 1 byte\n" * 1000000
    with place.nginx(), place.memviewd():
        answer = place.ask(
            "/memviewd/api/v1/uploads?name=job.log", "POST", body, {"Content-Type": "application/octet-stream"}
        )
        equal(
            (answer.status, json.loads(answer.text).get("files", [{}])[0].get("size_bytes")),
            (201, len(body)),
            answer.text[:300],
        )


def test_a_token_of_its_own_is_asked_for_as_well(place):
    path = place.path("token")
    with open(path, "w", encoding="ascii") as file:
        file.write("0123456789abcdef0123456789abcdef\n")
    os.chmod(path, 0o600)
    as_json = {"Content-Type": "application/json"}
    with place.nginx(), place.memviewd(f"--token-file={path}"):
        equal(place.ask("/memviewd/api/v1/sessions").status, 401)
        equal(place.ask("/memviewd/api/v1/login", "POST", '{"token": "wrong"}', as_json).status, 401)
        answer = place.ask("/memviewd/api/v1/login", "POST", '{"token": "0123456789abcdef0123456789abcdef"}', as_json)
        cookie = answer.getheader("Set-Cookie")
        assert "Path=/memviewd/;" in cookie and f"memviewd-{place.port}=" in cookie, cookie
        equal(place.ask("/memviewd/api/v1/sessions", headers={"Cookie": cookie.split(";")[0]}).status, 200)


def test_the_request_id_of_the_proxy_is_in_the_log(place):
    with place.nginx(), place.memviewd():
        told = place.ask("/memviewd/api/v1/about").getheader("X-Request-Id")
    assert told and re.fullmatch("[0-9a-f]{32}", told) and told in place.log, (told, place.log[-500:])


def can_connect(path, group):
    """as nobody, in that group"""
    child = os.fork()
    if child == 0:
        try:
            os.setgroups([])
            os.setgid(group)
            os.setuid(65534)
            socket.socket(socket.AF_UNIX).connect(path)
            os._exit(0)
        finally:
            os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_only_the_group_of_the_proxy_reaches_the_socket(place):
    if os.geteuid() != 0:
        return
    with place.memviewd():
        equal(can_connect(place.path("run/socket"), grp.getgrnam("www-data").gr_gid), True, "www-data")
        equal(can_connect(place.path("run/socket"), 65534), False, "nogroup")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True)
    options = parser.parse_args()
    if not shutil.which("nginx", path=os.environ.get("PATH", "") + ":/usr/sbin") or not shutil.which("openssl"):
        print("skipped: nginx, which is not installed\n0 passed, 0 failed, 1 skipped")
        return 0
    os.environ["PATH"] += ":/usr/sbin"
    passed = failed = 0
    for name, function in [item for item in globals().items() if item[0].startswith("test_")]:
        with tempfile.TemporaryDirectory() as folder:
            place = Place(os.path.abspath(options.binary), folder)
            try:
                place.set_up()
                function(place)
                passed += 1
                print("ok     ", name[len("test_") :], flush=True)
            except Exception:  # noqa: a test may fail in any way
                failed += 1
                print("FAILED ", name[len("test_") :], traceback.format_exc(), flush=True)
                with contextlib.suppress(OSError), open(place.path("error.log"), encoding="utf-8") as file:
                    print(file.read()[-2000:])
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
