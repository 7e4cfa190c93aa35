# SPDX-License-Identifier: Apache-2.0
"""Every kind of input in every state, asked of every command and of every view of the daemon.

  run.py --binary build/release/memviewd [--every] [--seed N] [--only TEXT] [--verbose]

What is asserted of each answer rules.py says. Of all combinations those of whole files and some drawn by the
seed are tried, with --every all. `--only`: those
whose name ("cut pickle explain text", "cut pickle /api/v1/verdict") has TEXT. Ends with "N passed, N failed, N
skipped".
"""

import argparse
import collections
import concurrent.futures
import functools
import os
import random
import re
import sys
import tempfile

import commands
import kinds
import rules
import views

SHARE_OF_COMMANDS, SHARE_OF_VIEWS = 0.15, 0.2  # tried without --every
ROOM_BYTES = 3 << 20  # beyond what the program begins in, where there is no room
MAIN_VIEWS = (
    "/api/v1/verdict",
    "/api/v1/memory_profile/summary",
    "/api/v1/memory_viewer/summary",
    "/api/v1/modules/summary",
    "/api/v1/device_memory/summary",
    "/api/v1/sessions/{session}/modules",
)
NO_CRASH = r"^(?!status -?\d+: )"  # any fault but that
# (combinations, faults, why they are left as they are)
KNOWN = (
    (
        r" (log|log\.gz|snapshot-json|snapshot-zip|snapshot-archive) /api",
        "^no session, and not told|^the whole file is no session",
        "under .log, .json and .zip anything may lie: in a folder it is told only where it is an input",
    ),
    (
        r"^(foreign|damaged) (pickle|pickle\.gz|torch-trace|torch-trace\.gz) /api",
        "^no session, and not told",
        "a pickle or JSON of another program in a folder is none that could not be read",
    ),
    (
        r"^cut .* (index|summary) ",
        "^status 0, expected 2|^no place",
        "what was read to the place where it ends is told in its row or beside it: status 0",
    ),
    (
        r" mixed-folder (explain|diff|export|index) ",
        NO_CRASH,
        "of a folder with a sound program these tell of that one, and of others on the standard error at most",
    ),
    (
        r"^empty (plan-text|program-text) /api",
        "no HLO module",
        "an empty text is no program: the list of sessions says why",
    ),
    (r" /api", "^the place stands twice", "two members of an answer repeat one sentence"),
    (
        r"^foreign (plan-text|program-text|log\.gz) (explain|index) ",
        NO_CRASH,
        "any bytes may be a text: nothing that is known stands in it",
    ),
    (
        r"^damaged (xspace|session-folder) (summary|index) ",
        "^status 0, expected 2",
        "what is sound in a trace is told beside what is not: status 0",
    ),
    (
        r"^cut (xspace|xspace\.gz|session-folder|torch-trace\.gz) index json",
        "JSON tells nothing",
        "the sentence of the row's cause tells it",
    ),
    (
        r"^cut torch-trace\.gz (explain|top|diff) ",
        "^status 0|^the place stands twice",
        "what was read to the place where it ends is told beside it: status 0",
    ),
)


class Counts:
    def __init__(self):
        self.passed, self.failed, self.known = 0, 0, collections.Counter()

    def note(self, name, found):
        rest = []
        for fault in found:
            row = next((row for row in KNOWN if re.search(row[0], name) and re.search(row[1], fault)), None)
            if row:
                self.known[row[2]] += 1
            else:
                rest.append(fault)
        self.passed += not rest
        self.failed += bool(rest)
        for fault in rest:
            print(f"FAILED {name}: {fault}", flush=True)


def is_sanitized(binary):
    with open(binary, "rb") as file:
        program = file.read()
    return b"__asan_init" in program or b"__tsan_init" in program


def possible(states):
    return [(kind, state) for kind in kinds.KINDS for state in states if kinds.is_possible(kind, state)]


def drawn(rows, share, options, name_of):
    """those that are tried, in their order"""
    rows = [row for row in rows if options.only in name_of(row)]
    if options.every or options.only:
        return rows
    chosen = set(random.Random(options.seed).sample(range(len(rows)), int(len(rows) * share)))
    return [row for at, row in enumerate(rows) if at in chosen]


