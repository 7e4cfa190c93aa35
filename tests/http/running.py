# SPDX-License-Identifier: Apache-2.0
"""What the run.py of tests/http, tests/capture, tests/catalog, tests/fleet and tests/remote share: the tests of their
themes, options, outcomes.

A theme is a file, each function in it that begins with test_ a test; its name is THEME.WORDS."""

import argparse
import functools
import importlib
import re
import resource
import time
import traceback
import zlib

import harness


def parser_of(words):
    """`words`: the docstring of the run.py"""
    parser = argparse.ArgumentParser(description=words, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--shared")
    parser.add_argument("--only", action="append")
    return parser


def tests_of(theme):
    """[(name, function)]"""
    return [
        (f"{theme}.{name[5:]}", function)
        for name, function in vars(importlib.import_module(theme)).items()
        if name.startswith("test_")
    ]


def chosen_of(themes, only):
    return [test for theme in themes for test in tests_of(theme) if any(text in test[0] for text in only or [""])]


def part_of(words):
    """ "K/N:SEED" → is a test of that name in the K-th of N parts, into which the seed divides them? All are without
    words"""
    if not words:
        return lambda name: True
    at, count, seed = re.fullmatch(r"(\d+)/(\d+):(.*)", words).groups()
    return lambda name: zlib.crc32(f"{seed} {name}".encode()) % int(count) == int(at)


def processor_seconds():
    """of this process and of those that it started and that ended"""
    return sum(
        used.ru_utime + used.ru_stime
        for used in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    )


def run_one(name, function, toolbox, *more):
    """("passed", "failed" or "skipped", the words about it); the end of the toolbox tells how its daemons ended"""
    began, before = time.monotonic(), processor_seconds()
    try:
        with toolbox:
            function(toolbox, *more)
    except harness.Skip as reason:
        return "skipped", f"skipped {name}: {reason}"
    except Exception:  # noqa: a test may fail in any way
        return "failed", f"FAILED  {name}\n    " + traceback.format_exc().replace("\n", "\n    ").rstrip()
    return (
        "passed",
        f"ok      {name} ({time.monotonic() - began:.1f} s, {processor_seconds() - before:.1f} s of processor time)",
    )


class Outcomes:
    """counts what run_one says, and prints it; what failed is run once more, alone, when all others are done"""

    AGAIN_MAX = 3  # where more fail, it is not by chance

    def __init__(self, skipped=0):
        self.counts = {"passed": 0, "failed": 0, "skipped": skipped}
        self.fallen = []

    def take(self, outcome, words, run_again):
        """`run_again`: runs the same test, as run_one. What a sanitizer reports is a fault however seldom it comes"""
        if outcome == "failed" and "Sanitizer" not in words:
            self.fallen.append((words, run_again))
        else:
            self.count(outcome, words)

    def count(self, outcome, words):
        self.counts[outcome] += 1
        print(words, flush=True)

    def settle(self):
        """runs what failed again; the line of a test that passes then begins with "again", by which scripts/test counts
        it"""
        for words, run_again in self.fallen:
            outcome = run_again()[0] if len(self.fallen) <= self.AGAIN_MAX else "failed"
            self.count(outcome, words.replace("FAILED", "again ", 1) if outcome == "passed" else words)
        self.fallen = []

    def end(self):
        """the last line; the exit status"""
        self.settle()
        print(", ".join(f"{count} {what}" for what, count in self.counts.items()), flush=True)
        return 1 if self.counts["failed"] else 0


def in_turn(tests, run_one):
    """the Outcomes of tests, one after the other; run_one(name, function) gives what running.run_one does"""
    outcomes = Outcomes()
    for name, function in tests:
        run = functools.partial(run_one, name, function)
        outcomes.take(*run(), run)
    return outcomes
