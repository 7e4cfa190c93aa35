# SPDX-License-Identifier: Apache-2.0
"""Protobuf messages taken apart, for what holds our answers against the bytes of a file: written here, not the core's
reader."""


def varint(data, at):
    """(the number at `at`, where it ends)"""
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at


def spans(data):
    """(field number, wire type, start of the field, start and end of its value)"""
    at = 0
    while at < len(data):
        start = at
        tag, at = varint(data, at)
        size, value = varint(data, at) if tag & 7 == 2 else (0, at)
        at = varint(data, at)[1] if tag & 7 == 0 else value + {1: 8, 2: size, 5: 4}[tag & 7]
        yield tag >> 3, tag & 7, start, value, at


def fields(data):
    """(field number, value): the number of a varint, the bytes of all others"""
    for number, wire, _, value, end in spans(data):
        yield number, varint(data, value)[0] if wire == 0 else data[value:end]
