# SPDX-License-Identifier: Apache-2.0
"""A webhook is told of sessions that run out of memory: once each, signed, with the verdict; a receiver that fails
holds nothing up."""

import os

import fleet_story
from document import Document
from harness import ROOT, Skip, equal, wait_until
from receiver import Receiver

SECRET = b"a secret of the receiver"
FAILURE = b"RESOURCE_EXHAUSTED: Out of memory while trying to allocate 2147483648 bytes.\n"


def need_libcurl(t):
    if "libcurl" not in t.run("--version").stdout:
        raise Skip("this build has no libcurl")


def secret_file(t, mode=0o600, secret=SECRET):
    path = t.write(f"../secret-{mode:o}-{len(secret)}", secret + b"\n")
    os.chmod(path, mode)
    return path


def wait_until_it_looks(daemon):
    """what is there at its first look is not told"""
    daemon.sessions()
    wait_until(lambda: "gets failures from now on" in daemon.log(), what="the first look")


def copy_failed_dump(t, where):
    folder = os.path.join(t.fixtures, "dumps", "h-long-context")
    for name in os.listdir(folder):
        with open(os.path.join(folder, name), "rb") as file:
            t.write(f"{where}/{name}", file.read())


def test_a_session_that_runs_out_of_memory_is_told_once_with_its_verdict(t):
    need_libcurl(t)
    t.write("before/job.log", FAILURE)
    with Receiver(SECRET).running() as receiver:
        daemon = t.serve(
            t.folder(),
            f"--notify={receiver.url('/services/T0/very-secret?key=1')}",
            f"--notify-secret={secret_file(t)}",
        )
        wait_until_it_looks(daemon)
        t.write("new/memviewd.json", b'{"job": "bert", "commit": "c0ffee", "user": "ann", "lr": 0.001}')
        copy_failed_dump(t, "new")
        wait_until(lambda: receiver.taken, what="a message")
        t.write("later/job.log", FAILURE)
        with open(t.write("grown/job.log", FAILURE), "ab") as file:
            wait_until(lambda: len(receiver.taken) == 3, what="two other ones")
            file.write(FAILURE * 3 + FAILURE.replace(b"2147", b"4147"))
        wait_until(
            lambda: [row["failure"]["count"] for row in daemon.sessions().values() if "grown" in row["name"]] == [2],
            what="what it has grown by",
        )
        t.write("after/job.log", FAILURE)
        wait_until(lambda: "after/job.log" in [message["file"] for message in receiver.taken], what="what failed last")
        equal(
            (receiver.faults, sorted(message["file"] for message in receiver.taken)),
            ([], ["after/job.log", "grown/job.log", "later/job.log", "new/error.txt"]),
        )
        document = Document(os.path.join(ROOT, "docs", "openapi.yaml"))
        schema = document.tree["webhooks"]["notice"]["post"]["requestBody"]["content"]["application/json"]["schema"]
        equal([list(document.faults(message, schema)) for message in receiver.taken], [[]] * 4)
        message = next(message for message in receiver.taken if message["file"].endswith("error.txt"))
        equal(
            [message[key] for key in ("kind", "logdir", "file", "job", "commit", "user_name", "error")],
            ["failure", t.folder(), "new/error.txt", "bert", "c0ffee", "ann", None],
        )
        equal(message["labels"]["lr"], "0.001")
        equal(message["session"], {"id": daemon.session_id("new"), "name": "new"})
        expected = daemon.get_json("/api/v1/verdict", session=message["session"]["id"], file="error.txt", report=1)
        equal(message["verdict"], expected)
        equal(expected["fits"], "no")
        row = next(line for line in t.run("index", t.folder()).stdout.splitlines() if '"new/error.txt"' in line)
        assert f'"id":"{message["row_id"]}"' in row, (message["row_id"], row[:200])
        assert "secret" not in daemon.log(), daemon.log()


