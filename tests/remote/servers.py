# SPDX-License-Identifier: Apache-2.0
"""The servers that tests ask: moto for S3 and STS, gcp-storage-emulator for GCS, nginx for https, all of others; and a
proxy of ours between, which is slow, cuts, refuses or lies as it is told."""

import bisect
import contextlib
import http.client
import http.server
import os
import shutil
import socket
import subprocess
import threading
import time
import urllib.parse

from harness import free_port

KEY, SECRET = "AKIATESTOFMEMVIEWD00", "not-a-secret-that-anybody-has"


def wait_for_port(port):
    end = time.monotonic() + 60
    while True:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        assert time.monotonic() < end, f"nothing listens on {port}"
        time.sleep(0.05)


EVERYTHING = '{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"*","Resource":"*"}]}'


class Moto:
    """S3, IAM and STS; signatures are checked by botocore while it is `checking`"""

    def __init__(self):
        from moto.server import ThreadedMotoServer

        os.environ["INITIAL_NO_AUTH_ACTION_COUNT"] = "1000000000"
        self.port = free_port()
        self.server = ThreadedMotoServer("127.0.0.1", self.port, verbose=False)
        self.server.start()
        wait_for_port(self.port)
        self.url = f"http://127.0.0.1:{self.port}"

    def client(self, service, key=KEY, secret=SECRET, token=None):
        import boto3

        return boto3.client(
            service,
            endpoint_url=self.url,
            region_name="us-east-1",
            aws_access_key_id=key,
            aws_secret_access_key=secret,
            aws_session_token=token,
        )

    def put(self, bucket, folder, prefix):
        client = self.client("s3")
        client.create_bucket(Bucket=bucket)
        for path in files_of(folder):
            client.upload_file(os.path.join(folder, path), bucket, prefix + path)

    def user(self, name):
        """one who may do everything; his keys, as boto3 tells them"""
        iam = self.client("iam")
        iam.create_user(UserName=name)
        iam.put_user_policy(UserName=name, PolicyName="all", PolicyDocument=EVERYTHING)
        return iam.create_access_key(UserName=name)["AccessKey"]

    @contextlib.contextmanager
    def checking(self):
        """who asks is looked at, by botocore; afterwards it is stopped"""
        self._trust(0)
        try:
            yield
        finally:
            self._trust(1000000000)
            self.stop()

    def _trust(self, count):
        asking = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        asking.request("POST", "/moto-api/reset-auth", str(count))
        asking.getresponse().read()
        asking.close()

    def stop(self):
        self.server.stop()


class Gcs:
    def __init__(self):
        from gcp_storage_emulator.server import create_server

        self.port = free_port()
        self.server = create_server("127.0.0.1", self.port, in_memory=True, default_bucket="profiles")
        self.server.start()
        wait_for_port(self.port)
        self.url = f"http://127.0.0.1:{self.port}"

    def put_one(self, name, data, bucket="profiles"):
        query = urllib.parse.urlencode({"uploadType": "media", "name": name})
        connection = http.client.HTTPConnection("127.0.0.1", self.port)
        connection.request("POST", f"/upload/storage/v1/b/{bucket}/o?{query}", data)
        assert connection.getresponse().status == 200
        connection.close()

    def put(self, folder, prefix):
        for path in files_of(folder):
            with open(os.path.join(folder, path), "rb") as file:
                self.put_one(prefix + path, file.read())

    def stop(self):
        self.server.stop()


class Nginx:
    """a folder by https with a certificate of its own; `ca` is the file to trust. `only` are servers of one version of
    TLS, which choose how they sign; at `port` both are spoken"""

    def __init__(self, folder, work, more=""):
        self.port, self.work = free_port(), work
        self.only = {version: free_port() for version in ("TLSv1.2", "TLSv1.3")}
        self.ca, key = os.path.join(work, "cert.pem"), os.path.join(work, "key.pem")
        subprocess.run(
            [
                "openssl",
                "req",
                "-x509",
                "-newkey",
                "rsa:2048",
                "-nodes",
                "-keyout",
                key,
                "-out",
                self.ca,
                "-days",
                "2",
                "-subj",
                "/CN=localhost",
                "-addext",
                "subjectAltName=DNS:localhost,IP:127.0.0.1",
            ],
            check=True,
            capture_output=True,
        )
        temporary = "".join(
            f"{kind}_temp_path {work}/{kind};\n" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        )
        others = "".join(
            f" server {{ listen 127.0.0.1:{port} ssl; ssl_certificate {self.ca}; ssl_certificate_key {key}; root "
            f"{folder};"
            f" ssl_protocols {version}; ssl_prefer_server_ciphers on; }}\n"
            for version, port in self.only.items()
        )
        with open(os.path.join(work, "nginx.conf"), "w", encoding="utf-8") as file:
            file.write(
                f"""{"user root;" if os.geteuid() == 0 else ""} worker_processes 1; daemon off;
pid {work}/nginx.pid; error_log {work}/error.log;
events {{ worker_connections 256; }}
http {{ access_log {work}/access.log; {temporary}
 server {{ listen 127.0.0.1:{self.port} ssl http2; ssl_certificate {self.ca}; ssl_certificate_key {key}; root {folder};
  ssl_protocols TLSv1.2 TLSv1.3;
  location / {{ autoindex on; }}
  location /json/ {{ alias {folder}/; autoindex on; autoindex_format json; }}
  {more} }}
{others} }}"""
            )
        self.process = subprocess.Popen(
            [shutil.which("nginx") or "/usr/sbin/nginx", "-c", os.path.join(work, "nginx.conf"), "-p", work],
            stderr=subprocess.DEVNULL,
        )
        wait_for_port(self.port)
        self.url = f"https://localhost:{self.port}"

    def asked(self):
        with open(os.path.join(self.work, "access.log"), encoding="utf-8") as file:
            return file.read()

    def stop(self):
        self.process.terminate()
        self.process.wait()


