# SPDX-License-Identifier: Apache-2.0
"""`memviewd capture`: what it asks, what it leaves, and every way in which it goes wrong."""

import contextlib
import gzip
import http.server
import os
import signal
import socket
import subprocess
import sys
import threading

from harness import PATIENCE_SECONDS, ROOT, Skip, equal, free_port, wait_until
from box import capture, left
from inputs import block
from profiler import GOOD, GRPC, METHOD, Profiler, framed, good, parts, says, trace

TRACE = "logdir/tpu/plugins/profile/small/host0.xplane.pb.gz"


def xspace(t):
    return gzip.decompress(t.fixture(TRACE))


def test_a_trace_comes_in_the_answer_and_is_what_a_session_shows(t):
    with Profiler(good(xspace(t))) as server:
        done = capture(t, server.address)
    (asked,) = server.asked
    path = done.stdout.split("  ")[0]
    equal(path, asked.path)
    assert path.startswith(os.path.realpath(t.folder("logs")) + "/plugins/profile/2"), path
    with open(path, "rb") as file:
        assert file.read() == xspace(t)
    equal([name for name in left(t) if "." in name], [os.path.relpath(path, os.path.realpath(t.folder("logs")))])
    assert (
        f"?session=" in done.stderr and f"after memviewd --logdir={os.path.realpath(t.folder('logs'))}\n" in done.stderr
    ), done.stderr
    daemon = t.serve(f"--logdir={t.folder('logs')}")
    (session,) = daemon.sessions().values()
    assert f"?session={session['id']} " in done.stderr and session["host_count"] == 1, (session, done.stderr)


def test_what_is_asked_for(t):
    with Profiler(good(xspace(t))) as server:
        capture(t, server.address)
    (asked,) = server.asked
    equal(
        (asked.headers[":path"], asked.headers[":method"], asked.headers["content-type"], asked.headers["te"]),
        (METHOD, "POST", "application/grpc", "trailers"),
    )
    equal((asked.duration_ms, asked.emits, asked.host), (1000, 1, server.address))
    equal(
        asked.options,
        {2: 2, 3: 1, 5: 1, 7: 1, 9: 1000},
        "levels of host and device, version, programs, and no time to begin at",
    )


def test_a_large_trace_comes_in_whole(t):
    data = xspace(t) + block(1, block(2, b"/host:more") + block(15, bytes(range(256)) * 40000))
    with Profiler(good(data)) as server:
        path = capture(t, server.address).stdout.split("  ")[0]
    with open(path, "rb") as file:
        assert file.read() == data


def test_several_hosts_are_told_one_moment(t):
    with Profiler(good(xspace(t))) as one, Profiler(good(xspace(t)), socket.AF_INET6) as two:
        done = capture(t, one.address, two.address)
    starts = {server.asked[0].options[8] for server in (one, two)}
    assert len(starts) == 1, starts
    equal(
        [os.path.basename(line.split("  ")[0]) for line in done.stdout.splitlines()],
        [f"127.0.0.1_{one.port}.xplane.pb", f"[__1]_{two.port}.xplane.pb"],
    )
    equal(len({server.asked[0].session for server in (one, two)}), 1)
    daemon = t.serve(f"--logdir={t.folder('logs')}")
    equal([row["host_count"] for row in daemon.sessions().values()], [2])


def test_of_several_hosts_those_that_answer_are_kept_and_the_others_named(t):
    gone = f"127.0.0.1:{free_port()}"
    with Profiler(good(xspace(t))) as server, Profiler(says("13", "disk full")) as full:
        done = capture(t, gone, server.address, full.address, status=1)
    equal(len(done.stdout.splitlines()), 1)
    for words in (
        f"{gone}: connection refused: nothing listens there",
        f"{full.address}: the server says: disk full (INTERNAL)",
        "2 of 3 hosts are missing in it",
    ):
        assert words in done.stderr, done.stderr
    equal([name for name in left(t) if name.endswith(".pb")], [name for name in left(t) if "." in name])


def test_an_older_server_writes_the_trace_itself(t):
    def answer(asked):
        os.makedirs(os.path.dirname(asked.path), exist_ok=True)
        with open(asked.path, "wb") as file:
            file.write(xspace(t))
        yield GRPC
        yield framed(b"")
        yield GOOD

    with Profiler(answer) as server:
        done = capture(t, server.address)
    assert done.stdout.startswith(server.asked[0].path + "  "), done.stdout


def test_an_older_server_elsewhere_leaves_the_trace_there(t):
    with Profiler(parts(GRPC, framed(b""), GOOD)) as server:
        done = capture(t, server.address, status=2)
    assert (
        f"{server.address}: its server, of an older release, wrote the trace on its own machine, to " in done.stderr
    ), done.stderr
    equal(left(t), [])


