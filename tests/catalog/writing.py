# SPDX-License-Identifier: Apache-2.0
"""memviewd index --catalog: rows as in files, and only what changed is written."""

import json
import os
import re
import shutil
import subprocess

import inputs
from folder_server import FIRST_BLOCK_BYTES, FolderServer, need_libcurl
from harness import equal

JOB = "--label-path={job}/{commit}"


def index(t, database, *arguments, status=0, url=None, environ=None):
    """what it says on the standard error"""
    done = subprocess.run(
        [t.binary, "index", "--catalog=" + (url or database.url), *arguments],
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, **(environ or {})},
    )
    equal(done.returncode, status, done.stderr)
    equal(done.stdout, "")
    return done.stderr


def counts(said):
    """(rows, files) written, files as they were, files gone"""
    found = re.search(
        r"(\d+) rows of (\d+) files written, \d+ of them without a verdict; (\d+) files are as they "
        r"were, (\d+) are gone",
        said,
    )
    assert found, said
    return tuple(map(int, found.groups()))


def told(t, *arguments):
    """the same rows as JSON lines"""
    done = t.run("index", *arguments)
    equal(done.returncode, 0, done.stderr)
    return [json.loads(line) for line in done.stdout.splitlines()]


def kept(database):
    """the rows of the table as JSON lines have them"""
    (row,) = database.rows("SELECT coalesce(json_agg(to_jsonb(r) - 'point_id'), '[]') AS all FROM memviewd.rows r")
    rows = json.loads(row["all"])
    for one in rows:
        if one["modified_at"]:
            whole, _, part = one["modified_at"].removesuffix("+00:00").partition(".")
            one["modified_at"] = f"{whole}.{part:0<6}Z"
    return rows


def by_id(rows):
    for row in rows:
        row["labels"] = json.loads(row["labels"]) if isinstance(row["labels"], str) else row["labels"]
    return {row["id"]: row for row in rows}


def check_balance(database, rows):
    """the three tables agree with each other, and with the rows that there should be"""
    equal(by_id(kept(database)), by_id(rows))
    equal(
        database.rows(
            "SELECT file_id FROM memviewd.files f WHERE row_count <> (SELECT count(*) FROM memviewd.rows "
            "r WHERE r.file_id = f.file_id)"
        ),
        [],
    )
    points = {row["point_id"]: row for row in database.rows("SELECT * FROM memviewd.points")}
    database.execute(
        "SELECT memviewd.points_refresh(array(SELECT point_id FROM memviewd.points UNION SELECT point_id "
        "FROM memviewd.rows))"
    )
    equal(points, {row["point_id"]: row for row in database.rows("SELECT * FROM memviewd.points")}, "points made anew")
    groups = {}
    for row in rows:
        if row["verdict"] is not None:
            groups.setdefault(
                tuple(row[name] for name in ("job", "module", "kind", "memory_space", "configuration", "commit")), []
            ).append(row)
    equal(len(points), len(groups))
    for point in points.values():
        group = groups[
            tuple(point[name] for name in ("job", "module", "kind", "memory_space", "configuration", "commit"))
        ]
        largest = max((row["needed_bytes"] for row in group if row["needed_bytes"] is not None), default=None)
        least = min((row["needed_bytes"] for row in group if row["needed_bytes"] is not None), default=None)
        equal(
            (point["row_count"], point["needed_bytes"], point["needed_min_bytes"]),
            (str(len(group)), *(None if each is None else str(each) for each in (largest, least))),
        )
        (row,) = [row for row in group if row["id"] == point["row_id"]]
        for name in point.keys() & row.keys():
            equal(point[name], None if row[name] is None else str(row[name]), name)
        equal(point["host_count"], str(len({row["host"] for row in group} - {None})))


def tree(t, jobs=3, commits=4, hosts=3):
    """traces of several jobs, commits and hosts; how many files"""
    for job in range(jobs):
        for commit in range(commits):
            for host in range(hosts):
                proto = inputs.hlo_proto("jit_train", 4 + job + commit)
                t.write(
                    f"job{job}/c{commit}/plugins/profile/run/host{host}.xplane.pb",
                    inputs.xspace({("jit_train", 5): proto}),
                )
    return jobs * commits * hosts


