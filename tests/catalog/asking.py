# SPDX-License-Identifier: Apache-2.0
"""What reads the catalog: answers, limits, a database that goes away, passwords that are not told."""

import os
import subprocess

from harness import equal


def ask(t, url, *words, environ=None, typed=None):
    """the lines that tests/catalog/query.c prints"""
    command = [os.path.join(os.path.dirname(t.binary), "catalog", "query"), url, *words]
    done = subprocess.run(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        input=typed,
        text=True,
        timeout=120,
        env={**os.environ, **(environ or {})},
    )
    equal((done.returncode, done.stderr), (0, ""), command)
    return done.stdout.splitlines()


def test_answers_are_texts_and_parameters_stay_values(t, database):
    database.apply_schema()
    for url in (database.url, database.socket_url):
        equal(
            ask(
                t,
                url,
                "SELECT $1::text AS a, $2::bigint + 1 AS b, null AS c, '' AS d",
                "'; DROP SCHEMA memviewd; --",
                "41",
            ),
            ["a\tb\tc\td", "'; DROP SCHEMA memviewd; --\t42\t\\N\t"],
        )
        equal(
            ask(t, url, "SELECT version FROM schema_version WHERE version > 900"), ["version"], "no row, and its head"
        )
        equal(ask(t, url, "SELECT timestamptz '2026-11-26T17:00:00.5Z' AS at"), ["at", "2026-11-26 17:00:00.5+00"])


def test_nothing_can_be_written(t, database):
    database.apply_schema()
    for sql in ("CREATE TABLE memviewd.more (a int)", "DELETE FROM memviewd.rows", "SELECT 1; SELECT 2"):
        (line,) = ask(t, database.url, sql)
        assert line.startswith(("io: ERROR:  cannot execute", "internal: ERROR:  cannot insert multiple commands")), (
            line
        )


def test_too_much_and_too_long(t, database):
    database.apply_schema()
    equal(
        ask(t, database.url, "SELECT repeat('x', 1000) FROM generate_series(1, 100000)", "--", "SELECT 1 AS one"),
        ["limit: the catalog's answer is larger than allowed", "one", "1"],
    )
    database.execute("ALTER ROLE memviewd SET statement_timeout = 200")
    (line,) = ask(t, database.url, "SET statement_timeout = 200", "--", "SELECT pg_sleep(60)")[1:]
    assert line.startswith("limit: ERROR:  canceling statement due to statement timeout"), line
    database.execute("ALTER ROLE memviewd RESET statement_timeout")


def test_a_schema_that_is_not_ours(t, database):
    (line,) = ask(t, database.url, "SELECT 1")
    equal(line, "unsupported: has no rows of memviewd yet: memviewd index --catalog makes them")
    database.apply_schema()
    database.execute("INSERT INTO memviewd.schema_version (version) VALUES (1000)")
    (line,) = ask(t, database.url, "SELECT 1")
    assert line.startswith("unsupported: has version 1000 of the schema, and this memviewd knows "), line


def test_a_database_that_was_restarted(t, database):
    database.apply_schema()
    asked = [
        os.path.join(os.path.dirname(t.binary), "catalog", "query"),
        database.url,
        *["SELECT 1 AS one", "--", "sleep", "--"] * 3,
        "SELECT 1 AS one",
    ]
    with subprocess.Popen(asked, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        told = [process.stdout.readline() for _ in range(2)]
        database.stop()
        process.stdin.write("\n")
        process.stdin.flush()
        told.append(process.stdout.readline())
        database.start()
        told.append(process.communicate("\n\n", timeout=60)[0])
    equal(told[:2], ["one\n", "1\n"])
    assert told[2].startswith("io: connection to server at ") and "refused" in told[2], told[2]
    equal(told[3], "one\n1\n" * 2)


def test_no_password_is_told(t, database):
    database.apply_schema()
    secret = "correct-horse"
    wrong = database.url.replace(database.password, secret)
    for url, environ in (
        (wrong, None),
        (database.url_without_password, {"PGPASSWORD": secret}),
        (wrong.replace(f":{database.port}/", ":1/"), None),
        ("postgresql://memviewd:" + secret + "%@127.0.0.1/x", None),
        (f"host=127.0.0.1 password={secret} nonsense", None),
        (wrong + "?options=" + secret, None),
    ):
        (line,) = ask(t, url, "SELECT 1", environ=environ)
        assert line.startswith(("io: ", "argument: ")) and secret not in line and database.password not in line, line
    equal(
        ask(t, database.url_without_password, "SELECT 1 AS one", environ={"PGPASSWORD": database.password}),
        ["one", "1"],
    )


def test_the_daemon_starts_without_the_database(t, database):
    daemon = t.serve("--demo", "--catalog=" + database.url.replace(str(database.port), "1"))
    equal(daemon.ask("/-/healthy").status, 200)
    assert "; connects to the catalog" in daemon.log() and database.password not in daemon.log(), daemon.log()
    process = t.run("--demo", "--catalog=postgresql://x:secret%@/")
    equal(process.returncode, 2)
    assert "--catalog: is no address of a database" in process.stderr and "secret" not in process.stderr, process.stderr
