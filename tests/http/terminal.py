# SPDX-License-Identifier: Apache-2.0
"""Names that a terminal would act upon: every command, on inputs whose every name holds such characters, by raw
bytes."""

import contextlib
import gzip
import os
import pickle
import pty
import re
import socket
import subprocess
import sys
import xml.etree.ElementTree

import inputs
from harness import ROOT, equal, loads, wait_until

sys.path.append(os.path.join(ROOT, "tests", "golden"))  # behind our own: both have a module "verdict"
import made_allocator  # noqa: E402

# ESC [, CSI as one character (C1), right-to-left override, isolate, Arabic letter mark, OSC … BEL, ends of lines, DEL
MARKS = "\x1b[31m\u009b31m\u202e\u2066\u061c\x1b]0;t\x07\r\nFORGED\x7f"
EVIL = MARKS.encode() + b"\xff\xc2"  # and what is not UTF-8
MARKS_ON_A_LINE, EVIL_ON_A_LINE = MARKS.replace("\r\n", "\u0085\u2028"), EVIL.replace(b"\r\n", b"")
HIDDEN = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u206f\ufff9-\ufffb\ud800-\udfff]"
)


def is_clean(what, data, lines_may_begin_so=False):
    """nothing in the bytes moves a cursor or turns a text round, and no name began a line"""
    text = data.decode("utf-8", "surrogateescape")
    found = HIDDEN.search(text)
    assert not found, f"{what}: {found[0]!r} in {text[max(0, found.start() - 60) : found.end() + 40]!r}"
    assert lines_may_begin_so or not re.search(r"^\s*FORGED", text, re.MULTILINE), (
        f"{what}: a name began a line: {text!r}"
    )


def poisoned(data, evil=EVIL):
    """bytes of the same length, in which each long word has the characters in its middle"""

    def poison(match):
        word = match[0]
        return word[:3] + evil + word[3 + len(evil) :] if len(word) >= len(evil) + 6 else word

    return re.sub(rb"[A-Za-z][A-Za-z0-9_./()\[\]'\" <>-]{%d,}" % (len(evil) + 5), poison, data)


