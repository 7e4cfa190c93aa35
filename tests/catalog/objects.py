# SPDX-License-Identifier: Apache-2.0
"""memviewd index --objects: rows of objects that others name, the same in any order and any number of processes; and
the examples of docs/operate/fleet.md and docs/operate/deploy, each run as it is written."""

import base64
import json
import os
import random
import re
import shutil
import subprocess
import urllib.parse

import rounds
import tools
from folder_server import need_libcurl
from harness import FIXTURES, ROOT, equal

DEPLOY = os.path.join(ROOT, "docs", "operate", "deploy")


def profiles(t):
    """a folder of several kinds, and its paths"""
    folder = t.folder("profiles")
    for name in ("dumps", "programs", "memprof", "torch", "demo"):
        shutil.copytree(os.path.join(FIXTURES, name), os.path.join(folder, "ann", name, "c1"))
    os.makedirs(os.path.join(folder, "quiet"))
    with open(os.path.join(folder, "quiet", "train.log"), "w", encoding="utf-8") as file:
        file.write("step 1\n")
    return folder, sorted(os.path.join(at, name) for at, _, names in os.walk(folder) for name in names)


def index(t, lines, *more, status=0):
    done = subprocess.run(
        [t.binary, "index", "--objects=-", *more],
        input="".join(line + "\n" for line in lines),
        capture_output=True,
        text=True,
        timeout=300,
    )
    equal(done.returncode, status, done.stderr)
    return done.stdout.splitlines(), done.stderr


def test_any_order_any_process_twice(t, _):
    folder, paths = profiles(t)
    rows, said = index(t, paths, folder)
    assert len(rows) > 30 and re.search(r"[1-9]\d* of other kinds, 0 removed, 0 that could not be taken", said), said
    equal(len({json.loads(row)["id"] for row in rows}), len(rows), "ids")
    shuffled = random.Random(7).sample(paths, len(paths))
    equal(sorted(index(t, shuffled, folder)[0]), sorted(rows))
    parts = [row for at in range(3) for row in index(t, shuffled[at::3] + shuffled[at::5], folder)[0]]
    equal(sorted(set(parts)), sorted(rows))
    whole = {row["id"]: row for row in map(json.loads, t.run("index", folder).stdout.splitlines())}
    mine = {row["id"]: row for row in map(json.loads, rows)}
    equal([whole[one]["file"] for one in whole.keys() - mine.keys()], [], "rows of the folder that an object lacks")
    for one in whole.keys() & mine.keys():
        for name in ("file_id", "logdir", "file", "kind", "job", "labels"):
            equal(mine[one][name], whole[one][name], name)


def test_one_path_has_one_id_however_it_is_spelled(t, _):
    folder, paths = profiles(t)
    (path,) = [path for path in paths if path.endswith("memory9.prof") and "memprof" in path]
    inner = os.path.relpath(path, folder)
    made = {}
    for spelling in (
        path,
        f"file://{path}",
        f"{folder}//{inner}",
        f"{folder}/./{inner}",
        f"{folder}/quiet/../{inner}",
        os.path.relpath(path, os.getcwd()),
    ):
        for base in (folder, folder + "/", f"{folder}/./", os.path.join(folder, "ann"), "/"):
            (row,) = index(t, [spelling], base)[0]
            made.setdefault(json.loads(row)["id"], []).append((spelling, base))
    for base in (path, f"file://{path}", f"{folder}/quiet/../{inner}", os.path.dirname(path)):
        rows = [json.loads(row) for row in t.run("index", base).stdout.splitlines()]
        made.setdefault([row["id"] for row in rows if row["file"].endswith("memory9.prof")][0], []).append(base)
    equal(len(made), 1, made)


