# SPDX-License-Identifier: Apache-2.0
"""--notify-format: each body is taken by those it is for: Slack's SDK, the schema of Adaptive Cards, the SDK of
CloudEvents, and an Alertmanager that is started here."""

import contextlib
import glob
import importlib
import json
import os
import shutil
import subprocess
import sys
import urllib.error
import urllib.request

from document import Document
from harness import ROOT, Skip, equal, free_port, wait_until
from notify import SECRET, secret_file
from receiver import Receiver
from webhooks import FAILURE, database_of

import rounds

JOB = "be*rt* <!channel> & [co](mailto:ann)"
MEDIA_TYPES = {"cloudevents": "application/cloudevents+json; charset=UTF-8"}


def tool(name):
    """a module of build/notify-tools"""
    (folder,) = glob.glob(os.path.join(ROOT, "build", "notify-tools", "lib", "python*", "site-packages")) or [None]
    if folder is None:
        raise Skip("the models of Slack, Teams and CloudEvents: make build/notify-tools/ready")
    if folder not in sys.path:
        sys.path.append(folder)
    return importlib.import_module(name)


def fail(t, where):
    t.write(f"{where}/memviewd.json", json.dumps({"job": JOB, "commit": "c0ffee", "user": "ann"}).encode())
    t.write(f"{where}/job.log", FAILURE)


def messages(t, form):
    """what a receiver of that form is sent of a failure, and of a regression that then is gone: in this order"""
    with (
        Receiver(
            SECRET, media_type=MEDIA_TYPES.get(form, "application/json"), has_ids=form in ("memviewd", "cloudevents")
        ).running() as receiver,
        database_of(t) as database,
    ):

        def index():
            done = t.run(
                "index",
                t.folder(),
                f"--catalog={database.url}",
                f"--notify={receiver.url()}",
                f"--notify-format={form}",
                f"--notify-secret={secret_file(t)}",
            )
            equal(done.returncode, 0, done.stderr)

        fail(t, "failed")
        index()
        rounds.write_job(t.folder(), JOB, rounds.DAYS, rounds.BAD_DAY)
        index()
        rounds.write_job(t.folder(), JOB, rounds.DAYS, rounds.DAYS + 1)
        index()
        index()
        equal(receiver.faults, [])
        kinds = [row["kind"] for row in database.rows("SELECT kind FROM memviewd.notices ORDER BY made_at")]
        equal((kinds, len(receiver.delivered)), (["failure", "regression", "regression_gone"], 3))
        return list(receiver.delivered.values())


def test_slack_takes_each(t):
    blocks = tool("slack_sdk.models.blocks")
    for message in messages(t, "slack"):
        equal(set(message), {"text", "blocks"})
        parsed = blocks.Block.parse_all(message["blocks"])
        for block, said in zip(parsed, message["blocks"], strict=True):
            block.validate_json()
            equal(said["text"]["type"], "plain_text", "markup in names stays text")
        equal([block.type for block in parsed], ["header", "section", "section"])
        assert JOB in message["blocks"][0]["text"]["text"], message
        assert "&lt;!channel&gt; &amp; [co]" in message["text"] and not set("<>") & set(message["text"]), message[
            "text"
        ]


def test_teams_takes_each(t):
    jsonschema, adaptive_cards = tool("jsonschema"), tool("adaptive_cards")
    with open(os.path.join(adaptive_cards.__path__[0], "schemas", "schema-1.4.json"), encoding="utf-8") as file:
        validator = jsonschema.Draft6Validator(json.load(file))
    for message in messages(t, "teams"):
        assert len(json.dumps(message)) < 28 * 1024
        (attachment,) = message["attachments"]
        equal((message["type"], attachment["contentType"]), ("message", "application/vnd.microsoft.card.adaptive"))
        card = attachment["content"]
        equal([fault.message for fault in validator.iter_errors(card)], [])
        equal(
            [(line["type"], [run["type"] for run in line["inlines"]]) for line in card["body"]],
            [("RichTextBlock", ["TextRun"])] * 3,
            "Markdown in names stays text",
        )
        assert JOB in card["body"][0]["inlines"][0]["text"], card


