# SPDX-License-Identifier: Apache-2.0
"""The cheapest HTTP client that reads whole answers over one kept-open connection."""

import socket
import time


class RawClient:
    def __init__(self, port, timeout_s=300):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout_s)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.host = f"127.0.0.1:{port}"
        self.room = memoryview(bytearray(1 << 20))
        self.rest = b""
        self.place = bytearray()

    def close(self):
        self.socket.close()

    def _more(self):
        size = self.socket.recv_into(self.room)
        if size == 0:
            raise OSError("the server closed the connection")
        return bytes(self.room[:size])

    def _head(self):
        data = self.rest
        while b"\r\n\r\n" not in data:
            data += self._more()
        head, _, self.rest = data.partition(b"\r\n\r\n")
        lines = head.decode("latin-1").split("\r\n")
        headers = dict(line.lower().split(": ", 1) for line in lines[1:] if ": " in line)
        return int(lines[0].split()[1]), headers

    def _exactly(self, size):
        """straight into one place of the right size; reused from answer to answer"""
        if len(self.place) < size:
            self.place = bytearray(size)
        body, have = memoryview(self.place)[:size], min(size, len(self.rest))
        body[:have] = self.rest[:have]
        self.rest = self.rest[have:]
        while have < size:
            more = self.socket.recv_into(body[have:])
            if more == 0:
                raise OSError("the server closed the connection")
            have += more
        return body

    def _line(self):
        while b"\r\n" not in self.rest:
            self.rest += self._more()
        line, _, self.rest = self.rest.partition(b"\r\n")
        return line

    def _chunks(self):
        parts = []
        while size := int(self._line().split(b";")[0], 16):
            parts.append(bytes(self._exactly(size)))
            self._line()
        self._line()
        return b"".join(parts)

    def get(self, path):
        """(status, headers, body as sent and valid until the next get, seconds until the last byte)"""
        request = f"GET {path} HTTP/1.1\r\nHost: {self.host}\r\nAccept-Encoding: identity\r\n\r\n".encode()
        begin = time.perf_counter()
        self.socket.sendall(request)
        status, headers = self._head()
        if headers.get("transfer-encoding") == "chunked":
            body = self._chunks()
        else:
            body = self._exactly(int(headers.get("content-length", 0)))
        return status, headers, body, time.perf_counter() - begin
