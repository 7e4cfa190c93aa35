# SPDX-License-Identifier: Apache-2.0
"""Fields that our messages do not have, of every type, at every level of every format of protobuf: they change no
answer. Newer writers add some at any time."""

import gzip
import json
import os
import re
import subprocess

import inputs
from harness import FIXTURES, ROOT, equal

# The number behind the last of the real message, where a field will be added next.
NEXT = {
    "XSpace": 5,
    "XPlane": 7,
    "XLine": 12,
    "XEvent": 6,
    "XStat": 8,
    "XEventMetadata": 7,
    "XStatMetadata": 4,
    "HloProto": 4,
    "Profile": 16,
    "ValueType": 3,
    "Sample": 4,
    "Label": 5,
    "Mapping": 11,
    "Location": 6,
    "Line": 4,
    "Function": 6,
}
FAR = (777, 15000, (1 << 29) - 1)
# Different in each copy of a file.
OF_FILE = {"id", "file_id", "file", "file_bytes", "modified_at", "content_sha256", "session", "session_id", "host"}


def messages():
    """{message: {number: (name, message of the field or None)}} of proto/*.proto"""
    found = {}
    for name in sorted(os.listdir(os.path.join(ROOT, "proto"))):
        if not name.endswith(".proto"):
            continue
        with open(os.path.join(ROOT, "proto", name), encoding="utf-8") as file:
            text = re.sub(r"//[^\n]*", "", file.read())
        stack = []
        for token in re.finditer(
            r"\b(message|enum|oneof|service)\s+(\w+)\s*\{|\{|\}|map<\s*\w+\s*,\s*(\w+)\s*>\s*(\w+)\s*=\s*(\d+)|"
            r"(?:repeated\s+|optional\s+)?([\w.]+)\s+(\w+)\s*=\s*(\d+)\s*[\[;]",
            text,
        ):
            word = token.group(0)
            if word == "}":
                stack.pop()
            elif word.endswith("{"):
                stack.append((token.group(1) or "", token.group(2) or ""))
                if token.group(1) == "message":
                    found.setdefault(token.group(2), {})
            elif stack and any(kind == "message" for kind, _ in stack) and stack[-1][0] != "enum":
                owner = [one for kind, one in stack if kind == "message"][-1]
                if token.group(3):
                    entry = f"{owner}.{token.group(4)}"
                    found[entry] = {1: ("key", None), 2: ("value", token.group(3))}
                    found[owner][int(token.group(5))] = (token.group(4), entry)
                else:
                    found[owner][int(token.group(8))] = (token.group(7), token.group(6).split(".")[-1])
    for fields in found.values():
        for number, (name, kind) in fields.items():
            fields[number] = (name, kind if kind in found else None)
    found["XStat"][6] = ("bytes_value", "HloProto")  # of a trace the programs; anything else is told by read()
    return found


MESSAGES = messages()


