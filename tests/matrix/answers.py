# SPDX-License-Identifier: Apache-2.0
"""The answers of two programs, held against each other: which members differ.

  answers.py --old BINARY --binary build/release/memviewd [--shared ../shared] [--only TEXT] [--allow REGEX]...

Both are asked the same: every view that docs/openapi.yaml lists, in each of its formats, about every session of
tests/fixtures and of the data in --shared, and every command of commands.py, as text and as JSON, about every folder
and file there. Each difference is named by question and path of the member ("/api/v1/verdict $.fit.over_bytes gone"),
counted, with one example. Evidence of a verdict stands in place of its number, and a member that is null is one that is
absent; where the new program writes one, it is named too. `--allow`: those that are meant to differ, by what is printed
of them. `--only`: questions with TEXT in their name. Exit status 1 with a difference that is not allowed; the last line
is "N asked, N differ".
"""

import argparse
import collections
import concurrent.futures
import http.client
import json
import os
import re
import sys
import tempfile

import commands
import kinds  # sets the path to tests/http
import rules
import views
from document import Document
from harness import Daemon, wait_until
from members import nulls, with_evidence, without_nulls

# What differs from one request, and from one start, to the next.
OF_THE_MOMENT = {
    "request_id",
    "started_at_ms",
    "last_scan_ms",
    "scan_generation",
    "generated_at",
    "took_ms",
    "commit",
    "version",
}
SHOWN = 160  # letters of an example
FORMATS = ("text", "markdown", "csv", "ndjson")


def kind_of(value):
    return "number" if isinstance(value, (int, float)) and not isinstance(value, bool) else type(value).__name__


def differences(old, new, path="$"):
    """(path, what, before, after) of each member that differs; places of a list are one path"""
    if isinstance(old, dict) and isinstance(new, dict):
        for name in sorted(set(old) | set(new)):
            inner = f"{path}.{name}"
            if name in OF_THE_MOMENT:
                continue
            if name not in new:
                yield inner, "gone", old[name], "–"
            elif name not in old:
                yield inner, "added", "–", new[name]
            else:
                yield from differences(old[name], new[name], inner)
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for before, after in zip(old, new):
            yield from differences(before, after, path + "[]")
    elif isinstance(old, list) and isinstance(new, list):
        yield path, "of another length", len(old), len(new)
    elif kind_of(old) != kind_of(new):
        yield path, f"was {kind_of(old)}, is {kind_of(new)}", old, new
    elif old != new:
        yield path, "changed", old, new


def tree_of(text):
    try:
        return json.loads(text)
    except ValueError:
        return None


def text_differences(old, new, is_of_lines):
    before, after = tree_of(old), tree_of(new)
    if before is not None and after is not None and is_of_lines:
        yield from differences(before, after)
    elif before is not None and after is not None:
        yield from ((path, "is null", "", "") for path in sorted(set(nulls(after))))
        yield from differences(*(without_nulls(with_evidence(each)) for each in (before, after)))
    elif old != new:
        pairs = zip(old.split("\n") + ["–"], new.split("\n") + ["–"])
        yield "", "another text", *next(pair for pair in pairs if pair[0] != pair[1])


class Found:
    def __init__(self, allowed):
        self.allowed, self.asked, self.differ = [re.compile(each) for each in allowed], 0, 0
        self.counts, self.examples = collections.Counter(), {}

    def note(self, question, about, old, new):
        """old, new: (status, text)"""
        self.asked += 1
        is_of_lines = question.split()[0] in rules.LINES or (
            question.endswith(" ndjson") and new[0] == 200
        )  # a refusal is an object
        rows = list(text_differences(old[1], new[1], is_of_lines))
        rows += [("", "another status", old[0], new[0])] if old[0] != new[0] else []
        for path, what, before, after in rows:
            key = " ".join(each for each in (question, path, what) if each)
            self.counts[key] += 1
            self.examples.setdefault(key, f"{about}: {str(before)[:SHOWN]} → {str(after)[:SHOWN]}")
        self.differ += bool(rows)

    def report(self):
        """how many kinds of difference are not allowed"""
        unmeant = 0
        for key in sorted(self.counts):
            is_allowed = any(each.search(key) for each in self.allowed)
            unmeant += not is_allowed
            print(f"{'allowed' if is_allowed else 'DIFFERS'} {key} ({self.counts[key]})\n        {self.examples[key]}")
        print(f"{self.asked} asked, {self.differ} differ")
        return unmeant


