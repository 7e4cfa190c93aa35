# SPDX-License-Identifier: Apache-2.0
"""Three weeks of jobs in two buckets: indexed by two processes that are killed, as are the database, the buckets and a
replica; nothing is lost and nothing twice, and the commit, the host and the reason are found and told."""

import json
import os
import random
import time

from harness import equal, wait_until
from jobs import BAD_DAY, DAYS, HOSTS, ODD_DAY, ODD_HOST, commit_of
from place import Place

GIB = 1 << 30


def kill_and_go_on(place):
    """kills what can be killed while it is indexed; each part comes back"""
    chance = random.Random(20261126)
    for round_at in range(6):
        shards = [place.start_index(shard) for shard in range(2)]
        time.sleep(chance.uniform(0.3, 2.0))
        if round_at == 2:
            place.database.stop(3)  # SIGQUIT: it recovers from its log
            place.database.start()
        elif round_at == 4:
            place.kill_buckets()
            place.start_buckets()
        for shard in shards:
            shard.kill()
            shard.communicate()


def check_catalog(place):
    """what stands in it is what an index of everything says, each row once"""
    expected = sorted((row["id"], row["needed_bytes"], row["content_sha256"]) for row in map(json.loads, place.rows()))
    found = sorted(
        (row["id"], int(row["needed_bytes"]), row["content_sha256"])
        for row in place.database.rows("SELECT id, needed_bytes, content_sha256 FROM memviewd.rows")
    )
    equal(found, expected)
    equal(
        len(found),
        DAYS * (1 + 1 + HOSTS) + 2,
        "a row of each program, and one of the failure with the program beside it",
    )
    equal(
        place.database.value("SELECT count(*) FROM memviewd.files WHERE gone_at IS NOT NULL"),
        "0",
        "files that are taken for gone",
    )


def check_fleet(ask):
    """one regression, by the true commit and with what the plans differ by; one host"""
    (step,) = ask("regressions")["data"]["rows"]
    equal(
        [step[key] for key in ("job", "module", "commit_before", "commit", "direction")],
        ["bert", "jit_train_step", commit_of(BAD_DAY - 1), commit_of(BAD_DAY), "regression"],
    )
    assert (
        step["change_bytes"] > 8 * GIB
        and "New: results that could reuse the memory of arguments (8.69 GiB)" in step["diff_sentence"]
    ), step
    (odd,) = ask("hosts")["data"]["rows"]
    equal([odd[key] for key in ("job", "commit", "host", "host_count")], ["gpt", commit_of(ODD_DAY), ODD_HOST, HOSTS])
    summary = ask("summary")["data"]
    equal((summary["is_catalog"], summary["jobs"]), (True, ["bert", "gpt", "long", "steady"]))


def check_told(place, nginx, files):
    """the receiver has a failure of each file, each by one id, with the verdict that a replica answers; and the one
    regression"""
    told = {message["id"]: message for message in place.receiver.taken}
    failures = [message for message in told.values() if message["kind"] == "failure"]
    (regression,) = [message for message in told.values() if message["kind"] == "regression"]
    equal((place.receiver.faults, sorted(message["file"] for message in failures)), ([], sorted(files)))
    equal([regression[key] for key in ("job", "commit", "user_name")], ["bert", commit_of(BAD_DAY), "ada"])
    equal([regression["regression"]], nginx.get_json("/api/v1/fleet/regressions")["data"]["rows"])
    equal(
        place.database.value(
            "SELECT count(*) FROM memviewd.notices WHERE sent_at IS NULL OR kind NOT IN ('failure', 'regression')"
        ),
        "0",
        "notices that were not sent",
    )
    for message in failures:
        equal([message[key] for key in ("kind", "logdir", "error")], ["failure", "s3://profiles", None])
        equal((message["verdict"]["fits"], message["verdict"]["cause"]["kind"]), ("no", "attention_logits"))
        equal(
            message["verdict"],
            nginx.get_json("/api/v1/verdict", session=message["session"]["id"], file="error.txt", report=1),
        )


def fail_once_more(place):
    """a job of today, by its commit, runs out of memory while the replicas look on"""
    for name in sorted(os.listdir(place.t.folder("buckets/s3/long/run-1")), reverse=True):
        with open(os.path.join(place.t.folder("buckets/s3/long/run-1"), name), "rb") as file:
            data = file.read()
        if name == "memviewd.json":
            data = json.dumps({**json.loads(data), "commit": commit_of(DAYS)}).encode()
        place.put(f"long/run-2/{name}", data)


def test_three_weeks_of_jobs(t):
    with Place(t) as place:
        kill_and_go_on(place)
        place.index()
        check_catalog(place)
        for at in range(2):
            place.start_replica(at)
        with place.nginx().running() as nginx:

            def ask(view):
                return nginx.get_json(f"/api/v1/fleet/{view}")

            check_fleet(ask)
            check_told(place, nginx, ["long/run-1/error.txt"])
            place.kill_replica(0)
            check_fleet(ask)
            place.start_replica(0)
            fail_once_more(place)
            wait_until(
                lambda: "long/run-2/error.txt" in {message.get("file") for message in place.receiver.taken},
                what="that the new failure is told",
            )
            place.index()
            check_told(place, nginx, ["long/run-1/error.txt", "long/run-2/error.txt"])
            check_fleet(ask)
