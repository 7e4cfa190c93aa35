# SPDX-License-Identifier: Apache-2.0
"""What every answer about an input that is not whole has to say."""

import json
import re

from members import nulls  # kinds.py sets the path to it

LINES = {
    "index"
}  # writes a table as one object a line: its columns are there in every line, null where nothing is known
ABSENT = "no plan, trace or profile is here"
PLACE = re.compile(r"\bbyte (\d+)|\bline \d+|offset_bytes\D{0,3}\d")
PLACED = ("cut", "damaged")  # states in which the place is known, too
TWICE = re.compile(r"\bbyte (\d+)\b[^\n]*, at byte \1\b|, at byte (\d+)[^\n,;]*, at byte \2\b")
REASON = re.compile(
    r"\bbyte \d+|is empty|cut\b|ends in the middle|damaged|the system has no|the file needs|memory-limit|[Nn]o such "
    r"file|is not a |not a profile"
    r"|neither |it looks like|could not be|cannot be|runs past|line \d+: |not recognised|changed while"
)
# What a command or view says of kinds that it is not about, whole or not.
OTHER_KIND = re.compile(
    r"has no HLO module|not a profile \(profile\.proto\)|no device profile|no profiler trace|no error text or "
    r"log|holds no profile"
    r"|no buffer assignment|no program with its own memory|are (programs|device profiles|memory over time)|cannot be "
    r"compared"
    r"|there is no such failure|holds no memory events|no report of a plan|no memory of its own"
)
SANITIZER = re.compile(r"Sanitizer|runtime error:")


def walk(tree):
    yield tree
    for value in tree.values() if isinstance(tree, dict) else tree if isinstance(tree, list) else ():
        yield from walk(value)


def tells(tree):
    """is there a place in an answer that says that something could not be read, or not to its end?"""
    for found in walk(tree):
        if not isinstance(found, dict):
            continue
        if found.get("not_read") or found.get("error") or found.get("fault") or found.get("error_code"):
            return True
        notes = found.get("notes")
        if notes and REASON.search(json.dumps(notes)):
            return True
    return False


def trees_of(text):
    """the JSON values of an answer, one or one a line; None: no JSON"""
    try:
        return [json.loads(text)]
    except ValueError:
        pass
    try:
        return [json.loads(line) for line in text.splitlines()]
    except ValueError:
        return None


def command_faults(kind, state, command, is_json, whole, done):
    """of one command; `whole`: what it said of the whole file"""
    told = done.stdout + done.stderr
    if done.returncode not in (0, 1, 2) or SANITIZER.search(told):
        yield f"status {done.returncode}: {told[-300:]}"
        return
    if is_json and command not in LINES:
        yield from (f"null member {path}" for path in sorted(set(nulls(trees_of(done.stdout)))))
    if ABSENT in told:
        yield f"says: {ABSENT}"
    if TWICE.search(told):
        yield f"the place stands twice: {TWICE.search(told)[0]}"
    if state == "whole":
        if (
            "No such file" in told
            or command in ("explain", "summary", "index")
            and OTHER_KIND.search(told) is None
            and done.returncode == 2
        ):
            yield f"status {done.returncode} of a whole file: {done.stderr[-200:]}"
        return
    if kind.file not in told and not OTHER_KIND.search(told):
        yield f"the file is not named: {told[-200:]!r}"
    is_asked = not OTHER_KIND.search(whole.stderr)  # is it about such files at all?
    if not is_asked:
        if done.returncode == 0:
            yield "status 0, where the whole file has another"
        return
    if (done.returncode, done.stdout, done.stderr) == (
        whole.returncode,
        whole.stdout,
        whole.stderr,
    ) and state == "no-room":
        return  # there was room
    if not REASON.search(told):
        yield f"no reason: {told[-200:]!r}"
    if state in PLACED and not PLACE.search(told):
        yield f"no place: {told[-200:]!r}"
    if done.returncode != 2 and not kind.beside():
        yield f"status {done.returncode}, expected 2"
    if is_json and done.stdout:
        trees = trees_of(done.stdout)
        if trees is None:
            yield f"no JSON: {done.stdout[:200]!r}"
        elif not tells(trees):
            yield f"the JSON tells nothing of it: {done.stdout[:200]!r}"
    elif is_json and done.returncode != 2:
        yield "no JSON"


def view_faults(kind, state, whole, answer, is_told):
    """of one view of a session; `is_told`: one of the main views says it"""
    if answer.status >= 500 and answer.status != 503:
        yield f"status {answer.status}: {answer.body[:200]}"
        return
    yield from (f"null member {path}" for path in sorted(set(nulls(answer.tree))))
    if ABSENT in answer.body and state != "gone":
        yield f"says: {ABSENT}"
    if TWICE.search(answer.body):
        yield f"the place stands twice: {TWICE.search(answer.body)[0]}"
    if state == "whole" or whole.status != 200:
        return  # the view is not about such files
    if answer.status == 200:
        if (
            answer.body != whole.body
            and answer.tree is not None
            and not tells(answer.tree)
            and not is_told
            and not kind.beside()
        ):
            yield "200 that tells nothing of it"
        return
    problem = answer.tree
    if not isinstance(problem, dict) or not problem.get("detail"):
        yield f"status {answer.status} without a reason: {answer.body[:200]}"
    elif state != "gone":
        if problem["code"] == "notfound":
            yield f"{problem['detail']} (notfound), where the file is there"
        elif problem["code"] not in ("argument", "conflict") and not str(problem.get("file")).endswith(kind.file):
            yield f"the file is not named: {problem.get('file')}: {problem['detail']}"
