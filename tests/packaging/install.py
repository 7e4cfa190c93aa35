#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `make install` leaves in an empty folder: every file, the manual pages, what bash completes.

Options are those that the installed program itself lists. The last line has the counts.
"""
import os
import re
import subprocess
import sys
import tempfile
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
        return re.findall(r"(?m)^  (--[\w-]+=?)", run(self.program, *([command] if command != "serve" else []), "--help"))

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


def main():
    counts = {"passed": 0, "failed": 0}
    with tempfile.TemporaryDirectory() as folder:
        installed = Installed(folder)
        for name, function in [item for item in globals().items() if item[0].startswith("test_")]:
            try:
                function(installed)
                counts["passed"] += 1
                print("ok     ", name[len("test_"):])
            except Exception:  # noqa: a test may fail in any way
                counts["failed"] += 1
                print("FAILED ", name[len("test_"):], traceback.format_exc())
    print(f"{counts['passed']} passed, {counts['failed']} failed, 0 skipped")
    return 1 if counts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