def test_a_job_that_fails_on_many_hosts_is_one_message(t):
    need_libcurl(t)
    with Receiver().running() as receiver:
        daemon = t.serve(t.folder(), f"--notify={receiver.url()}")
        wait_until_it_looks(daemon)
        for at in range(24):
            t.write(f"../run/h{at}/memviewd.json", f'{{"job": "bert", "commit": "c0ffee", "host": "h{at}"}}'.encode())
            t.write(f"../run/h{at}/job.log", FAILURE.replace(b"2147483648", b"6442450944") if at == 17 else FAILURE)
        os.rename(t.folder("run"), os.path.join(t.folder(), "run"))  # at once, however slow this machine is
        t.write("other/memviewd.json", b'{"job": "bert", "commit": "c0ffef"}')
        t.write("other/job.log", FAILURE)
        wait_until(lambda: len(receiver.delivered) == 2, what="a message of each commit")
        t.write("run/h99/memviewd.json", b'{"job": "bert", "commit": "c0ffee", "host": "h99"}')
        t.write("run/h99/job.log", FAILURE)
        t.write("last/job.log", FAILURE)
        wait_until(lambda: "last/job.log" in [message["file"] for message in receiver.taken], what="what failed last")
        equal((receiver.faults, len(receiver.delivered)), ([], 3), "a host that comes later is not told")
        (message,) = [message for message in receiver.delivered.values() if message.get("commit") == "c0ffee"]
        equal(
            message["hosts"],
            {
                "count": 24,
                "sentence": "24 hosts; h17 differs: another plan, 4.00 GiB more.",
                "odd": [{"name": "h17", "reason": "another plan", "needed_bytes": 6442450944}],
            },
        )
        document = Document(os.path.join(ROOT, "docs", "openapi.yaml"))
        equal(list(document.faults(message, document.tree["components"]["schemas"]["FailureNotice"])), [])
        equal(
            [message.get("hosts") for message in receiver.delivered.values() if message.get("commit") != "c0ffee"],
            [None] * 2,
        )


def write_days(t, job, days, bad_day, first_day=1):
    """a dump a day, each of another commit; those since bad_day need a third more"""
    for day in range(first_day, days + 1):
        path, at_s = f"{job}/c{day}", fleet_story.FIRST_S + day * fleet_story.DAY_S
        fleet_story.labels(t.folder(), path, at_s, job=job, commit=f"c{day}", user="ann")
        fleet_story.write(
            t.folder(),
            f"{path}/module_0001.jit_step.after_optimizations.hlo.pb",
            fleet_story.program("jit_step", (9 if day < bad_day else 12) * fleet_story.GIB),
            at_s,
        )


def test_a_regression_in_the_folders_of_a_daemon_is_told_once(t):
    need_libcurl(t)
    write_days(t, "before", 8, 5)
    write_days(t, "bert", 5, 5)
    with Receiver(SECRET).running() as receiver:
        daemon = t.serve(t.folder(), f"--notify={receiver.url()}", f"--notify-secret={secret_file(t)}")
        wait_until(lambda: "gets regressions from now on" in daemon.log(), what="that all files were read")
        write_days(t, "bert", 6, 5, 6)
        wait_until(lambda: receiver.taken, what="a message")
        write_days(t, "bert", 8, 5, 7)
        write_days(t, "before", 9, 5, 9)
        write_days(t, "less", 8, 99)
        wait_until(
            lambda: daemon.get_json("/api/v1/fleet/summary")["data"]["point_count"] == 8 + 9 + 8,
            what="that all files were read",
        )
        write_days(t, "after", 8, 5)
        wait_until(lambda: "after" in [message["job"] for message in receiver.taken], what="the last one")
        equal((receiver.faults, [message["job"] for message in receiver.taken]), ([], ["bert", "after"]))
        message = receiver.taken[0]
        document = Document(os.path.join(ROOT, "docs", "openapi.yaml"))
        equal(list(document.faults(message, document.tree["components"]["schemas"]["RegressionNotice"])), [])
        equal(
            [message[key] for key in ("kind", "logdir", "job", "commit", "user_name")],
            ["regression", t.folder(), "bert", "c5", "ann"],
        )
        (row,) = [row for row in daemon.get_json("/api/v1/fleet/regressions")["data"]["rows"] if row["job"] == "bert"]
        for name in row.keys() - {"sentence", "after_count"}:  # of a commit more
            equal(message["regression"][name], row[name], name)
        assert "Seen in 2 commits since" in message["regression"]["sentence"] and row["diff_sentence"], message


