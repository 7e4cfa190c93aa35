# SPDX-License-Identifier: Apache-2.0
"""Whether a function fits: it is compiled ahead of time, with a dump, and the dump is explained."""

import atexit
import html
import inspect
import json
import os
import re
import shutil
import tempfile
import threading
import traceback
from typing import Any, Dict, List, Optional, Union

from . import _binary, _jax, _session, _show

DUMP_OPTIONS = {"xla_dump_hlo_as_proto": True}
FITS = {"yes": True, "no": False}

_lock = threading.Lock()
_all = None  # the folder of what this process explains

# What docs/openapi.yaml lets an answer and its advice leave out where it is not known or does not apply.
MAY_BE_ABSENT = frozenset(
    (
        "advice_sentence",
        "allocated_bytes",
        "arrays",
        "arrays_sentence",
        "best",
        "change",
        "compiled",
        "extra_flops_percent",
        "file",
        "fits_text",
        "is_partial",
        "is_refuted",
        "lands_at_bytes",
        "module",
        "over_bytes",
        "patch",
        "predicted_bytes",
        "profile_session",
        "program",
        "report",
        "saves_bytes",
        "session",
        "together",
        "trace_host",
        "trace_session",
        "where_evidence",
    )
)


class Part(Dict[str, Any]):
    """A part of an answer: answer["fit"]["capacity_bytes"]. What is not known or does not apply is None."""

    def __missing__(self, name: str) -> None:
        return None


class Row(Dict[str, Any]):
    """A row of an answer: row["title"] and row.title. What is not known or does not apply is None."""

    def __missing__(self, name: str) -> None:
        if name not in MAY_BE_ABSENT:
            raise KeyError(name)

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None


class Explanation:
    """What `memviewd explain` says about a folder. str() returns what it prints.

    verdict  one sentence: does it fit, and if not, what takes the memory
    fits     True, False, or None if that is not known (on a CPU: no capacity; ask with at("v5e"))
    cause    one sentence, or None
    needed_bytes, capacity_bytes   or None
    advice   rows with title, saves_bytes, lands_at_bytes, fits, confidence, do, …, as in docs/openapi.yaml
    answer   the first answer; answers: one for each failure and program
    error    the exception of a compile that ran out of memory, or None
    folder   the dump; deleted when the program ends, unless save(path) copies it
    """

    folder: str
    error: Optional[BaseException]
    capacity: Union[str, int, None]
    json: List[Dict[str, Any]]
    answers: List[Row]
    answer: Row

    def __init__(
        self,
        folder: str,
        error: Optional[BaseException] = None,
        capacity: Union[str, int, None] = None,
        module: Optional[str] = None,
    ) -> None:
        self.folder, self.error, self.capacity, self._module = folder, error, capacity, module
        done = _binary.run("explain", "--json", *self._options(), folder)
        if done.returncode not in (0, 1):
            raise RuntimeError(done.stderr.decode("utf-8", "replace").strip())
        self.json = json.loads(done.stdout.decode("utf-8"), object_hook=Part) if done.stdout.strip() else []
        self.answers = [Row(each["answer"]) for each in self.json if each.get("answer")]
        self.answer = self.answers[0] if self.answers else Row()
        self._text = None

    def _options(self):
        return (["--capacity={}".format(self.capacity)] if self.capacity else []) + (
            ["--module={}".format(self._module)] if self._module else []
        )

    @property
    def verdict(self) -> Optional[str]:
        return self.answer.get("verdict")

    @property
    def fits(self) -> Optional[bool]:
        return FITS.get(self.answer.get("fits"))

    @property
    def cause(self) -> Optional[str]:
        return (self.answer.get("cause") or {}).get("text")

    @property
    def needed_bytes(self) -> Optional[int]:
        return (self.answer.get("fit") or {}).get("needed_bytes")

    @property
    def capacity_bytes(self) -> Optional[int]:
        return (self.answer.get("fit") or {}).get("capacity_bytes")

    @property
    def advice(self) -> List[Row]:
        return [Row(each) for each in self.answer.get("advice") or ()]

    def at(self, capacity: Union[str, int]) -> "Explanation":
        """The same for a device ("v5e", "H100-80G") or a size ("15.75GiB"). Raises RuntimeError if it is neither."""
        return Explanation(self.folder, self.error, capacity, self._module)

    def save(self, path: _session.Path) -> _session.Path:
        """Copies the dump to a new folder and returns its path."""
        return shutil.copytree(self.folder, path)

    def __str__(self) -> str:
        if self._text is None:
            done = _binary.run("explain", *self._options(), self.folder)
            self._text = (done.stdout or done.stderr).decode("utf-8", "replace").rstrip("\n")
        return self._text

    def __repr__(self) -> str:
        return "<memviewd.Explanation: {}>".format(self.verdict)

    def _repr_html_(self) -> str:
        return "<pre>{}</pre>{}".format(html.escape(str(self)), _show.picture_of(self.folder))

    def page(self, height: int = _show.HEIGHT) -> _show.Page:
        """Its page: see show()."""
        return _show.page_of(self.folder, os.path.dirname(self.folder), height)

    @property
    def url(self) -> str:
        return self.page().url

    def open(self) -> _show.Page:
        """Shows the page, in a notebook or else in this machine's browser, and returns it."""
        page = _show.show(self)
        if not _show.is_notebook():
            page.open()
        return page


