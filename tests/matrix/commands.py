# SPDX-License-Identifier: Apache-2.0
"""The commands that read files: how each is asked, as text and as JSON."""

import re
import resource
import subprocess

PATH, WHOLE = "PATH", "WHOLE"  # the input in question, and the same input whole
COMMANDS = {
    "explain": (["explain", PATH], ["explain", "--json", PATH]),
    "summary": (["summary", PATH], ["summary", "--json", PATH]),
    "whose": (["whose", PATH], ["whose", "--json", PATH]),
    "whatif": (["whatif", "--change=donate=all", PATH], ["whatif", "--change=donate=all", "--json", PATH]),
    "fit": (["fit", "--device=v5e,h200", PATH], ["fit", "--device=v5e,h200", "--json", PATH]),
    "top": (["top", PATH], ["top", "--json", PATH]),
    "check": (["check", "--max-total=1TiB", PATH], ["check", "--max-total=1TiB", "--format=json", PATH]),
    "diff": (["diff", WHOLE, PATH], ["diff", "--json", WHOLE, PATH]),
    "export": (["export", "--format=csv", PATH], ["export", "--format=json", PATH]),
    "index": (["index", "--format=csv", PATH], ["index", PATH]),
}
# The daemon's views are asked by views.py; `run` and `capture` write (tests/run, tests/capture); `mcp` runs these.
NOT_ASKED = {"serve", "run", "watch", "mcp", "capture"}
HANGS_SECONDS = 300  # ends a command that hangs; measures nothing


def known(binary):
    """the commands of --help"""
    text = subprocess.run([binary, "--help"], capture_output=True, text=True, check=True).stdout
    return set(re.findall(r"^  (\w+) {2,}", text.partition("The first word may be a command")[2], re.M))


def limited(limit_bytes):
    return lambda: resource.setrlimit(resource.RLIMIT_AS, (limit_bytes, limit_bytes))


def least_room(binary):
    """the address space, to a MiB, in which the program begins at all"""
    low, high = 1, 4096
    while low < high:
        middle = (low + high) // 2
        done = subprocess.run(
            [binary, "summary", "--help"], capture_output=True, preexec_fn=limited(middle << 20), check=False
        )
        low, high = (low, middle) if done.returncode == 0 else (middle + 1, high)
    return low << 20


def ask(binary, words, path, whole, room=None):
    """`path` and `whole` stand where the words say so; `room`: bytes of address space that the process has"""
    return subprocess.run(
        [binary, *[{PATH: path, WHOLE: whole}.get(word, word) for word in words]],
        capture_output=True,
        text=True,
        errors="replace",
        timeout=HANGS_SECONDS,
        preexec_fn=limited(room) if room else None,
        check=False,
    )
