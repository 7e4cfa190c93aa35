# SPDX-License-Identifier: Apache-2.0
"""A receiver of webhooks: keeps what it was sent, checks signatures, fails as it is told."""

import contextlib
import hashlib
import hmac
import http.server
import threading

from harness import loads


class Receiver:
    """`refusals`: statuses that are answered first, one a request; None closes the connection instead. `media_type`: of
    what it is sent; `has_ids`: messages name their ids"""

    def __init__(self, secret=None, refusals=(), media_type="application/json", has_ids=True):
        self.secret, self.refusals, self.media_type, self.has_ids = secret, list(refusals), media_type, has_ids
        self.taken, self.refused_ids, self.faults = [], [], []  # messages, as JSON; ids; what was wrong with a request
        self.delivered = {}  # by the header that names the message: each once, though it is sent again
        self._lock = threading.Lock()

    def url(self, path="/hook"):
        return f"http://127.0.0.1:{self.port}{path}"

    def ids(self):
        return [message["id"] for message in self.taken]

    def _check(self, headers, body):
        if headers.get("Content-Type") != self.media_type:
            self.faults.append(f"type {headers.get('Content-Type')}")
        signature = headers.get("X-Memviewd-Signature")
        expected = self.secret and "sha256=" + hmac.new(self.secret, body, hashlib.sha256).hexdigest()
        if signature != expected:
            self.faults.append(f"signature {signature}, expected {expected}")

    def take(self, headers, body):
        """the status to answer with"""
        with self._lock:
            self._check(headers, body)
            message = loads(body)
            if self.has_ids and message["id"] != headers.get("X-Memviewd-Delivery"):
                self.faults.append(f"delivery {headers.get('X-Memviewd-Delivery')} of {message['id']}")
            if self.refusals:
                self.refused_ids.append(message["id"])
                return self.refusals.pop(0)
            self.taken.append(message)
            self.delivered.setdefault(headers.get("X-Memviewd-Delivery"), message)
            return 204

    @contextlib.contextmanager
    def running(self, port=0):
        receiver = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                status = receiver.take(self.headers, self.rfile.read(int(self.headers["Content-Length"])))
                if status is None:
                    self.close_connection = True
                    return
                self.send_response(status)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *words):
                pass

        with http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler) as server:
            self.port = server.server_address[1]
            thread = threading.Thread(target=server.serve_forever)
            thread.start()
            try:
                yield self
            finally:
                server.shutdown()
                thread.join()
