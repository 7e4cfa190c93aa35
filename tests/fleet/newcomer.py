# SPDX-License-Identifier: Apache-2.0
"""The ten minutes of docs/operate/fleet.md from buckets to the page, with the commands as they are printed there: what
is the reader's own in them (buckets, database, addresses, the token's file) is that of the stand-ins."""

import os
import re
import shlex
import subprocess

from harness import ROOT, equal, wait_until
from place import TOKEN, Place
from story import check_catalog, check_fleet

PAGE = os.path.join(ROOT, "docs", "operate", "fleet.md")


def printed():
    """the commands of "In ten minutes", each a list of words, those that go on behind a \\ as one"""
    with open(PAGE, encoding="utf-8") as file:
        section = re.search(r"(?ms)^## In ten minutes\n(.*?)^## ", file.read())[1]
    blocks = re.findall(r"(?m)(?:^ {8}\S.*\n(?:^ {12}\S.*\n)*)+", section)
    return [shlex.split(line) for block in blocks for line in block.replace("\\\n", " ").splitlines()]


def theirs(place, words):
    """a command of memviewd with what the stand-ins have"""
    own = {
        "s3://lab-profiles": "s3://profiles",
        "gs://lab-profiles": "gs://profiles",
        "--logdir=s3://lab-profiles": "--logdir=s3://profiles",
        "--logdir=gs://lab-profiles": "--logdir=gs://profiles",
        "--bind=10.0.0.1": "--bind=127.0.0.1",
        "--token-file=/etc/memviewd/token": f"--token-file={place.token_file}",
    }
    return [
        f"--catalog={place.database.url}" if word.startswith("--catalog=postgresql://") else own.get(word, word)
        for word in words[1:]
    ]


def test_from_buckets_to_the_page(t):
    commands = {tuple(words[:2]): words for words in printed()}
    equal([words[0] for words in printed()], ["createdb", "memviewd", "memviewd"])
    with Place(t) as place:
        index = theirs(place, commands["memviewd", "index"])
        equal([word for word in index if "lab" in word or "example" in word], [], "words that are the reader's own")
        done = subprocess.run(
            [t.binary, *index], capture_output=True, text=True, env={**os.environ, **place.environ}, timeout=300
        )
        equal(done.returncode, 0, done.stderr)
        check_catalog(place)
        equal(place.receiver.taken, [], "the first filling tells nobody")
        (serve,) = [words for words in printed() if words[0] == "memviewd" and words[1] != "index"]
        daemon = t.serve(*theirs(place, serve), environ=place.environ)
        equal(daemon.ask("/api/v1/fleet/summary").status, 401)
        token = {"Authorization": f"Bearer {TOKEN}"}
        wait_until(lambda: daemon.ask("/-/ready").status == 200, what="that the daemon has listed the buckets")
        equal(daemon.ask("/?tool=fleet", headers=token).status, 200)
        check_fleet(lambda view: daemon.ask(f"/api/v1/fleet/{view}", headers=token).json)