def test_rows_are_those_of_the_files(t, database):
    labels = ('--label=note=a\tb\\c\n"é" \\N', "--label-path={job}/{part}")
    equal(counts(index(t, database, t.fixtures, *labels))[2:], (0, 0))
    rows = told(t, t.fixtures, *labels)
    check_balance(database, rows)
    columns = database.rows(
        "SELECT column_name AS name, data_type AS type FROM information_schema.columns WHERE "
        "table_schema = 'memviewd' AND table_name = 'rows' "
        "AND is_generated = 'NEVER' ORDER BY ordinal_position"
    )
    heads = t.run("index", "--format=csv", t.fixtures).stdout.splitlines()[0].split(",")
    equal(
        sorted(column["name"] for column in columns),
        sorted(heads),
        "a column that the schema lacks wants a file in server/fleet/catalog/schema",
    )
    exact = {
        "schema_version": "integer",
        "failure": "bigint",
        "modified_at": "timestamp with time zone",
        "labels": "jsonb",
    }
    for column in columns:
        equal(
            column["type"],
            exact.get(column["name"], "bigint" if column["name"].endswith(("_bytes", "_count")) else "text"),
            column["name"],
        )
    points = {
        row["name"]
        for row in database.rows(
            "SELECT column_name AS name FROM information_schema.columns WHERE "
            "table_schema = 'memviewd' AND table_name = 'points'"
        )
    }
    equal({name for name in heads if re.match("(where|category|pattern)_", name)} - points, set(), "not in points")


def test_what_is_as_it_was_is_not_read(t, database):
    count = tree(t)
    equal(counts(index(t, database, t.folder(), JOB))[1:], (count, 0, 0))
    equal(counts(index(t, database, t.folder(), JOB))[:3], (0, 0, count))
    changed = t.write(
        "job1/c2/plugins/profile/run/host1.xplane.pb",
        inputs.xspace({("jit_train", 5): inputs.hlo_proto("jit_train", 40)}),
    )
    os.utime(changed, ns=(0, 1_700_000_000_123_456_789))
    # What is said of a file, all files of its session say together: so all three of them are read again.
    equal(counts(index(t, database, t.folder(), JOB))[1:], (3, count - 3, 0))
    check_balance(database, told(t, t.folder(), JOB))
    equal(
        database.value("SELECT modified_at FROM memviewd.rows WHERE modified_at < '2024-01-01'"),
        "2023-11-14 22:13:20.123456+00",
    )
    equal(counts(index(t, database, t.folder(), JOB, "--label=team=x"))[1:], (count, 0, 0), "other labels")
    check_balance(database, told(t, t.folder(), JOB, "--label=team=x"))


def test_where_folders_are_left_out_nothing_is_taken_for_gone(t, database):
    count = tree(t, jobs=1)
    index(t, database, t.folder(), JOB)
    shutil.rmtree(os.path.join(t.folder(), "job0", "c0"))
    t.write("/".join(["deep"] * 45 + ["host0.xplane.pb"]), b"")
    done = index(t, database, t.folder(), JOB)
    assert (
        "more or deeper folders than are looked at; the rest is left out: files that are not met are not taken "
        "for gone" in done
    ), done
    equal(counts(done)[2:], (count - 3, 0))
    shutil.rmtree(os.path.join(t.folder(), "deep"))
    equal(counts(index(t, database, t.folder(), JOB))[2:], (count - 3, 3))


