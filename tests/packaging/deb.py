#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The Debian packages: what is in them, and what runs where only apt-get has installed them.

  deb.py --debs FOLDER [SUITE...]

FOLDER has one folder for each SUITE (scripts/make-deb). Each package is installed by apt-get into a system that
mmdebstrap makes of that release with nothing else in it; the demo is shown there, and afterwards the package is removed
again. Says how long that took. The last line has the counts.
"""

import argparse
import glob
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import traceback
import urllib.request

ROOT = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))


def run(*words, **more):
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=900, **more)
    text = done.stdout.decode("utf-8", "replace")
    assert done.returncode == 0, (words, done.returncode, text[-3000:])
    return text


def equal(mine, expected, what=""):
    assert mine == expected, f"{what}: {mine!r}, expected {expected!r}"


def one(folder, name):
    found = glob.glob(os.path.join(folder, name))
    assert len(found) == 1, (name, found)
    return found[0]


# ---- the files of a package ------------------------------------------------------------


def test_the_package_says_what_it_is(folder, suite):
    with open(os.path.join(ROOT, "VERSION"), encoding="utf-8") as file:
        version = file.read().strip()
    told = run("dpkg-deb", "-f", one(folder, "memviewd_*.deb"))
    assert re.search(rf"(?m)^Version: {re.escape(version)}[~0-9a-z.]*~deb1[23]$", told), told
    for library in (
        "libmicrohttpd12",
        "libcjson1",
        "libnettle8",
        "libprotobuf-c1",
        "zlib1g",
        "libdeflate0",
        "libcurl4",
        "libpq5",
        "libseccomp2",
    ):
        assert re.search(rf"(?m)^Depends: .*\b{library}", told), (library, told)


def test_what_a_debugger_needs_is_of_the_same_binary(folder, suite):
    with tempfile.TemporaryDirectory() as place:
        for package in ("memviewd", "memviewd-dbgsym"):
            run("dpkg-deb", "-x", one(folder, f"{package}_*.deb"), place)
        program = os.path.join(place, "usr", "bin", "memviewd")
        name = re.search(r"Build ID: ([0-9a-f]+)", run("readelf", "-n", program)).group(1)
        symbols = os.path.join(place, "usr", "lib", "debug", ".build-id", name[:2], name[2:] + ".debug")
        assert ".debug_info" in run("readelf", "-SW", symbols)
        assert ".debug_info" not in run("readelf", "-SW", program)


# ---- in a system with nothing else --------------------------------------------------------


def test_installed_by_apt_it_shows_the_demo(folder, suite):
    package = one(folder, "memviewd_*.deb")
    begin = time.monotonic()
    told = run(
        "mmdebstrap",
        "--variant=apt",
        f"--customize-hook=copy-in {package} /tmp",
        f"--customize-hook={sys.executable} {os.path.abspath(__file__)} --inside $1",
        suite,
        "/dev/null",
    )
    lines = [line for line in told.splitlines() if line.startswith("  ")]
    assert lines, told[-2000:]
    print(f"{suite}, {time.monotonic() - begin:.0f} s with the making of the system:", *lines, sep="\n")


def ask(address, path):
    with urllib.request.urlopen(address + path, timeout=30) as answer:
        equal(answer.status, 200, path)
        return answer.read().decode("utf-8")


def show_demo(program, *flags):
    """program: words; flags: in place of those that open the demo"""
    begin = time.monotonic()
    daemon = subprocess.Popen([*program, *(flags or ("--demo", "--port=0"))], stdout=subprocess.PIPE)
    try:
        lines = iter(daemon.stdout.readline, b"")  # of a script also what it installs and builds
        address = next(line for line in lines if line.startswith(b"http")).decode().strip().rstrip("/")
        started = time.monotonic()
        page = ask(address, "/")
        for script in re.findall(r'<script[^>]* src="([^"]+)"', page):
            assert len(ask(address, "/" + script.lstrip("./"))) > 1000, script
        session = json.loads(ask(address, "/api/v1/sessions"))["sessions"][0]["id"]
        summary = json.loads(ask(address, f"/api/v1/memory_viewer/summary?session={session}"))
        shown = time.monotonic()
        assert "<title>" in page and summary["data"], page[:500]
        print(f"  address after {started - begin:.2f} s, page and summary of the demo {shown - started:.2f} s later")
    finally:
        daemon.terminate()
    equal(daemon.wait(30), 0, "the end of the daemon")


def look_inside(root):
    inside = ["chroot", root]
    begin = time.monotonic()
    apt = [*inside, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-qy", "--no-install-recommends"]
    run(*apt, "install", "/tmp/" + os.path.basename(one(os.path.join(root, "tmp"), "memviewd_*.deb")))
    print(f"  installed in {time.monotonic() - begin:.1f} s")
    files = [path for path in run(*inside, "dpkg", "-L", "memviewd").split("\n") if os.path.isfile(root + path)]
    help_text = run(*inside, "memviewd", "--help")
    commands = re.findall(r"(?m)^  (\w+) ", help_text.split("The first word may be a command")[1])
    pages = ["memviewd", *(f"memviewd-{command}" for command in commands if command != "serve")]
    wanted = {
        "/usr/bin/memviewd",
        "/usr/share/bash-completion/completions/memviewd",
        "/usr/share/zsh/site-functions/_memviewd",
        "/usr/share/fish/vendor_completions.d/memviewd.fish",
        *(f"/usr/share/man/man1/{page}.1.gz" for page in pages),
        *(f"/usr/lib/systemd/system/memviewd.{kind}" for kind in ("service", "socket")),
        *(f"/usr/share/doc/memviewd/{name}" for name in ("changelog.gz", "changelog.Debian.gz", "copyright")),
    }
    equal(wanted - set(files), set(), "files that the package lacks")
    show_demo([*inside, "memviewd"])
    print("  " + run(*inside, "memviewd", "--version").strip().replace("\n", "; "))
    run(*apt, "purge", "memviewd")
    equal([path for path in files if os.path.exists(root + path)], [], "files that a purge left")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--debs")
    parser.add_argument("--inside", help=argparse.SUPPRESS)
    parser.add_argument("suites", nargs="*")
    options = parser.parse_args()
    if options.inside:
        look_inside(options.inside)
        return 0
    counts = {"passed": 0, "failed": 0}
    for suite in options.suites:
        for name, function in [item for item in globals().items() if item[0].startswith("test_")]:
            try:
                function(os.path.join(options.debs, suite), suite)
                counts["passed"] += 1
                print("ok     ", suite, name[len("test_") :])
            except Exception:  # noqa: a test may fail in any way
                counts["failed"] += 1
                print("FAILED ", suite, name[len("test_") :], traceback.format_exc())
    print(f"{counts['passed']} passed, {counts['failed']} failed, 0 skipped")
    return 1 if counts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
