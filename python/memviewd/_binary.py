# SPDX-License-Identifier: Apache-2.0
"""The memviewd program: where it is, and what it says."""

import json
import os
import shutil
import subprocess
import sys
import sysconfig

NAME = "memviewd"
VARIABLE = "MEMVIEWD"
# Far above what any answer takes; it ends a program that hangs.
TIMEOUT_S = 300
TEXT_TIMEOUT_S = 60


class NotFound(RuntimeError):
    """The memviewd program is not there, or cannot be run."""


def _script_folders():
    """where installers put programs of this interpreter: of the environment, of the user, beside `pip install
    --target`"""
    yield sysconfig.get_path("scripts")
    try:
        yield sysconfig.get_path("scripts", os.name + "_user")
    except KeyError:
        pass
    yield os.path.dirname(sys.executable or "")
    yield os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "bin")


def find():
    """Path of the program: the environment variable MEMVIEWD, else beside the interpreter, else in PATH. Raises
    NotFound."""
    named = os.environ.get(VARIABLE)
    if named:
        path = shutil.which(named)
        if path:
            return path
        raise NotFound("{}={} is no program that can be run".format(VARIABLE, named))
    for folder in _script_folders():
        path = os.path.join(folder, NAME) if folder else ""
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    path = shutil.which(NAME)
    if path:
        return path
    raise NotFound(
        "the memviewd program is neither beside this Python nor in PATH; {}=/path/to/memviewd says where it is".format(
            VARIABLE
        )
    )


def environment():
    """That of programs we start: libraries which a job preloads (allocators, profilers) are none of theirs."""
    return {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}


def run(*words, **more):
    """`memviewd WORD…` to its end; `input` is bytes. Out: subprocess.CompletedProcess with bytes. Raises NotFound,
    OSError, subprocess.TimeoutExpired."""
    more.setdefault("timeout", TIMEOUT_S)
    if "input" not in more:
        more["stdin"] = subprocess.DEVNULL
    return subprocess.run([find(), *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(), **more)


def failures_in(text):
    """The failures for lack of memory that a text tells of, maybe none: the program decides, which knows the wordings.
    Raises as run() does."""
    done = run("explain", "--json", "-", input=text.encode("utf-8", "backslashreplace"), timeout=TEXT_TIMEOUT_S)
    found = json.loads(done.stdout.decode("utf-8")) if done.returncode == 0 and done.stdout.strip() else []
    return [each for each in found if "family" in each]


def has_option(option):
    """Does `memviewd serve` know --option? What is not known yet is done without."""
    try:
        return "--" + option in run("--help").stdout.decode("utf-8", "replace")
    except (NotFound, OSError, subprocess.TimeoutExpired):
        return False


def version():
    """'0.1.0' of "memviewd 0.1.0", the first line of `memviewd --version`; raises NotFound."""
    return run("--version").stdout.decode("utf-8", "replace").split()[1]
