# SPDX-License-Identifier: Apache-2.0
"""Answers that are kept on disk for the next start: the same bytes, of the same file and settings, and never of what
readers sent."""

import glob
import os
import shutil
import stat
import subprocess

from harness import ROOT, equal, wait_until

MODULE = "hlo/jit_step(22).hlo_proto.pb"
VIEWS = (
    "/api/v1/memory_viewer/summary",
    "/api/v1/memory_viewer/buffers",
    "/api/v1/memory_viewer/whose",
    "/api/v1/memory_profile/summary",
)


def bytes_read(daemon):
    return int(
        next(
            line.split()[1]
            for line in daemon.ask("/metrics").text.splitlines()
            if line.startswith("memviewd_disk_read_bytes_total ")
        )
    )


def files(folder):
    return glob.glob(os.path.join(folder, "*"))


def answers(daemon, name):
    session = daemon.session_id(name)
    return [daemon.ask(f"{view}?session={session}").text for view in VIEWS]


def kept_in(t):
    return os.path.join(t.folder(), "kept")


def serve(t, *arguments, logdir="logs"):
    return t.serve(f"--logdir={os.path.join(t.folder(), logdir)}", f"--cache-dir={kept_in(t)}", *arguments)


def change_quietly(path, data):
    """other bytes of the same size, with the time of the former"""
    before = os.stat(path)
    with open(path, "r+b") as file:
        file.write(data)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    after = os.stat(path)
    equal((after.st_size, after.st_ino, after.st_mtime_ns), (before.st_size, before.st_ino, before.st_mtime_ns))


def test_the_next_start_answers_without_reading_the_file(t):
    path = t.write("logs/a.hlo_proto.pb", t.fixture(MODULE))
    first = serve(t)
    made = answers(first, "a")
    assert '"spaces"' in made[0] and bytes_read(first) > os.path.getsize(path), made[0]
    equal(stat.S_IMODE(os.stat(kept_in(t)).st_mode), 0o700)
    second = serve(t)
    equal(answers(second, "a"), made, "from the cache")
    assert bytes_read(second) <= 4096, "first bytes of it are looked at for what it is"
    change_quietly(path, b"\xff" * os.path.getsize(path))
    again = answers(serve(t), "a")
    assert again[0] != made[0] and '"spaces"' not in again[0], again[0]


def test_what_it_keeps_is_as_good_as_not_there_when_it_is_damaged(t):
    t.write("logs/a.hlo_proto.pb", t.fixture(MODULE))
    made = answers(serve(t), "a")
    assert len(files(kept_in(t))) >= 4, files(kept_in(t))
    for damage in (
        lambda data: data[: len(data) // 2],
        lambda data: b"",
        lambda data: data[:-3] + b"xyz",
        lambda data: data[:9] + b"\0" * 40 + data[49:],
    ):
        for path in files(kept_in(t)):
            with open(path, "rb") as file:
                data = file.read()
            with open(path, "wb") as file:
                file.write(damage(data))
        equal(answers(serve(t), "a"), made)


def test_what_had_no_room_is_told_whole_by_the_next_start(t):
    path = t.write("logs/plugins/profile/run/h.xplane.pb", b"")
    subprocess.run([os.path.join(ROOT, "scripts", "make-trace"), path], check=True, stdout=subprocess.DEVNULL)
    views = ("/api/v1/memory_profile/live", "/api/v1/memory_profile/summary")

    def told(daemon):
        session = daemon.session_id("run")
        answers = [daemon.ask(f"{view}?session={session}") for view in views]
        equal([answer.status for answer in answers], [200, 200])
        return [answer.text for answer in answers]

    small = told(serve(t, "--memory-limit=28"))
    equal(["growth_no_room" in text for text in small], [True, True])
    whole = told(serve(t, "--memory-limit=2000"))
    equal(["growth_no_room" in text for text in whole], [False, False])
    equal(told(serve(t, "--memory-limit=28")), whole, "kept, since all of it was told")


def test_other_settings_have_other_answers(t):
    t.write("logs/a.hlo_proto.pb", t.fixture(MODULE))
    made = answers(serve(t), "a")
    rules = t.write("rules", b".*   saved_activation\n")
    other = answers(serve(t, f"--category-rules={rules}"), "a")
    assert made[2] != other[2], made[2]
    equal(answers(serve(t), "a"), made)
    equal(answers(serve(t, f"--category-rules={rules}"), "a"), other)


def test_it_may_be_removed_and_shared_meanwhile(t):
    t.write("logs/a.hlo_proto.pb", t.fixture(MODULE))
    one, other = serve(t), serve(t)
    made = answers(one, "a")
    equal(answers(other, "a"), made)
    for path in files(kept_in(t)):
        os.remove(path)
    t.write("logs/more/b.hlo_proto.pb", t.fixture(MODULE))
    wait_until(lambda: len(other.sessions()) == 2, what="the second file")
    name = next(name for name in other.sessions() if name != "a")
    equal(len(answers(other, name)), len(made))
    assert files(kept_in(t))
    shutil.rmtree(kept_in(t))
    equal(answers(one, "a"), made)
    session = one.session_id(name)
    equal(one.ask(f"/api/v1/memory_viewer/summary?session={session}").status, 200)


def test_nothing_that_a_reader_sent_is_kept(t):
    t.write("logs/readme", b"nothing to see")
    daemon = serve(t)
    sent = daemon.ask(
        "/api/v1/uploads?name=a.hlo_proto.pb", "POST", {"Content-Type": "application/octet-stream"}, t.fixture(MODULE)
    )
    equal(sent.status, 201, sent)
    session = daemon.get_json(f"/api/v1/uploads/{sent.json['id']}")["sessions"][0]["id"]
    equal(daemon.ask(f"/api/v1/memory_viewer/summary?session={session}").status, 200)
    equal(files(kept_in(t)), [])


def test_the_demo_is_not_kept(t):
    daemon = t.serve("--demo", f"--cache-dir={kept_in(t)}")
    for row in daemon.sessions().values():
        daemon.ask(f"/api/v1/memory_viewer/summary?session={row['id']}")
    equal(files(kept_in(t)), [])


def test_its_limit_holds(t):
    for at in range(12):
        t.write(f"logs/a{at}.hlo_proto.pb", t.fixture(MODULE))
    daemon = serve(t, "--cache-limit=1")
    for _ in range(3):
        for row in daemon.sessions().values():
            for view in VIEWS[:3]:
                for limit in range(1, 60):
                    daemon.ask(f"{view}?session={row['id']}&limit={limit}")
            assert sum(map(os.path.getsize, files(kept_in(t)))) <= 1 << 20
    assert files(kept_in(t))


def test_a_folder_that_others_may_open_is_refused(t):
    folder = t.folder("open")
    os.chmod(folder, 0o755)
    for arguments, words in (
        ([f"--cache-dir={folder}"], "chmod 700"),
        ([f"--cache-dir={t.folder()}/not/there"], "No such file"),
        (["--cache-limit=0"], "--cache-limit"),
        ([f"--cache-dir={t.write('file', b'')}"], "Not a directory"),
    ):
        process = t.run("--demo", "--port=0", *arguments)
        equal((process.returncode, process.stderr.count("\n")), (2, 1), arguments)
        assert words in process.stderr, process.stderr


def test_the_box_lets_it_write_there_alone(t):
    t.write("logs/x", b"")
    daemon = serve(t)
    line = next(line for line in daemon.log().splitlines() if "sandbox" in line)
    assert line.endswith(f"; writes {kept_in(t)}"), line