def try_commands(options, counts):
    states = [state for state in kinds.STATES if state != "no-room" or not is_sanitized(options.binary)]
    rows = [
        (kind, state, command, form)
        for kind, state in possible(states)
        for command in commands.COMMANDS
        for form in ("text", "json")
    ]
    wholes = [
        row for row in rows if row[1] == "whole" and options.only in f"whole {row[0].name} {row[2]} {row[3]}"
    ]  # always: what they say is right
    rows = (
        drawn(
            [row for row in rows if row[1] != "whole"],
            SHARE_OF_COMMANDS,
            options,
            lambda row: f"{row[1]} {row[0].name} {row[2]} {row[3]}",
        )
        + wholes
    )
    room = commands.least_room(options.binary) + ROOM_BYTES if "no-room" in states else None
    with (
        tempfile.TemporaryDirectory(prefix="memviewd-matrix-") as scratch,
        concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool,
    ):
        paths = {}
        for kind, state in {(row[0].name, row[1]): row[:2] for row in rows}.values():
            for wanted in {state, "whole"} | ({"no-room"} if state == "no-room" else set()):
                if (kind.name, wanted) not in paths:
                    paths[kind.name, wanted], _ = kinds.write(
                        kind, wanted, os.path.join(scratch, f"{kind.name}--{wanted}")
                    )

        @functools.cache
        def of_whole(kind, command, form, state):
            path = paths[kind.name, state]
            return commands.ask(options.binary, commands.COMMANDS[command][form == "json"], path, path)

        def tried(row):
            kind, state, command, form = row
            path = paths[kind.name, state]
            whole = of_whole(kind, command, form, "no-room" if state == "no-room" else "whole")
            done = commands.ask(
                options.binary,
                commands.COMMANDS[command][form == "json"],
                path,
                path if state == "no-room" else paths[kind.name, "whole"],
                room if state == "no-room" else None,
            )
            return list(rules.command_faults(kind, state, command, form == "json", whole, done))

        for row, found in zip(rows, pool.map(tried, rows)):
            counts.note(f"{row[1]} {row[0].name} {row[2]} {row[3]}", found)
    return len(rows)


def try_views(options, counts):
    asked = 0
    all_views = list(views.of_sessions())
    for states, more in (
        ([state for state in kinds.STATES if state != "no-room"], ()),
        (["whole", "no-room"], (f"--memory-limit={views.LEAST_MIB}",)),
    ):
        pairs = possible(states)
        rows = drawn(
            [(kind, state, view) for kind, state in pairs for view in all_views if state != "whole"],
            SHARE_OF_VIEWS,
            options,
            lambda row: f"{row[1]} {row[0].name} {row[2][0]}",
        )
        if not rows:
            continue
        wanted = {(row[0].name, row[1]) for row in rows}
        wanted |= {(name, "whole") for name, _ in wanted}
        served = views.Served(options.binary, [pair for pair in pairs if (pair[0].name, pair[1]) in wanted], *more)
        try:
            asked += len(rows)
            ask_views(served, rows, counts)
        finally:
            trouble = served.close()
        counts.note("the daemon " + " ".join(more), [trouble] if trouble else [])
    return asked


def ask_views(served, rows, counts):
    @functools.cache
    def answer(kind, state, view, session):
        whole = served.rows[kind, "whole"]
        return served.view(view, session, whole[0]["id"] if whole else session)

    def is_told(kind, state, session):
        told = (answer(kind, state, (path, ("session",), ()), session) for path in MAIN_VIEWS)
        return any(
            found.tree is not None
            and (found.status == 200 and rules.tells(found.tree) or found.status in (413, 422, 503))
            for found in told
        )

    for kind, state, view in rows:
        sessions = served.rows[kind.name, state]
        view = (view[0], view[1], tuple(view[2].items()))
        name = f"{state} {kind.name} {view[0]}"
        if not sessions:
            tag = f"{kind.name}--{state}/"
            listed = [row for row in served.not_read if row["file"].startswith(tag)]
            counts.note(
                name, [] if listed and listed[0]["reason"] else ["no session, and not told in not_read of the sessions"]
            )
            continue
        whole = served.rows[kind.name, "whole"]
        if not whole:
            counts.note(name, ["the whole file is no session"])
            continue
        found = answer(kind.name, state, view, sessions[0]["id"])
        of_whole = answer(kind.name, "whole", view, whole[0]["id"])
        counts.note(
            name,
            list(
                rules.view_faults(
                    kind, state, of_whole, found, found.status == 200 and is_told(kind.name, state, sessions[0]["id"])
                )
            ),
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--every", action="store_true")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    options.binary = os.path.abspath(options.binary)
    print(f"seed {options.seed}{', all combinations' if options.every else ''}")
    counts = Counts()
    unknown = commands.known(options.binary) - set(commands.COMMANDS) - commands.NOT_ASKED
    counts.note("the commands of --help", [f"not in the matrix: {' '.join(sorted(unknown))}"] if unknown else [])
    asked = try_commands(options, counts)
    print(f"{asked} combinations with commands", flush=True)
    asked = try_views(options, counts)
    print(f"{asked} combinations with views")
    for reason, count in sorted(counts.known.items()):
        print(f"known, {count} times: {reason}")
    print(f"{counts.passed} passed, {counts.failed} failed, 0 skipped")
    return counts.failed > 0


if __name__ == "__main__":
    sys.exit(main())
