# SPDX-License-Identifier: Apache-2.0
"""`memviewd mcp` as a process: lines that are sent to it, and what it answers."""

import json
import os
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
DEMO = os.path.join(ROOT, "tests", "fixtures", "demo")
DUMP, PROFILES = os.path.join(DEMO, "b-activations-unrolled"), os.path.join(DEMO, "leak")
HANGS_SECONDS = 300  # ends a test that hangs; measures nothing
LIMIT_BYTES = 4096


def request(method, params=None, id=1):
    return {"jsonrpc": "2.0", "id": id, "method": method, **({} if params is None else {"params": params})}


def call(tool, id=1, **arguments):
    return request("tools/call", {"name": tool, "arguments": arguments}, id)


def line(message):
    return message if isinstance(message, bytes) else json.dumps(message).encode() + b"\n"


class Talk:
    def __init__(self, binary, folder):
        self.binary, self.folder = binary, folder

    def send(self, *messages, roots=(DEMO,), options=(), before=None):
        """the responses to messages (values, or bytes as they are sent) that come all at once; then stdin ends"""
        done = subprocess.run(
            [self.binary, "mcp", *options, *roots],
            input=b"".join(map(line, messages)),
            capture_output=True,
            timeout=HANGS_SECONDS,
            cwd=self.folder,
            preexec_fn=before,
            check=False,
        )
        assert done.returncode == 0, done
        assert done.stdout == b"" or done.stdout.endswith(b"\n"), done.stdout[-200:]
        return [checked(json.loads(each)) for each in done.stdout.splitlines()]

    def result(self, message, **how):
        responses = self.send(message, **how)
        assert len(responses) == 1 and "result" in responses[0], responses
        return responses[0]["result"]

    def error(self, message, **how):
        responses = self.send(message, **how)
        assert len(responses) == 1 and "error" in responses[0], responses
        return responses[0]["error"]

    def text(self, tool, is_error=False, roots=(DEMO,), **arguments):
        """the whole text of a tool's answer, with further calls where it is cut"""
        text, more = "", 0
        while more is not None:
            answer = self.result(call(tool, **arguments, **({"more": more} if more else {})), roots=roots)
            assert answer["isError"] == is_error, answer
            text += answer["content"][0]["text"]
            more = rest_of(answer)
        return text

    def command(self, *words):
        """what the command itself prints: (stdout, stderr)"""
        done = subprocess.run(
            [self.binary, *words], capture_output=True, timeout=HANGS_SECONDS, cwd=self.folder, check=False
        )
        return done.stdout.decode(), done.stderr.decode()


def rest_of(answer):
    """which `more` a cut answer names; None when it is whole"""
    last = answer["content"][-1]["text"]
    return (
        int(last.split("more=")[1].split(" ")[0])
        if len(answer["content"]) > 1 and "for the rest call again" in last
        else None
    )


def checked(response):
    """a response of JSON-RPC 2.0, or an array of them"""
    if isinstance(response, list):
        assert response, "an empty array"
        return [checked(each) for each in response]
    assert response["jsonrpc"] == "2.0" and set(response) in (
        {"jsonrpc", "id", "result"},
        {"jsonrpc", "id", "error"},
    ), response
    if "error" in response:
        assert isinstance(response["error"]["code"], int) and response["error"]["message"], response
    return response
