# SPDX-License-Identifier: Apache-2.0
"""The loop of docs/use/agents.md: run, explain, edit as the first advice says, run again, until the job fits. Test of
real.py: JAX on the CPU, with a limit of memory. The agent knows nothing of a job but how each advice is typed in
there."""

import os
import re
import shutil
import subprocess
import sys

import box

sys.path.append(os.path.join(os.path.dirname(box.HERE), "mcp"))
import talk  # noqa: E402

JOBS = os.path.join(box.HERE, "jobs", "agent")
TURNS_MAX = 3


def first_advice(text):
    """its title, and its code"""
    title, lines = re.search(r"What will make it fit\?\n(?:  [^-\s].*\n)*  - (.*)\n((?:      .*\n)+)", text).groups()
    return title, lines.splitlines()[0].strip()


def replaced(source, old, new):
    assert source.count(old) == 1, (old, source)
    return source.replace(old, new)


def patched(binary, run, folder):
    """by `memviewd explain --patch`"""
    done = subprocess.run(
        [binary, "explain", "--patch", f"--source-root={folder}", run],
        capture_output=True,
        text=True,
        timeout=box.PATIENCE_SECONDS,
    )
    assert done.returncode == 0, done
    subprocess.run(["git", "apply", "-"], input=done.stdout, text=True, check=True, cwd=folder)


def freed(source, title, _code):
    """numbers instead of the arrays that the named line keeps"""
    lines = source.splitlines(True)
    at = int(re.search(r"\.py:(\d+) makes and keeps", title).group(1)) - 1
    lines[at] = re.sub(r"(\w+)\.append\((.*)\)$", r"\1.append(float(\2.sum()))", lines[at])
    return "".join(lines)


def in_parts(source, _title, code):
    """the layers as a function of one row"""
    mapped = code.split("  #")[0].replace("xs", "x")
    return replaced(
        source,
        "    for w in params:\n        x = layer(x, w)\n",
        "    def f(row):\n        for w in params:\n            row = layer(row, w)\n        return row\n"
        f"    x = {mapped}\n",
    )


def indexed_inside(source, _title, code):
    """what is scanned over is the index, as the code has it"""
    index = re.search(r"index(\.reshape\(\d+, -1\))", code).group(1)
    source = re.sub(r"batches = data\[order\]\.reshape\(.*\)\n", f"batches = order{index}\n", source)
    return replaced(source, "    def step(w, batch):\n", "    def step(w, index):\n        batch = data[index]\n")


def returned_less(source, _title, code):
    """what the code has: a number instead of all of it"""
    return replaced(source, "return x, x\n", "return x, x" + re.match(r"return y(\.\w+\(\))", code).group(1) + "\n")


EDITS = {
    "Work on": in_parts,
    "Donate": patched,
    "Free what": freed,
    "Gather by index": indexed_inside,
    "Return less of it": returned_less,
}


def test_an_agent_that_follows_the_first_advice_makes_it_fit(here, options):
    here.environment["JAX_PLATFORMS"] = "cpu"
    used = set()
    for name in ("deep", "kept", "path", "shuffled", "state"):
        folder = os.path.join(here.folder, name)
        shutil.copytree(JOBS, folder, ignore=shutil.ignore_patterns("__pycache__"))
        path, turns = os.path.join(folder, name + ".py"), 0
        while True:
            here.runs = os.path.join(folder, f"runs{turns}")
            done = here.run(options.python, path)
            if done.returncode == 0:
                break
            assert turns < TURNS_MAX and done.stderr.count(b"Live arrays hold ") <= 1, (name, done)
            turns += 1
            run = here.only_session()
            text = talk.Talk(options.binary, folder).text(
                "explain", roots=(folder,), path=os.path.join(run, "output.log")
            )
            title, code = first_advice(text)
            (kind,) = [kind for kind in EDITS if title.startswith(kind)] or [None]
            assert kind, (name, text)
            used.add(kind)
            if EDITS[kind] is patched:
                patched(options.binary, run, folder)
                continue
            with open(path, encoding="utf-8") as file:
                source = file.read()
            with open(path, "w", encoding="utf-8") as file:
                file.write(EDITS[kind](source, title, code))
        assert turns > 0, (name, "has a limit that is no limit", done)
    with open(os.path.join(here.folder, "state", "state.py"), encoding="utf-8") as file:
        assert "donate_argnums=(0,)" in file.read(), "the gradient gets no result, and may be wanted"
    assert used == set(EDITS), used
