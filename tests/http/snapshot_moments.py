# SPDX-License-Identifier: Apache-2.0
"""What is live at moments of allocator snapshots, by call stack: chosen, compared, over time, on the command line."""

import gzip
import json
import os
import sys

from document import Document
from harness import ROOT, equal, loads
from snapshots import snapshot
from uploads import add, sessions_of

sys.path.append(os.path.join(ROOT, "tests"))
import wire  # noqa: E402

DOCUMENT = os.path.join(ROOT, "docs", "openapi.yaml")
VIEWS = ("summary", "flame", "graph", "top", "callers", "source", "buffers", "traces", "tags", "series")


def ranks(t, count=1):
    for at in range(count):
        t.write(f"job/rank{at}.pickle", snapshot())
    daemon = t.serve(t.folder())
    return daemon, daemon.sessions()["job"]


def view(daemon, name, **parameters):
    return daemon.get_json(f"/api/v1/device_memory/{name}", **parameters)["data"]


def test_a_session_lists_the_moments_of_its_snapshots(t):
    daemon, session = ranks(t, 2)
    equal((session["snapshot_count"], session["profile_count"]), (2, 0))
    document = Document(DOCUMENT)
    answer = daemon.ask(f"/api/v1/sessions/{session['id']}/profiles")
    operation = document.tree["paths"]["/api/v1/sessions/{session}/profiles"]["get"]
    equal(list(document.faults(answer.json, document.media(operation, 200)["application/json"])), [])
    rows = answer.json["profiles"]
    first = session["hosts"][0]["id"]
    equal(
        [row["moment"] for row in rows if row["host"] == first and row["memory"] is None],
        ["peak", "end", "start", "step0", "step1", "step2", "step3"],
    )
    equal(len(rows), 2 * 2 * 7)
    for row in rows:
        summary = view(daemon, "summary", session=session["id"], profile=row["id"])
        equal((summary["total"], summary["profiles"][0]["name"]), (row["in_use_bytes"], row["name"]), row["id"])


def test_without_a_moment_it_is_the_peak_of_the_worst(t):
    daemon, session = ranks(t)
    summary = view(daemon, "summary", session=session["id"])
    pool = daemon.get_json("/api/v1/memory_profile/summary", session=session["id"])["data"]["pools"][0]
    moment = summary["profiles"][0]["moment"]
    equal(
        (moment["memory"], moment["time_ps"], moment["in_use_bytes"]),
        (pool["memory"], pool["peak"]["time_ps"], summary["total"]),
    )
    equal(summary["total"], pool["peak"]["in_use_bytes"])


def test_every_view_of_a_moment_follows_its_schema(t):
    daemon, session = ranks(t)
    document = Document(DOCUMENT)
    moment = f"{session['hosts'][0]['id']}@end@GPU 1"
    site = view(daemon, "top", session=session["id"], profile=moment)["rows"][0]["frame"]["id"]
    for name in VIEWS:
        path = f"/api/v1/device_memory/{name}"
        more = f"&frame={site}" if name in ("callers", "source") else ""
        for base in ("", f"&base={moment.replace('end', 'peak').replace(' ', '%20')}"):
            answer = daemon.ask(f"{path}?session={session['id']}&profile={moment.replace(' ', '%20')}{base}{more}")
            equal(answer.status, 200, answer)
            operation = document.tree["paths"][path]["get"]
            equal(list(document.faults(answer.json, document.media(operation, 200)["application/json"])), [], name)


def test_two_moments_differ_by_what_changed(t):
    daemon, session = ranks(t)
    host, totals = session["hosts"][0]["id"], {}
    for moment in ("start", "end"):
        totals[moment] = view(daemon, "summary", session=session["id"], profile=f"{host}@{moment}")["total"]
    change = view(daemon, "summary", session=session["id"], profile=f"{host}@end", base=f"{host}@start")
    equal(
        (change["before_total"], change["after_total"], change["total"]),
        (totals["start"], totals["end"], totals["end"] - totals["start"]),
    )
    same = view(daemon, "buffers", session=session["id"], profile=f"{host}@end", base=f"{host}@end")
    equal((same["total"], {row["total"] for row in same["rows"]}), (0, {0}))
    compared = daemon.get_json(
        "/api/v1/compare_profiles/summary", a=f"{session['id']}//{host}@start", b=f"{session['id']}//{host}@end"
    )
    assert str(totals["end"]) in json.dumps(compared) and str(totals["start"]) in json.dumps(compared), compared


