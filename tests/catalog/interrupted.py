# SPDX-License-Identifier: Apache-2.0
"""Processes that write into a catalog at the same time, and are ended in between: every file whole or not at all."""

import itertools
import os
import random
import signal
import subprocess
import time

from harness import equal, wait_until
from writing import check_balance, index, told, tree


def test_shards_at_the_same_time_make_the_whole(t, database):
    tree(t, jobs=2, commits=8, hosts=6)
    running = [
        subprocess.Popen(
            [t.binary, "index", "--catalog=" + database.url, t.folder(), "--label=job=one", f"--shard={at}/4"],
            stderr=subprocess.PIPE,
            text=True,
        )
        for at in [0, 1, 2, 3, 0, 1, 2, 3]
    ]  # each of them twice: a scheduler starts again what it thinks dead
    for process in running:
        said = process.communicate(timeout=300)[1]
        equal(process.returncode, 0, said)
    check_balance(database, told(t, t.folder(), "--label=job=one"))


def test_killed_at_any_moment(t, database):
    tree(t, jobs=4, commits=8, hosts=32)  # a batch a second and more of them
    chance, killed = random.Random(7), 0
    whole = time.monotonic()
    index(t, database, t.folder(), "--label=job=one")
    whole = time.monotonic() - whole
    database.execute("TRUNCATE memviewd.files CASCADE; TRUNCATE memviewd.points")
    while killed < 8:
        running = [
            subprocess.Popen(
                [t.binary, "index", "--catalog=" + database.url, t.folder(), "--label=job=one", f"--shard={at}/3"],
                stderr=subprocess.DEVNULL,
            )
            for at in range(3)
        ]
        time.sleep(chance.random() * whole)
        for process in running:
            process.send_signal(signal.SIGKILL)
        hit = sum(process.wait() == -signal.SIGKILL for process in running)
        killed += hit
        check_whole_files(database, "after a kill")
        if hit < 2:  # all was written before: from its beginning, and sooner
            database.execute("TRUNCATE memviewd.files CASCADE; TRUNCATE memviewd.points")
            whole = max(0.7 * whole, 0.1)
    for at in range(3):
        index(t, database, t.folder(), "--label=job=one", f"--shard={at}/3")
    check_balance(database, told(t, t.folder(), "--label=job=one"))


def check_whole_files(database, when):
    equal(
        database.value(
            "SELECT count(*) FROM memviewd.files f WHERE row_count <> (SELECT count(*) FROM "
            "memviewd.rows r WHERE r.file_id = f.file_id)"
        ),
        "0",
        f"a file without all of its rows, {when}",
    )
    equal(
        database.value(
            "SELECT coalesce(sum(row_count), 0) - (SELECT count(*) FROM memviewd.rows WHERE verdict IS "
            "NOT NULL) FROM memviewd.points"
        ),
        "0",
        f"a row that is in no point, or twice, {when}",
    )


def test_ended_before_each_message_to_the_database(t, database):
    """each run goes on where the one before was ended; the last one is whole"""
    tree(t, jobs=1, commits=2, hosts=2)
    index(t, database, t.folder(), "--label=job=one")  # which makes the tables
    database.execute("TRUNCATE memviewd.files CASCADE; TRUNCATE memviewd.points")
    faulty = os.path.join(os.path.dirname(t.binary), "soak", "faulty.so")
    for at in itertools.count(1):
        done = subprocess.run(
            [t.binary, "index", "--catalog=" + database.url, t.folder(), "--label=job=one"],
            capture_output=True,
            text=True,
            timeout=300,
            env={**os.environ, "LD_PRELOAD": faulty, "MEMVIEWD_FAULT": f"send:{at}:1:0"},
        )
        check_whole_files(database, f"before message {at}")
        if done.returncode != 99:
            break
    equal(done.returncode, 0, done.stderr)
    assert at > 10, f"only {at} messages"
    check_balance(database, told(t, t.folder(), "--label=job=one"))


def test_the_database_ends_meanwhile(t, database):
    tree(t, jobs=4, commits=8, hosts=8)
    process = subprocess.Popen(
        [t.binary, "index", "--catalog=" + database.url, t.folder()], stderr=subprocess.PIPE, text=True
    )
    connected = "SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE 'memviewd%'"
    wait_until(
        lambda: process.poll() is not None or database.value(connected) != "0", what="a connection or the end of it all"
    )
    database.stop(signal.SIGQUIT)
    said = process.communicate(timeout=120)[1]
    database.start()
    assert process.returncode in (0, 2) and database.password not in said, said
    assert process.returncode == 0 or "--catalog: " in said, said
    index(t, database, t.folder())
    check_balance(database, told(t, t.folder()))


def test_eight_at_once_make_one_schema(t, database):
    tree(t, jobs=1, commits=1, hosts=1)
    running = [
        subprocess.Popen(
            [t.binary, "index", "--catalog=" + database.url, t.folder()], stderr=subprocess.PIPE, text=True
        )
        for _ in range(8)
    ]
    for process in running:
        said = process.communicate(timeout=300)[1]
        equal(process.returncode, 0, said)
    equal(
        database.value("SELECT count(*) FROM memviewd.schema_version"),
        database.value("SELECT max(version) FROM memviewd.schema_version"),
    )
    check_balance(database, told(t, t.folder()))
