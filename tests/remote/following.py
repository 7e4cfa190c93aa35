# SPDX-License-Identifier: Apache-2.0
"""A daemon while what lies at its address changes, and its server comes and goes."""

import os
import shutil
import threading

import harness
import servers

MODULE = "modules/mlp-adam/module_0000.jit_step.cl_1014260217.after_optimizations.hlo.pb.gz"


def names(daemon):
    return sorted(daemon.sessions())


def test_what_comes_and_goes_is_seen(t):
    client = t.s3().client("s3")
    client.create_bucket(Bucket="coming")
    daemon = t.daemon("--logdir=s3://coming", "--list-every=1", **t.keys())
    harness.equal(names(daemon), [])
    for name in ("one", "two"):
        client.upload_file(os.path.join(harness.FIXTURES, MODULE), "coming", f"{name}/{os.path.basename(MODULE)}")
    harness.wait_until(lambda: names(daemon) == ["one", "two"], 30)
    client.delete_object(Bucket="coming", Key=f"one/{os.path.basename(MODULE)}")
    harness.wait_until(lambda: names(daemon) == ["two"], 30)


def test_while_a_server_fails_what_was_known_stays(t):
    down = []
    proxy = servers.Proxy(t.s3().port, lambda handler, request, count: bool(down) and handler.reply(403) is None)
    daemon = t.daemon(
        "--logdir=s3://profiles/lab a/modules", "--list-every=1", **t.keys(proxy.url)
    )  # no texts, which are read later
    before = names(daemon)
    assert len(before) > 1
    down.append(True)
    harness.wait_until(lambda: "403" in daemon.get_json("/api/v1/about")["roots"][0]["reason"], 30)
    harness.equal(names(daemon), before)
    down.clear()
    harness.wait_until(lambda: daemon.get_json("/api/v1/about")["roots"][0]["reason"] == "", 60)


def test_a_root_that_cannot_be_listed_is_named_and_others_are_shown(t):
    daemon = t.daemon("--logdir=s3://nobody-has-this", f"--logdir={harness.FIXTURES}", **t.keys())
    roots = daemon.get_json("/api/v1/about")["roots"]
    harness.wait_until(lambda: "NoSuchBucket" in daemon.get_json("/api/v1/about")["roots"][0]["reason"], 30)
    harness.equal([root["path"] for root in roots][0], "s3://nobody-has-this")
    assert len(names(daemon)) > 5


def test_answers_that_are_kept_are_good_for_another_machine(t):
    """the folder of one daemon's answers, given to another, which then reads nothing of the files"""
    kept, copied = t.folder("kept"), os.path.join(t.folder("other"), "kept")
    os.chmod(kept, 0o700)

    def ask(folder):
        proxy = servers.Proxy(t.s3().port)
        daemon = t.daemon("--logdir=s3://profiles/lab a/modules", f"--cache-dir={folder}", **t.keys(proxy.url))
        session = daemon.session_id("mlp-adam")
        module = daemon.get_json(f"/api/v1/sessions/{session}/modules")["modules"][0]["id"]
        answer = daemon.ask(f"/api/v1/memory_viewer/summary?session={session}&module={module}")
        harness.equal(answer.status, 200)
        read = [
            path
            for method, path, headers, _ in proxy.requests
            if method == "GET" and "Range" in headers and "mlp-adam" in path and ".hlo.pb" in path
        ]
        daemon.stop()
        return answer.text, len(read)

    first, first_read = ask(kept)
    shutil.copytree(kept, copied)
    second, second_read = ask(copied)
    harness.equal(second, first)
    assert first_read > 0 and second_read == 0, (first_read, second_read)


def test_a_daemon_ends_at_once_while_its_server_says_nothing(t):
    is_over = threading.Event()
    silent = servers.Server(lambda handler, request: is_over.wait(harness.PATIENCE_SECONDS))
    daemon = t.daemon("--logdir=s3://silent", **t.keys(silent.url))
    harness.wait_until(lambda: silent.requests, what="its first question")
    harness.equal(daemon.stop(seconds=harness.PATIENCE_SECONDS / 2), 0)
    is_over.set()