def varint_at(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at += 1
        shift += 7
        if byte < 0x80:
            return value, at
        assert shift < 70


def fields_of(data):
    """(number, type, the whole field, its payload) of a message"""
    fields, at = [], 0
    while at < len(data):
        begin = at
        tag, at = varint_at(data, at)
        number, kind = tag >> 3, tag & 7
        start = at
        if kind == 0:
            _, at = varint_at(data, at)
        elif kind in (1, 5):
            at += 8 if kind == 1 else 4
        else:
            assert kind == 2
            length, start = varint_at(data, at)
            at = start + length
        assert number > 0 and at <= len(data)
        fields.append((number, kind, data[begin:at], data[start:at]))
    return fields


def is_program(data):
    try:
        fields = {number: payload for number, kind, _, payload in fields_of(data) if kind == 2}
        return 1 in fields and any(number == 3 for number, *_ in fields_of(fields[1]))
    except (AssertionError, IndexError):
        return False


def levels_of(data, message, path=(), found=None):
    """{path of fields: message}"""
    found = {} if found is None else found
    found[path] = message
    if path[-1:] == ("bytes_value",):
        return found  # the levels below, of programs, have a test of their own
    for number, kind, _, payload in fields_of(data):
        name, inner = MESSAGES[message].get(number, ("", None))
        if inner and kind == 2 and not (name == "bytes_value" and not is_program(payload)):
            levels_of(payload, inner, path + (name,), found)
    return found


def mutated(data, message, where, add, path=()):
    """`where` NULL: at every level; add(message, body) is the new body"""
    body = b""
    for number, kind, whole, payload in fields_of(data):
        name, inner = MESSAGES[message].get(number, ("", None))
        is_message = inner and kind == 2 and not (name == "bytes_value" and not is_program(payload))
        if is_message and (where is None or where[: len(path) + 1] == path + (name,)):
            body += inputs.block(number, mutated(payload, inner, where, add, path + (name,)))
        else:
            body += whole
    return add(message, body) if where is None or where == path else body


def unknown(number):
    """{type: a field of it}"""
    return {
        "varint": inputs.number(number, 1 << 60),
        "fixed64": inputs.varint(number << 3 | 1) + b"\xff" * 8,
        "fixed32": inputs.varint(number << 3 | 5) + b"\x0a" * 4,
        "bytes": inputs.block(number, b"\x0a\x03abc\x12\x01x" * 3),
        "empty": inputs.block(number, b""),
    }


def variants(data, message):
    """{name: data}"""
    made = {}
    levels = levels_of(data, message)
    for path, inner in levels.items():
        numbers = {NEXT.get(inner, 777), FAR[len(path) % len(FAR)]}
        for number in numbers:
            for kind, field in unknown(number).items():
                for place, add in (
                    ("begin", lambda _, body, field=field: field + body),
                    ("end", lambda _, body, field=field: body + field),
                ):
                    made["-".join((".".join(path) or "top", str(number), kind, place))] = mutated(
                        data, message, path, add
                    )
    made["top-long"] = inputs.block(FAR[0], bytes(range(256)) * 2000) + data
    for number in FAR:
        every = b"".join(unknown(number).values())
        made[f"everywhere-{number}"] = mutated(data, message, None, lambda _, body: every + body + every)
        made[f"many-{number}"] = every * 20 + data + every * 20
    made["everywhere-next"] = mutated(
        data, message, None, lambda kind, body: b"".join(unknown(NEXT.get(kind, 777)).values()) + body
    )
    return levels, made


def answers(t, folder, names):
    """{name: rows}"""
    done = subprocess.run(
        [t.binary, "index", "--objects=-", folder],
        input="".join(f"{folder}/{name}\n" for name in names),
        capture_output=True,
        text=True,
        timeout=600,
    )
    equal(done.returncode, 0, done.stderr[-2000:])
    found = {name: [] for name in names}
    for line in done.stdout.splitlines():
        name = json.loads(line)["file"]
        found[name].append(
            {key: value for key, value in json.loads(line.replace(name, "…")).items() if key not in OF_FILE}
        )
    return found


def check(t, path, message, ending):
    with open(path, "rb") as file:
        data = file.read()
    data = gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data
    levels, made = variants(data, message)
    folder = t.folder()
    for name, bytes_of in {"as-it-was": data, **made}.items():
        t.write(name + ending, bytes_of)
    found = answers(t, folder, [name + ending for name in ("as-it-was", *made)])
    expected = found["as-it-was" + ending]
    assert expected and any(row["verdict"] for row in expected), expected
    bad = [name for name, rows in found.items() if rows != expected]
    equal(bad[:10], [], f"{len(bad)} of {len(found)} of {path}")
    all_at_once = {
        "as-it-was": data,
        **{name: bytes_of for name, bytes_of in made.items() if name.startswith(("every", "many"))},
    }
    for name, bytes_of in all_at_once.items():
        t.write(f"{name}/file{ending}", bytes_of)  # of one name, of which ids are made
    for command in (("whose", "--json"), ("summary", "--csv")):
        told = {
            name: t.run(command[0], os.path.join(folder, name, "file" + ending), *command[1:]).stdout.replace(
                f"/{name}/", "/…/"
            )
            for name in all_at_once
        }
        equal([name for name, text in told.items() if text != told["as-it-was"]], [], command)
    return levels


def test_programs(t):
    levels = check(
        t,
        os.path.join(FIXTURES, "dumps", "d-tile-padding", "module_0179.jit_f.cl_1014260217.after_optimizations.hlo.pb"),
        "HloProto",
        ".hlo.pb",
    )
    assert {
        "HloProto",
        "HloModuleProto",
        "HloComputationProto",
        "HloInstructionProto",
        "ShapeProto",
        "BufferAssignmentProto",
        "BufferAllocationProto",
        "LogicalBufferProto",
    } <= set(levels.values()), levels


def test_profiles(t):
    levels = check(t, os.path.join(FIXTURES, "memprof", "memory9.prof"), "Profile", ".prof")
    assert {"Profile", "ValueType", "Sample", "Location", "Line", "Function"} <= set(levels.values()), levels


def test_traces(t):
    trace = os.path.join(FIXTURES, "logdir")
    path = min(
        (
            os.path.join(at, name)
            for at, _, names in os.walk(trace)
            for name in names
            if re.search(r"\.xplane\.pb(\.gz)?$", name)
        ),
        key=os.path.getsize,
    )
    levels = check(t, path, "XSpace", ".xplane.pb")
    assert {"XSpace", "XPlane", "XLine", "XEvent", "XStat", "XEventMetadata", "XStatMetadata"} <= set(
        levels.values()
    ), levels