def written(t, folder, name, data):
    path = os.path.join(os.fsencode(t.folder()), folder, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(data)
    return path


def program(t, folder):
    name = "programs/z-base/module_0001.jit_train_step.after_optimizations.hlo.pb.gz"
    data = poisoned(gzip.decompress(t.fixture(name)))
    assert data.count(EVIL) > 20, data.count(EVIL)
    made = inputs.hlo_proto("jit_" + "Q" * len(EVIL), 12).replace(b"Q" * len(EVIL), EVIL)
    written(t, folder, b"module_0002.jit_" + EVIL + b".after_optimizations.hlo.pb", made)
    return written(t, folder, b"module_0001.jit_" + EVIL + b".after_optimizations.hlo.pb", data)


def snapshot(asked=25 << 20):
    one, failed = made_allocator.filled(asked)
    kept = made_allocator.snapshot(one)

    def spoil(value):
        if isinstance(value, dict):
            return {
                key: value[key] + MARKS
                if key in ("name", "filename") and isinstance(value[key], str)
                else spoil(value[key])
                for key in value
            }
        return [spoil(item) for item in value] if isinstance(value, list) else value

    return pickle.dumps(spoil(kept), 4), made_allocator.text_of(one, failed)


def error_texts():
    torch = snapshot()[1].decode() if isinstance(snapshot()[1], bytes) else snapshot()[1]
    return [
        torch.replace("GPU ", "GPU " + MARKS_ON_A_LINE, 1).encode() + b" " + EVIL_ON_A_LINE,
        f"RESOURCE_EXHAUSTED: Out of memory while trying to allocate 12345678901 bytes.{MARKS_ON_A_LINE}\n".encode(),
        b"RESOURCE_EXHAUSTED: XLA:TPU compile permanent error. Ran out of memory in memory space hbm"
        + EVIL_ON_A_LINE
        + b". Used 17.00G of 15.75G hbm. "
        b"Exceeded hbm capacity by 1.25G.\n\nTotal hbm usage >= 17.00G:\n    reserved 530.00M\n    program 16.00G\n\n"
        b'Largest program allocations in hbm:\n\n  1. Size: 4.00G\n     Operator: op_name="jit(f)/'
        + EVIL_ON_A_LINE
        + b'/dot_general" source_file="/a/'
        + EVIL_ON_A_LINE
        + b'.py" source_line=3\n     Shape: f32[32768,32768]{1,0}\n     Unpadded size: 4.00G\n     XLA label: '
        + EVIL_ON_A_LINE
        + b"\n     Allocation type: HLO temp\n     ==========================\n",
        b"CUDA out of memory. Tried to allocate 2.00 GiB. Process 123 "
        + EVIL_ON_A_LINE
        + b" has 78.00 GiB memory in use.\n",
    ]


def hostile(t):
    """{what: path}"""
    stack = [("f" + "Q" * 60, "a" + "Q" * 60 + ".py", 1), ("g" + "Q" * 60, "b" + "Q" * 60 + ".py", 2)]
    profile = inputs.profile(
        [(stack, (1, 5 << 20), {"kind": "buffer", "device": "d" + "Q" * 60})],
        types=(("allocations", "count"), ("space" + "Q" * 60, "bytes")),
    )
    trace = inputs.trace("jit_" + "Q" * len(EVIL), 5).replace(b"Q" * len(EVIL), EVIL)
    paths = {
        "dump": os.path.dirname(program(t, b"dump" + EVIL)),
        "trace": written(t, b"plugins/profile/run" + EVIL, b"h" + EVIL + b".xplane.pb", trace + inputs.memory_plane(3)),
        "profile": written(
            t, b"p" + EVIL, b"m" + EVIL + b".prof", profile.replace(b"Q" * 60, EVIL + b"Q" * (60 - len(EVIL)))
        ),
        "snapshot": written(t, b"s" + EVIL, b"s" + EVIL + b".pickle", snapshot()[0]),
    }
    for at, text in enumerate(error_texts()):
        paths[f"text {at}"] = written(t, b"t" + EVIL, b"%d" % at + EVIL + b".log", text)
    paths["all"] = os.fsencode(t.folder())
    paths["nothing"] = os.path.join(os.fsencode(t.folder()), b"not there " + EVIL)
    paths["cut"] = written(
        t, b"c" + EVIL, b"module_0001.jit_" + EVIL + b".after_optimizations.hlo.pb", inputs.hlo_proto()[:-30]
    )
    return paths


def told(t, *arguments):
    """(status, stdout, stderr), in bytes"""
    done = subprocess.run([t.binary, *arguments], stdin=subprocess.DEVNULL, capture_output=True, timeout=120)
    assert done.returncode in (0, 1, 2), (arguments, done)
    return done.returncode, done.stdout, done.stderr


TEXTS = (
    ["summary"],
    ["whose"],
    ["whatif"],
    ["whatif", "--change=batch=0.5"],
    ["fit", "--device=v5e,h100"],
    ["explain"],
    ["explain", "--capacity=v5e"],
    ["top"],
    ["top", "--by=file"],
    ["check", "--max-total=1KiB"],
    ["check", "--max-total=1KiB", "--format=markdown"],
    ["check", "--max-total=1KiB", "--format=github"],
    ["check", "--max-total=1KiB", "--format=junit"],
)
DATA = (
    ["summary", "--json"],
    ["summary", "--csv"],
    ["whose", "--json"],
    ["whatif", "--json"],
    ["fit", "--device=v5e", "--json"],
    ["explain", "--json"],
    ["top", "--json"],
    ["top", "--csv"],
    ["check", "--max-total=1KiB", "--format=json"],
    ["index"],
    ["index", "--format=csv"],
    ["export", "--format=csv"],
    ["export", "--format=ndjson"],
    ["export", "--format=json"],
    ["export", "--format=html"],
)


def test_no_text_of_any_command_moves_a_cursor(t):
    paths, seen = hostile(t), {}
    for command in TEXTS:
        for what, path in paths.items():
            status, out, errors = told(t, *command, path)
            is_clean((command, what, "stdout"), out)
            is_clean((command, what, "stderr"), errors)
            seen.setdefault(command[0], set()).add((status, b"\\u009b" in out, b"\\u009b" in errors))
    for command in ("summary", "whose", "whatif", "explain", "top", "check"):
        assert {0, 1} & {status for status, is_out, _ in seen[command] if is_out}, (
            f"{command} printed none of the names: {seen[command]}"
        )
        assert any(is_in_errors for _, _, is_in_errors in seen[command]), f"{command} told no error about one"
    for pair in (("dump", "trace"), ("profile", "profile"), ("snapshot", "snapshot"), ("dump", "nothing")):
        for form in ([], ["--markdown"]):
            _, out, errors = told(t, "diff", *form, *(paths[what] for what in pair))
            is_clean(("diff", pair, form), out + errors)


def at_terminal(t, *arguments):
    """what a terminal gets of standard output; it writes ends of lines as "\\r\\n"."""
    outer, inner = pty.openpty()
    with open(outer, "rb", buffering=0) as reader:
        process = subprocess.Popen(
            [t.binary, *arguments], stdin=subprocess.DEVNULL, stdout=inner, stderr=subprocess.DEVNULL
        )
        os.close(inner)
        received = b""
        with contextlib.suppress(OSError):  # EIO at the end
            while piece := reader.read(1 << 16):
                received += piece
        assert process.wait() in (0, 1, 2), (arguments, received)
    return received.replace(b"\r\r\n", b"\n").replace(b"\r\n", b"\n")


def test_data_is_escaped_on_a_terminal_and_left_alone_elsewhere(t):
    paths, raw = hostile(t), set()
    for command in DATA:
        for what, path in paths.items():
            seen = at_terminal(t, *command, path).replace(b"\t", b" ")
            is_clean((command, what, "terminal"), seen, command[-1] in ("--csv", "--format=csv"))
            _, out, errors = told(t, *command, path)
            is_clean((command, what, "stderr"), errors)
            if b"\xc2\x9b" in out:
                raw.add((command[0], command[-1]))
            if command[-1] in ("--json", "--format=json") and out:
                equal(loads(seen), loads(out), (command, what))
    for command in DATA:
        assert command[0] == "whatif" or (command[0], command[-1]) in raw, (
            f"{command} has no raw name for programs: {raw}"
        )


def test_logs_that_were_seen_to_move_a_cursor(t):
    for name in ("ansi.log", "c1-31m.log"):
        path = os.path.join(t.need_shared(), "data", "failing", name)
        status, out, errors = told(t, "explain", path)
        equal(status, 0, errors)
        is_clean(name, out + errors)
        is_clean(name, at_terminal(t, "explain", path))


def test_texts_are_escaped_on_a_terminal_too(t):
    paths = hostile(t)
    for command in (["summary"], ["explain"], ["top"], ["whose"]):
        for what in ("dump", "snapshot", "text 0", "text 2", "profile"):
            is_clean((command, what), at_terminal(t, *command, paths[what]))


def test_letters_of_all_languages_stay(t):
    """and columns stay below each other"""
    for name in ("jit_größe", "jit_行列", "jit_\U0001f600"):
        path = t.write(f"{name}/module_0001.{name}.after_optimizations.hlo.pb", inputs.hlo_proto(name))
        for command in ("summary", "whose"):
            process = t.run(command, path)
            equal((process.returncode, name in process.stdout), (0, True), (name, process.stdout, process.stderr))
        assert f"memviewd: {path}x" in t.run("summary", path + "x").stderr


def test_what_the_daemon_logs_moves_no_cursor(t):
    folder = os.path.join(os.fsencode(t.folder()), b"logdir" + EVIL)
    os.makedirs(folder)
    for form in ("text", "json"):
        daemon = t.serve("--verbose", f"--log-format={form}", folder)
        for target in (
            b"/" + EVIL.replace(b"\r\n", b""),
            b"/?x=" + "\u009b31m\u202e".encode(),
            b"/%1b%5b31m",
            b"/runs?token=%c2%9b",
        ):
            with socket.create_connection((daemon.host, daemon.port), timeout=60) as connection:
                connection.sendall(
                    b"GET "
                    + target
                    + b" HTTP/1.1\r\nHost: localhost\r\nX-Request-Id: \xc2\x9b31m\r\nConnection: close\r\n\r\n"
                )
                while connection.recv(65536):
                    pass
        daemon.ask("/-/healthy")
        wait_until(lambda: "/-/healthy" in daemon.log(), what="the last line of the log")
        with open(daemon.log_path, "rb") as log:
            lines = log.read()
        is_clean(form, lines)
        assert b"009b" in lines, lines
        if form == "json":
            rows = [loads(line) for line in lines.splitlines()]
            assert any("\u202e" in row.get("target", "") for row in rows), rows


def test_the_closing_lines_of_run_move_no_cursor(t):
    """what the command itself prints comes through byte for byte; what is said of it does not"""
    runs = os.path.join(os.fsencode(t.folder()), b"runs" + EVIL)
    for text in error_texts()[1:]:
        done = subprocess.run(
            [t.binary, "run", b"--logdir=" + runs, "--keep", "--", "sh", "-c", 'printf %s "$1"; exit 1', "sh", text],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=120,
        )
        equal(
            (done.returncode, done.stdout), (1, text.rstrip(b"\n") if not text.endswith(b"\n") else text), done.stderr
        )
        is_clean("run", done.stderr)
        assert b"its output" in done.stderr and b"009b" in done.stderr, done.stderr


def test_no_name_is_a_command_of_a_runner_or_leaves_its_cell(t):
    """GitHub Actions, Azure Pipelines and TeamCity read what is printed; JUnit is XML; Markdown has cells"""
    names = (
        "::error file=x::forged",
        "  ::set-output name=x::1",
        "##[error]forged",
        "a ##vso[task.setvariable variable=x]1",
        "##teamcity[x]",
        "a|b]]>&<script>",
        "a\n::error::forged",
        "a\r::error::forged",
        "%0A::error::forged",
    )
    for at, name in enumerate(names):
        t.write(f"d{at}/module_0001.jit_f.after_optimizations.hlo.pb", inputs.hlo_proto(name))
    status, out, _ = told(t, "check", "--max-total=1KiB", t.folder())
    equal(status, 1)
    for line in out.decode().splitlines():
        assert not line.lstrip().startswith("::") and "##" not in line, line
    lines = told(t, "check", "--max-total=1KiB", "--format=github", t.folder())[1].decode().splitlines()
    equal({line.split("::")[1].split(" ")[0] for line in lines}, {"error", "notice"})
    equal(len(lines), len(names) + 1)
    tree = xml.etree.ElementTree.fromstring(told(t, "check", "--max-total=1KiB", "--format=junit", t.folder())[1])
    cases = [case.get("classname") for case in tree.iter("testcase")]
    assert any("a|b]]>&<script>" in case for case in cases) and len(cases) == len(names), cases
    table = [
        line
        for line in told(t, "check", "--max-total=1KiB", "--format=markdown", t.folder())[1].decode().splitlines()
        if line.startswith("| ")
    ]
    equal({len(re.findall(r"(?<!\\)\|", line)) for line in table}, {5})
    equal(len(table), len(names) + 1)


def test_no_name_is_a_formula_in_a_spreadsheet(t):
    """https://owasp.org/www-community/attacks/CSV_Injection: = + - @ tab and ends of lines, and their full-width
    forms"""
    import csv
    import io

    names = ("=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "＝1", "＋1", "－1", "＠x")
    for at, name in enumerate(names):
        t.write(f"d{at}/module_0001.jit_f.after_optimizations.hlo.pb", inputs.hlo_proto(name))
    profile = inputs.profile(
        [((((name, name + ".py", 1)),), (1, 5), {"kind": "buffer", "device": name}) for name in names]
    )
    path = t.write("p/m.prof", profile)
    for command in (
        ["summary", "--csv", t.folder()],
        ["export", "--format=csv", t.folder()],
        ["index", "--format=csv", t.folder()],
        ["top", "--csv", path],
        ["top", "--csv", "--by=file", path],
    ):
        status, out, errors = told(t, *command)
        equal(status, 0, (command, errors))
        rows = list(csv.reader(io.StringIO(out.decode(), newline="")))
        cells = [cell for row in rows for cell in row]
        for cell in cells:
            assert not re.match("[=+@\t\r\n＝＋－＠]", cell) and (
                not cell.startswith("-") or re.fullmatch(r"-[\d.]+(e[+-]?\d+)?", cell)
            ), (command, cell)
        assert any(cell.startswith("'=1") for cell in cells), (command, cells[:60])
