# SPDX-License-Identifier: Apache-2.0
"""JSON-RPC and the methods of the protocol; lines that no client should send."""

import json
import os
import random
import resource
import signal
import subprocess
import threading

from talk import DEMO, DUMP, HANGS_SECONDS, call, checked, line, request

PING = request("ping", id="after")
PONG = {"jsonrpc": "2.0", "id": "after", "result": {}}
REVISIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
STATELESS = {
    "_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
}


def hello(revision):
    return request(
        "initialize", {"protocolVersion": revision, "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    )


# ---- the beginning ---------------------------------------------------------------------


def test_each_revision_is_spoken(talk):
    for revision in REVISIONS:
        result = talk.result(hello(revision))
        assert result["protocolVersion"] == revision and set(result["capabilities"]) == {"tools", "resources"}, result
        assert result["serverInfo"]["name"] == "memviewd" and "explain" in result["instructions"], result


def test_an_unknown_revision_is_offered_the_newest(talk):
    for revision in ("1999-01-01", "", None, 7, {}):
        assert talk.result(hello(revision))["protocolVersion"] == REVISIONS[-1]


def test_requests_that_name_their_revision(talk):
    found = talk.result(request("server/discover", STATELESS))
    assert found["supportedVersions"] == [*REVISIONS, "2026-07-28"] and found["resultType"] == "complete", found
    assert talk.result(request("tools/list", STATELESS))["cacheScope"] == "private"
    assert talk.result({**call("find"), "params": {"name": "find", **STATELESS}})["resultType"] == "complete"
    unknown = {"_meta": {"io.modelcontextprotocol/protocolVersion": "2031-01-01"}}
    error = talk.error(request("tools/list", unknown))
    assert error["code"] == -32022 and error["data"] == {
        "supported": [*REVISIONS, "2026-07-28"],
        "requested": "2031-01-01",
    }, error
    assert "resultType" not in talk.result(request("tools/list"))


def test_notifications_get_no_response(talk):
    silent = [
        {"jsonrpc": "2.0", "method": method, "params": params}
        for method in ("notifications/initialized", "nonsense", "tools/call")
        for params in ({}, [], None)
    ]
    assert talk.send(
        *silent, {"jsonrpc": "2.0", "id": 1, "result": {}}, {"jsonrpc": "2.0", "id": 1, "error": {}}, PING
    ) == [PONG]


def test_stdout_has_messages_alone_and_stdin_may_end_without_a_line(talk):
    assert talk.send(line(PING).rstrip(b"\n")) == [PONG]
    assert talk.send(b"\n \n\r\n", line(PING).replace(b"\n", b"\r\n")) == [PONG]
    assert talk.send() == []


# ---- ids and methods -------------------------------------------------------------------


def test_ids_come_back_as_they_were(talk):
    for text in (
        "0",
        "-1",
        '"a"',
        '""',
        "1.5",
        "9007199254740993",
        "123456789012345678901234567890",
        "1e400",
        '"\\u00e9\\n\\"x"',
    ):
        message = b'{"jsonrpc":"2.0","method":"ping","id":%s}\n' % text.encode()
        done = subprocess.run(
            [talk.binary, "mcp", DEMO], input=message, capture_output=True, timeout=HANGS_SECONDS, check=True
        )
        back = done.stdout.decode()
        if text[0] == '"':
            assert json.loads(back)["id"] == json.loads(text), back
        else:
            assert f'"id":{text},' in back, back


def test_other_ids_are_refused(talk):
    for id in (None, True, [1], {"id": 2}):
        error = talk.send(request("ping", id=id), PING)
        assert error[0]["id"] is None and error[0]["error"]["code"] == -32600 and error[1] == PONG, error


def test_what_is_no_request_is_refused(talk):
    cases = [
        (request("nothing/of/this"), -32601),
        (request("prompts/list"), -32601),
        (request(7), -32600),
        ({**PING, "jsonrpc": "1.0"}, -32600),
        ({"id": 1, "method": "ping"}, -32600),
        ({"jsonrpc": "2.0", "id": 1}, -32600),
        (request("tools/list", [1]), -32602),
        (request("tools/call"), -32602),
        (request("tools/call", {"name": 7}), -32602),
        (request("tools/call", {"name": "no such"}), -32602),
        (request("tools/call", {"name": "find", "arguments": [1]}), -32602),
        (request("resources/read", {}), -32602),
        (request("resources/list", {"cursor": "x"}), -32602),
        (request("resources/list", {"cursor": 5}), -32602),
        ("text", -32600),
        (7, -32600),
        (None, -32600),
        ({}, -32600),
    ]
    responses = talk.send(*[message for message, _ in cases], PING)
    refused = [each for each in responses if "error" in each]
    assert [each["error"]["code"] for each in refused] == [code for _, code in cases], refused
    assert responses[-1] == PONG


# ---- hostile lines ---------------------------------------------------------------------


def test_hostile_lines_are_refused_one_by_one(talk):
    deep = [bytes([opening]) * 100_000 for opening in b"[{"] + [
        b'{"a":' * 50_000,
        b"[" * 1500 + b"]" * 1500,
        b'{"jsonrpc":"2.0","id":1,"params":' + b"[" * 5000,
    ]
    lines = [
        b"{",
        b"}",
        b"[",
        b"nonsense",
        b'{"jsonrpc"',
        b'"',
        b"\\",
        b"{} {}",
        b"[1,",
        b"\xff\xfe",
        b'{"id":"\xc3\x28"}',
        b'{"a":"\xed\xa0\x80"}',
        b'{"\x00":1}',
        b'{"a":"\\ud800"}',
        *deep,
    ]
    responses = talk.send(*[each + b"\n" for each in lines], PING)
    assert responses[-1] == PONG and len(responses) == len(lines) + 1, responses
    assert all(each["id"] is None and each["error"]["code"] == -32700 for each in responses[:-1]), responses


def test_a_line_of_any_length_is_passed_over(talk):
    for size in ((1 << 20) + 1, 3 << 20, (5 << 20) + 17):
        long = line(request("ping", {"a": "x" * size}))
        responses = talk.send(PING, long, PING)
        assert [each.get("error", {}).get("code") for each in responses] == [None, -32700, None], responses
    assert talk.send(b"x" * (2 << 20))[0]["error"]["code"] == -32700
    almost = request("ping", {"a": "x" * 1_000_000}, "after")
    assert talk.send(almost) == [PONG]


def test_lines_with_one_thing_changed(talk):
    """every line gets exactly one response, unless it became a notification"""
    rng = random.Random(7)
    good = [
        line(each).rstrip(b"\n")
        for each in (
            hello(REVISIONS[-1]),
            call("find", path=1),
            call("explain", path="/nowhere"),
            request("resources/read", {"uri": "x"}),
            [PING, call("top", more=-1)],
        )
    ]
    lines = []
    for _ in range(400):
        text = bytearray(rng.choice(good))
        for _ in range(rng.randint(1, 3)):
            at = rng.randrange(len(text))
            text[at : at + rng.randint(0, 2)] = bytes(
                rng.choice(b'{}[]",:0e\\\xff\x00 tn-') for _ in range(rng.randint(0, 2))
            )
        lines.append(bytes(text).replace(b"\n", b" ") + b"\n")
    responses = talk.send(*lines, PING)
    assert PONG in responses and len(responses) <= len(lines) + 1
    assert len(responses) > len(lines) * 0.9, len(responses)


# ---- arrays ----------------------------------------------------------------------------


def test_an_array_gets_an_array(talk):
    silent = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    (responses,) = talk.send(
        [request("ping", id=1), silent, call("find", id=2), 7, request("none", id=3), request("ping", id='[,]"}')]
    )
    by_id = {each["id"]: each for each in responses}
    assert len(responses) == 5 and set(by_id) == {1, 2, None, 3, '[,]"}'}, responses
    assert (
        by_id[2]["result"]["content"] and by_id[None]["error"]["code"] == -32600 and by_id[3]["error"]["code"] == -32601
    ), responses


def test_odd_arrays(talk):
    silent = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    assert talk.send([silent, silent], PING) == [PONG]
    assert talk.send([], PING)[0]["error"]["code"] == -32600
    assert talk.send([[PING]], PING)[0][0]["error"]["code"] == -32600
    assert talk.send([PING] * 65, PING)[0]["error"]["code"] == -32600
    assert talk.send([PING] * 64, PING) == [[PONG] * 64, PONG]


# ---- several at once -------------------------------------------------------------------


def test_every_request_of_many_is_answered(talk):
    messages = [call("find", id=at) if at % 3 else request("ping", id=at) for at in range(300)]
    assert sorted(each["id"] for each in talk.send(*messages)) == list(range(300))


def test_lines_that_were_read_are_answered_while_stdin_is_open(talk):
    """more calls than are kept waiting, which are all answered at once by the answer that was kept"""
    first, *rest = [
        call("explain", path=DUMP, limit_bytes=1024, id=0),
        *[call("explain", path=DUMP, more=1, limit_bytes=1024, id=at) for at in range(1, 67)],
    ]
    process = subprocess.Popen([talk.binary, "mcp", DEMO], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    hangs = threading.Timer(HANGS_SECONDS, process.kill)
    hangs.daemon = True
    hangs.start()
    responses = []
    for messages in ([first], rest):
        process.stdin.write(b"".join(map(line, messages)))
        process.stdin.flush()
        responses += [json.loads(process.stdout.readline() or b"null") for _ in messages]
    hangs.cancel()
    process.communicate(timeout=HANGS_SECONDS)
    assert [each and each["id"] for each in responses] == list(range(67)), responses


def test_a_ping_does_not_wait_for_a_tool(talk):
    assert [each["id"] for each in talk.send(call("explain", path=DUMP, id="tool"), PING)] == ["after", "tool"]


def test_a_cancelled_call_that_waits_is_not_answered(talk):
    def cancel(id):
        return {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}}

    responses = talk.send(
        call("find", id=1), call("find", id="1"), call("find", id=3), cancel("1"), cancel(99), cancel(None), cancel([1])
    )
    assert [each["id"] for each in responses] == [1, 3], responses
    (batch,) = talk.send([call("find", id=1), call("find", id=2), cancel(1)])
    assert [each["id"] for each in batch] == [2], batch
    assert talk.send([call("find", id=1), cancel(1)], PING) == [PONG]


def test_a_call_is_cancelled_by_the_digits_of_its_id(talk):
    """also where a double has fewer of them"""
    digits = ("12345678901234567890", "1.0", "9007199254740993", "1e400", "-0", "1")
    calls, cancels = [
        [
            b'{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":"find"}}\n' % each.encode()
            for each in digits
        ],
        [
            b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"reason":"{\\"requestId\\":7}", '
            b'"requestId" : %s }}\n' % each.encode()
            for each in digits
        ],
    ]
    for at in range(len(digits)):
        responses = talk.send(*calls, *cancels[:at], *cancels[at + 1 :])
        assert [each["id"] for each in responses] == [json.loads(digits[at])], (digits[at], responses)
    nearly = [cancels[2].replace(b"9007199254740993", b"9007199254740992"), cancels[1].replace(b"1.0", b"1.00")]
    assert len(talk.send(*calls, *nearly)) == len(digits)
    (batch,) = talk.send(b"[" + b",".join([calls[0], calls[1], cancels[0]]).replace(b"\n", b"") + b"]\n")
    assert [each["id"] for each in batch] == [1.0], batch


def test_a_running_call_can_be_cancelled(talk):
    """by then it may have ended; either way nothing hangs, and the next call is answered"""
    process = subprocess.Popen([talk.binary, "mcp", DEMO], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    process.stdin.write(line(call("explain", path=DUMP, id="long")))
    process.stdin.flush()
    process.stdin.write(
        line({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "long"}})
        + line(call("find", id="next"))
    )
    out, _ = process.communicate(timeout=HANGS_SECONDS)
    assert checked(json.loads(out.splitlines()[-1]))["id"] == "next" and process.returncode == 0, out


def test_a_tool_that_cannot_start_says_so(talk):
    few = lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (4, 4))  # noqa: no pipe can be made
    responses = talk.send(call("find", id=1), PING, before=few)
    error = next(each["error"] for each in responses if each["id"] == 1)
    assert error["code"] == -32603 and "open files" in error["message"] and PONG in responses, responses


def test_a_failure_is_one_whatever_signals_were_ignored(talk):
    ignored = lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # noqa: as a shell's trap "" CHLD
    assert talk.result(call("top", path="b-activations-unrolled/error.txt"), before=ignored)["isError"]
    assert (
        talk.error(request("resources/read", {"uri": "memviewd://sessions/000000000000"}), before=ignored)["code"]
        == -32002
    )


def test_a_client_that_is_gone_ends_it(talk):
    process = subprocess.Popen(
        [talk.binary, "mcp", DEMO], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    process.stdout.close()
    process.stdin.write(line(PING) * 3)
    process.stdin.flush()
    assert process.wait(HANGS_SECONDS) == 2 and b"closed" in process.stderr.read()
    process.stdin.close()
    process.stderr.close()


# ---- the start -------------------------------------------------------------------------


def test_who_types_it_is_told_what_it_waits_for(talk):
    controller, terminal = os.openpty()
    process = subprocess.Popen(
        [talk.binary, "mcp", DEMO], stdin=terminal, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    os.close(terminal)
    assert b"an AI agent starts this command" in process.stderr.readline()
    os.write(controller, line(PING))
    assert json.loads(process.stdout.readline()) == PONG
    os.close(controller)  # the terminal is gone: stdin ends
    process.communicate(timeout=HANGS_SECONDS)


def test_roots_that_are_not_there(talk):
    for root, word in ((os.path.join(talk.folder, "nowhere"), "No such file"), ("gs://bucket/folder", "local")):
        out, errors = talk.command("mcp", root)
        assert out == "" and word in errors and root in errors, errors