def test_of_a_long_path_on_another_machine_the_end_is_told(t):
    with Profiler(parts(GRPC, framed(b""), GOOD)) as server:
        done = t.run("capture", f"--logdir={t.folder('logs')}/{'é' * 99}", "--seconds=1", server.address)
    end = server.asked[0].path.encode()[-90:].decode(errors="ignore")
    assert f"to …{end}: copy it from there\n" in done.stderr, done.stderr


def test_its_folder_is_named_by_local_time(t):
    zone = "Asia/Kathmandu"  # 5:45 ahead, named by TZ: /etc/localtime says another one
    now = [sys.executable, "-c", "import time; print(time.strftime('%Y_%m_%d_%H_%M_%S'))"]
    moments = [
        subprocess.run(now, env={**os.environ, "TZ": zone}, capture_output=True, text=True, check=True).stdout.strip()
    ]
    with Profiler(good(xspace(t))) as server:
        capture(t, server.address, TZ=zone)
    moments.append(
        subprocess.run(now, env={**os.environ, "TZ": zone}, capture_output=True, text=True, check=True).stdout.strip()
    )
    assert moments[0] <= server.asked[0].session <= moments[1], (moments, server.asked[0].session)


WRONG = {  # what it says: what the server does
    "speaks gRPC, but is no profiler server": says("12", ""),
    "the server says: /proc/nope; No such file or directory (INTERNAL)": says(
        "13", "/proc/nope; No such file or directory"
    ),
    "another profile of it is being recorded": says("13", "Another profiling session active."),
    "the server says: \\u001b[31m é (UNKNOWN)": says("2", "%1B[31m %C3%A9"),
    "its answer ends with a status that gRPC does not have": says("99", ""),
    "its answer ends without a status": parts(GRPC, trace(b"\x0a\x00")),
    "its answer has no message": parts([*GRPC, *GOOD]),
    "its answer ends early": parts(GRPC, trace(b"x" * 100)[:-1], GOOD),
    "recorded nothing: its trace is empty": parts(GRPC, framed(b"\x38\x01"), GOOD),
    "its answer is compressed": parts(GRPC, b"\1" + trace(b"x")[1:], GOOD),
    "its answer is broken: it does not begin as a message of gRPC does": parts(GRPC, b"<html>", GOOD),
    "its answer is broken: a field runs past the end of its message": parts(GRPC, framed(b"\x42\x7f1"), GOOD),
    "its answer is broken: a number is longer than 64 bits": parts(GRPC, framed(b"\xff" * 12), GOOD),
    "its answer is broken: a second message follows": parts(GRPC, trace(b"x") * 2, GOOD),
    "the server there is not a profiler server: it answered with HTTP status 404": parts(
        [(":status", "404"), ("content-type", "text/html")], b"no"
    ),
    "the server there is not a profiler server: it does not speak gRPC": parts(
        [(":status", "200"), ("content-type", "text/html")], b"hello"
    ),
    "the connection was cut": parts(GRPC, trace(b"x" * 100)[:50], None),
    "the headers of its answer are too large": parts(
        [*GRPC, *((f"x-{at}", "y" * 4000) for at in range(20))], trace(b"x"), GOOD
    ),
}


def test_answers_that_are_wrong_are_said_in_words_and_leave_nothing(t):
    for words, answer in WRONG.items():
        with Profiler(answer) as server:
            done = capture(t, server.address, status=2)
        equal((done.stdout, done.stderr.count("\n")), ("", 1), done.stderr)
        assert f"memviewd: {server.address}: {words}" in done.stderr, (words, done.stderr)
        equal(left(t), [], words)


def test_nobody_listens(t):
    done = capture(t, f"127.0.0.1:{free_port()}", status=2)
    assert "connection refused: nothing listens there" in done.stderr, done.stderr
    assert "nothing.invalid:1: its name is not known" in capture(t, "nothing.invalid:1", status=2).stderr
    equal(left(t), [])


def test_a_server_of_http_1_is_none(t):
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), http.server.BaseHTTPRequestHandler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        done = capture(t, f"127.0.0.1:{server.server_address[1]}", status=2)
        server.shutdown()
    assert "the server there is not a profiler server" in done.stderr, done.stderr
    equal(left(t), [])