def test_cloudevents_are_read_by_their_sdk(t):
    http = tool("cloudevents.core.bindings.http")
    document = Document(os.path.join(ROOT, "docs", "openapi.yaml"))
    found = []
    for message in messages(t, "cloudevents"):
        event = http.from_http_event(
            http.HTTPMessage({"content-type": MEDIA_TYPES["cloudevents"]}, json.dumps(message).encode())
        )
        data = event.get_data()
        schema = "FailureNotice" if data["kind"] == "failure" else "RegressionNotice"
        equal(list(document.faults(data, document.tree["components"]["schemas"][schema])), [])
        equal(
            (event.get_id(), event.get_source(), event.get_subject(), event.get_datacontenttype()),
            (data["id"], t.folder(), JOB, "application/json"),
        )
        assert event.get_time() is not None, message
        found.append(event.get_type())
    equal(found, ["memviewd.failure", "memviewd.regression", "memviewd.regression_gone"])


def get_json_from(url):
    """None while nobody answers"""
    try:
        with urllib.request.urlopen(url, timeout=30) as answer:
            return json.load(answer)
    except urllib.error.URLError:
        return None


@contextlib.contextmanager
def alertmanager(t):
    """its address, with a cluster of itself alone"""
    program = shutil.which("prometheus-alertmanager") or shutil.which("alertmanager")
    if not program:
        raise Skip("Alertmanager: apt-get install prometheus-alertmanager")
    config = t.write("../alertmanager.yml", b"route: {receiver: nobody}\nreceivers: [{name: nobody}]\n")
    url = f"http://127.0.0.1:{free_port()}"
    with open(t.write("../alertmanager.log", b""), "wb") as log:
        started = subprocess.Popen(
            [
                program,
                f"--config.file={config}",
                f"--storage.path={t.folder('../alertmanager')}",
                f"--web.listen-address={url[7:]}",
                "--cluster.listen-address=",
            ],
            stdout=log,
            stderr=log,
        )
    try:
        wait_until(lambda: get_json_from(f"{url}/api/v2/status"), what="Alertmanager")
        yield url
    finally:
        started.terminate()
        started.wait()


def alerts(url):
    return {
        (alert["labels"]["alertname"], alert["labels"]["job"]): alert for alert in get_json_from(f"{url}/api/v2/alerts")
    }


def test_alertmanager_has_what_failed_and_what_grew_until_it_is_gone(t):
    with alertmanager(t) as url, database_of(t) as database:

        def index():
            done = t.run(
                "index",
                t.folder(),
                f"--catalog={database.url}",
                f"--notify={url}/api/v2/alerts",
                "--notify-format=alertmanager",
            )
            equal(done.returncode, 0, done.stderr)
            equal(
                database.value("SELECT count(*) FROM memviewd.notices WHERE sent_at IS NULL"),
                "0",
                "notices that were not taken",
            )

        fail(t, "failed")
        rounds.write_job(t.folder(), "bert", rounds.DAYS, rounds.BAD_DAY)
        index()
        wait_until(lambda: set(alerts(url)) == {("OutOfMemory", JOB), ("MemoryRegression", "bert")}, what="two alerts")
        failed, grown = alerts(url)["OutOfMemory", JOB], alerts(url)["MemoryRegression", "bert"]
        equal([failed["labels"][name] for name in ("commit", "user")], ["c0ffee", "ann"])
        equal(grown["labels"]["commit"], rounds.commit_of(rounds.BAD_DAY))
        (row,) = t.serve(t.folder(), f"--catalog={database.url}").get_json("/api/v1/fleet/regressions")["data"]["rows"]
        equal(
            grown["annotations"]["description"],
            f"{row['sentence']} {row['plans_sentence']}",
            "the sentences of the page",
        )
        rounds.write_job(t.folder(), "bert", rounds.DAYS, rounds.DAYS + 1)
        index()
        wait_until(lambda: set(alerts(url)) == {("OutOfMemory", JOB)}, what="that the regression is resolved")


def test_forms_that_are_none_are_refused(t):
    for options, reason in (
        (["--notify-format=email"], "it is memviewd, slack, teams, alertmanager or cloudevents"),
        (["--notify-format=slack"], "which is missing"),
    ):
        done = t.run("--port=0", t.folder(), *options)
        assert done.returncode == 2 and reason in done.stderr, (options, done.stderr)
