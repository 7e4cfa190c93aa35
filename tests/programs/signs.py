# SPDX-License-Identifier: Apache-2.0
"""Signs by which a planted pattern is seen in the compiled module, without the rules that are to be judged.

A sign is a function (module, live rows, peak bytes) -> (whether it is there, its bytes or None). Shapes are compared
by their number of elements, for the compiler splits, merges and transposes dimensions: so the authors choose sizes
that no other value of the program has.
"""
import math
import re

SHARE = 0.01  # of the peak: below it nobody needs to be told
WIDTHS = {"float32": 4, "int32": 4, "uint32": 4, "bfloat16": 2, "uint8": 1}
WHOLE_BYTES = 1 << 20  # smaller arguments are on every chip by right


def elements(shape):
    """elements of a shape's text, f32[2,3]{…}"""
    dims = re.search(r"\[([\d,]*)\]", shape)
    return math.prod(int(size) for size in dims.group(1).split(",") if size) if dims else 0


def _share(found, peak_bytes):
    held = sum(row["bytes"] for row in found)
    return held >= SHARE * peak_bytes and held > 0, held


def live(*shapes, named="", least=None, dtype=""):
    """values of these sizes that are no arguments are alive at the peak"""
    wanted = {math.prod(shape) for shape in shapes}

    def sign(_, rows, peak_bytes):
        found = [row for row in rows if row["kind"] not in ("parameter", "constant")
                 and elements(row["shape"]) in wanted
                 and re.search(named, row["op_name"] or "") and row["dtype"].startswith(dtype)]
        is_there, held = _share(found, peak_bytes)
        return (is_there if least is None else held >= least * peak_bytes), held
    return sign


def forward(least):
    """values that the forward pass named hold this share of the peak"""
    def sign(_, rows, peak_bytes):
        held = sum(row["bytes"] for row in rows if row["kind"] != "parameter" and "jvp(" in (row["op_name"] or "")
                   and "transpose(" not in row["op_name"])
        return held >= least * peak_bytes, held
    return sign


def opcode(name, *shapes):
    """values of these sizes that an instruction made whose name or opcode fits are alive at the peak"""
    wanted = {math.prod(shape) for shape in shapes}

    def sign(_, rows, peak_bytes):
        return _share([row for row in rows if re.search(name, row["name"] + " " + row["opcode"])
                       and elements(row["shape"]) in wanted], peak_bytes)
    return sign


def argument(*shapes, path=""):
    """arguments of these sizes whose path fits"""
    wanted = {math.prod(shape) for shape in shapes}

    def sign(_, rows, peak_bytes):
        return _share([row for row in rows if row["kind"] == "parameter" and elements(row["shape"]) in wanted
                       and re.search(path, row["op_name"] or "")], peak_bytes)
    return sign


def constants():
    def sign(_, rows, peak_bytes):
        return _share([row for row in rows if row["kind"] == "constant"], peak_bytes)
    return sign


def padding():
    def sign(_, rows, peak_bytes):
        found = [row for row in rows if row["bytes"] > 1.25 * row["unpadded_bytes"]]
        padded = sum(row["bytes"] - row["unpadded_bytes"] for row in found)
        return padded > 2 * SHARE * peak_bytes, padded
    return sign


def not_aliased(least=SHARE):
    """arguments that could live where a result does, but no result lives in any argument"""
    def sign(module, rows, peak_bytes):
        held = sum(row["bytes"] for row in rows if row["kind"] == "output")
        return not module.aliased and held >= least * peak_bytes, held
    return sign


def donor():
    """an argument was donated that no result fits"""
    def sign(module, *_):
        return bool(module.donors), sum(module.argument_bytes.get(number, 0) for number in module.donors)
    return sign


def replicated(roles):
    """arguments of these roles that every one of several chips holds whole; bytes of the larger ones"""
    def sign(module, _, peak_bytes):
        held = sum(row["bytes"] for row in module.arguments if row["role"] in roles and row["number"] is not None
                   and row["bytes"] >= math.prod(row["shape"]) * WIDTHS[row["dtype"]] > WHOLE_BYTES)
        return held >= SHARE * peak_bytes and held > 0, held
    return sign


def known():
    """the author says so: nothing in the module would show it without the rules that are judged"""
    return lambda *_: (True, None)


def unknown():
    """as known(), of what a program lacks"""
    return lambda *_: (False, None)