def test_a_series_is_one_snapshot_over_time_or_the_peaks_of_all(t):
    t.write("two/rank0.pickle", snapshot())
    t.write("two/rank1.pickle", snapshot())
    daemon, session = ranks(t)
    rows = view(daemon, "series", session=session["id"])["profiles"]
    equal([row["id"].partition("@")[2] for row in rows], ["step0", "step1", "step2", "step3", "end"])
    two = daemon.sessions()["two"]
    rows = view(daemon, "series", session=two["id"])["profiles"]
    equal([row["id"] for row in rows], [f"{host['id']}@peak" for host in two["hosts"]])


def test_pprof_gets_a_moment_as_a_profile(t):
    daemon, session = ranks(t)
    answer = daemon.ask(f"/api/v1/device_memory/profile?session={session['id']}")
    texts = [value for number, value in wire.fields(gzip.decompress(answer.body)) if number == 6]
    for text in (b"requested", b"blocks", b"device", b"GPU 0", b"train.py"):
        assert any(text in each for each in texts), text


def test_an_uploaded_snapshot_has_moments_too(t):
    daemon = t.serve(t.folder())
    session = sessions_of(daemon, add(daemon, "h.pickle", snapshot(1))["id"])[0]
    equal(session["snapshot_count"], 1)
    rows = daemon.get_json(f"/api/v1/sessions/{session['id']}/profiles")["profiles"]
    equal(view(daemon, "summary", session=session["id"], profile=rows[1]["id"])["total"], rows[1]["in_use_bytes"])


def test_what_is_no_moment_is_refused_in_words(t):
    daemon, session = ranks(t)
    host = session["hosts"][0]["id"]
    for profile, status, said in (
        (f"{host}@noon", 400, "no moment"),
        (f"{host}@12", 400, "no moment"),
        (f"{host}@9999s", 400, "after the end"),
        (f"{host}@step9", 400, "steps"),
        (f"{host}@e99999", 400, "events"),
        (f"{host}@peak@GPU 7", 404, "GPU 7"),
        ("0123456789ab@peak", 404, "allocator snapshot"),
        (f"{host}@", 200, ""),
        (f"{host}@0.0005ns@", 400, "no moment"),
    ):
        answer = daemon.ask(f"/api/v1/device_memory/top?session={session['id']}&profile={profile.replace(' ', '%20')}")
        equal(answer.status, status, f"{profile}: {answer}")
        assert said in answer.text, f"{profile}: {answer.text}"


def test_a_time_is_the_same_however_it_is_written(t):
    daemon, session = ranks(t)
    host = session["hosts"][0]["id"]
    asked = [
        view(daemon, "top", session=session["id"], profile=f"{host}@{text}")["total"]
        for text in ("1ms", "1.0ms", "1000us", "0.001s", "1000000000ps")
    ]
    equal(len(set(asked)), 1, asked)
    live = daemon.get_json("/api/v1/memory_profile/live", session=session["id"], time="1ms")["data"]
    equal((live["time_ps"], live["total_bytes"]), (1_000_000_000, asked[0]))


def test_diff_on_the_command_line(t):
    t.write("rank0.pickle", snapshot())
    path = os.path.join(t.folder(), "rank0.pickle")
    answers = [loads(t.run("top", path, "--json", "--at", moment).stdout) for moment in ("start", "end")]
    totals = [answer.get("data", answer)["total"] for answer in answers]
    done = t.run("diff", path, path, "--at", "start", "--at", "end", "--json")
    equal(done.returncode, 0, done.stderr)
    assert all(str(total) in done.stdout for total in totals), done.stdout[:500]
    equal(t.run("diff", path, path, "--at", "noon").returncode != 0, True)


def test_top_on_the_command_line(t):
    t.write("rank0.pickle", snapshot())
    path = os.path.join(t.folder(), "rank0.pickle")
    peak = loads(t.run("top", path, "--json").stdout)
    end = loads(t.run("top", path, "--json", "--at", "end").stdout)
    change = loads(t.run("top", path, "--json", "--base-at", "end").stdout)
    totals = [answer["data"]["total"] if "data" in answer else answer["total"] for answer in (peak, end, change)]
    equal(totals[2], totals[0] - totals[1])
    equal(t.run("top", path, "--at", "end", "--memory", "GPU 9").returncode != 0, True)
    text = t.run("top", path, "--at", "step1.end", "--base-at", "step1").stdout
    assert "the end of step 1" in text and "the begin of step 1" in text, text
