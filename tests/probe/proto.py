# SPDX-License-Identifier: Apache-2.0
"""The schemas of proto/, and messages rewritten at one place: written here, not the core's reader."""

import glob
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
from wire import spans, varint  # noqa: E402

SCALARS = {"int32", "int64", "uint32", "uint64", "bool", "double", "float", "string", "bytes"}


class Field:
    def __init__(self, kind, name, is_repeated):
        self.kind, self.name, self.is_repeated = kind, name, is_repeated


def read_schemas():
    """({message: {number: Field}}, names of enums)"""
    messages, enums = {}, set()
    for path in sorted(glob.glob(os.path.join(HERE, "..", "..", "proto", "*.proto"))):
        with open(path, encoding="utf-8") as file:
            text = re.sub(r"//[^\n]*", "", file.read())
        scope = []  # (word, name) of the open blocks
        for word, name, one, end in re.findall(r"(message|enum|oneof)\s+(\w+)\s*\{|([^{};]+;)|(\})", text):
            if word:
                scope.append((word, name))
                full = ".".join(name for word, name in scope if word != "oneof")
                if word == "enum":
                    enums.add(full)
                elif word == "message":
                    messages[full] = {}
            elif end:
                scope.pop()
            else:
                field = re.match(r"\s*(repeated |optional )?(?:map<(\w+), (\w+)>|([\w.]+))\s+(\w+)\s*=\s*(\d+)", one)
                if field and scope and scope[-1][0] != "enum":
                    owner = ".".join(name for word, name in scope if word != "oneof")
                    label, key, value, kind, name, number = field.groups()
                    if key:
                        kind = f"{owner}.{name}.entry"
                        messages[kind] = {1: Field(key, "key", False), 2: Field(value, "value", False)}
                    messages[owner][int(number)] = Field(kind, name, label == "repeated " or bool(key))
    for owner, fields in messages.items():
        for field in fields.values():
            if field.kind not in SCALARS:
                field.kind = resolved(owner, field.kind, messages, enums)
    return messages, enums


def resolved(owner, kind, messages, enums):
    parts = owner.split(".")
    for length in range(len(parts), -1, -1):
        full = ".".join(parts[:length] + [kind])
        if full in messages or full in enums:
            return full
    raise KeyError(f"{kind} of {owner}")


MESSAGES, ENUMS = read_schemas()


def encoded(value):
    value &= (1 << 64) - 1
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def tag(number, wire):
    return encoded(number << 3 | wire)


def length_delimited(number, data):
    return tag(number, 2) + encoded(len(data)) + data


class Place:
    """One field on the wire, and the messages around it: `data` with other bytes in its place, lengths mended."""

    def __init__(self, owner, outer, data, number, wire, start, value, end, field, path):
        self.owner, self.outer, self.data, self.number, self.wire = owner, outer, data, number, wire
        self.start, self.value, self.end, self.field, self.path = start, value, end, field, path

    def bytes(self):
        return self.data[self.value : self.end]

    def replaced(self, new):
        """the whole file with `new`, tag and all, in the place of the field"""
        data = self.data[: self.start] + new + self.data[self.end :]
        return data if self.outer is None else self.outer.replaced(length_delimited(self.outer.number, data))


def places(data, message, outer=None, path="", embedded=()):
    """every field of `data`, those of messages inside of it too; `embedded`: {(message, field): message} of bytes that
    hold one"""
    for number, wire, start, value, end in spans(data):
        field = MESSAGES[message].get(number)
        name = f"{path}.{field.name if field else number}"
        place = Place(message, outer, data, number, wire, start, value, end, field, name)
        yield place
        inner = field and (field.kind if field.kind in MESSAGES else dict(embedded).get((message, field.name)))
        if inner and wire == 2:
            yield from places(place.bytes(), inner, place, name, embedded)


def packed(data):
    """the numbers of a packed run"""
    at = 0
    while at < len(data):
        value, at = varint(data, at)
        yield value
