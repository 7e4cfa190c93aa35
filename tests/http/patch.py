# SPDX-License-Identifier: Apache-2.0
"""memviewd explain --patch: diffs of real sources that git and patch take; sources are only read."""

import os
import subprocess

from harness import FIXTURES, ROOT, equal, loads

DUMP = os.path.join(FIXTURES, "patch")  # of tests/programs/patched/plain, compiled for TPU v5e
SOURCES = os.path.join(ROOT, "tests", "programs", "patched", "plain")
CHANGED = {
    "donate": ["-@jax.jit", "+@functools.partial(jax.jit, donate_argnums=(0, 1))"],
    "checkpoint": ["+@jax.checkpoint"],
    "optimizer_dtype": ["-tx = optax.adamw(1e-4)", "+tx = optax.adamw(1e-4, mu_dtype=jnp.bfloat16)"],
}


def source_text():
    with open(os.path.join(SOURCES, "train.py"), "rb") as file:
        return file.read()


def explain(t, root, *arguments, code=0):
    process = t.run("explain", DUMP, f"--source-root={root}", *arguments)
    assert process.returncode == code, process
    return process


def changed_lines(diff):
    return [line for line in diff.splitlines() if line[:1] in "+-" and line[:3] not in ("+++", "---")]


def folder_with(t, name, data, file="train.py"):
    return os.path.dirname(t.write(f"{name}/{file}", data))


def applied(t, name, diff, file="train.py"):
    """what the diff makes of the file in a folder, by git and by patch; both have to be the same"""
    folder, made = os.path.join(t.folder(), name), []
    path = os.path.join(folder, file)
    with open(path, "rb") as before:
        text = before.read()
    for command in (["git", "apply", "-"], ["patch", "-s", "-p1"]):
        with open(path, "wb") as out:
            out.write(text)
        environment = dict(os.environ, GIT_CEILING_DIRECTORIES=os.path.dirname(folder))
        subprocess.run(command, input=diff.encode(), cwd=folder, env=environment, check=True)
        with open(path, "rb") as after:
            made.append(after.read())
    equal(made[0], made[1])
    with open(path, "wb") as out:
        out.write(text)
    return made[0]


def test_each_kind_is_written_and_applies(t):
    root = folder_with(t, "sources", source_text())
    for kind, lines in CHANGED.items():
        process = explain(t, root, "--patch", "--change", kind)
        equal(changed_lines(process.stdout), lines)
        assert process.stdout.startswith("--- a/train.py\n+++ b/train.py\n@@ "), process.stdout
        assert kind in process.stderr and "lands at" in process.stderr, process.stderr
        made = applied(t, "sources", process.stdout)
        equal(
            changed_lines(
                "\n".join(
                    f"+{line}" for line in made.decode().splitlines() if line not in source_text().decode().splitlines()
                )
            ),
            [line for line in lines if line[0] == "+"],
        )
        compile(made, "train.py", "exec")


def test_the_first_that_can_be_written_and_by_the_change(t):
    first = explain(t, SOURCES, "--patch")
    equal(changed_lines(first.stdout), CHANGED["donate"])
    equal(changed_lines(explain(t, SOURCES, "--patch", "--change=checkpoint=*").stdout), CHANGED["checkpoint"])
    process = explain(t, SOURCES, "--patch", "--change=batch", code=1)
    equal(process.stdout, "")
    assert "no change batch is advised that a patch can be written for" in process.stderr, process.stderr


def test_the_path_is_the_one_below_the_root(t):
    """the recorded path is of another machine: what of it lies below the root counts"""
    root = os.path.dirname(folder_with(t, "work/training", source_text()))
    process = explain(t, root, "--patch")
    assert process.stdout.startswith("--- a/training/train.py\n+++ b/training/train.py\n"), process.stdout


def test_ends_of_lines_are_kept(t):
    text = source_text().replace(b"\n", b"\r\n").rstrip(b"\r\n")
    root = folder_with(t, "dos", text)
    for kind, count in (("donate", 0), ("checkpoint", 1), ("optimizer_dtype", 0)):
        command = [t.binary, "explain", DUMP, f"--source-root={root}", "--patch", "--change", kind]
        diff = subprocess.run(command, capture_output=True, check=True).stdout.decode()
        made = applied(t, "dos", diff)
        equal((made.count(b"\r\n"), made.count(b"\n")), (text.count(b"\r\n") + count,) * 2)
        equal(made.endswith(b"\n"), False)


def test_what_is_not_certain_is_not_written(t):
    text = source_text()
    cases = {
        "moved": (b"# one more line\n" * 40 + text, "checkpoint", "the file is not the one that ran (train.py:"),
        "wrapped": (
            text + b"\nblock = jax.checkpoint(block)\n",
            "checkpoint",
            "block is given to a checkpoint here (train.py:",
        ),
        "twice": (text + b"\nother = optax.adam(1)\n", "optimizer_dtype", "optimizers are made in 2 places (train.py:"),
        "torn": (
            text + b"\nx = (\n",
            "donate",
            "the file cannot be edited safely: its brackets do not match (train.py:",
        ),
        "static": (
            text.replace(b"def block(p, x):", b"def block(p, x: Config):"),
            "checkpoint",
            "may take something else than arrays as x",
        ),
    }
    for name, (changed, kind, reason) in cases.items():
        process = explain(t, folder_with(t, name, changed), "--patch", "--change", kind, code=1)
        equal(process.stdout, "")
        assert f"{kind}: not written, because " in process.stderr and reason in process.stderr, process.stderr
    process = explain(t, folder_with(t, "empty", b"", "other.py"), "--patch", code=1)
    equal((process.stdout, process.stderr.count("there is no such file below --source-root")), ("", 3))


def test_links_out_of_the_root_are_not_followed(t):
    outside = folder_with(t, "outside", source_text())
    inside = folder_with(t, "inside", b"", "other.py")
    os.symlink(os.path.join(outside, "train.py"), os.path.join(inside, "train.py"))
    equal(explain(t, inside, "--patch", code=1).stdout, "")


def test_json_has_the_patches(t):
    (answer,) = loads(explain(t, SOURCES, "--json").stdout)
    patches = {advice["kind"]: advice["patch"] for advice in answer["answer"]["advice"] if "patch" in advice}
    equal(sorted(patches), sorted(CHANGED))
    for kind, lines in CHANGED.items():
        equal((changed_lines(patches[kind]["diff"]), patches[kind]["file"]), (lines, "train.py"))
        assert "reason" not in patches[kind] and patches[kind]["line"] > 1, patches[kind]
    (answer,) = loads(explain(t, SOURCES, "--json", "--patch").stdout)
    equal(len([advice for advice in answer["answer"]["advice"] if "patch" in advice]), 3)
    (answer,) = loads(t.run("explain", DUMP, "--json").stdout)
    equal([advice for advice in answer["answer"]["advice"] if "patch" in advice], [])


def test_options_that_do_not_go_together(t):
    for arguments, words in (
        (["--patch"], "--patch needs --source-root=DIR"),
        (["--change=donate"], "--change needs --patch"),
        (["--patch", "--source-root=/nowhere/at/all"], "there is no such folder"),
    ):
        process = t.run("explain", DUMP, *arguments)
        equal((process.returncode, process.stdout), (2, ""))
        assert words in process.stderr, process.stderr
