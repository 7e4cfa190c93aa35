# SPDX-License-Identifier: Apache-2.0
"""`memviewd run` around commands that stand in for a training job: what they print, how they end, what they dump.

  run.py --binary build/release/memviewd [--only TEXT]

Each function that begins with test_ is a test; it gets a folder of its own. What the machine does not allow is told in
a line that begins with "skipped". The last line is "N passed, N failed, 0 skipped".
"""

import argparse
import glob
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback

import armed
import captured
import dumped
import labelled
import nested
import terminals
import watched
from box import COMPILE_TEXT, DUMPING, OUT_OF_MEMORY, PATIENCE_SECONDS, PYTHON, Box, Skip, answer_of, serve, until


# ---- how it ends ----------------------------------------------------------------------


def test_the_status_is_passed_on(box):
    for status in (0, 1, 3, 125, 255):
        assert box.run("sh", "-c", f"exit {status}").returncode == status


def test_the_same_signal_ends_us(box):
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGSEGV, signal.SIGABRT, signal.SIGUSR1, signal.SIGKILL):
        done = box.run("sh", "-c", f"kill -{int(number)} $$")
        assert done.returncode == -number, (number, done)
    assert not glob.glob(os.path.join(box.folder, "core*"))


def test_what_cannot_run_says_so(box):
    path = os.path.join(box.folder, "text")
    with open(path, "w", encoding="utf-8") as file:
        file.write("no program\n")
    for command, status, words in ((["/nowhere/python"], 127, "No such file"), ([path], 126, "Permission denied")):
        done = box.run(*command)
        assert done.returncode == status and words in done.stderr.decode(), done
    done = subprocess.run([box.binary, "run"], capture_output=True, timeout=60)
    assert done.returncode == 2 and b"which command?" in done.stderr, done
    done = subprocess.run([box.binary, "run", f"--logdir={path}/runs", "true"], capture_output=True, timeout=60)
    assert done.returncode == 125 and b"text/runs" in done.stderr, done
    for option in ("--programs=0", "--dump-limit=0", "--dump-limit=many"):
        assert box.run("true", options=[option]).returncode == 2
    assert box.sessions() == []


def test_options_of_the_command_are_its_own(box):
    done = subprocess.run(
        [box.binary, "run", "--quiet", "echo", "--keep", "--", "--help"],
        capture_output=True,
        timeout=60,
        cwd=box.folder,
    )
    assert done.stdout == b"--keep -- --help\n" and done.stderr == b"", done


# ---- what it prints and reads ---------------------------------------------------------


def test_nothing_else_is_printed_and_nothing_stays(box):
    for status in (0, 1):
        done = box.run("sh", "-c", f"echo out; echo err >&2; exit {status}")
        assert (done.stdout, done.stderr) == (b"out\n", b"err\n"), done
        assert not os.path.exists(box.runs)


def test_every_byte_comes_through(box):
    command = box.script(
        "import os, sys, random\nr = random.Random(7)\n"
        "for i in range(200):\n    os.write(1 + i % 2, r.randbytes(r.randrange(1, 40000)))\n"
    )
    done, bare = box.run(*command), subprocess.run(command, capture_output=True, timeout=60)
    assert len(bare.stdout) > 1 << 20 and (done.stdout, done.stderr) == (bare.stdout, bare.stderr)


def test_two_streams_that_are_one_keep_their_order(box):
    command = box.script("import os\nfor i in range(5000): os.write(1 + i % 2, b'%d\\n' % i)\n")
    with open(os.path.join(box.folder, "both"), "w+b") as file:
        assert box.start(*command, stdout=file, stderr=file).wait(60) == 0
        file.seek(0)
        assert file.read() == b"".join(b"%d\n" % i for i in range(5000))


def test_standard_input_is_the_commands(box):
    data = os.urandom(3 << 20)
    assert box.run("cat", input=data).stdout == data