def test_labels_are_those_of_the_folder(t, _):
    folder, paths = profiles(t)
    with open(os.path.join(folder, "ann", "memviewd.json"), "w", encoding="utf-8") as file:
        json.dump({"cluster": "eu"}, file)
    rows, _ = index(t, paths, folder, "--label-path={user}/{job}/{commit}")
    equal(
        {(row["user_name"], row["commit"], row["labels"]) for row in map(json.loads, rows)},
        {
            (
                "ann",
                "c1",
                json.dumps({"cluster": "eu", "commit": "c1", "job": job, "user": "ann"}, separators=(",", ":")),
            )
            for job in ("dumps", "programs", "memprof", "torch", "demo")
        },
    )


def test_bad_lines_are_named_and_the_rest_goes_on(t, _):
    folder, paths = profiles(t)
    good = [path for path in paths if path.endswith(".prof")][0]
    lines = [
        good,
        folder + "/gone.prof",
        "",
        "s3://other/x.prof",
        "az://a/b.prof",
        "{",
        '{"a": 1}',
        "/etc/passwd.log",
        folder + "/quiet",
        "x\0y",
        "https://u:p@h/x.prof",
        "z.prof",
        good,
    ]
    rows, said = index(t, lines, folder, status=2)
    equal(len(rows), 2)
    for number, reason in (
        (2, "no such file or folder"),
        (4, "lies below none of the paths"),
        (5, "Azure storage is not read"),
        (6, "is no JSON"),
        (7, "JSON that is no event"),
        (8, "lies below none"),
        (10, "holds a NUL"),
        (11, "lies below none"),
        (12, "lies below none"),
    ):
        assert re.search(rf"(?m)^memviewd: line {number}: .*{reason}", said), (number, reason, said)
    assert "line 1:" not in said and "line 3:" not in said and "line 13:" not in said, said
    for more, reason in (
        (("--catalog=postgresql://h/d",), "excludes"),
        (("--shard=0/2",), "excludes"),
        ((), "wants a PATH"),
    ):
        done = subprocess.run(
            [t.binary, "index", "--objects=-", *more, *([folder] if more else [])],
            input="",
            capture_output=True,
            text=True,
            timeout=60,
        )
        equal(done.returncode, 2)
        assert reason in done.stderr, done.stderr


def test_a_link_stays_below_the_path(t, _):
    folder, paths = profiles(t)
    path = [path for path in paths if path.endswith("memory9.prof") and "memprof" in path][0]
    shutil.copy(path, os.path.join(t.folder("elsewhere"), "other.prof"))
    for target, name in (
        (os.path.relpath(path, folder), "within.prof"),
        ("../elsewhere/other.prof", "out.prof"),
        (t.folder("elsewhere"), "away"),
    ):
        os.symlink(target, os.path.join(folder, name))
    equal(index(t, [f"{folder}/within.prof"], folder)[0], index(t, [path], folder)[0])
    for name in ("out.prof", "away/other.prof"):
        rows, said = index(t, [f"{folder}/{name}"], folder, status=2)
        equal(rows, [])
        assert re.search(rf"line 1: {folder}/{name}: a link leads out of the path", said), said
    (row,) = index(t, [f"{folder}/out.prof"], "/")[0]  # nothing lies outside of that
    equal(json.loads(row)["file"], f"{folder}/out.prof"[1:])


def test_an_address_with_dots_is_refused(t, _):
    need_libcurl(t)
    base = "https://127.0.0.1:1/mine"
    for inner in ("../theirs/x.prof", "%2e%2E/theirs/x.prof", "a/./x.prof", "..%2ftheirs/x.prof"):
        _, said = index(t, [f"{base}/{inner}"], base, status=2)
        assert said.startswith(f'memviewd: line 1: {base}/{inner}: has "." or ".." between slashes'), said