def files_of(folder):
    return sorted(os.path.relpath(os.path.join(at, name), folder) for at, _, names in os.walk(folder) for name in names)


class Server:
    """answers by a function of the test: handler(request) -> (status, headers, body)"""

    def __init__(self, handler):
        outer = self
        self.requests = []  # (method, path, headers, body)

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True  # else a head waits 40 ms for its body

            def answer(self):
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                request = (self.command, self.path, dict(self.headers), body)
                outer.requests.append(request)
                handler(self, request)

            do_GET = do_HEAD = do_POST = do_PUT = do_CONNECT = answer

            def reply(self, status, headers=None, body=b""):
                self.send_response(status)
                for name, value in (headers or {}).items():
                    self.send_header(name, value)
                if "Content-Length" not in (headers or {}):
                    self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(body)

            def log_message(self, *arguments):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.port = self.server.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def stop(self):
        self.server.shutdown()
        self.server.server_close()


class Lists(Server):
    """ListObjectsV2 of sorted keys. `facts_of(key)`: size, ETag and storage class of one"""

    PAGE = 1000

    def __init__(self, keys, delay_s, facts_of=lambda key: (1000000, "0" * 32, "STANDARD")):
        self.keys, self.delay_s, self.facts_of = sorted(keys), delay_s, facts_of
        super().__init__(self.list)

    def list(self, handler, request):
        time.sleep(self.delay_s)
        query = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(request[1]).query))
        if "list-type" not in query:
            return handler.reply(404)
        prefix, parts, count = query.get("prefix", ""), [], 0
        at = int(query.get("continuation-token") or bisect.bisect_left(self.keys, prefix))
        while at < len(self.keys) and self.keys[at].startswith(prefix) and count < self.PAGE:
            key = self.keys[at]
            slash = key.find("/", len(prefix)) if query.get("delimiter") else -1
            if slash >= 0:
                parts.append(f"<CommonPrefixes><Prefix>{key[: slash + 1]}</Prefix></CommonPrefixes>")
                at = bisect.bisect_left(self.keys, key[:slash] + "0")
            else:
                size, etag, storage = self.facts_of(key)
                parts.append(
                    f"<Contents><Key>{key}</Key><LastModified>2026-01-09T12:00:00.000Z</LastModified><ETag>&"
                    f"quot;{etag}&quot;</ETag><Size>{size}</Size>"
                    f"<StorageClass>{storage}</StorageClass></Contents>"
                )
                at += 1
            count += 1
        is_cut = at < len(self.keys) and self.keys[at].startswith(prefix)
        next_token = f"<NextContinuationToken>{at}</NextContinuationToken>" if is_cut else ""
        body = (
            f'<?xml version="1.0"?><ListBucketResult '
            f'xmlns="http://s3.amazonaws.com/doc/2006-03-01/">{"".join(parts)}<IsTruncated>{str(is_cut).lower()}</'
            f"IsTruncated>{next_token}</ListBucketResult>"
        )
        return handler.reply(200, {"Content-Type": "application/xml"}, body.encode())


class Proxy(Server):
    """hands on to another server; `fault(handler, request, count)` may answer in its place (True), `count` is how often
    this method and path came before. `delay_s` goes before each answer"""

    def __init__(self, port, fault=None, delay_s=0, change=None):
        self.port_behind, self.fault, self.delay_s, self.change = port, fault, delay_s, change
        self.counts, self.lock, self.in_flight, self.most_in_flight = {}, threading.Lock(), 0, 0
        self.body_bytes = 0
        super().__init__(self.hand_on)

    def hand_on(self, handler, request):
        method, path, headers, body = request
        with self.lock:
            count = self.counts.get((method, path), 0)
            self.counts[method, path] = count + 1
            self.in_flight += 1
            self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            time.sleep(self.delay_s)
            if self.fault and self.fault(handler, request, count):
                return
            connection = http.client.HTTPConnection("127.0.0.1", self.port_behind)
            # the host stays that of the proxy, for which the request was signed
            connection.request(
                method,
                path,
                body or None,
                {
                    name: value
                    for name, value in headers.items()
                    if name.lower() not in ("connection", "accept-encoding")
                },
            )
            answer = connection.getresponse()
            data = answer.read()
            told = {
                name.title(): value
                for name, value in answer.getheaders()
                if name.lower() not in ("connection", "transfer-encoding", "date", "server")
            }
            if method != "HEAD":
                told.pop("Content-Length", None)
            status = answer.status
            if self.change:
                status, told, data = self.change(request, status, told, data)
            self.body_bytes += len(data)
            handler.reply(status, told, data)
            connection.close()
        finally:
            with self.lock:
                self.in_flight -= 1
