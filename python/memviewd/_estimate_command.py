# SPDX-License-Identifier: Apache-2.0
"""python -m memviewd estimate SCRIPT [ARG…]: runs a training script as `estimate()` runs a function, and prints what
`memviewd explain` says of it. What the script prints goes to the standard error, so that the answer stands alone."""

import argparse
import contextlib
import os
import runpy
import shutil
import sys
import tempfile
import traceback
from typing import List, NoReturn, Optional

from . import _binary, _estimate
from ._explain import _check_capacity

UNUSABLE, INTERRUPTED = 2, 130  # as the program's own statuses
FILE = "estimate.pickle"


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        _fail("{}; `python -m memviewd estimate --help` lists what there is".format(message))


def _fail(message: str) -> NoReturn:
    print("memviewd: {}".format(message), file=sys.stderr)
    sys.exit(UNUSABLE)


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="python -m memviewd estimate",
        allow_abbrev=False,
        usage="python -m memviewd estimate [--device=NAME|SIZE] [--json] [--out=FOLDER] SCRIPT|-m MODULE [ARGUMENT...]",
        description="Run a PyTorch training script on a machine without a GPU, on tensors without data, and say what "
        "it would take of one: peak, cause, what would make it fit. The script should take two training "
        "steps. It writes what it writes otherwise: leave out checkpoints and logs.",
        epilog="Exit status: that of `memviewd explain`; 2 if the script fails, or begins a group of processes "
        "(torch.distributed), which is not estimated.",
    )
    parser.add_argument("--device", metavar="NAME|SIZE", help='does it fit on this one: "H100-80G", "24GiB"')
    parser.add_argument("--json", action="store_true", help="print the answer as JSON")
    parser.add_argument("--out", metavar="FOLDER", help="keep the allocator snapshot, FOLDER/" + FILE)
    parser.add_argument("-m", dest="module", metavar="MODULE", help="run a module as a script")
    parser.add_argument("words", nargs=argparse.REMAINDER, metavar="SCRIPT [ARGUMENT...]")
    return parser


def _split(words: List[str]) -> "tuple[argparse.Namespace, str, List[str]]":
    """Out: what was given to us, the script or module, its arguments."""
    parser = _parser()
    given = parser.parse_args(words)
    rest = given.words[1:] if given.words[:1] == ["--"] else given.words
    if given.module:
        return given, given.module, rest
    if not rest:
        parser.error("which script is it?")
    return given, rest[0], rest[1:]


def _run_job(name: str, is_module: bool, arguments: List[str]) -> None:
    """As python runs it: its folder is searched first, and sys.argv is its own."""
    sys.argv = [name, *arguments]
    sys.path.insert(0, os.getcwd() if is_module else os.path.dirname(os.path.realpath(name)))
    if is_module:
        runpy.run_module(name, run_name="__main__", alter_sys=True)
    else:
        runpy.run_path(name, run_name="__main__")


def _job_of(name: str, is_module: bool, arguments: List[str]) -> None:
    """sys.exit() and sys.exit(0) are an end like any other."""
    try:
        _run_job(name, is_module, arguments)
    except SystemExit as end:
        if end.code not in (None, 0):
            _fail("{} ended with {!r}, so nothing is estimated".format(name, end.code))


def _estimate_into(folder: str, device: Optional[str], name: str, is_module: bool, arguments: List[str]) -> None:
    try:
        with contextlib.redirect_stdout(sys.stderr):
            _estimate.record_into(folder, lambda: _job_of(name, is_module, arguments), (), device)
    except ImportError as error:
        if error.name != "torch":
            traceback.print_exc()
        _fail("{}: {}".format(name, error))
    except _estimate.NotEstimated as error:
        _fail("{}: {}".format(name, error))
    except Exception:
        traceback.print_exc()
        _fail("{} failed, so nothing is estimated".format(name))


def main(words: List[str]) -> int:
    """In: what follows `estimate`. Out: the exit status."""
    given, name, arguments = _split(words)
    if given.device is not None:
        try:
            _check_capacity(given.device)
        except RuntimeError as error:
            _fail(str(error))
    if not given.module and not os.path.isfile(name):
        _fail("{}: there is no such script".format(name))
    folder = given.out if given.out else tempfile.mkdtemp(prefix="memviewd-estimate-")
    try:
        _estimate_into(folder, given.device, name, bool(given.module), arguments)
        options = ["--json"] * given.json + (["--capacity=" + given.device] if given.device else [])
        done = _binary.run("explain", *options, folder)
        for stream, said in ((sys.stdout, done.stdout), (sys.stderr, done.stderr)):
            stream.write(said.decode("utf-8", "replace"))
        status = done.returncode
        if given.out:
            kept = os.path.join(folder, FILE)
            print("memviewd: kept as {0}; memviewd whatif --fit {0} tries changes".format(kept), file=sys.stderr)
    except KeyboardInterrupt:
        status = INTERRUPTED
    finally:
        if not given.out:
            shutil.rmtree(folder, ignore_errors=True)
    return status