# ---- the daemon ----


def formats_of(document):
    """{path: formats besides JSON}"""
    found = {}
    for path, method, operation in document.operations():
        parameters = [document.resolve(each) for each in operation["parameters"]]
        enums = [document.resolve(each["schema"]).get("enum", []) for each in parameters if each["name"] == "format"]
        if method == "GET":
            found[path] = [each for each in (enums[0] if enums else []) if each in FORMATS]
    return found


class Served:
    def __init__(self, binary, roots, scratch):
        self.daemon = Daemon(binary, ["--port=0", *roots], scratch)
        self.connection = self.daemon.connect()
        wait_until(lambda: self.daemon.ask("/-/ready").status == 200, what="the daemon")

    def ask(self, address):
        try:
            answer = self.daemon.ask(address, connection=self.connection)
        except (
            http.client.RemoteDisconnected
        ):  # it was idle for as long as the other daemon took; one that is gone refuses
            self.connection.close()
            answer = self.daemon.ask(address, connection=self.connection)
        return answer.status, answer.body.decode(errors="replace")


def addresses(session, other, formats):
    """(question, address) of all views of a session"""
    for path, about, more in views.of_sessions():
        values = {**more, **({"session": session} if about == ("session",) else {"a": session, "b": other})}
        place = path.replace("{session}", session)
        if "{session}" in path:
            values.pop("session")
        for form in [None, *formats.get(path, [])]:
            query = "&".join(
                f"{name}={value}" for name, value in {**values, **({"format": form} if form else {})}.items()
            )
            yield path + (f" {form}" if form else ""), f"{place}?{query}"


def compare_views(options, roots, found):
    formats = formats_of(Document(views.DOCUMENT))
    with tempfile.TemporaryDirectory(prefix="memviewd-answers-") as scratch:
        served = [Served(binary, roots, scratch) for binary in (options.old, options.binary)]
        try:
            lists = [each.ask("/api/v1/sessions?limit=1000") for each in served]
            if options.only in "/api/v1/sessions":
                found.note("/api/v1/sessions", "all", *lists)
            sessions = json.loads(lists[0][1])["sessions"]
            for at, row in enumerate(sessions):
                for question, address in addresses(row["id"], sessions[at - 1]["id"], formats):
                    if options.only in question:
                        found.note(question, row["name"], *(each.ask(address) for each in served))
        finally:
            for each in served:
                each.connection.close()
                each.daemon.stop()


# ---- the commands ----


def inputs(roots):
    """folders two levels below a root, and files beside them"""
    for root in roots:
        for first in sorted(os.scandir(root), key=lambda entry: entry.name):
            inner = sorted(os.scandir(first.path), key=lambda entry: entry.name) if first.is_dir() else [first]
            yield from (entry.path for entry in inner if not entry.name.startswith("."))


def compare_commands(options, roots, found):
    rows = [
        (command, form, path)
        for path in inputs(roots)
        for command in commands.COMMANDS
        for form in (0, 1)
        if options.only in f"{command} {('text', 'json')[form]}"
    ]

    def tried(row):
        command, form, path = row
        done = [
            commands.ask(binary, commands.COMMANDS[command][form], path, path)
            for binary in (options.old, options.binary)
        ]
        return [(each.returncode, each.stdout) for each in done]

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        for (command, form, path), pair in zip(rows, pool.map(tried, rows)):
            found.note(f"{command} {('text', 'json')[form]}", os.path.basename(path), *pair)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--old", required=True)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--shared")
    parser.add_argument("--only", default="")
    parser.add_argument("--allow", action="append", default=[])
    options = parser.parse_args()
    roots = [os.path.join(kinds.TESTS, "fixtures")] + ([os.path.join(options.shared, "data")] if options.shared else [])
    found = Found(options.allow)
    compare_views(options, roots, found)
    compare_commands(options, roots, found)
    sys.exit(found.report() > 0)


if __name__ == "__main__":
    main()
