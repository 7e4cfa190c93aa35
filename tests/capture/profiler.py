# SPDX-License-Identifier: Apache-2.0
"""A server that stands in for the profiler server of a running job: gRPC without TLS by the library h2, and what it
answers is up to the test."""

import contextlib
import os
import socket
import sys
import threading

import h2.config
import h2.connection
import h2.events
import h2.exceptions
import h2.settings

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import wire
from inputs import block

GRPC = [(":status", "200"), ("content-type", "application/grpc")]
GOOD = [("grpc-status", "0")]
METHOD = "/tensorflow.ProfilerService/Profile"


def framed(message):
    """a message of gRPC"""
    return b"\0" + len(message).to_bytes(4, "big") + message


def trace(data):
    """a ProfileResponse with this XSpace, framed"""
    return framed(block(8, data))


class Asked:
    """a request as it came"""

    def __init__(self, headers, body):
        self.headers = {name.decode(): value.decode() for name, value in headers}
        self.size, message = int.from_bytes(body[1:5], "big"), body[5:]
        assert body[0] == 0 and self.size == len(message), body
        fields = dict(wire.fields(message))
        self.duration_ms, self.options, self.emits = fields[1], dict(wire.fields(fields[4])), fields.get(9, 0)
        self.root, self.session, self.host = (fields[number].decode() for number in (5, 6, 7))
        self.path = os.path.join(self.root, self.session, self.host.replace(":", "_") + ".xplane.pb")


class Profiler:
    """one server on a free port, gone with the `with` block. `answer(asked)` is a generator: lists are headers, and
    after bytes, which are data, trailers; None ends the connection. What follows the last is nothing: with neither
    trailers nor None the stream ends."""

    def __init__(self, answer, family=socket.AF_INET):
        self.answer, self.asked, self.ended = answer, [], threading.Event()
        self.listener = socket.socket(family, socket.SOCK_STREAM)
        self.listener.bind(("127.0.0.1" if family == socket.AF_INET else "::1", 0))
        self.listener.listen()
        self.port = self.listener.getsockname()[1]
        self.address = f"127.0.0.1:{self.port}" if family == socket.AF_INET else f"[::1]:{self.port}"
        threading.Thread(target=self.serve, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        with contextlib.suppress(OSError):
            self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()

    def serve(self):
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self.listener.accept()
                threading.Thread(target=self.talk, args=(connection,), daemon=True).start()

    def talk(self, connection):
        state = h2.connection.H2Connection(h2.config.H2Configuration(client_side=False, header_encoding=False))
        bodies, heads = {}, {}
        try:
            with connection, contextlib.suppress(OSError, h2.exceptions.ProtocolError):
                state.initiate_connection()
                connection.sendall(state.data_to_send())
                while data := connection.recv(65536):
                    for event in state.receive_data(data):
                        if isinstance(event, h2.events.RequestReceived):
                            heads[event.stream_id], bodies[event.stream_id] = event.headers, b""
                        elif isinstance(event, h2.events.DataReceived):
                            bodies[event.stream_id] += event.data
                        elif isinstance(event, h2.events.StreamEnded):
                            connection.sendall(state.data_to_send())
                            asked = Asked(heads[event.stream_id], bodies[event.stream_id])
                            self.asked.append(asked)
                            self.give(connection, state, event.stream_id, asked)
                    connection.sendall(state.data_to_send())
        finally:
            self.ended.set()

    def give(self, connection, state, stream, asked):
        has_data, is_open = False, True
        for part in self.answer(asked):
            if part is None:
                connection.shutdown(socket.SHUT_RDWR)
                return
            if isinstance(part, bytes):
                has_data = True
                self.send(connection, state, stream, part)
            else:
                ends = has_data or part[-1][0] == "grpc-status" or part[-1][0] == "grpc-message"
                state.send_headers(stream, part, end_stream=ends)
                is_open = not ends
            connection.sendall(state.data_to_send())
        if is_open:
            state.end_stream(stream)

    def send(self, connection, state, stream, data):
        """as the other side's window allows"""
        while data:
            size = min(state.local_flow_control_window(stream), state.max_outbound_frame_size, len(data))
            if size == 0:
                state.receive_data(connection.recv(65536))
                continue
            state.send_data(stream, data[:size])
            connection.sendall(state.data_to_send())
            data = data[size:]


def good(data):
    """an answer with this XSpace"""

    def answer(_asked):
        yield GRPC
        yield trace(data)
        yield GOOD

    return answer


def says(status, message):
    """an answer of trailers alone"""

    def answer(_asked):
        yield [*GRPC, ("grpc-message", message), ("grpc-status", status)]

    return answer


def parts(*given):
    def answer(_asked):
        yield from given

    return answer
