# SPDX-License-Identifier: Apache-2.0
"""What truth needs of a compiled module: bytes and names of its arguments, which were given away. Numbers as in
proto/hlo.proto."""
import gzip
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from wire import fields  # noqa: E402


class Module:
    def __init__(self, path):
        with open(path, "rb") as file:
            data = file.read()
        proto = dict(fields(gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data))
        module, assignment = proto[1], proto[3]
        parts = list(fields(module))
        entry = dict(parts)[6]
        self.argument_names = self._names(next(part for number, part in parts if number == 3
                                               and dict(fields(part)).get(5) == entry))
        self.argument_bytes = {}
        for number, part in fields(assignment):
            row = dict(fields(part)) if number == 3 else {}
            if row.get(5) and 10 not in row:
                self.argument_bytes[row.get(6, 0)] = row[2]
        self.aliased = {dict(fields(entry)).get(2, 0) for entry in self._entries(parts, 8)}
        self.donors = {dict(fields(entry)).get(1, 0) for entry in self._entries(parts, 18)}

    @staticmethod
    def _entries(parts, wanted):
        return [entry for number, part in parts if number == wanted for field, entry in fields(part) if field == 1]

    @staticmethod
    def _names(computation):
        """{number: op_name} of its parameters"""
        names = {}
        for number, part in fields(computation):
            row = dict(fields(part)) if number == 2 else {}
            if row.get(2) == b"parameter":
                names[row.get(9, 0)] = dict(fields(row.get(7, b""))).get(2, b"").decode()
        return names
