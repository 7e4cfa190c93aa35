#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `make install` leaves in an empty folder: every file, the manual pages, what bash completes, units of systemd.

Options are those that the installed program itself lists. The last line has the counts.
"""

import http.client
import os
import re
import socket
import subprocess
import sys
import tempfile
import time
import traceback

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
COMPLETE = """
source "$1"; shift
COMP_WORDS=(memviewd "$@") COMP_CWORD=$#
compopt() { :; }
_memviewd && printf '%s\\n' "${COMPREPLY[@]}"
"""


def run(*words, **more):
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=600, **more)
    text = done.stdout.decode("utf-8", "replace")
    assert done.returncode == 0, (words, done.returncode, text[-2000:])
    return text


class Installed:
    def __init__(self, folder):
        self.folder = folder
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
        run("make", "-C", ROOT, "install", f"DESTDIR={folder}", "PREFIX=/usr", env=environment)
        self.program = os.path.join(folder, "usr", "bin", "memviewd")
        self.pages = os.path.join(folder, "usr", "share", "man", "man1")
        help_text = run(self.program, "--help")
        self.commands = re.findall(r"(?m)^  (\w+) ", help_text.split("The first word may be a command")[1])

    def options(self, command):
        return re.findall(
            r"(?m)^  (--[\w-]+=?)", run(self.program, *([command] if command != "serve" else []), "--help")
        )

    def completed(self, *words):
        script = os.path.join(self.folder, "usr", "share", "bash-completion", "completions", "memviewd")
        return run("bash", "-c", COMPLETE, "bash", script, *words, cwd=self.folder).split()

    def page_of(self, command):
        return os.path.join(self.pages, "memviewd.1" if command == "serve" else f"memviewd-{command}.1")


def test_every_command_has_a_page_without_a_fault(installed):
    assert len(installed.commands) >= 10, installed.commands
    wanted = {os.path.basename(installed.page_of(command)) for command in installed.commands}
    assert set(os.listdir(installed.pages)) == wanted, os.listdir(installed.pages)
    for page in sorted(wanted):
        told = run("mandoc", "-Tlint", "-W", "warning", os.path.join(installed.pages, page))
        assert not told, told


def test_a_page_names_every_option(installed):
    for command in installed.commands:
        text = run("mandoc", "-Tutf8", "-O", "width=200", installed.page_of(command))
        text = re.sub(".\b", "", text)
        for option in installed.options(command):
            assert re.search(rf"(?m)^ +{re.escape(option)}", text), (command, option)


def test_bash_completes_commands_and_options(installed):
    assert set(installed.completed("")) >= set(installed.commands)
    assert installed.completed("who") == ["whose"]
    for command in installed.commands:
        words = [] if command == "serve" else [command]
        assert sorted(installed.completed(*words, "--")) == sorted(installed.options(command)), command
    assert installed.completed("check", "--max") == ["--max-total="]


def test_licences_and_changes_are_there(installed):
    folder = os.path.join(installed.folder, "usr", "share", "doc", "memviewd")
    assert sorted(os.listdir(folder)) == ["CHANGELOG.md", "LICENSE", "licenses.txt"], os.listdir(folder)
    with open(os.path.join(folder, "licenses.txt"), encoding="utf-8") as file:
        assert file.read() == run(installed.program, "--licenses")


# ---- units of systemd, judged by its own tools ---------------------------------------------


def units(installed):
    """a copy that names the program where it lies here"""
    folder = os.path.join(installed.folder, "usr", "lib", "systemd", "system")
    copies = os.path.join(installed.folder, "units")
    os.makedirs(copies, exist_ok=True)
    for name in ("memviewd.service", "memviewd.socket"):
        with (
            open(os.path.join(folder, name), encoding="utf-8") as file,
            open(os.path.join(copies, name), "w", encoding="utf-8") as copy,
        ):
            text = file.read()
            assert "@" not in re.sub(r"(?m)^#.*|^SystemCallFilter=.*", "", text), text
            copy.write(
                text.replace("/usr/bin/memviewd", installed.program).replace("man:memviewd(1)", "https://example.org")
            )
    return copies


def test_systemd_takes_the_units_without_a_word(installed):
    copies = units(installed)
    told = run(
        "systemd-analyze", "verify", *(os.path.join(copies, name) for name in ("memviewd.socket", "memviewd.service"))
    )
    assert not told, told


def test_systemd_finds_little_that_the_service_may_do(installed):
    told = run(
        "systemd-analyze",
        "security",
        "--offline=true",
        "--threshold=20",
        "--no-pager",
        os.path.join(units(installed), "memviewd.service"),
    )
    exposure = re.search(r"Overall exposure level for memviewd\.service: ([0-9.]+)", told)
    assert exposure and float(exposure[1]) < 2, told


def test_every_call_of_the_daemon_is_one_that_the_service_may_make(installed):
    """what seccomp_allowed.def lets the daemon do, the unit's filter lets it do as well"""
    with open(os.path.join(ROOT, "server", "sandbox", "seccomp_allowed.def"), encoding="utf-8") as file:
        wanted = {
            *re.findall(r"(?m)^ALLOWED\((\w+),", file.read()),
            "mmap",
            "mprotect",
            "openat",
            "clone",
            "ioctl",
            "prctl",
            "tgkill",
            "prlimit64",
            "socket",
            "seccomp",
            "landlock_create_ruleset",
            "landlock_add_rule",
            "landlock_restrict_self",
        }
    with open(os.path.join(units(installed), "memviewd.service"), encoding="utf-8") as file:
        filters = [words.split() for words in re.findall(r"(?m)^SystemCallFilter=(.*)", file.read())]
    groups = {}
    for line in run("systemd-analyze", "syscall-filter", "--no-pager").splitlines():
        if line.startswith("@"):
            groups[line.strip()] = group = set()
        elif line.startswith("    ") and not line.strip().startswith("#"):
            group.add(line.strip())

    def expand(names):
        calls = set()
        for name in names:
            calls |= expand(groups[name]) if name in groups else {name}
        return calls

    allowed = expand(filters[0]) | expand({"@default"})
    assert [words[0][0] for words in filters] == ["@", "~"], filters
    allowed -= expand([filters[1][0][1:], *filters[1][1:]])
    assert not wanted - allowed, wanted - allowed


