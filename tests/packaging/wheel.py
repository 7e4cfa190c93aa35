#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The wheels and tarballs: what is in them, and what is installed from them.

  wheel.py --wheels FOLDER --tarballs FOLDER [--shared DIR] [--every]

The folders have one for this kind of processor and may have one for another (scripts/make-wheel, scripts/make-tarball).
Each Python that is found gets an environment into which pip installs the wheel of this machine; http tests run on what
is installed there, with --every all of them, and tests of addresses. The binary of the other processor runs under qemu
and has to print the same bytes. The last line has the counts.
"""

import argparse
import base64
import contextlib
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
import urllib.request
import zipfile

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
ARCHS = ("x86_64", "aarch64")
# Themes that between them reach every library: sockets, files, gzip, JSON, texts of all kinds, edited programs.
THEMES = (
    "start.",
    "confirm.",
    "api.",
    "memory_viewer.",
    "negotiation.",
    "uploads.",
    "summary.",
    "profiles.",
    "device_memory.",
    "whatif.",
    "export.",
    "verdict.",
)
# The same of addresses: TLS, signatures, JSON and XML of servers, keys; in the sandbox, whose system calls are musl's
# here.
REMOTE_TESTS = ("https.", "s3.signatures_hold", "s3.every_command", "gcs.the_rows", "credentials.google_by_the_key")


def run(*words, **more):
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=600, **more)
    assert done.returncode == 0, (words, done.returncode, done.stderr.decode("utf-8", "replace")[-2000:])
    return done.stdout


def equal(mine, expected, what=""):
    assert mine == expected, f"{what}: {mine!r}, expected {expected!r}"


class Box:
    def __init__(self, options, folder):
        self.folder, self.shared, self.tarballs = folder, options.shared, options.tarballs
        self.wheels = {arch: one for arch in ARCHS for one in glob.glob(os.path.join(options.wheels, f"*_{arch}.whl"))}
        self.archs = tuple(self.wheels)
        self.binaries = {}
        for arch, path in self.wheels.items():
            with zipfile.ZipFile(path) as wheel:
                for name in wheel.namelist():
                    if ".data/scripts/" in name:
                        self.take(arch, os.path.basename(name), wheel.read(name))
            self.binaries[arch] = self.program(arch, "memviewd")

    def program(self, arch, name):
        return os.path.join(self.folder, arch, name)

    def take(self, arch, name, data):
        os.makedirs(os.path.join(self.folder, arch), exist_ok=True)
        with open(self.program(arch, name), "wb") as file:
            file.write(data)
        os.chmod(self.program(arch, name), 0o755)

    def command(self, arch):
        """the words that run the binary of `arch` here"""
        return [self.binaries[arch]] if arch == platform.machine() else [f"qemu-{arch}", self.binaries[arch]]

    def environment(self, python):
        """the folder of programs of an environment of `python` with the wheel installed, and nothing else"""
        folder = os.path.join(self.folder, "venv-" + re.sub(r"\W", "_", python))
        if not os.path.exists(folder):
            run(python, "-m", "venv", folder)
            run(
                os.path.join(folder, "bin", "pip"),
                "install",
                "--quiet",
                "--no-index",
                "--no-deps",
                self.wheels[platform.machine()],
            )
        return os.path.join(folder, "bin")


def pythons():
    """one path for each version of Python from 3.8 on that is here: in PATH, or kept by pyenv"""
    paths = [sys.executable, *filter(None, (shutil.which(f"python3.{minor}") for minor in range(8, 20)))]
    paths += sorted(glob.glob(os.path.expanduser("~/.pyenv/versions/3.*/bin/python3")))
    found = {}
    for path in paths:
        asked = subprocess.run(
            [path, "-c", "import ensurepip, sys; print(*sys.version_info[:2])"],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
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
        platforms = os.path.basename(path)[: -len(".whl")].split("-py3-none-")[1].split(".")
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


def test_what_loads_a_libtpu_needs_no_newer_glibc_than_that(box):
    for arch in box.archs:
        told = run("readelf", "-d", "-V", box.program(arch, "memviewd-compile")).decode()
        needed = set(re.findall(r"Shared library: \[(.*?)\]", told))
        assert needed <= {"libc.so.6", "libdl.so.2", "ld-linux-aarch64.so.1"}, needed
        assert max(tuple(map(int, version.split("."))) for version in re.findall(r"GLIBC_([0-9.]+)", told)) <= (
            2,
            31,
        ), told


def test_every_python_has_the_program_and_the_package(box):
    for python in pythons():
        folder = box.environment(python)
        words = run(os.path.join(folder, "memviewd"), "--version").decode().split()
        equal(words[0], "memviewd")
        equal(
            run(os.path.join(folder, "python"), "-c", "import memviewd; print(memviewd.__version__)").decode().strip(),
            words[1],
        )
        licences = run(os.path.join(folder, "memviewd"), "--licenses").decode()
        for name in (
            "musl",
            "Zig's compiler runtime",
            "libmicrohttpd",
            "libdeflate",
            "libseccomp",
            "libcurl",
            "Mbed TLS",
            "nghttp2",
            "mini-gmp",
            "GNU LESSER GENERAL PUBLIC LICENSE",
        ):
            assert name in licences, name


@contextlib.contextmanager
def daemon_of(command):
    """asks a daemon of that binary: path, body -> what the JSON says"""
    process = subprocess.Popen([*command, "--demo", "--port=0", "--share"], stdout=subprocess.PIPE)
    port = int(re.search(rb"http://\S+?:(\d+)/", process.stdout.readline())[1])

    def ask(path, body=None):
        headers = {"Content-Type": "application/octet-stream", "X-Requested-With": "test"} if body else {}
        with urllib.request.urlopen(
            urllib.request.Request(f"http://127.0.0.1:{port}{path}", body, headers), timeout=60
        ) as answer:
            return json.load(answer)

    try:
        yield ask
    finally:
        process.terminate()
        process.wait()


def test_both_processors_name_bytes_by_their_sha256(box):
    for arch in box.archs:
        with daemon_of(box.command(arch)) as ask:
            for size in (1, 55, 56, 63, 64, 65, 119, 120, 1000, 1 << 20):
                text = (b"RESOURCE_EXHAUSTED: out of memory\n" * (size // 30 + 1))[:size]
                told = ask(f"/api/v1/uploads?name=job{size}.log", text)
                equal(told["files"][0]["sha256"], hashlib.sha256(text).hexdigest(), (arch, size))


def test_a_static_binary_alone_says_what_loads_a_libtpu(box):
    alone = os.path.join(box.folder, "alone")
    os.makedirs(alone)
    shutil.copy(box.binaries[platform.machine()], alone)
    with daemon_of([os.path.join(alone, "memviewd")]) as ask:
        told = ask("/api/v1/confirmations")
    equal(told["is_available"], False)
    assert "memviewd-compile, which does not lie beside it" in told["reason"], told


def test_both_processors_print_the_same(box):
    inputs = sorted(glob.glob(os.path.join(ROOT, "build", "fixtures", "*.pb")))[::4]
    inputs += sorted(glob.glob(os.path.join(ROOT, "tests", "fixtures", "demo", "*")))[:2]
    assert len(inputs) > 4, inputs
    for words in (["--version"], ["--licenses"], *(["summary", "--json", path] for path in inputs)):
        answers = [
            subprocess.run([*box.command(arch), *words], stdout=subprocess.PIPE, timeout=600) for arch in box.archs
        ]
        for other in answers[1:]:
            equal(answers[0].returncode, other.returncode, words)
            if words != ["--version"] or b"-dirty" not in answers[0].stdout:
                equal(answers[0].stdout, other.stdout, words)


def test_a_tarball_has_the_binary_of_the_wheel_and_what_is_installed_beside_it(box):
    for arch in box.archs:
        paths = glob.glob(os.path.join(box.tarballs, f"*-{arch}.tar.gz"))
        equal(len(paths), 1, paths)
        place = os.path.join(box.folder, "unpacked")
        run("tar", "-xzf", paths[0], "-C", box.folder, "--one-top-level=" + place, "--strip-components=1")
        for name in ("memviewd", "memviewd-compile"):
            with open(os.path.join(place, "bin", name), "rb") as mine, open(box.program(arch, name), "rb") as other:
                assert mine.read() == other.read(), (arch, name)
        with open(os.path.join(place, "share", "doc", "memviewd", "licenses.txt"), "rb") as file:
            equal(file.read(), run(*box.command(arch), "--licenses"), arch)
        for path in (
            "man/man1/memviewd.1",
            "man/man1/memviewd-run.1",
            "bash-completion/completions/memviewd",
            "zsh/site-functions/_memviewd",
            "fish/vendor_completions.d/memviewd.fish",
            "doc/memviewd/LICENSE",
            "doc/memviewd/CHANGELOG.md",
        ):
            assert os.path.getsize(os.path.join(place, "share", path)) > 500, path
        shutil.rmtree(place)


def counts_of(words):
    """the counts of a runner of tests, which prints what fell or was skipped"""
    lines = (
        subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        .stdout.decode("utf-8", "replace")
        .splitlines()
    )
    print("\n".join(line for line in lines[:-1] if not line.startswith(("ok ", "127.0.0.1 "))))
    counts = re.fullmatch(r"(\d+) passed, (\d+) failed, (\d+) skipped", lines[-1] if lines else "")
    return [int(count) for count in counts.groups()] if counts else [0, 1, 0]


def http_tests(box, is_every):
    """the counts of the http tests on what is installed"""
    folder = box.environment(sys.executable)
    os.makedirs(os.path.join(folder, "confirm"))
    shutil.copy(
        os.path.join(ROOT, "build", "release", "confirm", "standin.so"), os.path.join(folder, "confirm")
    )  # for a libtpu
    words = [
        sys.executable,
        os.path.join(ROOT, "tests", "http", "run.py"),
        "--binary",
        os.path.join(folder, "memviewd"),
    ]
    words += [*(["--shared", box.shared] if box.shared else [])]
    words += [] if is_every else [word for theme in THEMES for word in ("--only", theme)]
    return counts_of(words)


def remote_tests(box, is_every):
    """the same of addresses"""
    python = os.path.join(ROOT, "build", "remote-servers", "bin", "python")
    if not os.path.exists(python):
        print("skipped: addresses, whose servers cannot be had from PyPI")
        return [0, 0, 1]
    words = [
        python,
        os.path.join(ROOT, "tests", "remote", "run.py"),
        "--binary",
        os.path.join(box.environment(sys.executable), "memviewd"),
    ]
    words += [*(["--shared", box.shared] if box.shared else [])]
    return counts_of(words + ([] if is_every else [word for name in REMOTE_TESTS for word in ("--only", name)]))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--wheels", required=True)
    parser.add_argument("--tarballs", required=True)
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
                print("ok     ", name[len("test_") :], flush=True)
            except Exception:  # noqa: a test may fail in any way
                failed += 1
                print("FAILED ", name[len("test_") :], traceback.format_exc(), flush=True)
        for more in (http_tests(box, options.every), remote_tests(box, options.every)):
            passed, failed, skipped = passed + more[0], failed + more[1], skipped + more[2]
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