# ---- a folder ----------------------------------------------------------------------------


def _forget(path, process):
    if os.getpid() == process:  # a process that was forked off leaves what is its parent's
        shutil.rmtree(path, ignore_errors=True)


def _new_folder(name):
    """A new folder named after the function, of this process; it goes when the process ends."""
    global _all
    name = re.sub(r"\W+", "_", name, flags=re.ASCII).strip("_")[:60] or "program"
    with _lock:
        if _all is None or _all[0] != os.getpid() or not os.path.isdir(_all[1]):
            _all = (os.getpid(), os.path.realpath(tempfile.mkdtemp(prefix="memviewd-explain-")))
            atexit.register(_forget, _all[1], _all[0])
        folder, count = os.path.join(_all[1], name), 1
        while os.path.exists(folder):
            count += 1
            folder = os.path.join(_all[1], "{}-{}".format(name, count))
        os.mkdir(folder)
        return folder


def _write(folder, name, data):
    with open(os.path.join(folder, name), "wb") as file:
        file.write(data)


def _write_compiled(compiled, folder):
    """The program of what is compiled already; RuntimeError where its backend does not give it."""
    program = _jax.program_of(compiled.runtime_executable())
    if program is None:
        raise RuntimeError(
            "this backend does not tell how the compiled program lays out its memory; explain() the function itself"
        )
    _write(folder, "program.hlo.pb", program.hlo)
    _write(folder, "program.buffer_assignment.pb", program.assignment)


# ---- compiling ---------------------------------------------------------------------------


def _is_unknown_option(error):
    return "xla_dump" in str(error) or "compiler_options" in str(error)


def _compile(lowered, folder):
    """Compiles with a dump to the folder; where the compiler takes no such options, without one, and asks what it
    made."""
    try:
        compiled = lowered.compile(compiler_options=dict(DUMP_OPTIONS, xla_dump_to=folder))
    except Exception as error:
        if not _is_unknown_option(error):
            raise
        compiled = lowered.compile()
    if not any("before_optimizations.hlo.pb" in name for name in os.listdir(folder)):
        # Nothing was dumped, or what came out of JAX's compilation cache: the program without its memory.
        for name in os.listdir(folder):
            if name.endswith(".hlo.pb"):
                os.unlink(os.path.join(folder, name))
        _write_compiled(compiled, folder)


def _lowered(f, args, kwargs):
    if hasattr(f, "compile") and hasattr(f, "as_text"):  # jax.stages.Lowered
        return f
    if not hasattr(f, "lower"):
        import jax

        f = jax.jit(f)
    return f.lower(*args, **kwargs)


def _name_of(f):
    name = getattr(f, "__name__", "") or getattr(getattr(f, "func", None), "__name__", "")
    return name if re.search(r"\w", name) else type(f).__name__


def _takes_capacity(f):
    """Has f an argument of that name itself? Then it is f's."""
    try:
        return "capacity" in inspect.signature(f).parameters
    except (TypeError, ValueError):  # not a function, or one that does not tell
        return False


def _check_capacity(capacity):
    """Raises RuntimeError where it is neither a device nor a size: the program knows."""
    done = _binary.run("explain", "--capacity={}".format(capacity), "-", input=b"\n")
    if done.returncode not in (0, 1):
        raise RuntimeError(done.stderr.decode("utf-8", "replace").strip())


def explain(f: Any, /, *args: Any, **kwargs: Any) -> Explanation:
    """Compiles f for these arguments and says whether it fits, where the memory goes and what would make it fit.
    Nothing is run. Arguments are arrays or jax.ShapeDtypeStruct. f is a function, or what jax.jit returned for it; or
    what its lower() or compile() returned, then without arguments. JAX's compilation cache is used as usual.

    capacity="v5e" or "80GiB" asks about that device or size, as Explanation.at() does. If f has an argument of that
    name, the value goes to f.

    Returns an Explanation, also if the compiler ran out of memory. Raises what tracing and compiling raise for other
    reasons, NotFound without the memviewd program, RuntimeError if capacity is neither a device nor a size.
    """
    _binary.find()  # before a compile that may take minutes
    capacity = None if _takes_capacity(f) else kwargs.pop("capacity", None)
    if capacity is not None:
        _check_capacity(capacity)
    folder, error = _new_folder(_name_of(f)), None
    if hasattr(f, "runtime_executable"):  # jax.stages.Compiled
        _write_compiled(f, folder)
        return Explanation(folder, capacity=capacity)
    lowered = _lowered(f, args, kwargs)
    try:
        _compile(lowered, folder)
    except Exception as failure:
        text = "".join(traceback.format_exception(type(failure), failure, failure.__traceback__))
        if not _binary.failures_in(text):
            raise
        _write(folder, "output.log", text.encode("utf-8", "backslashreplace"))
        error = failure.with_traceback(None)  # it would keep alive all that f had in hand
    return Explanation(folder, error, capacity)
