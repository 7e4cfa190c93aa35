# SPDX-License-Identifier: Apache-2.0
"""The daemon's views of a session, as docs/openapi.yaml lists them."""

import http.client
import json
import os
import tempfile
import urllib.parse

import kinds  # sets the path to tests/http
from document import Document
from harness import Daemon, wait_until

DOCUMENT = os.path.join(os.path.dirname(kinds.TESTS), "docs", "openapi.yaml")
VALUES = {"id": "0", "match": ".", "change": "donate=all"}  # of parameters that have to be there, beside the session
LEAST_MIB = "1"  # --memory-limit where there is no room


def of_sessions():
    """(path, names of the parameters that say which session)"""
    document = Document(DOCUMENT)
    for path, method, operation in document.operations():
        if method != "GET" or not path.startswith("/api/v1/"):
            continue
        parameters = [document.resolve(parameter) for parameter in operation["parameters"]]
        names = {parameter["name"] for parameter in parameters}
        told = tuple(
            name
            for name in ("session", "a", "b")
            if name in names and (name == "session" or {"a", "b"} <= names and "session" not in names)
        )
        if told and not path.startswith("/api/v1/confirmations"):
            yield path, told, {name: VALUES[name] for name in sorted(names & set(VALUES))}


class Answer:
    def __init__(self, status, body):
        self.status, self.body = status, body.decode(errors="replace")
        try:
            self.tree = json.loads(self.body)
        except ValueError:
            self.tree = None


class Served:
    """a daemon over one folder for each (kind, state), and which session each became"""

    def __init__(self, binary, pairs, *options):
        self.scratch = tempfile.TemporaryDirectory(prefix="memviewd-matrix-")
        self.root = os.path.join(self.scratch.name, "logdir")
        self.paths = {}
        for kind, state in pairs:
            place = os.path.join(self.root, f"{kind.name}--{state}")
            _, self.paths[kind.name, state] = kinds.write(kind, "whole" if state == "gone" else state, place)
        self.daemon = Daemon(binary, ["--port=0", *options, self.root], self.scratch.name)
        self.connection = self.daemon.connect()
        self.wait_for_texts()
        answer = self.ask("/api/v1/sessions?limit=1000").tree
        self.not_read = answer["not_read"]
        self.rows = {pair: [row for row in answer["sessions"] if self.is_of(row, pair)] for pair in self.paths}
        for (kind, state), path in self.paths.items():
            if state == "gone":
                os.remove(path)

    def is_of(self, row, pair):
        tag = "--".join(pair)
        return (
            row["name"] == tag
            or row["name"].startswith(tag + "/")
            or any(tag in str(host.get("name")) for host in row["hosts"])
        )

    def ask(self, address):
        for attempt in (0, 1):  # a connection may be closed between two requests
            try:
                self.connection.request("GET", address)
                answer = self.connection.getresponse()
                return Answer(answer.status, answer.read())
            except (http.client.RemoteDisconnected, BrokenPipeError, ConnectionResetError):
                if attempt or not self.daemon.is_alive():
                    raise
                self.connection.close()
        return None

    def view(self, view, session, other):
        path, about, more = view
        values = {**dict(more), **({"session": session} if about == ("session",) else {"a": other, "b": session})}
        if "{session}" in path:
            values.pop("session")
        return self.ask(path.replace("{session}", session) + "?" + urllib.parse.urlencode(values))

    def wait_for_texts(self):
        wait_until(lambda: self.ask("/-/ready").status == 200, what="the daemon")

    def close(self):
        """what went wrong in the daemon, in words"""
        self.connection.close()
        status = self.daemon.stop()
        log = self.daemon.log()
        self.scratch.cleanup()
        if status != 0 or "Sanitizer" in log or "runtime error" in log:
            return f"exit status {status}: {log[-2000:]}"
        return ""