def test_a_closed_stream_stays_closed(box):
    command = box.script(
        "import os, sys\nfor i in range(3):\n    try: os.fstat(i)\n"
        "    except OSError: print(i, 'closed', file=open('seen', 'a'))\n"
    )
    line = " ".join(map(repr, box.command(*command)))
    subprocess.run(["sh", "-c", f"{line} <&- >&- 2>&-"], timeout=60, cwd=box.folder, check=True)
    with open(os.path.join(box.folder, "seen"), encoding="utf-8") as file:
        # Python opens /dev/null itself where nothing is; what it must not find is a file of ours
        seen = file.read() if os.path.getsize(file.name) else ""
    bare = subprocess.run(
        ["sh", "-c", " ".join(map(repr, command)) + " <&- >&- 2>&-; cat seen"],
        capture_output=True,
        timeout=60,
        cwd=box.folder,
        text=True,
    )
    assert bare.stdout == seen * 2, (seen, bare.stdout)


def test_a_reader_that_goes_ends_the_command(box):
    job = box.start("sh", "-c", "yes; echo $? > ended", stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert job.stdout.read(4) == b"y\ny\n"
    job.stdout.close()
    job.wait(PATIENCE_SECONDS)
    with open(os.path.join(box.folder, "ended"), encoding="utf-8") as file:
        assert int(file.read()) in (128 + signal.SIGPIPE, 1)


def test_what_stays_in_the_background_is_not_waited_for(box):
    for work in ("sleep 300", "sleep 0.2; while :; do echo more; sleep 0.01; done"):
        done = box.run("sh", "-c", f"({work}) & echo $!; echo last")
        os.kill(int(done.stdout.split()[0]), signal.SIGKILL)  # it goes on
        assert b"last" in done.stdout, work


# ---- the verdict ----------------------------------------------------------------------


def test_the_verdict_is_printed_and_the_session_is_one(box):
    done = box.run(*box.script(DUMPING + "print('step 1', flush=True)\ndump(3)\n" + OUT_OF_MEMORY))
    text = done.stderr.decode()
    assert done.returncode == 1 and done.stdout == b"step 1\n", done
    explained = subprocess.run([box.binary, "explain", box.only_session()], capture_output=True, timeout=60, text=True)
    assert explained.stdout and explained.stdout in text, text
    with open(COMPILE_TEXT, encoding="utf-8") as file:
        assert text.startswith(file.read()), text
    assert f"memviewd: its output and 1 program are in {box.only_session()}\n" in text, text
    address = re.search(
        r"memviewd: the page: http://localhost:6006/\?session=(\w+)( after memviewd --logdir=(\S+))?\n$", text
    )
    daemon, port = serve(box)
    try:
        sessions = answer_of(port, "/api/v1/sessions")["sessions"]
        assert [(one["id"], one["kind"], one["name"]) for one in sessions] == [
            (address[1], "dump", os.path.basename(box.only_session()))
        ], sessions
        assert sessions[0]["failure"]["module"] == "jit_f" and sessions[0]["module_count"] in (1, None), sessions
        modules = answer_of(port, f"/api/v1/sessions/{address[1]}/modules")["modules"]
        assert len(modules) == 1, modules
    finally:
        daemon.terminate()
        daemon.communicate(timeout=PATIENCE_SECONDS)


def test_a_daemon_that_serves_it_is_named(box):
    os.mkdir(box.runs)
    daemon, port = serve(box, 6006)
    try:
        if port is None:
            raise Skip("port 6006 is taken")
        done = box.run(*box.script("import sys\n" + OUT_OF_MEMORY))
        assert done.stderr.endswith(b"the page: http://localhost:6006/\n"), done  # a log alone
        done = box.run(*box.script(DUMPING + "dump(1)\n" + OUT_OF_MEMORY))
        address = re.search(rb"the page: http://localhost:6006/\?session=(\w+)\n$", done.stderr)
        assert address, done
        until(lambda: len(answer_of(port, "/api/v1/sessions")["sessions"]) == 2, "not found")
        assert address[1].decode() in [one["id"] for one in answer_of(port, "/api/v1/sessions")["sessions"]]
    finally:
        daemon.terminate()
        daemon.communicate(timeout=PATIENCE_SECONDS)


def test_one_that_ends_well_is_told_in_a_line(box):
    command = box.script("import sys" + OUT_OF_MEMORY.replace("sys.exit(1)", ""))
    done = box.run(*command)
    assert done.returncode == 0 and done.stderr.endswith(f"memory: memviewd explain {box.only_session()}\n".encode()), (
        done
    )
    with open(COMPILE_TEXT, "rb") as file:
        assert box.run(*command, options=["--quiet"]).stderr == file.read() + b"\n"


def test_the_end_of_a_long_output_is_kept(box):
    done = box.run(
        *box.script("import sys\nfor i in range(420000): print(i, 'x' * 100)\nsys.stdout.flush()\n" + OUT_OF_MEMORY)
    )
    assert len(done.stdout) > 40 << 20 and b"out-of-memory failure" in done.stderr
    path = os.path.join(box.only_session(), "output.log")
    with open(path, "rb") as file:
        text = file.read()
    assert 8 << 20 <= len(text) <= 16 << 20 and b"\n419999 xxx" in text and b"\n200000 xxx" not in text


def test_old_runs_make_room(box):
    other = os.path.join(box.runs, "run-of-somebody")
    os.makedirs(other)
    with open(os.path.join(other, "large"), "wb") as file:
        file.write(b"x" * (3 << 20))
    for _ in range(4):
        box.run(*box.script(DUMPING + "dump(1, extra=900 << 10)\n" + OUT_OF_MEMORY), options=["--dump-limit=2"])
        time.sleep(1.1)  # names are of the second
    sessions = [path for path in box.sessions() if path != other]
    assert os.path.exists(os.path.join(other, "large")) and len(sessions) == 2, sessions


def test_below_tmp_each_user_has_a_folder_of_their_own(box):
    """a working folder that nobody can write; what somebody else put in the place of the folder is not followed"""
    own = os.path.join(box.folder, f"memviewd-runs-{os.geteuid()}")
    command, others = [box.binary, "run", "--keep", "true"], os.path.join(box.folder, "others")

    def done():
        return subprocess.run(
            command, capture_output=True, timeout=60, cwd="/proc", env={**box.environment, "TMPDIR": box.folder}
        )

    told = subprocess.run([box.binary, "run", "--help"], capture_output=True, timeout=60).stdout
    assert b"memviewd-runs-UID" in told and b"$TMPDIR" in told, told
    assert done().returncode == 0 and len(os.listdir(own)) == 1 and os.stat(own).st_mode & 0o777 == 0o700
    os.rename(own, others)
    os.symlink(others, own)
    last = done()
    assert last.returncode == 0 and len(os.listdir(others)) == 1, last
    for _ in range(2):  # a link, then a folder that others can write: another place is taken, and told
        instead = [name for name in os.listdir(box.folder) if name.startswith(os.path.basename(own) + "-")]
        assert len(instead) == 1 and os.stat(os.path.join(box.folder, instead[0])).st_mode & 0o777 == 0o700, instead
        assert b"not a folder that only you can write to" in last.stderr and instead[0].encode() in last.stderr, (
            last.stderr
        )
        assert len(os.listdir(os.path.join(box.folder, instead[0]))) == 1
        shutil.rmtree(os.path.join(box.folder, instead[0]))
        if os.path.islink(own):
            os.unlink(own)
        else:
            break
        os.mkdir(own)
        os.chmod(own, 0o777)
        last = done()
        assert last.returncode == 0 and not os.listdir(own), last


def test_a_kill_is_told_apart(box):
    done = box.run("sh", "-c", "kill -9 $$")
    assert done.returncode == -signal.SIGKILL, done
    assert b"which somebody sent" in done.stderr or b"as the kernel does for lack of host memory" in done.stderr, done


def test_the_kernel_ends_it(box):
    """needs a control group of version 1 or 2 that may be made, as root has in a container"""
    group = next((path for path in ("/sys/fs/cgroup/memory", "/sys/fs/cgroup") if os.path.exists(path)), None)
    mine = os.path.join(group or "/nowhere", f"memviewd-run-test-{os.getpid()}")
    limit = os.path.join(mine, "memory.limit_in_bytes" if group and group.endswith("memory") else "memory.max")
    try:
        os.mkdir(mine)
        with open(limit, "w", encoding="utf-8") as file:
            file.write(str(96 << 20))
    except OSError as fault:
        if os.path.isdir(mine):
            os.rmdir(mine)
        raise Skip(f"no control group can be made here: {fault}") from None
    try:
        line = " ".join(map(repr, box.command(PYTHON, "-c", "x = bytearray(300 << 20)")))
        done = subprocess.run(
            ["sh", "-c", f"echo $$ > {mine}/cgroup.procs && exec {line}"], capture_output=True, timeout=60
        )
    finally:
        until(lambda: not open(f"{mine}/cgroup.procs", encoding="utf-8").read(), "processes stay")
        os.rmdir(mine)
    assert done.returncode == -signal.SIGKILL, done
    assert (
        b"the kernel ended a process of it for lack of host memory" in done.stderr
        and b"96.00 MiB are there" in done.stderr
    ), done


def test_a_bare_memviewd_shows_the_runs(box):
    bare = subprocess.run([box.binary, "--port=0"], capture_output=True, timeout=60, cwd=box.folder)
    assert bare.returncode == 2 and b"./memviewd-runs is not there" in bare.stderr, bare
    box.runs = os.path.join(box.folder, "memviewd-runs")
    box.run(*box.script(DUMPING + "dump(1)\n" + OUT_OF_MEMORY))
    told = subprocess.run(
        [box.binary, "summary", box.only_session()], capture_output=True, timeout=60, text=True
    ).stdout.split("\n")
    assert told[1].startswith("  failure  ") and told[1].endswith("(output.log: memviewd explain says why)"), told
    daemon = subprocess.Popen(
        [box.binary, "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=box.folder
    )
    try:
        port = re.search(r":(\d+)/", daemon.stdout.readline())[1]
        assert [root["path"] for root in answer_of(port, "/api/v1/about")["roots"]] == [os.path.realpath(box.runs)]
    finally:
        daemon.terminate()
        daemon.communicate(timeout=PATIENCE_SECONDS)


def test_the_folder_of_the_run_is_told(box):
    done = box.run("sh", "-c", 'echo mine > "$MEMVIEWD_RUN/notes.txt"; ls "$MEMVIEWD_RUN"')
    assert done.stdout == b"notes.txt\noutput.log\nrun.lock\n", done


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    counts = {"passed": 0, "failed": 0}
    modules = (terminals, dumped, armed, captured, labelled, nested, watched)
    tests = [*globals().items(), *(item for module in modules for item in vars(module).items())]
    for name, test in tests:
        if not name.startswith("test_") or options.only not in name:
            continue
        with tempfile.TemporaryDirectory(prefix="memviewd-run-") as folder:
            began, words = time.monotonic(), "ok     "
            try:
                test(Box(os.path.abspath(options.binary), folder))
                counts["passed"] += 1
            except Skip as reason:  # of the machine, not of the checkout: told, and not counted
                words = f"skipped, {reason}:"
            except Exception:  # noqa: a test may fail in any way
                counts["failed"] += 1
                words = "FAILED "
                traceback.print_exc(file=sys.stdout)
            print(f"{words} {name[5:].replace('_', ' ')} ({time.monotonic() - began:.1f} s)", flush=True)
    print("{passed} passed, {failed} failed, 0 skipped".format(**counts))
    return counts["failed"] > 0


if __name__ == "__main__":
    sys.exit(main())