def connected(path):
    """a socket that is bound is there before anybody listens to it"""
    for left in reversed(range(600)):
        one = socket.socket(socket.AF_UNIX)
        one.settimeout(60)
        try:
            one.connect(path)
            return one
        except (FileNotFoundError, ConnectionRefusedError):
            one.close()
            if not left:
                raise
            time.sleep(0.1)


def test_a_socket_of_systemd_wakes_it(installed):
    """systemd-socket-activate stands in for the manager"""
    path = os.path.join(installed.folder, "socket")
    waiting = subprocess.Popen(
        ["systemd-socket-activate", "-l", path, installed.program, "--demo"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    try:
        asking = http.client.HTTPConnection("localhost", timeout=60)
        asking.sock = connected(path)
        asking.request("GET", "/api/v1/about")
        answer = asking.getresponse()
        assert answer.status == 200 and b"version" in answer.read()
        assert waiting.stdout.readline().decode().strip() == f"unix:{path}"
    finally:
        waiting.terminate()
    assert waiting.wait(60) == 0 and os.path.exists(path), "the file of the socket is systemd's"


def main():
    counts = {"passed": 0, "failed": 0}
    with tempfile.TemporaryDirectory() as folder:
        installed = Installed(folder)
        for name, function in [item for item in globals().items() if item[0].startswith("test_")]:
            try:
                function(installed)
                counts["passed"] += 1
                print("ok     ", name[len("test_") :])
            except Exception:  # noqa: a test may fail in any way
                counts["failed"] += 1
                print("FAILED ", name[len("test_") :], traceback.format_exc())
    print(f"{counts['passed']} passed, {counts['failed']} failed, 0 skipped")
    return 1 if counts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
