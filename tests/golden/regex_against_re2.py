#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Our regular expressions against RE2 itself (google-re2 of PyPI): random patterns on random texts.

  regex_against_re2.py --driver PATH [--count N] [--seed N]      in a Python that has google-re2

Half of the patterns are built by the grammar, half are words of it in any order, most of which are refused. Both
have to refuse the same patterns, and find the same texts. Left out is what base/regex.h says that it takes
otherwise: \\B beside a character of several bytes, \\p and \\C, letters of either case beyond ASCII.
Equal seeds give equal patterns. Ends with the counts; exit status 1 if one differs.
"""

import argparse
import random
import subprocess
import sys

import re2

ATOMS = (
    "a",
    "b",
    "ab",
    "B",
    "0",
    "_",
    "é",
    "€",
    ".",
    r"\d",
    r"\D",
    r"\w",
    r"\W",
    r"\s",
    r"\S",
    r"\b",
    r"\B",
    "^",
    "$",
    r"\A",
    r"\z",
    r"\.",
    r"\x41",
    r"\x{e9}",
    r"\Qab\E",
    r"\Q.\E",
    r"\Q\E",
    "[ab]",
    "[^a]",
    "[a-c]",
    "[]a]",
    "[a-]",
    r"[\d_]",
    "[[:alpha:]]",
    "[[:^alpha:]]",
    r"[^\s\w]",
    r"\n",
    r"\t",
    "-",
    "/",
    r"\/",
)
REPEATS = ("*", "+", "?", "*?", "+?", "??", "{2}", "{0,2}", "{1,}", "{2}?", "{,2}")
GROUPS = ("(", "(?:", "(?P<n>", "(?<m>", "(?i:", "(?s:", "(?m:", "(?U:", "(?-i:")
FLAGS = ("(?i)", "(?s)", "(?m)", "(?U)", "(?im-s)")
WORDS = (
    ATOMS
    + REPEATS
    + GROUPS
    + FLAGS
    + (
        ")",
        "|",
        "[",
        "]",
        "{",
        "}",
        "-",
        "\\",
        "(?",
        "(?=",
        "(?!",
        "(?)",
        "(?z)",
        "(?-)",
        "(?i-)",
        "(?i-s-m)",
        "(?i-:",
        "(?P<",
        "(?P<>",
        "(?P<1>",
        "(?P<n",
        "(?P<é>",
        "(?P<n-m>",
        "{3,1}",
        "{1001}",
        "**",
        "[^",
        "[b-a]",
        "[[:no:]]",
        "[[:a",
        "[:a:]",
        r"[\60-\61]",
        r"\1",
        r"\8",
        r"\0",
        r"\012",
        r"\61",
        r"\777",
        r"\_",
        r"\é",
        r"\y",
        r"\xg",
        r"\Q",
        r"\E",
    )
)
TEXT = "aabbABc0_ .-/\n\té€"
NAMED = ("(?P<n>", "(?<m>")
TEXTS = 6
LONGEST_TEXT = 8


def built(some, depth=0):
    """a pattern by the grammar"""
    out = []
    for _ in range(some.randint(1, 3)):
        kind = some.random()
        if kind < 0.25 and depth < 3:
            group = some.choice(GROUPS if depth == 0 else [each for each in GROUPS if each not in NAMED])
            piece = group + built(some, depth + 1) + ")"
        else:
            piece = some.choice(ATOMS)
        if some.random() < 0.3:
            piece += some.choice(REPEATS)
        out.append(piece)
        if some.random() < 0.06:
            out.append(some.choice(FLAGS))
        if some.random() < 0.12:
            out.append("|")
    return "".join(out)


def thrown(some):
    """words of the grammar in any order"""
    return "".join(some.choice(WORDS) for _ in range(some.randint(1, 6)))


def case_of(some):
    pattern = built(some) if some.random() < 0.5 else thrown(some)
    letters = [each for each in TEXT if each < "\x80" or r"\B" not in pattern]
    return pattern, ["".join(some.choices(letters, k=some.randint(0, LONGEST_TEXT))) for _ in range(TEXTS)]


def answer_of(pattern, texts, options):
    """as the driver prints it"""
    try:
        expression = re2.compile(pattern, options=options)
    except re2.error:
        return "!"
    return "".join("1" if expression.search(text) else "0" for text in texts)


def hexed(text):
    return text.encode().hex()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--driver", required=True)
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    some, options = random.Random(arguments.seed), re2.Options()
    options.log_errors = False
    cases = [case_of(some) for _ in range(arguments.count)]
    lines = "".join(" ".join(map(hexed, (pattern, *texts))) + "\n" for pattern, texts in cases)
    done = subprocess.run([arguments.driver], input=lines, capture_output=True, text=True, check=True)
    mine = done.stdout.splitlines()
    if len(mine) != len(cases):
        raise ValueError(f"{len(mine)} answers to {len(cases)} patterns")
    theirs = [answer_of(pattern, texts, options) for pattern, texts in cases]
    failed = [row for row in zip(cases, mine, theirs) if row[1] != row[2]]
    for (pattern, texts), our, their in failed[:20]:
        print(f"FAILED  {pattern!r} on {texts}: {our}, RE2 {their}")
    print(f"{theirs.count('!')} of {len(cases)} patterns are refused")
    print(f"{len(cases) - len(failed)} passed, {len(failed)} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