def test_by_a_unix_socket_a_name_and_tls(t, database):
    count = tree(t, jobs=1)
    url = database.url.replace("@127.0.0.1:", "@localhost:")
    equal(counts(index(t, database, t.folder(), url=database.socket_url))[1], count)
    equal(counts(index(t, database, t.folder(), url=url))[2], count)
    said = index(t, database, t.folder(), url=url + "?sslmode=require", status=2)
    assert "server does not support SSL" in said, said
    key, certificate = (os.path.join(t.folder("tls"), name) for name in ("key", "pem"))
    subprocess.run(
        [
            "openssl",
            "req",
            "-x509",
            "-newkey",
            "rsa:2048",
            "-nodes",
            "-days",
            "2",
            "-subj",
            "/CN=localhost",
            "-addext",
            "subjectAltName=DNS:localhost",
            "-keyout",
            key,
            "-out",
            certificate,
        ],
        check=True,
        stderr=subprocess.DEVNULL,
    )
    database.use_tls(certificate, key)
    try:
        equal(
            counts(index(t, database, t.folder(), url=url + f"?sslmode=verify-full&sslrootcert={certificate}"))[2],
            count,
        )
        equal(counts(index(t, database, t.folder(), url=url + "?sslmode=require"))[2], count)
        # another name
        index(t, database, t.folder(), url=database.url + f"?sslmode=verify-full&sslrootcert={certificate}", status=2)
    finally:
        database.execute("ALTER SYSTEM SET ssl = off")
        database.execute("SELECT pg_reload_conf()")


