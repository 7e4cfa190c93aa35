# SPDX-License-Identifier: Apache-2.0
"""What a webhook is told goes by way of the catalog: once, whoever finds it, and sooner or later, whatever fails
meanwhile."""

import contextlib

import postgres
from harness import Skip, equal, wait_until
from receiver import Receiver

FAILURE = b"RESOURCE_EXHAUSTED: Out of memory while trying to allocate 2147483648 bytes.\n"


@contextlib.contextmanager
def database_of(t):
    told = t.run("--version").stdout
    for library in ("libcurl", "libpq"):
        if library not in told:
            raise Skip(f"{library}, which this memviewd was built without")
    try:
        started = postgres.Postgres()
    except postgres.Missing as missing:
        raise Skip(str(missing)) from missing
    with started as database:
        yield database


def serve(t, database, receiver):
    daemon = t.serve(t.folder(), f"--catalog={database.url}", f"--notify={receiver.url()}")
    daemon.sessions()
    wait_until(lambda: "gets failures from now on" in daemon.log(), what="its first look")
    return daemon


def notices(database):
    return database.rows("SELECT id, kind, sent_at IS NOT NULL AS is_sent FROM memviewd.notices ORDER BY id")


def test_two_daemons_tell_of_a_session_once(t):
    with database_of(t) as database:
        database.apply_schema()
        with Receiver().running() as receiver:
            for _ in range(2):
                serve(t, database, receiver)
            for at in range(5):
                t.write(f"run{at}/job.log", FAILURE)
            wait_until(
                lambda: [row["is_sent"] for row in notices(database)] == ["t"] * 5, what="five messages that were sent"
            )
            t.write("last/job.log", FAILURE)  # when it is sent, what was found before is
            wait_until(lambda: [row["is_sent"] for row in notices(database)] == ["t"] * 6, what="the last message")
            equal((receiver.faults, sorted(receiver.ids())), ([], [row["id"] for row in notices(database)]))


def test_nothing_is_lost_while_the_database_or_the_receiver_is_away(t):
    with database_of(t) as database:
        database.apply_schema()
        with Receiver().running() as receiver:
            port = receiver.port
        daemon = serve(t, database, receiver)
        database.stop()
        t.write("run/job.log", FAILURE)
        wait_until(lambda: "it is tried again" in daemon.log(), what="a failure")
        assert database.password not in daemon.log()
        database.start()
        wait_until(lambda: [row["is_sent"] for row in notices(database)] == ["f"], what="a message that waits")
        with receiver.running(port):
            wait_until(lambda: receiver.taken, what="the message")
            wait_until(lambda: [row["is_sent"] for row in notices(database)] == ["t"], what="that it was taken")
        equal((receiver.faults, receiver.ids()), ([], [row["id"] for row in notices(database)]))


def test_what_the_receiver_never_takes_waits_no_more(t):
    with database_of(t) as database:
        database.apply_schema()
        with Receiver(refusals=[400]).running() as receiver:
            serve(t, database, receiver)
            t.write("a/job.log", FAILURE)
            wait_until(lambda: receiver.refused_ids, what="a refusal")
            t.write("b/job.log", FAILURE)
            wait_until(lambda: len(notices(database)) == 2 and receiver.taken, what="the next message")
            refused = lambda: database.rows(
                "SELECT fault FROM memviewd.notices WHERE sent_at IS NULL AND not_before = 'infinity'"
            )
            wait_until(refused, what="that it is given up")
            assert "answered with status 400" in refused()[0]["fault"], refused()
            equal(
                (receiver.faults, receiver.refused_ids, len(receiver.ids())),
                ([], [id for id in receiver.refused_ids if id not in receiver.ids()], 1),
            )


def test_one_whose_sender_was_killed_is_sent_by_another(t):
    with database_of(t) as database:
        database.apply_schema()
        database.execute(
            "INSERT INTO memviewd.notices (id, kind, body) VALUES ('0123', 'failure', '{\"id\": \"0123\"}'), ('4567', "
            "'failure', '{\"id\": \"4567\"}')"
        )
        database.execute("UPDATE memviewd.notices SET not_before = now() + interval '3 seconds' WHERE id = '0123'")
        with Receiver().running() as receiver:
            serve(t, database, receiver)
            wait_until(lambda: len(receiver.taken) == 2, what="both messages")
            equal((receiver.faults, receiver.ids()), ([], ["4567", "0123"]))


def index(t, database, receiver, *options):
    done = t.run(
        "index",
        t.folder(),
        f"--catalog={database.url}",
        *([f"--notify={receiver.url()}"] if receiver else []),
        *options,
    )
    assert done.returncode == 0, done.stderr
    return done.stderr


def test_an_index_tells_of_what_is_new_to_the_catalog(t):
    with database_of(t) as database:
        with Receiver().running() as receiver:
            t.write("old/job.log", FAILURE)
            index(t, database, None)
            for at in range(6):
                t.write(f"run{at}/job.log", FAILURE)
            for shard in range(3):
                index(t, database, receiver, f"--shard={shard}/3")
            index(t, database, receiver)
            t.write("run0/job.log", FAILURE * 2)
            t.write("old/job.log", FAILURE * 2)
            index(t, database, receiver)
            equal(receiver.faults, [])
            equal(sorted(message["file"] for message in receiver.taken), [f"run{at}/job.log" for at in range(6)])
            known = {
                row["id"]
                for row in database.rows("SELECT id FROM memviewd.rows WHERE kind = 'failure' AND failure = 1")
            }
            assert {message["row_id"] for message in receiver.taken} < known and len(known) == 7, (
                receiver.taken,
                known,
            )


def test_many_hosts_of_a_job_are_one_message(t):
    with database_of(t) as database:
        with Receiver().running() as receiver:
            index(t, database, receiver)
            for at in range(24):
                t.write(f"h{at}/memviewd.json", f'{{"job": "bert", "commit": "c0ffee", "host": "h{at}"}}'.encode())
                t.write(f"h{at}/job.log", FAILURE)
            index(t, database, receiver)
            equal(
                (receiver.faults, [message["hosts"] for message in receiver.delivered.values()]),
                ([], [{"count": 24, "sentence": "24 hosts.", "odd": []}]),
            )
            t.write("h0/job.log", FAILURE * 2)
            index(t, database, receiver)
            equal((len(receiver.delivered), database.value("SELECT count(*) FROM memviewd.notice_hosts")), (1, "24"))


def test_an_index_ends_although_nobody_receives(t):
    with database_of(t) as database:
        with Receiver().running() as receiver:
            pass
        t.write("run/job.log", FAILURE)
        told = index(t, database, receiver)
        assert "1 messages wait in the catalog" in told and "1 rows of 1 files written" in told, told
        with Receiver().running() as receiver:
            database.execute("UPDATE memviewd.notices SET not_before = now()")
            index(t, database, receiver)
            equal([message["file"] for message in receiver.taken], ["run/job.log"])
        done = t.run("index", t.folder(), f"--notify={receiver.url()}")
        assert done.returncode == 2 and "--notify needs --catalog" in done.stderr, done.stderr
