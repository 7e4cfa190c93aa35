#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The wheels: what is in them, and what is installed from them.

  wheel.py --wheels FOLDER [--shared DIR] [--every]

FOLDER has one for x86_64 and one for aarch64 (scripts/make-wheel). Each Python that is found gets an environment into
which pip installs the wheel of this machine; http tests run on what is installed there, with --every all of them. The binary of the other
processor runs under qemu and has to print the same bytes. The last line has the counts.
"""
import argparse
import base64
import csv
import glob
import hashlib
import io
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import traceback
import zipfile

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
ARCHS = ("x86_64", "aarch64")
# A binary that is linked statically loads no libtpu: tests/packaging/README.md.
NEED_LIBTPU = ("confirm", "every_route_and_status")
# Themes that between them reach every library: sockets, files, gzip, JSON, texts of all kinds, edited programs.
THEMES = ("start.", "api.", "negotiation.", "uploads.", "summary.", "profiles.", "whatif.", "export.", "verdict.")


def run(*words, **more):
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=600, **more)
    assert done.returncode == 0, (words, done.returncode, done.stderr.decode("utf-8", "replace")[-2000:])
    return done.stdout


def equal(mine, expected, what=""):
    assert mine == expected, f"{what}: {mine!r}, expected {expected!r}"


class Box:
    def __init__(self, options, folder):
        self.folder, self.shared = folder, options.shared
        self.wheels = {arch: one for arch in ARCHS for one in glob.glob(os.path.join(options.wheels, f"*_{arch}.whl"))}
        self.binaries = {}
        for arch, path in self.wheels.items():
            with zipfile.ZipFile(path) as wheel:
                name = next(name for name in wheel.namelist() if name.endswith(".data/scripts/memviewd"))
                self.binaries[arch] = os.path.join(folder, arch)
                with open(self.binaries[arch], "wb") as file:
                    file.write(wheel.read(name))
                os.chmod(self.binaries[arch], 0o755)

    def command(self, arch):
        """the words that run the binary of `arch` here"""
        return [self.binaries[arch]] if arch == platform.machine() else [f"qemu-{arch}", self.binaries[arch]]

    def environment(self, python):
        """the folder of programs of an environment of `python` with the wheel installed, and nothing else"""
        folder = os.path.join(self.folder, "venv-" + re.sub(r"\W", "_", python))
        if not os.path.exists(folder):
            run(python, "-m", "venv", folder)
            run(os.path.join(folder, "bin", "pip"), "install", "--quiet", "--no-index", "--no-deps", self.wheels[platform.machine()])
        return os.path.join(folder, "bin")


def pythons():
    """one path for each version of Python from 3.8 on that is here: in PATH, or kept by pyenv"""
    paths = [sys.executable, *filter(None, (shutil.which(f"python3.{minor}") for minor in range(8, 20)))]
    paths += sorted(glob.glob(os.path.expanduser("~/.pyenv/versions/3.*/bin/python3")))
    found = {}
    for path in paths:
        asked = subprocess.run([path, "-c", "import ensurepip, sys; print(*sys.version_info[:2])"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        version = tuple(map(int, asked.stdout.split()))
        if asked.returncode == 0 and version >= (3, 8):
            found.setdefault(version, path)
    return list(found.values())


def test_each_file_is_in_the_record_with_its_hash(box):
    for path in box.wheels.values():
        with zipfile.ZipFile(path) as wheel:
            name = next(name for name in wheel.namelist() if name.endswith(".dist-info/RECORD"))
            rows = {row[0]: row[1:] for row in csv.reader(io.StringIO(wheel.read(name).decode()))}
            equal(sorted(rows), sorted(wheel.namelist()))
            for one, (digest, size) in rows.items():
                data = wheel.read(one)
                wanted = "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
                equal((digest, size), ("", "") if one == name else (wanted, str(len(data))), one)


def test_the_tags_are_those_of_the_name(box):
    for path in box.wheels.values():
        with zipfile.ZipFile(path) as wheel:
            text = wheel.read(next(name for name in wheel.namelist() if name.endswith(".dist-info/WHEEL"))).decode()
        platforms = os.path.basename(path)[:-len(".whl")].split("-py3-none-")[1].split(".")
        equal(re.findall("(?m)^Tag: (.*)$", text), ["py3-none-" + each for each in platforms])


def test_equal_contents_give_equal_bytes(box):
    for arch, path in box.wheels.items():
        run(os.path.join(ROOT, "scripts", "make-wheel"), arch, "--binary", box.binaries[arch], "--out", box.folder)
        with open(path, "rb") as first, open(os.path.join(box.folder, os.path.basename(path)), "rb") as second:
            assert first.read() == second.read(), arch


def test_the_binary_needs_no_library(box):
    for path in box.binaries.values():
        told = run("readelf", "-d", "-l", path).decode()
        assert "NEEDED" not in told and "INTERP" not in told, told


def test_every_python_has_the_program_and_the_package(box):
    for python in pythons():
        folder = box.environment(python)
        words = run(os.path.join(folder, "memviewd"), "--version").decode().split()
        equal(words[0], "memviewd")
        equal(run(os.path.join(folder, "python"), "-c", "import memviewd; print(memviewd.__version__)").decode().strip(), words[1])
        licences = run(os.path.join(folder, "memviewd"), "--licenses").decode()
        for name in ("musl", "Zig's compiler runtime", "libmicrohttpd", "GNU LESSER GENERAL PUBLIC LICENSE"):
            assert name in licences, name


def test_what_a_static_binary_cannot_do_it_says(box):
    process = subprocess.Popen([*box.command(platform.machine()), "--demo", "--port=0"], stdout=subprocess.PIPE)
    try:
        address = re.search(rb"http://\S+?:(\d+)/", process.stdout.readline())
        import urllib.request
        with urllib.request.urlopen(f"http://127.0.0.1:{int(address[1])}/api/v1/confirmations", timeout=60) as answer:
            told = json.load(answer)
    finally:
        process.terminate()
        process.wait()
    equal(told["is_available"], False)
    assert "linked statically" in told["reason"], told


def test_both_processors_print_the_same(box):
    inputs = sorted(glob.glob(os.path.join(ROOT, "build", "fixtures", "*.pb")))[::4]
    inputs += sorted(glob.glob(os.path.join(ROOT, "tests", "fixtures", "demo", "*")))[:2]
    assert len(inputs) > 4, inputs
    for words in (["--version"], ["--licenses"], *(["summary", "--json", path] for path in inputs)):
        answers = [subprocess.run([*box.command(arch), *words], stdout=subprocess.PIPE, timeout=600) for arch in ARCHS]
        equal(answers[0].returncode, answers[1].returncode, words)
        if words != ["--version"] or b"-dirty" not in answers[0].stdout:
            equal(answers[0].stdout, answers[1].stdout, words)


def http_tests(box, is_every):
    """the counts of the http tests on what is installed, and what fell or was skipped"""
    words = [sys.executable, os.path.join(ROOT, "tests", "http", "run.py"), "--binary", os.path.join(box.environment(sys.executable), "memviewd")]
    words += [*(["--shared", box.shared] if box.shared else []), *(word for text in NEED_LIBTPU for word in ("--without", text))]
    words += [] if is_every else [word for theme in THEMES for word in ("--only", theme)]
    lines = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT).stdout.decode("utf-8", "replace").splitlines()
    print("\n".join(line for line in lines[:-1] if not line.startswith("ok ")))
    counts = re.fullmatch(r"(\d+) passed, (\d+) failed, (\d+) skipped", lines[-1] if lines else "")
    return [int(count) for count in counts.groups()] if counts else [0, 1, 0]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--wheels", required=True)
    parser.add_argument("--shared")
    parser.add_argument("--every", action="store_true")
    options = parser.parse_args()
    passed = failed = skipped = 0
    with tempfile.TemporaryDirectory() as folder:
        box = Box(options, folder)
        for name, function in [item for item in globals().items() if item[0].startswith("test_")]:
            try:
                function(box)
                passed += 1
                print("ok     ", name[len("test_"):], flush=True)
            except Exception:  # noqa: a test may fail in any way
                failed += 1
                print("FAILED ", name[len("test_"):], traceback.format_exc(), flush=True)
        more = http_tests(box, options.every)
    passed, failed, skipped = passed + more[0], failed + more[1], skipped + more[2]
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