def test_files_that_are_gone_stay_as_rows_and_are_told(t, database):
    count = tree(t)
    index(t, database, t.folder(), JOB)
    rows = told(t, t.folder(), JOB)
    shutil.rmtree(os.path.join(t.folder(), "job0"))
    equal(sum(counts(index(t, database, t.folder(), JOB, f"--shard={at}/2"))[3] for at in range(2)), count // 3)
    equal(counts(index(t, database, t.folder(), JOB))[3], 0, "told once")
    # One that another process wrote since is not gone: this one's scan was before that.
    database.execute(
        "UPDATE memviewd.files SET gone_at = NULL, indexed_at = now() + interval '1 hour' WHERE file LIKE 'job0/c0/%'"
    )
    index(t, database, t.folder(), JOB)
    equal(database.value("SELECT count(*) FROM memviewd.files WHERE gone_at IS NOT NULL"), str(count // 3 - 3))
    database.execute("UPDATE memviewd.files SET gone_at = now() WHERE file LIKE 'job0/c0/%'")
    check_balance(database, rows)
    equal(database.value("SELECT count(*) FROM memviewd.files WHERE gone_at IS NOT NULL"), str(count // 3))
    tree(t, jobs=1)
    equal(counts(index(t, database, t.folder(), JOB))[1:], (count // 3, count * 2 // 3, 0))
    equal(database.value("SELECT count(*) FROM memviewd.files WHERE gone_at IS NOT NULL"), "0")
    # A disk that is not mounted, and a folder that cannot be listed, are no files that are gone.
    os.rename(t.folder(), t.folder() + "-away")
    said = index(t, database, t.folder(), JOB)
    assert "holds no profile: files that are not met are not taken for gone" in said and counts(said)[3] == 0, said
    os.rmdir(t.folder())
    os.rename(t.folder() + "-away", t.folder())
    shutil.rmtree(os.path.join(t.folder(), "job2"))
    index(t, database, t.folder(), JOB)
    equal(database.value("SELECT memviewd.forget(now() - interval '1 hour')"), "0")
    equal(database.value("SELECT memviewd.forget(now())"), str(count // 3))
    check_balance(database, told(t, t.folder(), JOB))


def test_a_run_over_a_folder_forgets_nothing_of_the_one_above(t, database):
    """what no row has: logs without a failure, labels; all of it is forgotten by a run over its own folder alone"""

    def facts():
        return [
            (row["file"], row["kind"])
            for row in database.rows("SELECT file, kind FROM memviewd.facts ORDER BY file, kind")
        ]

    for folder in ("above", "above/inner"):
        t.write(f"{folder}/quiet.log", b"step 1\nstep 2\n")
        t.write(f"{folder}/memviewd.json", b'{"job": "bert"}')
        t.write(
            f"{folder}/plugins/profile/run/host.xplane.pb",
            inputs.xspace({("jit_train", 5): inputs.hlo_proto("jit_train", 4)}),
        )
    index(t, database, os.path.join(t.folder(), "above"))
    all_of_them = facts()
    assert len(all_of_them) >= 4, all_of_them
    index(t, database, os.path.join(t.folder(), "above", "inner"))
    equal(facts(), all_of_them)
    os.remove(os.path.join(t.folder(), "above", "quiet.log"))
    index(t, database, os.path.join(t.folder(), "above"), os.path.join(t.folder(), "above", "inner"))
    assert 0 < len(facts()) < len(all_of_them), (facts(), all_of_them)


def test_a_file_that_others_of_its_session_stand_for_now(t, database):
    profile = inputs.profile([((("f", "/train.py", 3),), (1, 100), {"kind": "buffer", "device": "d:0"})])
    t.write("run/memory1.prof", profile)
    t.write("dump/module_0001.jit_f.before_optimizations.hlo.pb", inputs.hlo_proto("jit_f"))
    equal(counts(index(t, database, t.folder(), JOB)), (2, 2, 0, 0))
    check_balance(database, told(t, t.folder(), JOB))
    newer = t.write("run/memory2.prof", profile)
    t.write("dump/module_0001.jit_f.after_optimizations.hlo.pb", inputs.hlo_proto("jit_f"))
    equal(counts(index(t, database, t.folder(), JOB)), (2, 4, 0, 0), "two of them without a row, none gone")
    check_balance(database, told(t, t.folder(), JOB))
    equal(counts(index(t, database, t.folder(), JOB)), (0, 0, 4, 0))
    rows = kept(database)
    os.remove(newer)
    equal(counts(index(t, database, t.folder(), JOB)), (1, 1, 2, 1))
    check_balance(database, [row for row in rows if row["file"] == "run/memory2.prof"] + told(t, t.folder(), JOB))


UNREAD = "%d files could not be read now, or not with all that belongs to them; %d of them keep the rows that they had"


def test_what_cannot_be_read_now_is_read_by_the_next_run(t, database):
    need_libcurl(t)
    large = inputs.xspace({("jit_train", 5): inputs.hlo_proto("jit_train", 4)}, padding=4 * FIRST_BLOCK_BYTES)
    for host in range(2):
        t.write(f"one/c1/plugins/profile/run/host{host}.xplane.pb", large if host else large[:2000])
    # the row of the last, which can be read, is without the first
    for at, padding in enumerate((4 * FIRST_BLOCK_BYTES, 0)):
        t.write(
            f"two/c1/profiles/memory{at}.prof",
            inputs.profile(
                [((("f", "/train.py", 3),), (1, 100), {"kind": "buffer", "device": "d:0"})], padding=padding
            ),
        )
    with FolderServer(t.folder()) as server:
        for status, code in ((403, "io"), (404, "changed")):
            database.execute("DROP SCHEMA IF EXISTS memviewd CASCADE")
            server.refuses = status
            said = index(t, database, server.url, JOB)
            assert counts(said)[1] == 3 and UNREAD % (2, 0) in said, said
            (row,) = database.rows(f"SELECT file, error FROM memviewd.rows WHERE error_code = '{code}'")
            assert row["file"].endswith("host1.xplane.pb") and row["error"], row
            server.refuses = None
            equal(counts(index(t, database, server.url, JOB))[1:], (2, 1, 0))
            rows = told(t, server.url, JOB)
            check_balance(database, rows)
            assert code not in {one["error_code"] for one in rows}, rows


def test_what_was_read_before_stands_while_it_cannot_be_read(t, database):
    need_libcurl(t)
    trace = t.write(
        "one/c1/plugins/profile/run/host0.xplane.pb",
        inputs.xspace({("jit_train", 5): inputs.hlo_proto("jit_train", 4)}, padding=4 * FIRST_BLOCK_BYTES),
    )
    t.write(
        "one/c1/profiles/memory1.prof",
        inputs.profile(
            [((("f", "/train.py", 3),), (1, 100), {"kind": "buffer", "device": "d:0"})], padding=4 * FIRST_BLOCK_BYTES
        ),
    )
    t.write("one/c1/small/module_0001.jit_f.before_optimizations.hlo.pb", inputs.hlo_proto("jit_f"))
    with FolderServer(t.folder()) as server:

        def looked(*expected):
            said = index(t, database, server.url, JOB)
            equal(counts(said)[1:], expected, said)
            return said

        looked(3, 0, 0)
        rows = told(t, server.url, JOB)
        check_balance(database, rows)
        server.refuses = 403
        database.execute("UPDATE memviewd.files SET state = 'old'")
        assert UNREAD % (2, 2) + ": the next" in looked(1, 0, 0), "the small one was read"
        check_balance(database, rows)
        server.refuses = None
        looked(2, 1, 0)
        check_balance(database, rows)
        looked(0, 3, 0)
        # One that was gone and is there again is not gone, although it cannot be read.
        os.rename(trace, trace + ".away")
        looked(0, 2, 1)
        os.rename(trace + ".away", trace)
        server.refuses = 403
        assert UNREAD % (1, 1) in looked(0, 2, 0)
        equal(database.value("SELECT count(*) FROM memviewd.files WHERE gone_at IS NOT NULL"), "0")
        check_balance(database, rows)


def test_of_a_file_with_two_problems_one_row_tells(t, database):
    count = tree(t, jobs=1, commits=1)
    os.makedirs(os.path.join(t.folder(), "bad"))
    os.symlink("nowhere", os.path.join(t.folder(), "bad", "h.xplane.pb"))
    t.write("bad/memviewd.json", b"{")
    equal(counts(index(t, database, t.folder()))[:2], (count + 1, count + 1))
    rows = told(t, t.folder())
    (row,) = [row for row in rows if row["file"] == "bad/h.xplane.pb"]
    assert row["kind"] == "nothing" and row["error"].startswith("bad/memviewd.json: "), row
    check_balance(database, rows)


def test_no_memory_for_the_output_is_told(t, _):
    t.write("memory1.prof", inputs.profile([((("f", "/train.py", 3),), (1, 100), {"kind": "buffer", "device": "d:0"})]))
    faulty = os.path.join(os.path.dirname(t.binary), "soak", "faulty.so")
    said = [
        subprocess.run(
            [t.binary, "index", "--format=parquet", t.folder()],
            capture_output=True,
            timeout=300,
            check=False,
            env={**os.environ, "LD_PRELOAD": faulty, "MEMVIEWD_FAULT": f"alloc:{at}:1:2"},
        ).stderr.decode()
        for at in range(1, 60, 3)
    ]
    equal(
        {line for one in said for line in one.splitlines() if ": standard output: " in line},
        {"memviewd: standard output: there is no memory"},
    )


def test_hostile_names(t, database):
    name = "a\\N\t\\.\n\x01'\";--é"
    trace = inputs.xspace({("jit_" + "x" * 5000, 5): inputs.hlo_proto("jit_" + "x" * 5000, 4)})
    t.write(os.path.join(name, "plugins/profile/run", "h\\t1.xplane.pb"), trace)
    path = os.path.join(os.fsencode(t.folder()), b"bad-\xff\xfe", b"plugins", b"profile", b"run")
    os.makedirs(path)
    with open(os.path.join(path, b"h.xplane.pb"), "wb") as file:
        file.write(trace)
    equal(counts(index(t, database, t.folder(), JOB))[1], 2)
    check_balance(database, told(t, t.folder(), JOB))


def test_a_schema_that_is_newer_is_left_alone(t, database):
    tree(t, jobs=1, commits=1, hosts=1)
    index(t, database, t.folder())
    index(t, database, t.folder())
    database.execute("INSERT INTO memviewd.schema_version (version) VALUES (1000)")
    said = index(t, database, t.folder(), status=2)
    assert "has version 1000 of the schema, and this memviewd knows " in said, said


def test_wrong_usage(t, database):
    secret = "correct-horse"
    for arguments, word in (
        ([f"--catalog=postgresql://x:{secret}%@/"], "is no address of a database"),
        (["--catalog=" + database.url, "--out=/tmp/x"], "exclude"),
        (["--catalog=" + database.url.replace(database.password, secret)], "password authentication failed"),
    ):
        done = t.run("index", t.fixtures, *arguments)
        equal(done.returncode, 2, done.stderr)
        assert word in done.stderr and secret not in done.stderr and database.password not in done.stderr, done.stderr
