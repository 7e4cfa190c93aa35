# SPDX-License-Identifier: Apache-2.0
"""What no answer may say: sums below zero, parts that are larger than their whole."""

import re

# Differences, which may well be negative.
SIGNED = re.compile(r"(^|_)(delta|growth|change|difference|saves|saved|saving|free|over|left|offset)(_|$)")
NEGATIVE_TEXT = re.compile(r"(?<![\w.])-\d[\d,.]* (B|KiB|MiB|GiB|TiB|PiB|EiB|bytes?)\b")
LARGEST = 1 << 63
# Why a figure is less than what is listed for it.
LESS = {
    "its padding",
    "rounding of the text's figures",
    "less: memory that several of these buffers use is counted once",
}
# A profile that was saved as a difference has sums below 0; where this note says so, they are as they are.
OF_DIFFERENCE = ("negative_value", "executable_count")


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def walk(tree, path=()):
    """(path, object) of every object of an answer, (path, value) of everything else"""
    yield path, tree
    items = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for key, value in items:
        yield from walk(value, path + (key,))


def name_of(path):
    return ".".join(str(part) for part in path)


def is_bytes(key):
    return isinstance(key, str) and (key == "bytes" or key.endswith("_bytes"))


def sums(tree):
    """{place: bytes} of all figures in bytes"""
    return {name_of(path): value for path, value in walk(tree) if path and is_bytes(path[-1]) and is_number(value)}


def notes(tree):
    """the notes of an answer, as (code, count)"""
    found = set()
    for path, value in walk(tree):
        if path and path[-1] == "notes" and isinstance(value, list):
            found.update(
                (note.get("code"), note.get("count")) if isinstance(note, dict) else (note, 1) for note in value
            )
    return found


def pair_faults(path, row):
    """of two figures of one object, of which one is a part of the other"""
    for part, whole in (
        ("padding_bytes", "bytes"),
        ("unpadded_bytes", "bytes"),
        ("peak_unpadded_bytes", "peak_bytes"),
        ("temporary_bytes", "total_bytes"),
        ("parameter_bytes", "total_bytes"),
        ("output_bytes", "total_bytes"),
        ("constant_bytes", "total_bytes"),
        ("matched_bytes", "total_bytes"),
        ("matched_count", "total_count"),
        ("category_bytes", "peak_bytes"),
    ):
        if is_number(row.get(part)) and is_number(row.get(whole)) and row[part] > row[whole]:
            yield f"{name_of(path)}: {part} {row[part]} is more than {whole} {row[whole]}"
    parts = row.get("categories")
    if is_bytes_list(parts) and is_number(row.get("bytes")) and sum(part["bytes"] for part in parts) != row["bytes"]:
        yield f"{name_of(path)}: categories of {sum(part['bytes'] for part in parts)} bytes in {row['bytes']}"


def is_bytes_list(parts):
    return (
        isinstance(parts, list)
        and bool(parts)
        and all(isinstance(part, dict) and is_number(part.get("bytes")) for part in parts)
    )


def evidence_faults(path, row):
    """of a figure and what it is made of: sum_bytes and rest_bytes of its evidence"""
    evidence = row.get("evidence")
    if not (is_number(row.get("bytes")) and isinstance(evidence, dict) and is_number(evidence.get("sum_bytes"))):
        return
    parts = evidence["sum_bytes"] + (evidence.get("rest_bytes") or 0)
    if parts != row["bytes"]:
        yield f"{name_of(path)}: {row['bytes']} bytes of {evidence['sum_bytes']} and {parts - evidence['sum_bytes']}"


def may_be_negative(tree, key, owner):
    if key == "rest_bytes":
        return owner.get("rest") in LESS
    return bool(SIGNED.search(key)) or (
        key == OF_DIFFERENCE[1] and OF_DIFFERENCE[0] in {code for code, _ in notes(tree)}
    )


def faults(tree):
    """what an answer says that cannot be"""
    owners = {}  # objects by their path
    for path, value in walk(tree):
        key = path[-1] if path else ""
        if isinstance(value, dict):
            owners[path] = value
            yield from pair_faults(path, value)
            yield from evidence_faults(path, value)
        elif isinstance(value, str):
            if NEGATIVE_TEXT.search(value):
                yield f"{name_of(path)}: {value[:120]!r}"
        elif is_number(value) and isinstance(key, str):
            if (
                (is_bytes(key) or key.endswith("_count"))
                and value < 0
                and not may_be_negative(tree, key, owners[path[:-1]])
            ):
                yield f"{name_of(path)}: {value}"
            if is_bytes(key) and value >= LARGEST:
                yield f"{name_of(path)}: {value}"
            if (key == "share" or key.startswith("share_of")) and not 0 <= value <= 1:
                yield f"{name_of(path)}: {value}"
