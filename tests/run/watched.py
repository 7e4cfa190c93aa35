# SPDX-License-Identifier: Apache-2.0
"""`memviewd watch`: what processes have in use while they run, on a terminal and elsewhere, and what it leaves alone.
Tests of run.py; of real JAX in real.py."""

import glob
import os
import re
import subprocess

from armed import STANDIN
from box import PATIENCE_SECONDS, on_terminal, read_to, until
from captured import GO_ON, HOLD, START_WAYS, ended, made_by_python, running, two_ranks

FAST = "--every=0.01"
# It goes on for as many samples as are wanted of it, however long each takes.
PACED = """
import glob, os, sys, time, torch
FILES = os.path.join(os.environ["MEMVIEWD_RUN"], ".live", f"pid{os.getpid()}-*")
def samples():
    return sum(line.startswith("at ") for name in glob.glob(FILES) for line in open(name))
def each_sample(count):
    for number in range(count):
        before = samples()
        yield number
        while samples() <= before:
            time.sleep(0.002)
torch.empty(512, device="cuda")
"""
GROWING = (
    PACED + "keep = []\nfor _ in each_sample(150):\n    keep.append(torch.empty(1 << 20, device='cuda'))\n"
    "    torch.free(torch.empty(30 << 20, device='cuda'))\n"
)


def watch(box, *command, options=(), **variables):
    box.word = "watch"
    return box.run(*command, options=[FAST, *options], variables={"PYTHONPATH": STANDIN, **variables})


def lines_of(done):
    """what it says, but for the address of the page, which comes first"""
    first, *lines = [line.removeprefix("memviewd: ") for line in done.stderr.decode().splitlines()]
    assert re.fullmatch(r"the page: http://localhost:6006/\?tool=live( after memviewd --logdir=\S+)?", first), done
    return lines


def live_files(box):
    return sorted(glob.glob(os.path.join(box.only_session(), ".live", "*")))


# ---- what is shown --------------------------------------------------------------------------


def test_the_peak_is_told_and_nothing_stays(box):
    done = watch(
        box,
        *box.script(
            PACED + "kept = [torch.empty(5 << 20, device='cuda') for _ in range(3)]\nlist(each_sample(2))\n"
            "torch.free(kept[0])\nlist(each_sample(2))\nprint('done')\n"
        ),
    )
    assert (done.returncode, done.stdout) == (0, b"done\n") and not os.path.exists(box.runs), done
    assert re.fullmatch(
        r"most in use: 15\.00 MiB of 256\.00 MiB, cuda:0 of pid\d+, \d+ s after the start, at \d\d:\d\d:\d\d",
        lines_of(done)[-1],
    ), done
    assert re.fullmatch(
        r"cuda:0: \S+ \w+ in use, peak \S+ \w+, \S+ MiB of 256\.00 MiB free, \S+ MiB reserved; pid\d+",
        lines_of(done)[0],
    ), done


def test_the_peak_between_two_looks_is_found(box):
    """by what the allocator tells of it"""
    done = watch(
        box,
        *box.script(
            PACED + "list(each_sample(2))\ntorch.free(torch.empty(100 << 20, device='cuda'))\nlist(each_sample(2))\n"
        ),
    )
    assert lines_of(done)[-1].startswith("most in use: 100.00 MiB of 256.00 MiB, "), done


def test_growth_is_found_while_it_goes_on(box):
    done = watch(box, *box.script(GROWING))
    said = [line for line in lines_of(done) if " grows " in line]
    assert len(said) == 2 and lines_of(done).index(said[0]) < len(lines_of(done)) - 2, (
        done
    )  # as it was found, and at the end
    for line, more in zip(said, (r"; at this rate it is full in \S+ (s|min)", "")):
        assert re.fullmatch(
            r"cuda:0 of pid\d+ grows \S+ \wiB a minute: the least in use went from \S+ \w+ to \S+ MiB in \S+ (s|min)"
            + more,
            line,
        ), line


def test_what_steps_take_and_give_back_is_no_growth(box):
    done = watch(
        box, *box.script(PACED + "for _ in each_sample(100):\n    torch.free(torch.empty(30 << 20, device='cuda'))\n")
    )
    assert "grows" not in done.stderr.decode() and lines_of(done)[-1].startswith("most in use: 30.00 MiB"), done


