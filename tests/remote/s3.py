# SPDX-License-Identifier: Apache-2.0
"""S3 by moto, which others wrote."""

import json
import os
import subprocess
import urllib.parse

import harness
import same
import servers

PLACE = "s3://profiles/lab a"


def test_each_file_is_answered_as_on_disk(t):
    count = same.files(
        t, harness.FIXTURES, PLACE, t.keys(), lambda path: "hlo" in path and not path.endswith((".textproto", ".json"))
    )
    assert count > 30, count


def test_real_files_are_answered_as_on_disk(t):
    logdir = os.path.join(t.need_shared(), "data", "logdir")
    t.s3().put("real", logdir, "")
    count = same.files(t, logdir, "s3://real", t.keys(), lambda path: path.endswith((".pb", ".gz")))
    assert count >= 10, count
    same.equal_lines(same.rows(t, "s3://real", t.keys()), same.rows(t, logdir, {}), "rows")


def test_the_rows_of_all_are_those_of_the_folder(t):
    mine, other = same.rows(t, harness.FIXTURES, {}), same.rows(t, PLACE + "/", t.keys())
    assert len(mine) > 20
    same.equal_lines(other, mine, "rows")


def test_the_daemon_shows_what_it_shows_of_the_folder(t):
    disk, remote = t.daemon(f"--logdir={harness.FIXTURES}"), t.daemon(f"--logdir={PLACE}", **t.keys())
    mine, other = {}, {}

    def is_same():  # texts are read after the first list, and each moment there may be one more
        mine.clear(), other.clear()
        mine.update(same.api_paths(disk))
        other.update(same.api_paths(remote))
        return sorted(mine) == sorted(other)

    harness.wait_until(is_same, 120, "the same sessions and modules")
    views = [key for key in mine if len(key) == 3]
    assert len(views) > 20
    for key in views:
        same.equal_lines([remote.ask(other[key]).text], [disk.ask(mine[key]).text], key)
    assert "connects to s3://profiles/lab a" in remote.log()


def test_signatures_hold(t):
    """moto checks them with botocore"""
    moto = servers.Moto()
    moto.put("signed", os.path.join(harness.FIXTURES, "modules"), "a b+c/é=&/")
    made = moto.user("reader")
    with moto.checking():
        keys = {
            "AWS_ENDPOINT_URL": moto.url,
            "AWS_ACCESS_KEY_ID": made["AccessKeyId"],
            "AWS_SECRET_ACCESS_KEY": made["SecretAccessKey"],
        }
        assert "jit_step" in t.command("summary", "s3://signed/a b+c", **keys).stdout
        refused = t.command("summary", "s3://signed/a b+c", status=2, **{**keys, "AWS_SECRET_ACCESS_KEY": "wrong"})
        assert "may not be read: 403 SignatureDoesNotMatch" in refused.stderr, refused.stderr
        assert "wrong" not in refused.stderr


def test_what_is_not_there_is_named(t):
    assert "404 NoSuchBucket" in t.command("summary", "s3://nobody-has-this/x", status=2, **t.keys()).stderr
    assert (
        "there is nothing that memviewd can show"
        in t.command("whose", "s3://profiles/nothing/", status=2, **t.keys()).stderr
    )
    for wrong in (
        "s3://",
        "s3://a",
        "s3:///x",
        "s3://bad_bucket!/x",
        "http://example.com/x",
        "https://u:p@h/x",
        "https://h/x?sig=1",
    ):
        assert t.command("summary", wrong, status=2).stderr.startswith(f"memviewd: {wrong}: ")


def test_many_pages_are_listed_whole(t):
    client = t.s3().client("s3")
    client.create_bucket(Bucket="many")
    names = [f"u{user}/plugins/profile/s{at:04}/h.xplane.pb" for user in range(3) for at in range(450)]
    for name in names:
        client.put_object(Bucket="many", Key=name, Body=b"")
    daemon = t.daemon("--logdir=s3://many", **t.keys())
    about = daemon.get_json("/api/v1/about")
    harness.equal(about["roots"][0]["file_count"], len(names), "files")


def test_every_command_takes_addresses(t):
    dump = "demo/b-activations-unrolled"
    commands = [
        ["summary", "@/" + dump],
        ["whose", "@/" + dump],
        ["whatif", "@/" + dump, "--change", "batch=0.5", "--json"],
        ["explain", "@/" + dump, "--json"],
        ["explain", f"@/{dump}/error.txt"],
        ["diff", "@/programs/z-base", "@/programs/z-plus1"],
        ["check", "@/programs/z-plus1", "--baseline", "@/programs/z-base"],
        ["export", "@/" + dump, "--format=ndjson"],
        ["index", "@/programs"],
        ["top", "@/memprof/memory9.prof"],
    ]
    for command in commands:
        mine = t.command(*(word.replace("@", harness.FIXTURES) for word in command), status=None)
        other = t.command(*(word.replace("@", PLACE) for word in command), status=None, **t.keys())
        harness.equal(other.returncode, mine.returncode, f"{command}: {other.stderr} {mine.stderr}")
        assert mine.stdout and mine.returncode in (0, 1), (command, mine.stderr)
        if command[0] == "index":
            continue  # see same.rows
        same.equal_lines(other.stdout.replace(PLACE, harness.FIXTURES).splitlines(), mine.stdout.splitlines(), command)


def test_objects_are_read_one_by_one_without_a_list(t):
    """by the events that S3 sends"""
    paths = [path for path in servers.files_of(harness.FIXTURES) if path.endswith((".hlo.pb", ".prof", ".xplane.pb"))]
    events = "".join(
        json.dumps(
            {
                "Records": [
                    {
                        "eventName": "ObjectCreated:Put",
                        "s3": {
                            "bucket": {"name": "profiles"},
                            "object": {"key": urllib.parse.quote_plus(f"lab a/{path}")},
                        },
                    }
                ]
            }
        )
        + "\n"
        for path in paths
    )
    proxy = servers.Proxy(t.s3().port)
    done = subprocess.run(
        [t.binary, "index", "--objects=-", "s3://profiles"],
        input=events + "s3://profiles/lab a/gone.prof\n",
        capture_output=True,
        text=True,
        timeout=300,
        env=t.environ(**t.keys(proxy.url)),
    )
    proxy.stop()
    equal = harness.equal
    equal(done.returncode, 2, done.stderr)
    assert (
        f"line {len(paths) + 1}: s3://profiles/lab a/gone.prof: " in done.stderr and done.stderr.count("line ") == 1
    ), done.stderr
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert {row["file"] for row in rows} <= {f"lab a/{path}" for path in paths} and len(rows) > 20, len(rows)
    lists = [path for method, path, _, _ in proxy.requests if "list-type" in path]
    assert all("gone.prof" in path for path in lists), lists
    whole = {
        row["id"]: row["verdict"] for row in map(json.loads, t.command("index", PLACE, **t.keys()).stdout.splitlines())
    }
    assert len([row for row in rows if row["id"] in whole]) > 15, "ids of the whole folder"
