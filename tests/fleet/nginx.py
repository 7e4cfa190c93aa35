# SPDX-License-Identifier: Apache-2.0
"""nginx with docs/operate/deploy/nginx.conf as it stands there, but for addresses, ports and the folder of its
files."""

import base64
import contextlib
import http.client
import os
import re
import shutil
import socket
import ssl
import subprocess
import urllib.parse

from harness import Answer, ROOT, Skip, free_port, wait_until
from proxy import CONFIGURATION

NAME, USER, PASSWORD = "profiles.example", "somebody", "secret-of-the-proxy"


class Nginx:
    """`ports`: of the replicas on this machine, as many as the file names"""

    def __init__(self, folder, ports, token):
        if not shutil.which("nginx") or not shutil.which("openssl"):
            raise Skip("nginx or openssl, which are not installed")
        self.folder, self.port = folder, free_port()
        for each in (os.path.dirname(folder), folder):
            os.chmod(each, 0o755)  # its workers run as another user
        self._write_files(token)
        with open(os.path.join(ROOT, "docs", "operate", "deploy", "nginx.conf"), encoding="utf-8") as file:
            text = file.read()
        servers = re.findall(r"server (10\.\S+) ", text)
        assert len(servers) == len(ports), servers
        for server, port in zip(servers, ports):
            text = text.replace(server, f"127.0.0.1:{port}")
        text = text.replace("listen 443 ssl", f"listen 127.0.0.1:{self.port} ssl")
        text, count = re.subn(r"/etc/(?:ssl|nginx)/(\S+);", lambda found: f"{self.path(found[1])};", text)
        assert count == 4, text
        with open(self.path("nginx.conf"), "w", encoding="utf-8") as file:
            file.write(
                CONFIGURATION.format(user="user www-data;" if os.geteuid() == 0 else "", folder=folder, server=text)
            )

    def path(self, name):
        return os.path.join(self.folder, name)

    def _write_files(self, token):
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
        for name, text in (
            ("profiles.htpasswd", f"{USER}:{hashed}\n"),
            ("memviewd-token.conf", f'proxy_set_header Authorization "Bearer {token}";\n'),
        ):
            with open(self.path(name), "w", encoding="ascii") as file:
                file.write(text)

    @contextlib.contextmanager
    def running(self):
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
                what="nginx",
            )
            assert process.poll() is None, process.stderr.read().decode()
            yield self
        finally:
            process.terminate()
            process.wait(30)

    def ask(self, path, method="GET", body=None, headers=None, is_known=True):
        context = ssl.create_default_context(cafile=self.path("profiles.pem"))
        connection = http.client.HTTPSConnection("127.0.0.1", self.port, timeout=120, context=context)
        connection.connect = lambda: self._connect(connection, context)
        login = (
            {"Authorization": "Basic " + base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()} if is_known else {}
        )
        try:
            connection.request(method, path, body, {"Host": f"{NAME}:{self.port}", **login, **(headers or {})})
            answer = connection.getresponse()
            return Answer(answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read())
        finally:
            connection.close()

    def _connect(self, connection, context):
        plain = socket.create_connection(("127.0.0.1", self.port), timeout=120)
        connection.sock = context.wrap_socket(plain, server_hostname=NAME)

    def get_json(self, path, **parameters):
        answer = self.ask(path + ("?" + urllib.parse.urlencode(parameters) if parameters else ""))
        assert answer.status == 200, f"{path}: {answer}"
        return answer.json
