# SPDX-License-Identifier: Apache-2.0
"""Bytes and texts as C source; for embed-pages and embed-demo."""

BYTES_PER_LINE = 100


def escaped(byte):
    character = chr(byte)
    return character if 32 <= byte < 127 and character not in '"\\?' else f"\\{byte:03o}"


def array(name, data):
    """bytes as a string literal: it compiles much faster than a list of numbers"""
    lines = [data[at : at + BYTES_PER_LINE] for at in range(0, len(data), BYTES_PER_LINE)] or [b""]
    body = "\n".join('    "' + "".join(map(escaped, line)) + '"' for line in lines)
    return f"static const unsigned char {name}[] =\n{body};\n"


def text(value):
    return '"' + "".join(map(escaped, value.encode())) + '"'


def table(kind, name, rows):
    """a table of structs and its count; C has no empty tables, so one blank row stands for none"""
    body = "".join(rows) or "    {0},\n"
    return f"\nconst struct {kind} {name}s[] = {{\n{body}}};\nconst size_t {name}_count = {len(rows)};\n"
