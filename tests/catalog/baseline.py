# SPDX-License-Identifier: Apache-2.0
"""memviewd check --baseline catalog:JOB@COMMIT: the program where its file is still there, else what it needed."""

import json
import os
import shutil
import time

import writing
from harness import equal


def check(t, database, *arguments, status, baseline="catalog:bert@large@c1"):
    done = t.run("check", "--format=json", "--baseline=" + baseline, "--catalog=" + database.url, *arguments)
    equal(done.returncode, status, (arguments, done.stdout, done.stderr))
    assert database.password not in done.stderr, done.stderr
    return json.loads(done.stdout) if done.stdout else done.stderr


def test_a_commit_of_the_catalog_is_a_baseline(t, database):
    before, after = (os.path.join(t.fixtures, "programs", name) for name in ("z-base", "z-plus1"))
    kept = os.path.join(t.folder(), "kept")
    shutil.copytree(before, kept)
    writing.index(t, database, t.folder(), "--label=job=bert@large", "--label=commit=c1")
    as_path = json.loads(t.run("check", after, "--format=json", "--baseline=" + before).stdout)
    equal(check(t, database, after, status=1), as_path, "as with the files themselves")
    equal(check(t, database, after, "--tolerance=12%", status=0)["finding_count"], 0)
    # The file has another program now: what the commit needed stands in the catalog all the same.
    (name,) = [name for name in os.listdir(kept) if "after_optimizations.hlo.pb" in name]
    (other,) = [name for name in os.listdir(after) if "after_optimizations.hlo.pb" in name]
    for change in (
        lambda: shutil.copy(os.path.join(after, other), os.path.join(kept, name)),
        lambda: shutil.rmtree(kept),
    ):
        change()
        (module,) = check(t, database, after, status=1)["modules"]
        (finding,) = module["findings"]
        equal(
            (finding["rule"], finding["bytes"], module["baseline_bytes"]),
            ("grown", as_path["modules"][0]["findings"][0]["bytes"], as_path["modules"][0]["baseline_bytes"]),
        )
        assert "whose program cannot be read" in finding["sentence"], finding
    equal(check(t, database, before, status=0)["finding_count"], 0)
    told = t.run(
        "check", before, "--format=junit", "--baseline=catalog:bert@large@c1", "--catalog=" + database.url
    ).stdout
    assert 'name="grown"' in told and "donation" not in told, told


def test_of_several_configurations_the_same_is_a_baseline(t, database):
    """with its program or without; where there is none the largest, and a line says so"""
    before, after = (os.path.join(t.fixtures, "programs", name) for name in ("z-base", "z-plus1"))
    writing.index(t, database, before, "--label=job=bert@large", "--label=commit=c1")
    as_path = json.loads(t.run("check", after, "--format=json", "--baseline=" + before).stdout)
    own = database.value("SELECT configuration FROM memviewd.rows WHERE kind = 'module'")
    names = ", ".join(
        row["column_name"]
        for row in database.rows(
            "SELECT column_name FROM information_schema.columns WHERE table_schema = 'memviewd' AND table_name = "
            "'rows' AND column_name NOT IN ('id', 'needed_bytes', 'configuration', 'point_id')"
        )
    )
    database.execute(
        f"INSERT INTO memviewd.rows (id, needed_bytes, configuration, {names}) SELECT 'twice', needed_bytes * 2, '99 "
        f"devices, batch 7', {names} FROM memviewd.rows WHERE kind = 'module';"
        "SELECT memviewd.points_refresh(array(SELECT DISTINCT point_id FROM memviewd.rows))"
    )
    equal(check(t, database, after, status=1), as_path)
    database.execute("UPDATE memviewd.rows SET content_sha256 = ''")
    (module,) = check(t, database, after, status=1)["modules"]
    equal(module["baseline_bytes"], as_path["modules"][0]["baseline_bytes"])
    database.execute(
        "DELETE FROM memviewd.rows WHERE id <> 'twice'; SELECT memviewd.points_refresh(array(SELECT point_id FROM "
        "memviewd.points))"
    )
    (module,) = check(t, database, after, status=0)["modules"]
    equal(module["baseline_bytes"], 2 * as_path["modules"][0]["baseline_bytes"])
    said = t.run("check", after, "--baseline=catalog:bert@large@c1", f"--catalog={database.url}").stderr
    assert f"is compiled for {own}; the catalog has it for 99 devices, batch 7, which it is compared with" in said, said
    database.execute("""UPDATE memviewd.rows SET labels = labels || '{"configuration": "99 devices, batch 7"}'""")
    said = t.run("check", after, "--baseline=catalog:bert@large@c1", f"--catalog={database.url}").stderr
    assert "is compiled for" not in said, said