def test_lines_without_end(t, _):
    folder, paths = profiles(t)
    good = [path for path in paths if path.endswith(".prof")][0]
    rows, said = index(t, ["/a" * 1_000_000, "./" * 1_000_000 + "x.prof", good], folder, status=2)
    equal(len(rows), 1)
    for number in (1, 2):
        assert re.search(rf"(?m)^memviewd: line {number}: .*: is too long for a path$", said), said
    many_bytes = 128 << 20
    with open(os.path.join(t.folder("work"), "lines"), "wb") as file:
        file.truncate(many_bytes)  # of zeros that take no room
        file.seek(many_bytes)
        file.write(f"\n{good}".encode())
    process = subprocess.Popen(
        [t.binary, "index", f"--objects={file.name}", folder],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    with process.stderr:
        said = process.stderr.read()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    equal(process.returncode, 2, said)
    assert "line 1: is longer than 4 MiB" in said and "1 rows of 1 objects" in said, said
    assert used.ru_maxrss * 1024 < many_bytes, used.ru_maxrss


def s3_event(key, name="ObjectCreated:Put"):
    return {
        "Records": [
            {"eventName": name, "s3": {"bucket": {"name": "b"}, "object": {"key": urllib.parse.quote_plus(key)}}}
        ]
    }


def test_events_name_their_objects(t, _):
    key = "ann/job a/h+1/é.txt"
    events = [
        s3_event(key),
        {"Type": "Notification", "Message": json.dumps(s3_event(key))},
        {"Body": json.dumps({"Message": json.dumps(s3_event(key))})},
        {"Records": [{"body": json.dumps(s3_event(key))}]},
        {"Records": [{"Sns": {"Message": json.dumps(s3_event(key))}}]},
        {"detail-type": "Object Created", "detail": {"bucket": {"name": "b"}, "object": {"key": key}}},
    ]
    gcs = [
        {"kind": "storage#object", "bucket": "b", "name": key},
        {"attributes": {"bucketId": "b", "objectId": key, "eventType": "OBJECT_FINALIZE"}},
        {
            "message": {
                "attributes": {"bucketId": "b", "objectId": key, "eventType": "OBJECT_FINALIZE"},
                "data": base64.b64encode(b"{}").decode(),
            }
        },
    ]
    for scheme, one in [("s3", event) for event in events] + [("gs", event) for event in gcs]:
        _, said = index(t, [json.dumps(one)], t.folder(), status=2)
        assert said.startswith(f"memviewd: line 1: {scheme}://b/{key}: lies below none"), (one, said)
    removed = [
        s3_event(key, "ObjectRemoved:Delete"),
        {"detail-type": "Object Deleted", "detail": {"bucket": {"name": "b"}, "object": {"key": key}}},
        {"attributes": {"bucketId": "b", "objectId": key, "eventType": "OBJECT_DELETE"}},
    ]
    _, said = index(
        t, [json.dumps(one) for one in removed] + ['{"Event": "s3:TestEvent", "Service": "Amazon S3"}'], t.folder()
    )
    assert "0 rows of 0 objects; 0 of other kinds, 3 removed, 0 that could not be taken" in said, said
    deep = s3_event(key)
    for _ in range(8):
        deep = {"Message": json.dumps(deep)}
    index(t, [json.dumps(deep)], t.folder(), status=2)


# ---- engines ----


def examples():
    """{word: command} of the section in fleet.md"""
    with open(os.path.join(ROOT, "docs", "operate", "fleet.md"), encoding="utf-8") as file:
        section = re.search(r"(?ms)^## One object at a time$(.*?)^## ", file.read())[1]
    commands = re.findall(r"(?m)^    (.+(?:\n        .+)*)", section)
    return {
        word: command
        for command in commands
        for word in ("xargs", "parallel", "duckdb")
        if re.search(rf"\b{word}\b", command)
    }


def run_here(t, command, **environ):
    folder = t.folder("bin")
    if not os.path.exists(f"{folder}/memviewd"):
        os.symlink(t.binary, f"{folder}/memviewd")
    done = subprocess.run(
        ["bash", "-euc", command.replace("/profiles", t.folder("profiles"))],
        capture_output=True,
        text=True,
        cwd=t.folder("work"),
        timeout=300,
        env={**os.environ, "PATH": f"{folder}:{os.environ['PATH']}", **environ},
    )
    equal(done.returncode, 0, done.stderr)
    return done.stdout


def made(t):
    folder = t.folder("work")
    return sorted(
        line
        for name in os.listdir(folder)
        if name.endswith(".ndjson")
        for line in open(os.path.join(folder, name), encoding="utf-8")
    )


def expected(t, paths, folder, *more):
    return sorted(row + "\n" for row in index(t, paths, folder, *more)[0])


def in_parts(command):
    """the same for so few objects that several processes share them"""
    return command.replace("500", "5")


def test_xargs(t, _):
    folder, paths = profiles(t)
    run_here(t, in_parts(examples()["xargs"]))
    equal(made(t), expected(t, paths, folder))
    assert len(os.listdir(t.folder("work"))) > 1, os.listdir(t.folder("work"))


def test_parallel(t, _):
    folder, paths = profiles(t)
    run_here(t, in_parts(examples()["parallel"]))
    equal(made(t), expected(t, paths, folder))
    assert len(os.listdir(t.folder("work"))) > 1, os.listdir(t.folder("work"))


def test_slurm(t, _):
    folder, paths = profiles(t)
    t.write("../work/objects.txt", "".join(path + "\n" for path in paths).encode())
    with open(os.path.join(DEPLOY, "objects-slurm.sh"), encoding="utf-8") as file:
        script = file.read()
    first, last = map(int, re.search(r"(?m)^#SBATCH --array=(\d+)-(\d+)$", script).groups())
    for at in [*range(first, last + 1), first]:  # one that is requeued writes the same once more
        run_here(t, script, SLURM_ARRAY_TASK_ID=str(at), SLURM_ARRAY_TASK_COUNT=str(last + 1))
    equal(made(t), expected(t, paths, folder, "--label-path={user}/{job}/{commit}"))


def test_kubernetes(t, _):
    """each pod takes lines from a queue until it is empty; here the queue is a folder of messages"""
    folder, paths = profiles(t)
    parse = "import json, sys, yaml; print(json.dumps(list(yaml.safe_load_all(open(sys.argv[1])))))"
    (job,) = tools.ask(parse, os.path.join(DEPLOY, "objects-kubernetes.yaml"))
    equal((job["apiVersion"], job["kind"], job["spec"]["completionMode"]), ("batch/v1", "Job", "Indexed"))
    (container,) = job["spec"]["template"]["spec"]["containers"]
    equal(container["command"][:2], ["sh", "-euc"])
    t.write("../work/queue", "".join(path + "\n" for path in paths).encode())
    count = job["spec"]["completions"]
    stand_in = os.path.join(t.folder("bin"), "next-objects")
    with open(stand_in, "w", encoding="utf-8") as file:
        file.write(f"#!/bin/sh\nawk \"NR % {count} == $JOB_COMPLETION_INDEX\" '{t.folder('work')}/queue'\n")
    os.chmod(stand_in, 0o755)
    acknowledge = os.path.join(t.folder("bin"), "ack-objects")
    with open(acknowledge, "w", encoding="utf-8") as file:
        file.write(f"#!/bin/sh\ncat \"$1\" >> '{t.folder('work')}/done'\n")
    os.chmod(acknowledge, 0o755)
    script = (
        container["command"][2]
        .replace("/tmp/lines", t.folder("work") + "/lines")
        .replace("/rows/", t.folder("work") + "/")
    )
    for at in range(count):
        run_here(t, script, JOB_COMPLETION_INDEX=str(at), POD_NAME=f"memviewd-objects-{at}")
    equal(made(t), expected(t, paths, folder))
    with open(os.path.join(t.folder("work"), "done"), encoding="utf-8") as file:
        equal(sorted(file.read().split()), sorted(paths))


def test_duckdb_reads_them_each_once(t, _):
    folder, paths = profiles(t)
    rows = expected(t, paths, folder)
    for name, lines in (("a", rows[::2]), ("b", rows[1::2]), ("again", rows[:7])):
        t.write(f"../work/rows-{name}.ndjson", "".join(lines).encode())
    sql = re.search(r'duckdb -c "(.+)"$', examples()["duckdb"], re.S)[1]
    (count,) = tools.ask(
        'import duckdb, json, sys; duckdb.sql(sys.argv[1]); print(json.dumps(duckdb.sql("SELECT count(*), '
        "count(DISTINCT id) FROM 'rows.parquet'\").fetchall()))",
        sql,
        folder=t.folder("work"),
    )
    equal(count, [len(rows), len(rows)])


def test_a_catalog_of_before_has_the_new_ids(t, database):
    folder, _ = profiles(t)
    with open(os.path.join(folder, "ann", "job.log"), "w", encoding="utf-8") as file:
        file.write("RESOURCE_EXHAUSTED: Out of memory while trying to allocate 2147483648 bytes.\n")
    run = [t.binary, "index", folder, os.path.join(folder, "ann"), f"--catalog={database.url}"]
    equal(subprocess.run(run, capture_output=True, timeout=300, check=False).returncode, 0)
    # As there were no configurations, points are those without one.
    database.execute(
        "UPDATE memviewd.rows SET configuration = NULL; SELECT memviewd.points_refresh(array(SELECT point_id FROM "
        "memviewd.rows UNION SELECT point_id FROM memviewd.points))"
    )
    ids = (
        "SELECT file_id, file, kind, CASE WHEN kind = 'module' THEN '' ELSE id END AS id FROM memviewd.rows ORDER "
        "BY file_id, kind, failure, module"
    )
    before, points = database.rows(ids), "SELECT point_id, row_count FROM memviewd.points ORDER BY point_id"
    points_before = database.rows(points)
    assert len({row["kind"] for row in before}) >= 4, before
    rounds.as_of_version(database, 5)
    database.execute(
        "ALTER TABLE memviewd.rows DROP CONSTRAINT rows_file_id_fkey; UPDATE memviewd.files SET file_id = "
        "md5(file_id); "
        "UPDATE memviewd.rows SET file_id = md5(file_id), id = md5(id); UPDATE memviewd.points SET row_id = "
        "md5(row_id); "
        # the same files below another root, as each root had ids of its own
        f"INSERT INTO memviewd.files SELECT md5(file_id), '{folder}/ann', substr(file, 5), file_bytes, modified_at, "
        f"content_sha256, state, row_count, indexed_at - interval '1 day' "
        f"FROM memviewd.files WHERE logdir = '{folder}' AND file LIKE 'ann/%'; "
        "ALTER TABLE memviewd.rows ADD CONSTRAINT rows_file_id_fkey FOREIGN KEY (file_id) REFERENCES memviewd.files "
        "ON DELETE CASCADE"
    )
    failure = database.value("SELECT id FROM memviewd.rows WHERE kind = 'failure' AND file LIKE '%job.log'")
    database.execute(f"INSERT INTO memviewd.notices (id, kind, body) VALUES ('{failure}', 'failure', '{{}}')")
    done = subprocess.run(run, capture_output=True, text=True, timeout=300, check=False)
    equal(done.returncode, 0, done.stderr)
    assert "memviewd: 0 rows of 0 files written" in done.stderr and ", 0 are gone" in done.stderr, done.stderr
    equal(database.rows(ids), before)
    equal(database.rows(points), points_before)
    equal(database.rows("SELECT count(*) AS n FROM memviewd.notices JOIN memviewd.rows USING (id)"), [{"n": "1"}])
    equal(
        database.rows("SELECT count(*) AS n FROM memviewd.points JOIN memviewd.rows ON id = row_id"),
        [{"n": str(len(points_before))}],
    )
