# SPDX-License-Identifier: Apache-2.0
"""The box that the daemon puts itself in: what it says of it, what the kernel says, and that folders may come and
go."""

import os
import re
import shutil
import signal
import subprocess

from harness import Skip, equal, wait_until

MODULE = "hlo/jit_step(22).hlo_proto.pb"


def status_of(daemon, field):
    with open(f"/proc/{daemon.process.pid}/status", encoding="ascii") as status:
        return next((line.split()[1] for line in status if line.startswith(field + ":")), None)


def said(daemon):
    lines = [line for line in daemon.log().splitlines() if "sandbox" in line]
    equal(len(lines), 1, daemon.log())
    return lines[0]


def need_landlock(daemon):
    if "Landlock ABI" not in said(daemon):
        raise Skip("needs Landlock: " + said(daemon))


def sessions(daemon):
    daemon.ask("/api/v1/rescan", "POST", {"Content-Type": "application/json"}, "{}")
    return set(daemon.sessions())


def test_it_says_what_holds_and_the_kernel_agrees(t):
    folder = t.folder("logs")
    daemon = t.serve(f"--logdir={folder}", f"--source-root={t.folder('sources')}")
    assert re.fullmatch(
        r"memviewd: sandbox: (Landlock ABI \d+|seccomp).*; reads "
        + re.escape(f"{folder}, {t.folder('sources')}; writes nothing"),
        said(daemon),
    ), said(daemon)
    equal(status_of(daemon, "NoNewPrivs"), "1")
    if not t.is_sanitized:
        equal(status_of(daemon, "Seccomp"), "2")
    free = t.serve("--demo", "--no-sandbox")
    equal(said(free), "memviewd: no sandbox: --no-sandbox")
    equal((status_of(free, "NoNewPrivs"), status_of(free, "Seccomp")), ("0", "0"))


def test_a_logdir_may_be_made_anew_renamed_and_led_elsewhere(t):
    first, second = (os.path.join(t.folder(), name) for name in ("first", "second"))
    t.write("first/a.hlo_proto.pb", t.fixture(MODULE))
    t.write("second/b.hlo_proto.pb", t.fixture(MODULE))
    link = os.path.join(t.folder(), "link")
    os.symlink(first, link)
    roots = t.serve(f"--logdir={first}/")
    need_landlock(roots)
    equal(len(roots.sessions()), 1)
    shutil.rmtree(first)
    wait_until(lambda: not sessions(roots), what="the end of what was removed")
    t.write("first/c/d.hlo_proto.pb", t.fixture(MODULE))
    wait_until(lambda: len(sessions(roots)) == 1, what="the new one")
    session = next(iter(roots.sessions().values()))
    equal(roots.ask(f"/api/v1/memory_viewer/summary?session={session['id']}").status, 200, session)
    os.rename(first, first + ".old")
    os.rename(second, first)
    wait_until(lambda: any("b" in name for name in sessions(roots)), what="the one that was renamed")
    through = t.serve(f"--logdir={link}")
    wait_until(lambda: any("b" in name for name in sessions(through)), what="through the link")
    os.remove(link)
    os.symlink(first + ".old", link)
    wait_until(lambda: any("c" in name for name in sessions(through)), what="where the link leads now")
    session = next(iter(through.sessions().values()))
    equal(through.ask(f"/api/v1/memory_viewer/summary?session={session['id']}").status, 200, session)


def test_a_file_may_be_replaced(t):
    path = t.write("a.hlo_proto.pb", t.fixture(MODULE))
    daemon = t.serve(path)
    equal(len(sessions(daemon)), 1)
    before = daemon.ask("/api/v1/sessions").json["sessions"][0]
    for _ in range(3):
        os.rename(t.write("new", t.fixture(MODULE)), path)
        wait_until(lambda: sessions(daemon), what="the file that took its place")
        equal(daemon.ask(f"/api/v1/memory_viewer/summary?session={before['id']}").status, 200)


def test_a_token_may_be_replaced(t):
    tokens = ("abcdefghijklmnop-0123", "qrstuvwxyz-0123456789")
    path = t.write("token", tokens[0].encode())
    os.chmod(path, 0o600)
    daemon = t.serve("--demo", f"--token-file={path}")

    def is_in(token):
        return daemon.ask("/api/v1/about", headers={"Authorization": "Bearer " + token}).status == 200

    assert is_in(tokens[0])
    new = t.write("new", tokens[1].encode())
    os.chmod(new, 0o600)
    os.rename(new, path)
    daemon.process.send_signal(signal.SIGHUP)
    wait_until(lambda: is_in(tokens[1]), what="the new token")
    assert not is_in(tokens[0])


def test_no_process_of_it_outlives_it(t):
    daemon = t.serve("--demo")
    with open(f"/proc/{daemon.process.pid}/task/{daemon.process.pid}/children", encoding="ascii") as children:
        helpers = children.read().split()
    assert 1 <= len(helpers) <= 2, helpers
    daemon.process.kill()
    daemon.process.wait()

    def is_there(helper):
        try:
            with open(f"/proc/{helper}/stat", encoding="ascii") as stat:
                return stat.read().rsplit(")", 1)[1].split()[0] != "Z"
        except FileNotFoundError:
            return False

    wait_until(lambda: not any(map(is_there, helpers)), what="the end of its helpers")


def test_commands_that_read_are_in_a_box_too(t):
    for arguments, seccomp in (
        (["explain", "-"], "0" if t.is_sanitized else "2"),
        (["explain", "--no-sandbox", "-"], "0"),
    ):
        process = subprocess.Popen(
            [t.binary, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        path = f"/proc/{process.pid}/status"

        def field(name):
            with open(path, encoding="ascii") as status:
                return next(line.split()[1] for line in status if line.startswith(name + ":"))

        try:
            wait_until(
                lambda: (
                    field("NoNewPrivs") == ("0" if "--no-sandbox" in arguments else "1") and field("Seccomp") == seccomp
                ),
                what=f"the box of {arguments}",
            )
        finally:
            out, err = process.communicate(b"RESOURCE_EXHAUSTED: Out of memory allocating 12 bytes\n", timeout=300)
        assert b"12 B" in out, (out, err)


def test_what_is_exported_may_lie_anywhere(t):
    path, link = t.write("a.hlo_proto.pb", t.fixture(MODULE)), os.path.join(t.folder(), "link")
    target = t.write("elsewhere/page.html", b"before")
    os.symlink(target, link)
    for out in (os.path.join(t.folder(), "page.html"), target, link):
        process = t.run("export", path, f"--out={out}")
        equal((process.returncode, process.stderr), (0, ""), out)
        assert os.path.getsize(out) > 1000, out