def test_the_newest_commit_is_a_baseline(t, database):
    """of all, or of those with a label: first seen last"""
    before, after = (os.path.join(t.fixtures, "programs", name) for name in ("z-base", "z-plus1"))
    for commit, program, branch, at_s in (("c1", before, "main", 1_700_000_000), ("c2", after, "topic", 1_700_100_000)):
        kept = os.path.join(t.folder(), commit)
        shutil.copytree(program, kept)
        for name in os.listdir(kept):
            os.utime(os.path.join(kept, name), (at_s, at_s))
        writing.index(t, database, kept, "--label=job=bert", f"--label=commit={commit}", f"--label=branch={branch}")
    equal(check(t, database, after, status=0, baseline="catalog:bert@newest")["finding_count"], 0)
    (module,) = check(t, database, after, status=1, baseline="catalog:bert@newest:branch=main")["modules"]
    equal([finding["rule"] for finding in module["findings"]], ["grown"])
    said = t.run("check", after, "--baseline=catalog:bert@newest:branch=main", f"--catalog={database.url}").stderr
    assert "the newest commit of bert in the catalog is c1" in said, said
    for baseline, word in (
        ("catalog:bert@newest:branch=other", "has no module"),
        ("catalog:other@newest", "has no module"),
        ("catalog:bert@newest:branch", "it is KEY=VALUE"),
        ("catalog:bert@newest:a' OR true --=1", "has no module"),
    ):
        assert word in check(t, database, after, status=2, baseline=baseline), baseline


def test_what_is_not_kept_is_no_baseline_and_the_rest_is(t, database):
    """what memviewd.keep removed is an error, as is a job of which it left nothing: never a check that passes"""
    before, after = (os.path.join(t.fixtures, "programs", name) for name in ("z-base", "z-plus1"))
    folders = {}
    for commit, days in (("c1", 150), ("c2", 40)):
        folders[commit] = os.path.join(t.folder(), commit)
        shutil.copytree(before, folders[commit])
        for name in os.listdir(folders[commit]):
            at_s = time.time() - days * 86400
            os.utime(os.path.join(folders[commit], name), (at_s, at_s))
        writing.index(t, database, folders[commit], "--label=job=bert", f"--label=commit={commit}")
    for months, newest, removed in ((3, 1, ["c1"]), (1, 2, ["c1", "c2"])):
        database.execute(f"CALL memviewd.keep({months})")
        for commit, folder in folders.items():  # what is known is not read again
            writing.index(t, database, folder, "--label=job=bert", f"--label=commit={commit}")
        told = check(t, database, after, status=newest, baseline="catalog:bert@newest")
        if newest == 1:
            (module,) = told["modules"]
            equal([finding["rule"] for finding in module["findings"]], ["grown"])
        for commit in removed:
            assert "has no module" in check(t, database, after, status=2, baseline=f"catalog:bert@{commit}"), commit


def test_what_is_no_baseline(t, database):
    path = os.path.join(t.fixtures, "programs", "z-base")
    assert "has no rows of memviewd yet" in check(t, database, path, status=2)
    writing.index(t, database, path, "--label=job=bert", "--label=commit=c1")
    for baseline, word in (
        ("catalog:bert@c2", "has no module for that job and commit"),
        ("catalog:' OR true --@c1", "has no module"),
        ("catalog:bert", "it is catalog:JOB@COMMIT"),
        ("catalog:@c1", "it is catalog:JOB@COMMIT"),
        ("catalog:bert@", "it is catalog:JOB@COMMIT"),
    ):
        assert word in check(t, database, path, status=2, baseline=baseline), baseline
    done = t.run("check", path, "--baseline=catalog:bert@c1")
    equal(done.returncode, 2)
    assert "needs --catalog=URL" in done.stderr, done.stderr