def test_lines_are_few_where_there_is_no_terminal(box):
    """the first, and one each time the peak has risen by more than a tenth of the device"""
    done = watch(
        box,
        *box.script(
            PACED + "keep = []\nfor _ in each_sample(120):\n    keep.append(torch.empty(1 << 20, device='cuda'))\n"
        ),
    )
    said = [line for line in lines_of(done) if " in use, peak " in line]
    assert 2 <= len(said) <= 1 + 120 // 25, said


def test_on_a_terminal_one_line_follows(box):
    box.word = "watch"
    box.environment["PYTHONPATH"] = STANDIN
    job, terminal = on_terminal(
        box,
        *box.script(
            PACED + "list(each_sample(40))\nprint('one')\nlist(each_sample(40))\nprint('two', end='', flush=True)\n"
            "list(each_sample(40))\nprint(' three', flush=True)\ninput()\n"
        ),
        columns=60,
        options=[FAST],
    )
    text = read_to(terminal, b"three\r\n")
    os.write(terminal, b"\n")
    text += read_to(terminal, b"after the start, at ")
    assert job.wait(PATIENCE_SECONDS) == 0
    drawn = re.findall(rb"\r\x1b\[K([^\r\n]+)\r(?!\n)", text)
    assert drawn and all(len(line) <= 59 and line.startswith(b"memviewd: cuda:0: ") for line in drawn), drawn
    text = text.partition(b"/runs\r\n")[2]  # behind the address of the page
    # without it, what the program wrote; and nothing is drawn into a line that it has begun
    assert (
        re.sub(rb"\r\x1b\[K[^\r\n]*\r(?!\n)|\r\x1b\[K", b"", text)
        .split(b"memviewd: most in use")[0]
        .replace(b"\r\n", b"\n")
        .strip(b"\n")
        == b"one\ntwo three"
    ), text
    assert b"two\r\x1b[K" not in text and b"two three" in text, text


# ---- processes ------------------------------------------------------------------------------


def test_each_process_has_a_line(box):
    box.word = "watch"
    with running(box, *two_ranks(box), count=2, options=[FAST]) as job:
        until(lambda: len(live_files(box)) == 2, "no files")
        assert [os.path.basename(name).split(".")[0] for name in live_files(box)] == ["rank0", "rank1"]
        status, _, err = ended(job)
    assert status == 0 and re.search(r"most in use: 17\.50 MiB of 256\.00 MiB, cuda:0 of rank\d\.\d+, ", err), err


def test_processes_that_python_makes_have_one(box):
    box.word = "watch"
    for way in START_WAYS:
        box.runs = os.path.join(box.folder, way)
        with running(box, *made_by_python(box, way), options=[FAST]) as job:
            until(lambda: len(live_files(box)) == 1, way)
            assert "most in use: 3.50 MiB" in ended(job)[2], way


def test_one_that_nobody_asks_has_none(box):
    done = watch(box, *box.script("import torch\n"))
    assert lines_of(done) == [
        "nothing to show: no process below it took a device with PyTorch or JAX",
        "armed: PyTorch in 1 of 1 Python process",
    ], done
    done = watch(box, "true")
    assert lines_of(done)[1] == "not armed: no Python below it read PYTHONPATH; nothing but its output is known", done
    done = watch(box, *box.script(HOLD), options=["--no-inject"])
    assert lines_of(done) == [
        "nothing to show: no process below it took a device with PyTorch or JAX that --no-inject lets memviewd ask"
    ], done
    assert watch(box, *box.script(HOLD), options=["--quiet"]).stderr == b"" and not os.path.exists(box.runs)


def test_without_watch_nothing_is_asked(box):
    calls = os.path.join(box.folder, "calls")
    box.run(
        *box.script(PACED.split("torch.empty")[0] + "torch.empty(512, device='cuda')\n"),
        options=["--keep"],
        variables={"PYTHONPATH": STANDIN, "TORCH_CALLS": calls},
    )
    with open(calls, encoding="utf-8") as file:
        assert "memory_stats" not in file.read() and live_files(box) == []


