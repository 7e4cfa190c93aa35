# SPDX-License-Identifier: Apache-2.0
"""`memviewd run` on a terminal, and signals to it and to the command. Tests of run.py."""

import fcntl
import os
import signal
import struct
import subprocess
import termios

from box import PATIENCE_SECONDS, child_of, on_terminal, read_to, state_of, until


# ---- terminals ------------------------------------------------------------------------


def test_a_terminal_stays_one(box):
    job, terminal = on_terminal(
        box,
        *box.script(
            "import os, sys\nprint([os.isatty(i) for i in range(3)], os.get_terminal_size(1), "
            "os.get_terminal_size(2), '\\x1b[31mred\\r.')\n"
            "print('read', input('name? '))\n"
        ),
    )
    text = read_to(terminal, b"name? ")
    assert (
        text == b"[True, True, True] os.terminal_size(columns=97, lines=31) os.terminal_size(columns=97, lines=31) "
        b"\x1b[31mred\r.\r\nname? "
    ), text
    os.write(terminal, b"x\n")
    assert read_to(terminal, b"read x\r\n") == b"x\r\nread x\r\n"
    assert job.wait(PATIENCE_SECONDS) == 0


def test_a_key_reaches_the_command_once(box):
    job, terminal = on_terminal(
        box,
        *box.script(
            "import os, signal\ncount = []\n"
            "def interrupted(*_):\n    count.append(1)\n    os.write(1, b'a key\\n')\n"
            "signal.signal(signal.SIGINT, interrupted)\nprint('ready', flush=True)\nfor _ in range(3): input()\n"
            "print('interrupted', len(count), flush=True)\n"
        ),
    )
    read_to(terminal, b"ready")
    os.write(terminal, b"\x03")
    read_to(terminal, b"a key")
    for _ in range(3):  # memviewd goes round for each line: a signal that it sends on itself is there by the last
        os.write(terminal, b"\n")
    assert b"interrupted 1" in read_to(terminal, b"interrupted 1")
    assert job.wait(PATIENCE_SECONDS) == 0


def test_a_new_size_reaches_the_command(box):
    job, terminal = on_terminal(
        box,
        *box.script(
            "import os, signal, sys\nsignal.signal(signal.SIGWINCH, lambda *_: None)\nprint('ready', flush=True)\n"
            "while os.get_terminal_size(1).columns != 55: signal.sigtimedwait([], 0.05)\nprint('seen', flush=True)\n"
        ),
    )
    read_to(terminal, b"ready")
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 20, 55, 0, 0))
    read_to(terminal, b"seen")
    assert job.wait(PATIENCE_SECONDS) == 0


# ---- signals --------------------------------------------------------------------------


def test_signals_to_us_are_passed_on(box):
    numbers = ["HUP", "INT", "QUIT", "USR1", "USR2", "TERM", "CONT", "WINCH", "ALRM"]
    # It looks again and again: a signal that comes just before pause() would wait for the next one.
    command = box.script(
        "import os, signal, sys, time\n"
        + "".join(f"signal.signal(signal.SIG{name}, lambda *_: os.write(1, b'{name}\\n'))\n" for name in numbers)
        + "print('ready', flush=True)\nwhile True: time.sleep(0.01)\n"
    )
    job = box.start(*command, options=["--quiet"], stdout=subprocess.PIPE)
    read_to(job.stdout.fileno(), b"ready\n")
    for name in numbers:
        job.send_signal(getattr(signal, "SIG" + name))
        assert read_to(job.stdout.fileno(), b"\n") == name.encode() + b"\n", name
    os.kill(child_of(job.pid), signal.SIGKILL)
    assert job.wait(PATIENCE_SECONDS) == -signal.SIGKILL
    job.stdout.close()


def test_a_stop_stops_both(box):
    job = box.start("sleep", "60", process_group=0)
    until(
        lambda: (
            os.path.exists(f"/proc/{job.pid}/task/{job.pid}/children")
            and open(f"/proc/{job.pid}/task/{job.pid}/children").read()
        ),
        "no child",
    )
    child = child_of(job.pid)
    until(lambda: "sleep" in open(f"/proc/{child}/comm", encoding="utf-8").read(), "not started")
    job.send_signal(signal.SIGTSTP)
    until(lambda: state_of(job.pid) == "T" and state_of(child) == "T", "not stopped")
    os.killpg(job.pid, signal.SIGCONT)
    until(lambda: state_of(job.pid) == "S" and state_of(child) == "S", "not continued")
    job.terminate()
    assert job.wait(PATIENCE_SECONDS) == -signal.SIGTERM


def test_one_that_will_not_end_is_waited_for(box):
    job = box.start(
        *box.script(
            "import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nprint('ready', flush=True)\n"
            "while True: signal.pause()\n"
        ),
        stdout=subprocess.PIPE,
    )
    read_to(job.stdout.fileno(), b"ready")
    job.terminate()
    try:
        job.wait(0.5)
        raise AssertionError("it ended")
    except subprocess.TimeoutExpired:
        pass
    child = child_of(job.pid)
    job.kill()  # a runner that is killed takes the command with it, and leaves what there is
    job.wait(PATIENCE_SECONDS)
    job.stdout.close()
    until(lambda: not os.path.exists(f"/proc/{child}") or state_of(child) == "Z", "the command goes on")
    assert os.path.exists(os.path.join(box.only_session(), "output.log"))


def test_what_was_ignored_stays_ignored(box):
    job = box.start(
        *box.script(
            "import signal\nprint(signal.getsignal(signal.SIGHUP), signal.getsignal(signal.SIGINT), "
            "signal.pthread_sigmask(0, []))\n"
        ),
        stdout=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN),
    )
    assert job.communicate(timeout=PATIENCE_SECONDS)[0] == b"1 <built-in function default_int_handler> set()\n"
