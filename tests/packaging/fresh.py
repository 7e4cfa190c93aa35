#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The README's ways to get memviewd, each in a system that mmdebstrap makes with nothing else in it, until the demo is
shown.

  fresh.py [--wheel FILE] [WAY...]

source-12, source-13  a clone, and ./scripts/serve
pip                   a Python with pip alone, as python:3-slim has it: pip install of the wheel, and memviewd --demo
image                 docker/Dockerfile, each step of it by chroot: both stages, the daemon as its user, its health
                      check
As root, with the network of apt. Says how long each took. The last line has the counts.
"""

import argparse
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import traceback
import urllib.request

from deb import ROOT, ask, equal, run, show_demo

SYSTEM_TIMEOUT_S = 1800


def in_fresh(suite, way, given, *, variant="minbase", include=""):
    """Runs way(root, given) inside of a new system of that release; what it prints that is indented is said."""
    begin = time.monotonic()
    words = [
        "mmdebstrap",
        f"--variant={variant}",
        *([f"--include={include}"] if include else []),
        f"--customize-hook={sys.executable} {os.path.abspath(__file__)} --inside $1 {way} {given}",
        suite,
        "/dev/null",
    ]
    done = subprocess.run(
        words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", timeout=SYSTEM_TIMEOUT_S
    )
    assert done.returncode == 0, done.stdout[-4000:]
    print(
        f"{way}: {time.monotonic() - begin:.0f} s with the making of the system",
        *[line for line in done.stdout.splitlines() if line.startswith("  ")],
        sep="\n",
    )


def inside(root, *more):
    return [
        "chroot",
        *more,
        root,
        "env",
        "-i",
        "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        "LC_ALL=C.UTF-8",
        "HOME=/tmp",
    ]


# ---- ways ---------------------------------------------------------------------------------


def clone(folder):
    tree = os.path.join(folder, "memviewd")
    run("git", "clone", "-q", "--no-hardlinks", ROOT, tree)
    os.chmod(folder, 0o755)
    return tree


def from_source(root, tree):
    shutil.copytree(tree, os.path.join(root, "src"), symlinks=True)
    show_demo([*inside(root), "/src/scripts/serve"], "--port=0")


def from_wheel(root, wheel):
    name = os.path.basename(wheel)
    shutil.copy(wheel, os.path.join(root, "tmp", name))
    begin = time.monotonic()
    run(*inside(root), "python3", "-m", "venv", "/usr/local/python")
    made = time.monotonic()
    run(*inside(root), "/usr/local/python/bin/pip", "install", "-q", "--no-index", "/tmp/" + name)
    print(f"  pip install {time.monotonic() - made:.1f} s, after {made - begin:.1f} s for an environment")
    show_demo([*inside(root), "/usr/local/python/bin/memviewd"])


def test_source_12(options):
    with tempfile.TemporaryDirectory() as folder:
        in_fresh("bookworm", "from_source", clone(folder))


def test_source_13(options):
    with tempfile.TemporaryDirectory() as folder:
        in_fresh("trixie", "from_source", clone(folder))


def test_pip(options):
    assert options.wheel, "--wheel is needed"
    in_fresh("trixie", "from_wheel", os.path.abspath(options.wheel), include="python3-venv")


# ---- docker/Dockerfile -----------------------------------------------------------------------


def stages_of(text):
    """[[(INSTRUCTION, argument)]] of each stage, from its FROM on"""
    lines = re.sub(r"\\\n", " ", re.sub(r"(?m)^#.*\n", "", text)).splitlines()
    found = [tuple(line.split(None, 1)) for line in lines if line.strip()]
    begins = [at for at, (word, _) in enumerate(found) if word == "FROM"]
    return [found[begin:end] for begin, end in zip(begins, begins[1:] + [len(found)])]


def copy(source, target):
    """as COPY does: what is in a folder goes into the target"""
    if os.path.isdir(source):
        shutil.copytree(source, target, symlinks=True, dirs_exist_ok=True)
    else:
        shutil.copy(source, target)


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return str(one.getsockname()[1])


def do_stage(root, given):
    """One stage, given as JSON: its instructions, the folder of the clone and that of what the stage before left."""
    with open(given, encoding="utf-8") as file:
        stage = json.load(file)
    place, user, words = "/", None, {}
    for word, argument in stage["instructions"][1:]:
        if word == "WORKDIR":
            place = argument
            os.makedirs(root + place, exist_ok=True)
        elif word == "RUN":
            run(*inside(root), "sh", "-ec", f"cd {place}\n{argument}")
        elif word == "COPY":
            origin, source, target = re.fullmatch(r"(?:--from=(\w+) )?(\S+) (\S+)", argument).groups()
            copy(
                stage["before"] + "/" + os.path.basename(source) if origin else os.path.join(stage["tree"], source),
                root + os.path.join(place, target),
            )
        elif word == "USER":
            user = argument
        elif word in ("ENTRYPOINT", "CMD", "HEALTHCHECK"):
            words[word] = json.loads(argument[argument.index("[") :])
        else:
            assert word == "EXPOSE", word
    for path in stage["leaves"]:
        copy(root + path, stage["before"] + "/" + os.path.basename(path))
    if words:
        run_image(root, user, words)


def run_image(root, user, words):
    port = free_port()
    as_user = inside(root, f"--userspec={user}")
    daemon = subprocess.Popen(
        [*as_user, *(word.replace("6006", port) for word in words["ENTRYPOINT"]), "--demo"],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        token = re.search(r"token=([\w.-]+)", daemon.stdout.readline()).group(1)
        run(*as_user, *(word.replace("6006", port) for word in words["HEALTHCHECK"]))
        request = urllib.request.Request(
            f"http://127.0.0.1:{port}/api/v1/sessions", headers={"Authorization": "Bearer " + token}
        )
        with urllib.request.urlopen(request, timeout=30) as answer:
            assert json.load(answer)["sessions"], "no demo"
        nobody = subprocess.run([*as_user, *words["HEALTHCHECK"][:-1], "1"], stderr=subprocess.DEVNULL)
        assert nobody.returncode != 0, "healthy without a daemon"
    finally:
        daemon.terminate()
    equal(daemon.wait(30), 0, "the end of the daemon")
    print("  both stages made, healthy, the demo listed")


def test_image(options):
    with open(os.path.join(ROOT, "docker", "Dockerfile"), encoding="utf-8") as file:
        stages = stages_of(file.read())
    with tempfile.TemporaryDirectory() as folder:
        tree, left = clone(folder), os.path.join(folder, "left")
        os.mkdir(left)
        taken = [
            re.fullmatch(r"--from=\w+ (\S+) \S+", argument)
            for stage in stages
            for word, argument in stage
            if word == "COPY"
        ]
        for at, stage in enumerate(stages):
            given = os.path.join(folder, f"stage{at}.json")
            leaves = [one.group(1) for one in taken if one] if at + 1 < len(stages) else []
            with open(given, "w", encoding="utf-8") as file:
                json.dump({"instructions": stage, "tree": tree, "before": left, "leaves": leaves}, file)
            in_fresh("bookworm", "do_stage", given)


WAYS = {"source-12": test_source_12, "source-13": test_source_13, "pip": test_pip, "image": test_image}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--wheel")
    parser.add_argument("--inside", nargs=3, help=argparse.SUPPRESS)
    parser.add_argument("ways", nargs="*", metavar="WAY", help=", ".join(WAYS))
    options = parser.parse_args()
    if options.inside:
        root, way, given = options.inside
        {"from_source": from_source, "from_wheel": from_wheel, "do_stage": do_stage}[way](root, given)
        return 0
    counts = {"passed": 0, "failed": 0}
    for name in options.ways or WAYS:
        try:
            WAYS[name](options)
            counts["passed"] += 1
            print("ok     ", name, flush=True)
        except Exception:  # noqa: a way may fail in any way
            counts["failed"] += 1
            print("FAILED ", name, traceback.format_exc(), flush=True)
    print(f"{counts['passed']} passed, {counts['failed']} failed, 0 skipped")
    return 1 if counts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
