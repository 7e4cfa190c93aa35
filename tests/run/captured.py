# SPDX-License-Identifier: Apache-2.0
"""`memviewd capture RUN`: what running jobs hold, those that do not answer, and that the job goes on as without it.
Tests of run.py; of real JAX in real.py, of memviewd.install() in tests/python."""

import contextlib
import fcntl
import glob
import os
import pickle
import re
import signal
import subprocess

from armed import OTHERS, STANDIN
from box import PATIENCE_SECONDS, PYTHON, child_of, read_to, until

START_WAYS = ("spawn", "fork", "forkserver")
HOLD = "import os, sys, torch\nkeep = [torch.empty(7 << 19, device='cuda') for _ in range(5)]\n"
GO_ON = "os.write(1, b'ready\\n')\nsys.stdin.read()\n"
WAIT = f"--wait={PATIENCE_SECONDS}"


@contextlib.contextmanager
def running(box, *command, count=1, options=(), path=STANDIN, **variables):
    """a job that has said "ready" `count` times and ends when its standard input does"""
    box.environment.update({"PYTHONPATH": path, **variables})
    job = box.start(*command, options=options, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        got = b""
        while got.count(b"ready\n") < count:
            got += read_to(job.stdout.fileno(), b"\n")
        yield job
    finally:
        job.kill()  # takes the command with it, where it has not ended
        job.communicate()


# One process that multiprocessing makes in the way that stands for WAY; it is ready when it has taken memory.
MADE_BY_PYTHON = """
import multiprocessing, os, sys
sys.path.insert(0, __file__.rsplit('/', 1)[0])
def work(end):
    import torch
    torch.empty(7 << 19, device='cuda')
    os.write(1, b'ready\\n')
    end.recv()
if __name__ == '__main__':
    context = multiprocessing.get_context('WAY')
    ours, theirs = context.Pipe()
    child = context.Process(target=work, args=(theirs,))
    child.start()
    sys.stdin.read()
    ours.send(1)
    child.join()
"""
TWO_RANKS = """
import os, subprocess, sys
jobs = [subprocess.Popen(SCRIPT, env={**os.environ, 'RANK': str(rank)}) for rank in range(2)]
sys.exit(max([job.wait() for job in jobs]))
"""


def made_by_python(box, way):
    return box.script(MADE_BY_PYTHON.replace("WAY", way))


def two_ranks(box):
    return box.script(TWO_RANKS.replace("SCRIPT", repr(box.script(HOLD + GO_ON))))


def ended(job):
    out, err = job.communicate(timeout=PATIENCE_SECONDS)
    return job.returncode, out, err.decode()


def capture(box, *words, status=0, wait=WAIT):
    done = subprocess.run(
        [box.binary, "capture", *words, wait], capture_output=True, text=True, timeout=PATIENCE_SECONDS, cwd=box.folder
    )
    assert done.returncode == status, done
    return done


def paths(done):
    return [line.rsplit("  ", 1)[0] for line in done.stdout.splitlines()]


# ---- what is asked for --------------------------------------------------------------------


def test_a_job_is_asked_for_a_snapshot_and_goes_on(box):
    with running(box, *box.script(HOLD + GO_ON + "print('went on', len(keep))\n")) as job:
        done = capture(box, box.runs)
        (path,) = paths(done)
        assert re.fullmatch(re.escape(box.only_session()) + r"/pid\d+\.capture-1\.pickle", path), done
        assert re.search(r"  1\.\d KiB\n$", done.stdout), done
        assert re.fullmatch(
            rf"memviewd: the page: http://localhost:6006/\?session=\w+( after memviewd "
            rf"--logdir={re.escape(box.runs)})?\n",
            done.stderr,
        ), done
        with open(path, "rb") as file:
            assert [event["action"] for event in pickle.load(file)["device_traces"][0]].count("alloc") == 5
        assert [os.path.basename(path) for path in paths(capture(box, box.only_session()))] == [
            os.path.basename(path).replace("-1", "-2")
        ]
        status, out, err = ended(job)
    assert (status, out) == (0, b"went on 5\n"), (status, out, err)
    assert err == f"memviewd: its output and 2 allocator snapshots are in {box.only_session()}\n", err
    assert sorted(name for name in os.listdir(box.only_session()) if "pickle" not in name) == ["output.log", "run.lock"]
    assert "has ended: nothing can be asked any more" in capture(box, box.runs, status=2).stderr


def test_without_a_question_nothing_stays(box):
    with running(box, *box.script(HOLD + GO_ON)) as job:
        assert ended(job) == (0, b"", "") and not os.path.exists(box.runs)


def test_a_run_is_named_in_three_ways(box):
    with running(box, *box.script(HOLD + GO_ON)):
        name = os.path.basename(box.only_session())
        for number, words in enumerate(
            ([box.only_session()], [box.runs], [name, f"--logdir={box.runs}"], [box.runs + "/" + name + "/"]), 1
        ):
            (path,) = paths(capture(box, *words))
            assert path.endswith(f".capture-{number}.pickle"), path


def test_what_is_no_run_is_said(box):
    os.makedirs(os.path.join(box.folder, "empty"))
    for words, said in (
        (["empty"], "is no folder of a run, and none lies in it"),
        (["./nowhere"], "No such file or directory"),
        (
            ["nowhere"],
            "nowhere is no HOST:PORT, such as localhost:9999 or [::1]:9999, and memviewd-runs has no run of that name",
        ),
        (["empty", "localhost:1"], "runs and HOST:PORT cannot be captured together"),
        ([], "which job? memviewd capture RUN"),
    ):
        done = capture(box, *words, status=2)
        assert said in done.stderr and done.stdout == "", done
    assert "--wait must be a number" in capture(box, "empty", status=2, wait="--wait=0").stderr


def test_each_rank_writes_its_own(box):
    with running(box, *two_ranks(box), count=2):
        names = [os.path.basename(path) for path in paths(capture(box, box.runs))]
        assert [re.sub(r"\.\d+\.", ".PID.", name) for name in names] == [
            f"rank{rank}.PID.capture-1.pickle" for rank in range(2)
        ], names


def test_one_that_has_taken_no_gpu_yet_is_counted(box):
    launcher = box.script(f"import subprocess, torch\nsubprocess.run({box.script(HOLD + GO_ON)!r})\n")
    with running(box, *launcher):
        done = capture(box, box.runs)
        assert len(paths(done)) == 1 and done.stderr.startswith(
            "memviewd: 1 more process has imported torch but not used a GPU yet\n"
        ), done


def test_every_python_that_is_here_answers(box):
    for at, python in enumerate(sorted(glob.glob(OTHERS))):
        if subprocess.run([python, "-c", "import sys; sys.exit(sys.version_info < (3, 8))"]).returncode == 0:
            box.runs = os.path.join(box.folder, f"runs{at}")
            with running(box, python, *box.script(HOLD + GO_ON)[1:]) as job:
                assert len(paths(capture(box, box.runs))) == 1, python
                assert ended(job)[:2] == (0, b""), python


# Warnings are errors: one would come of a fork beside another thread.
FORKS = """
import os, sys, torch
torch.empty(7 << 19, device='cuda')
children = []
for at in range(3):
    child = os.fork()
    if child == 0:
        os._exit(7)
    children.append(os.waitpid(child, 0)[1] >> 8)
assert children == [7, 7, 7], children
os.write(1, b'ready\\n')
sys.stdin.read()
"""


def test_a_program_that_forks_is_not_warned_of_us(box):
    for at, python in enumerate([PYTHON, *sorted(glob.glob(OTHERS))]):
        if (
            subprocess.run([python, "-c", "import sys; sys.exit(sys.version_info < (3, 8))"], check=False).returncode
            != 0
        ):
            continue
        for word in ("run", "watch"):
            box.runs, box.word = os.path.join(box.folder, f"{word}{at}"), word
            with running(box, python, "-W", "error", *box.script(FORKS)[1:]) as job:
                assert len(paths(capture(box, box.runs))) == 1, (word, python)
                status, out, err = ended(job)
                assert status == 0 and "Warning" not in err, (word, python, out, err)


def test_processes_that_python_makes_answer(box):
    for way in START_WAYS:
        box.runs = os.path.join(box.folder, way)
        with running(box, *made_by_python(box, way)) as job:
            assert len(paths(capture(box, box.runs))) == 1, way
            assert ended(job)[:2] == (0, b""), way


# ---- who does not answer ------------------------------------------------------------------


def beside(box, script, **variables):
    """a process that answers, as rank 0, and this one as rank 1: when both are ready"""
    launcher = box.script(
        "import os, subprocess, sys\n"
        f"jobs = [subprocess.Popen(each, env={{**os.environ, 'RANK': str(rank)}}) for rank, each in "
        f"enumerate({[box.script(HOLD + GO_ON), script]!r})]\n"
        "jobs[0].wait()\n"
    )
    return running(box, *launcher, count=2, **variables)


def test_one_that_ends_meanwhile_is_said(box):
    script = box.script("import torch\ntorch.cuda.memory._dump_snapshot = lambda path: os._exit(0)\n" + HOLD + GO_ON)
    with beside(box, script):
        done = capture(box, box.runs, status=1)
        assert (
            re.search(r"^memviewd: rank1\.\d+: it ended before it answered\n", done.stderr) and "rank0" in done.stdout
        ), done
        assert done.stderr.endswith("1 of 2 is missing in it\n"), done
        assert len(paths(capture(box, box.runs))) == 1  # it is not asked again


def test_one_that_holds_pythons_lock_is_said(box):
    # the C library called with the lock held, so that no thread comes between
    script = box.script(
        HOLD + "import ctypes\nsys.setswitchinterval(1000)\nlibrary = ctypes.PyDLL(None)\n"
        "library.write(1, b'ready\\n', 6)\nwhile True: library.pause()\n"
    )
    with beside(box, script):
        done = capture(box, box.runs, status=1, wait="--wait=1")
        assert re.search(
            r"memviewd: rank1\.\d+: no answer within 1 s \(--wait\): it is busy in a C call that holds Python's lock\n",
            done.stderr,
        ), done


def test_one_that_is_stopped_is_said(box):
    with running(box, *box.script(HOLD + GO_ON)) as job:
        child = child_of(job.pid)
        os.kill(child, signal.SIGSTOP)
        done = capture(box, box.runs, status=2, wait="--wait=1")
        assert (
            f"pid{child}: no answer within 1 s (--wait): it is stopped, by a signal or a debugger\n" in done.stderr
            and done.stdout == ""
        ), done
        os.kill(child, signal.SIGCONT)
        assert len(paths(capture(box, box.runs))) == 1


def test_a_snapshot_that_cannot_be_written_is_said(box):
    script = box.script(
        "import torch\ndef full(path): raise OSError(28, 'No space left on device')\n"
        "torch.cuda.memory._dump_snapshot = full\n" + HOLD + GO_ON
    )
    with running(box, *script) as job:
        done = capture(box, box.runs, status=2)
        assert re.search(r"pid\d+: snapshot: OSError: \[Errno 28\] No space left on device\n", done.stderr), done
        assert ended(job) == (0, b"", "") and not os.path.exists(box.runs)


def test_who_cannot_be_asked_is_said(box):
    no_gpu = box.script("import os, sys, torch\n" + GO_ON)
    plain = box.script("import os, sys\n" + GO_ON)
    for at, (command, options, words) in enumerate(
        (
            (
                box.script(HOLD + GO_ON),
                ["--no-inject"],
                "it was started with --no-inject, or by memviewd.install() in a process that has ended or runs on "
                "another host",
            ),
            (["sh", "-c", "echo ready; cat"], [], "no Python below it has read memviewd's hook"),
            ([PYTHON, "-I", *plain[1:]], [], "no Python below it has read memviewd's hook"),
            (plain, [], "none of its 1 Python process has imported torch or jax"),
            (no_gpu, [], "PyTorch has not used a GPU yet, or its processes have ended, or run on another host"),
        )
    ):
        box.runs = os.path.join(box.folder, f"runs{at}")
        with running(box, *command, options=options):
            before = sorted(os.listdir(box.only_session()))
            done = capture(box, box.runs, status=2)
            assert (
                done.stderr == f"memviewd: {box.only_session()}: no process can be asked: {words}\n"
                and done.stdout == ""
            ), done
            assert sorted(os.listdir(box.only_session())) == before


def test_an_interrupt_ends_the_waiting(box):
    with running(box, *box.script(HOLD + GO_ON)) as job:
        os.kill(child_of(job.pid), signal.SIGSTOP)
        waiting = subprocess.Popen([box.binary, "capture", box.runs, WAIT], stderr=subprocess.PIPE, text=True)
        (pipe,) = [
            name for name in glob.glob(os.path.join(box.only_session(), ".capture", "*")) if not name.endswith(".said")
        ]
        until(lambda: asked_count(pipe) > 0, "not asked")
        waiting.send_signal(signal.SIGINT)
        assert (
            waiting.communicate(timeout=PATIENCE_SECONDS)[1] == "memviewd: interrupted\n" and waiting.returncode == 130
        ), waiting


def asked_count(pipe):
    """bytes that wait in it"""
    file = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        return int.from_bytes(fcntl.ioctl(file, 0x541B, b"\0" * 4), "little")  # FIONREAD
    finally:
        os.close(file)


def test_what_cannot_be_opened_is_counted(box):
    """two processes, and files for one: the second is not asked, and it is said"""
    with running(box, *box.script(HOLD + GO_ON)):
        folder = os.path.join(box.only_session(), ".capture")
        readers = []
        for at in range(40):
            pipe = os.path.join(folder, f"zz{at}.x-0")
            os.mkfifo(pipe)
            readers.append(os.open(pipe, os.O_RDONLY | os.O_NONBLOCK))
            with open(pipe + ".said", "wb"):
                pass
        done = subprocess.run(
            ["prlimit", "--nofile=32:32", box.binary, "capture", box.runs, "--wait=1"],
            capture_output=True,
            text=True,
            timeout=PATIENCE_SECONDS,
        )
        for reader in readers:
            os.close(reader)
        (left,) = re.findall(r"^memviewd: (\d+) more were not asked: Too many open files$", done.stderr, re.M)
        silent = len(re.findall(r"no answer within 1 s \(--wait\): it may be busy", done.stderr))
        assert done.returncode == 1 and len(paths(done)) == 1 and 0 < silent < 40 and silent + int(left) == 40, done


def test_one_that_is_ending_answers_and_lets_go(box):
    """while a handler of the program's end runs, which was registered after ours"""
    script = box.script(
        "import atexit, os\nfolder = os.path.join(os.environ['MEMVIEWD_RUN'], '.capture')\n"
        "atexit.register(lambda: print([name.endswith('.said') for name in os.listdir(folder)]))\n"
        + HOLD
        + "def last():\n    os.write(1, b'ready\\n')\n    sys.stdin.read()\natexit.register(last)\n"
    )
    with running(box, *script) as job:
        for number in range(1, 4):
            assert paths(capture(box, box.runs))[0].endswith(f".capture-{number}.pickle")
        assert ended(job)[:2] == (0, b"[True]\n")  # its pipe is gone, what it said is there


# ---- what the job sees of it ----------------------------------------------------------------


def test_threads_handlers_and_modules_are_as_without_us(box):
    script = box.script(
        "import signal, threading\nsignal.signal(signal.SIGUSR1, lambda *_: print('theirs', flush=True))\n"
        + HOLD
        + GO_ON
        + "signal.raise_signal(signal.SIGUSR1)\nprint(threading.active_count(), signal.pthread_sigmask(0, []), "
        "'memviewd' in sys.modules)\n"
    )
    with running(box, *script) as job:
        capture(box, box.runs)
        assert ended(job)[:2] == (0, b"theirs\n1 set() False\n")


def test_a_signal_that_the_job_waits_for_does_not_end_it(box):
    script = box.script(
        HOLD + "import signal\nsignal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])\n"
        "os.write(1, b'ready\\n')\nprint('got', signal.sigwait([signal.SIGUSR1]).name)\n"
    )
    with running(box, *script) as job:
        capture(box, box.runs)
        os.kill(child_of(job.pid), signal.SIGUSR1)
        assert ended(job)[:2] == (0, b"got SIGUSR1\n")


def test_files_of_a_job_that_closes_all_are_left_alone(box):
    script = box.script(
        HOLD + "os.closerange(3, 256)\nmine = os.open('mine', os.O_RDWR | os.O_CREAT)\n"
        "others = [os.dup(mine) for _ in range(30)]\nos.write(mine, b'text' * 9)\n"
        "os.lseek(mine, 4, os.SEEK_SET)\n"
        + GO_ON
        + "print(os.lseek(mine, 0, os.SEEK_CUR), os.fork() == 0 or os.wait()[1], flush=True)\nos.fstat(mine)\n"
    )
    with running(box, *script) as job:
        until(
            lambda: subprocess.run([box.binary, "capture", box.runs, WAIT], capture_output=True).returncode == 0,
            "no answer",
        )  # its pipe is opened anew
        status, out, _ = ended(job)
    with open(os.path.join(box.folder, "mine"), "rb") as file:
        assert (status, sorted(out.split()), file.read()) == (0, [b"0", b"4", b"4", b"True"], b"text" * 9), out


# ---- hostile ----------------------------------------------------------------------------------


def test_what_is_asked_means_nothing(box):
    with running(box, *box.script(HOLD + GO_ON + "print('went on')\n")) as job:
        (pipe,) = [
            name for name in glob.glob(os.path.join(box.only_session(), ".capture", "*")) if not name.endswith(".said")
        ]
        for what in (b"sss", b"\0" * 4096, b"file /etc/passwd\n../../x\n$(touch owned)\n", b"s\xffs"):
            with open(pipe, "wb", buffering=0) as file:
                file.write(what)
        assert paths(capture(box, box.runs))[0].startswith(box.only_session() + "/pid")
        assert ended(job)[:2] == (0, b"went on\n")
    assert {re.sub(r"\d+", "N", name) for name in os.listdir(box.only_session())} == {
        "output.log",
        "run.lock",
        "pidN.capture-N.pickle",
    }


@contextlib.contextmanager
def made(box, said):
    """a run whose only process answers with these bytes; its folder"""
    run = os.path.join(box.runs, "run-2026-01-09-101500-1")
    os.makedirs(os.path.join(run, ".capture"))
    pipe = os.path.join(run, ".capture", "rank0.1\x1b[31m-0")
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    with open(pipe + ".said", "wb", buffering=0) as answer, open(os.path.join(run, "run.lock"), "wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        waiting = subprocess.Popen(
            [box.binary, "capture", box.runs, WAIT], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        until(lambda: asked_count(pipe) > 0, "not asked")
        answer.write(said)
        os.close(reader)
        yield run, waiting
        waiting.kill()
        waiting.communicate()


def test_answers_that_are_wrong_name_no_file_and_draw_nothing(box):
    for at, (said, words) in enumerate(
        (
            (b"asked\nfile ../../../etc/passwd\ndone\n", "it names a file that is not there"),
            (b"asked\nfile /etc/passwd\ndone\n", "it names a file that is not there"),
            (b"asked\nfile run.lock/../run.lock\ndone\n", "it names a file that is not there"),
            (b"asked\nfile .capture\ndone\n", "it names a file that is not there"),
            (b"asked\nfile link\ndone\n", "it names a file that is not there"),
            (b"asked\nfailed \x1b]0;owned\x07\ndone\n", "\\u001b]0;owned\\u0007"),
            (b"file run.lock\ndone\n", "it ended before it answered"),
            (b"asked\n" + b"x" * 100000 + b"\n\0\0", "it ended before it answered"),
            (b"", "it ended before"),
        )
    ):
        box.runs = os.path.join(box.folder, f"runs{at}")
        os.makedirs(os.path.join(box.runs, "run-2026-01-09-101500-1"))
        os.symlink("/etc/passwd", os.path.join(box.runs, "run-2026-01-09-101500-1", "link"))
        with made(box, said) as (_, waiting):
            out, err = waiting.communicate(timeout=PATIENCE_SECONDS)
        assert waiting.returncode == 2 and out == "" and words in err and "\x1b" not in err, (said, out, err)


def test_what_is_no_pipe_is_not_asked(box):
    with running(box, *box.script(HOLD + GO_ON)):
        folder = os.path.join(box.only_session(), ".capture")
        kept = os.path.join(box.folder, "kept")
        for name in ("file-1", "kept"):
            with open(os.path.join(folder, name) if name != "kept" else kept, "w", encoding="utf-8") as file:
                file.write("mine")
        os.symlink(kept, os.path.join(folder, "link-1"))
        os.mkfifo(os.path.join(folder, "nobody-1"))
        for name in ("link-1", "nobody-1", "file-1"):
            with open(os.path.join(folder, name + ".said"), "w", encoding="utf-8"):
                pass
        assert len(paths(capture(box, box.runs))) == 1
        with open(kept, encoding="utf-8") as file:
            assert file.read() == "mine"