def test_addresses_are_host_and_port(t):
    for address in (
        "localhost",
        "localhost:",
        ":9999",
        "localhost:0",
        "localhost:65536",
        "localhost:1x",
        "http://localhost:1",
        "a b:1",
        "[::1]",
        "::1:99",
        "[::1:99",
        "a@b:1",
        "a/b:1",
        "a:1/x",
        "-x:1",
        ".x:1",
        "[fe80::1%eth0]:1",
        "localhost:00000000001",
        "\n:1",
        "é:1",
        "x" * 300 + ":1",
    ):
        done = capture(t, "--", address, status=2)
        assert "is no HOST:PORT, such as localhost:9999 or [::1]:9999" in done.stderr, done.stderr
    assert "a:1 is named twice" in capture(t, "a:1", "a:1", status=2).stderr
    assert (
        "more than 256 hosts cannot be asked at once" in capture(t, *(f"h{at}:1" for at in range(257)), status=2).stderr
    )
    assert "which job? memviewd capture RUN" in capture(t, status=2).stderr
    for seconds in ("0", "-1", "3601", "1.5", "x"):
        assert "--seconds" in capture(t, "--seconds", seconds, "a:1", status=2).stderr
    equal(left(t), [])


def test_where_traces_go(t):
    assert (
        "memviewd reads such addresses and does not write them"
        in capture(t, "--logdir=gs://bucket/x", "a:1", status=2).stderr
    )
    assert "No such file or directory" in capture(t, f"--logdir={t.folder('logs')}/a/b", "a:1", status=2).stderr
    file = t.write("file", b"")
    assert "Not a directory" in capture(t, f"--logdir={file}", "a:1", status=2).stderr
    with Profiler(good(xspace(t))) as server:
        new = os.path.join(t.folder("logs"), "new")
        assert os.path.realpath(new) in capture(t, f"--logdir={new}", server.address).stdout
        ended = subprocess.run(
            [t.binary, "capture", "--seconds=1", server.address],
            cwd=t.folder("work"),
            capture_output=True,
            text=True,
            timeout=PATIENCE_SECONDS,
        )
        assert "/work/memviewd-runs/plugins/profile/" in ended.stdout, ended


def test_a_full_disk_is_said(t):
    """a limit on the size of files stands in for it"""
    import resource

    with Profiler(good(xspace(t))) as server:
        ended = subprocess.run(
            [t.binary, "capture", f"--logdir={t.folder('logs')}", "--seconds=1", server.address],
            capture_output=True,
            text=True,
            timeout=PATIENCE_SECONDS,
            preexec_fn=lambda: (
                signal.signal(signal.SIGXFSZ, signal.SIG_IGN),
                resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096)),
            ),
        )
    equal(ended.returncode, 2, ended.stderr)
    assert ".xplane.pb: File too large" in ended.stderr, ended.stderr
    equal(left(t), [])


def test_a_signal_ends_it_and_the_recording(t):
    for number in (signal.SIGINT, signal.SIGTERM):
        with Profiler(parts()) as server:
            silent = threading.Event()

            def answer(_asked):
                yield GRPC
                yield trace(b"x" * 100)[:50]
                silent.set()
                assert server.ended.wait(PATIENCE_SECONDS) or True

            server.answer = answer
            with subprocess.Popen(
                [t.binary, "capture", f"--logdir={t.folder('logs')}", server.address],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            ) as process:
                assert silent.wait(PATIENCE_SECONDS)
                process.send_signal(number)
                out, said = process.communicate(timeout=PATIENCE_SECONDS)
            server.ended.set()
        equal((process.returncode, out, said), (128 + number, "", "memviewd: interrupted: nothing was kept\n"))
        equal(left(t), [])


def test_a_proxy_is_not_asked(t):
    with Profiler(good(xspace(t))) as server:
        gone = f"http://127.0.0.1:{free_port()}"
        capture(t, server.address, http_proxy=gone, HTTP_PROXY=gone, all_proxy=gone, ALL_PROXY=gone)


def test_a_libcurl_without_http_2_is_said(t):
    if t.is_sanitized:
        raise Skip("a library before a sanitizer's own cannot be loaded")
    source, library = os.path.join(ROOT, "tests", "capture", "no_http2.c"), os.path.join(t.folder(), "no_http2.so")
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
    done = capture(t, "localhost:1", status=2, LD_PRELOAD=library)
    assert "this libcurl has no HTTP/2 (" in done.stderr, done.stderr
    equal(left(t), [])


def test_the_sandbox_lets_it_write_nowhere_else(t):
    with contextlib.suppress(FileExistsError):
        os.symlink(t.folder("elsewhere"), os.path.join(t.folder("logs"), "plugins"))
    with Profiler(good(xspace(t))) as server:
        done = t.run("capture", f"--logdir={t.folder('logs')}", "--seconds=1", server.address)
        assert done.returncode in (0, 2), done.stderr
        if done.returncode == 2:
            assert "Permission denied" in done.stderr, done.stderr
            equal(os.listdir(t.folder("elsewhere")), [])
        equal(
            t.run("capture", "--no-sandbox", f"--logdir={t.folder('logs')}", "--seconds=1", server.address).returncode,
            0,
        )
    wait_until(lambda: os.listdir(t.folder("elsewhere")), what="a trace through the link")