# ---- what the job sees of it ----------------------------------------------------------------


def test_a_gpu_that_is_not_used_is_not_asked_what_is_free(box):
    """that would take memory of it"""
    calls = os.path.join(box.folder, "calls")
    watch(box, *box.script(PACED + "list(each_sample(3))\n"), TORCH_CALLS=calls)
    with open(calls, encoding="utf-8") as file:
        asked = set(line for line in file.read().splitlines() if "mem_get_info" in line)
    assert asked == {"mem_get_info(0)"}, asked


def test_threads_handlers_and_status_are_as_without_us(box):
    done = watch(
        box,
        *box.script(
            PACED + "import signal, threading\nlist(each_sample(3))\n"
            "print(threading.active_count(), signal.pthread_sigmask(0, []), 'memviewd' in sys.modules)\nsys.exit(7)\n"
        ),
    )
    assert (done.returncode, done.stdout) == (7, b"1 set() False\n"), done


def test_what_cannot_be_asked_is_left_after_some_tries(box):
    done = watch(
        box,
        *box.script(
            "import torch, os, sys\ntried = []\ndef broken(device): tried.append(1); raise RuntimeError('no\\nstats')\n"
            + HOLD
            + "def samples(): return sum('failed' in open(os.path.join(os.environ['MEMVIEWD_RUN'], '.live', "
            "name)).read() for name in os.listdir(os.path.join(os.environ['MEMVIEWD_RUN'], '.live')))\n"
            "import time\nwhile not os.path.exists(os.path.join(os.environ['MEMVIEWD_RUN'], '.live')): "
            "time.sleep(0.01)\n"
            "torch.cuda.memory_stats = broken\nwhile not samples(): time.sleep(0.01)\nprint(len(tried))\n"
        ),
        options=["--keep"],
    )
    assert done.stdout == b"5\n" and "most in use: 17.50 MiB" in done.stderr.decode(), done
    with open(live_files(box)[0], encoding="utf-8") as file:
        assert file.read().endswith("failed RuntimeError: no stats\n")


def test_the_line_stays_with_the_run(box):
    done = watch(
        box, *box.script("import torch\nkeep = []\nwhile True: keep.append(torch.empty(7 << 19, device='cuda'))\n")
    )
    assert done.returncode == 1 and b"Did it fit?" in done.stderr and len(live_files(box)) <= 1, done


def test_wrong_words(box):
    box.word = "watch"
    for every in ("0", "x", " ", "nan", "1e9", "-1"):
        done = box.run("true", options=[f"--every={every}"])
        assert done.returncode == 2 and b"--every must be a number of seconds, from 0.01 to 3600" in done.stderr, done
    done = subprocess.run([box.binary, "watch"], capture_output=True)
    assert done.returncode == 2 and b"which command? memviewd watch -- python train.py" in done.stderr, done


# ---- hostile ----------------------------------------------------------------------------------


def test_what_a_process_writes_there_is_not_trusted(box):
    hostile = [
        "device 0 allocator 100 \\x1b]0;owned\\x07\\nat 1 0 5 5 - -\\n",
        "device 0 allocator 1 x\\nat 99999999999999 0 0 281474976710656 - -\\n",
        "\\0\\n" * 9,
        "",
    ]
    script = box.script(
        "import os\nfolder = os.path.join(os.environ['MEMVIEWD_RUN'], '.live')\nos.mkdir(folder)\n"
        + "".join(f"open(os.path.join(folder, 'rank{at}-0'), 'w').write('{text}')\n" for at, text in enumerate(hostile))
        + "os.mkfifo(os.path.join(folder, 'pipe-0'))\nos.symlink('/dev/zero', os.path.join(folder, 'zero-0'))\n"
        "os.mkdir(os.path.join(folder, 'folder-0'))\n"
        "os.symlink('/etc/passwd', os.path.join(folder, 'passwd-0'))\n"
    )
    done = watch(box, *script)
    assert done.returncode == 0 and b"\x1b" not in done.stderr and b"most in use: " in done.stderr, done