def test_of_more_files_than_are_compared_failures_alone_are_told(t):
    need_libcurl(t)
    for at in range(2001):
        t.write(f"{at}/module_0001.jit_f.after_optimizations.hlo.pb", b"x")
    with Receiver().running() as receiver:
        daemon = t.serve(t.folder(), f"--notify={receiver.url()}")
        wait_until(lambda: "notify: regressions: there are 2001 files" in daemon.log(), what="that it is said")
        t.write("a/job.log", FAILURE)
        wait_until(lambda: receiver.taken, what="a message")
        assert daemon.log().count("notify: regressions: ") == 1, daemon.log()


def test_a_receiver_that_fails_is_told_later(t):
    need_libcurl(t)
    with Receiver(refusals=[500, None, 503, 404, 500]).running() as receiver:
        daemon = t.serve(t.folder(), f"--notify={receiver.url('/very-secret')}")
        wait_until_it_looks(daemon)
        t.write("a/job.log", FAILURE)
        wait_until(lambda: receiver.refused_ids, what="a refusal")
        equal(len(daemon.sessions()), 1)
        wait_until(lambda: receiver.taken, what="a message")
        equal((receiver.faults, set(receiver.refused_ids), len(receiver.refused_ids)), ([], set(receiver.ids()), 5))
        assert (
            f"notify: http://127.0.0.1:{receiver.port} answered with status 503: it is tried again" in daemon.log()
        ), daemon.log()
        assert "very-secret" not in daemon.log(), daemon.log()


def test_what_a_receiver_never_takes_is_given_up(t):
    need_libcurl(t)
    with Receiver(refusals=[422]).running() as receiver:
        daemon = t.serve(t.folder(), f"--notify={receiver.url()}")
        wait_until_it_looks(daemon)
        t.write("a/job.log", FAILURE)
        wait_until(lambda: "answered with status 422: the message " in daemon.log(), what="that it is given up")
        t.write("b/job.log", FAILURE)
        wait_until(lambda: receiver.taken, what="the next message")
        equal((receiver.faults, len(receiver.refused_ids), len(receiver.taken)), ([], 1, 1))
        assert receiver.refused_ids[0] not in receiver.ids(), receiver.ids()


def test_a_daemon_ends_while_its_receiver_is_not_there(t):
    need_libcurl(t)
    with Receiver().running() as receiver:
        url = receiver.url()
    daemon = t.serve(t.folder(), f"--notify={url}")
    wait_until_it_looks(daemon)
    t.write("a/job.log", FAILURE)
    wait_until(lambda: "it is tried again" in daemon.log(), what="a failure")
    equal(daemon.stop(), 0)


def test_addresses_and_secrets_that_will_not_do_are_refused(t):
    need_libcurl(t)
    for url, reason in (
        ("http://hooks.example/x", "http:// goes to this machine alone"),
        ("ftp://hooks.example", "must be an https:// address"),
        ("https://", "must be an https:// address"),
        ("https://ann:word@hooks.example/", "must have no user in it"),
        ("https://hooks.example/a b", "must be an https:// address"),
        ("http://127.0.0.1.hooks.example/", "http:// goes to this machine alone"),
    ):
        ended = t.run("--port=0", t.folder(), f"--notify={url}")
        assert ended.returncode == 2 and reason in ended.stderr and "word" not in ended.stderr, (url, ended.stderr)
    for options, reason in (
        (["--notify-secret=/nowhere"], "which is missing"),
        (["--notify=https://hooks.example/", "--notify-secret=/nowhere"], "/nowhere: No such file"),
        (["--notify=https://hooks.example/", f"--notify-secret={secret_file(t, 0o644)}"], "chmod 600"),
        (["--notify=https://hooks.example/", f"--notify-secret={secret_file(t, secret=b'short')}"], "16 to 1024 bytes"),
    ):
        ended = t.run("--port=0", t.folder(), *options)
        assert ended.returncode == 2 and reason in ended.stderr, (options, ended.stderr)
