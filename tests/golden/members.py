# SPDX-License-Identifier: Apache-2.0
"""Answers of the program as Python values: a member that is absent is not known or does not apply, and reads as
None."""

import json


class Members(dict):
    """of an object: `in` and len() tell what is there, [] gives None of the rest, as the pages read it"""

    def __missing__(self, name):
        return None


def loads(text):
    """what json.loads() gives, with objects as Members"""
    return json.loads(text, object_hook=Members)


def load(file):
    return loads(file.read())


def without_nulls(tree):
    """the same value without the members that are null; places of arrays stay"""
    if isinstance(tree, dict):
        return {name: without_nulls(value) for name, value in tree.items() if value is not None}
    return [without_nulls(each) for each in tree] if isinstance(tree, list) else tree


def nulls(tree, path="$"):
    """the path of each member that is null; places of a list are one path"""
    if isinstance(tree, dict):
        for name, value in tree.items():
            if value is None:
                yield f"{path}.{name}"
            yield from nulls(value, f"{path}.{name}")
    elif isinstance(tree, list):
        for each in tree:
            yield from nulls(each, path + "[]")


SHOWN_BY = {
    "needed",
    "capacity",
    "over",
    "free",
    "open",
    "saves",
    "lands_at",
}  # members of fit.evidence and of advice[].evidence


def with_evidence(tree, rows=None):
    """the same value, with the evidence of each figure of a verdict in place of its number in the verdict's list"""
    if isinstance(tree, list):
        return [with_evidence(each, rows) for each in tree]
    if not isinstance(tree, dict):
        return tree
    own = tree.get("evidence")
    if isinstance(own, list):
        rows, tree = own, {name: value for name, value in tree.items() if name != "evidence"}
    found = Members()
    for name, value in tree.items():
        is_number = isinstance(value, int) and not isinstance(value, bool)
        if rows is not None and is_number and (name == "evidence" or name.endswith("_evidence")):
            value = rows[value]
        elif rows is not None and name == "evidence":
            value = Members(
                {key: rows[each] if key in SHOWN_BY else with_evidence(each, rows) for key, each in value.items()}
            )
        found[name] = with_evidence(value, rows) if not is_number else value
    return found
