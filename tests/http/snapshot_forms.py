# SPDX-License-Identifier: Apache-2.0
"""What allocator snapshots of PyTorch are kept in besides a pickle: JSON, pages of memory_viz, archives."""

import base64
import collections
import gzip
import io
import json
import os
import pickle
import sys
import zipfile

from document import Document
from harness import ROOT, equal
from uploads import RAW, add, sessions_of

sys.path.append(os.path.join(ROOT, "tests", "golden"))  # behind our own: both have a module "verdict"
import hostile_snapshots  # noqa: E402
import made_snapshots  # noqa: E402


def page(data):
    """as torch.cuda._memory_viz writes it"""
    data += b"\0" * (3 - len(data) % 3)
    files = json.dumps([{"name": "snapshot.pickle", "base64": base64.b64encode(data).decode()}])
    return (
        f"\n<!DOCTYPE html>\n<html>\n<script>\nconst local_files = {files}\nadd_local_files(local_files, 'x')\n"
        f"</script>".encode()
    )


def zipped(**members):
    """an archive of files, as people send it"""
    into = io.BytesIO()
    with zipfile.ZipFile(into, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("__MACOSX/._x", b"")
        for name, data in members.items():
            archive.writestr(f"job/{name.replace('_', '.')}", data)
    return into.getvalue()


DOCUMENT = os.path.join(ROOT, "docs", "openapi.yaml")
FORMS = {
    "rank0.pickle": lambda data: data,
    "rank1.json": lambda data: json.dumps(pickle.loads(data)).encode(),
    "rank2.json.gz": lambda data: gzip.compress(json.dumps(pickle.loads(data), indent=1, sort_keys=True).encode()),
    "rank3.html": page,
    "rank4.zip": lambda data: zipped(rank4_pickle=data),
    "rank5.pickle.zip": lambda data: zipped(rank5_json=json.dumps(pickle.loads(data)).encode()),
    "rank7.zip": lambda data: hostile_snapshots.archive_of_wide_sizes(
        b"rank7.json", json.dumps(pickle.loads(data)).encode()
    ),
    "rank6.html.gz": lambda data: gzip.compress(page(data)),
}


def plain_snapshot():
    return pickle.dumps(made_snapshots.made(3, 2, 120, 100), 4)


def test_json_pages_and_archives_are_snapshots_too(t):
    for name, form in FORMS.items():
        t.write(f"job/{name}", form(plain_snapshot()))
    daemon = t.serve(t.folder())
    session = daemon.sessions()["job"]
    equal([host["name"] for host in session["hosts"]], [f"rank{at}" for at in range(len(FORMS))])
    summary = daemon.get_json("/api/v1/memory_profile/summary", session=session["id"])["data"]
    figures = collections.defaultdict(dict)
    for pool in summary["pools"]:
        figures[pool["host_name"]][pool["memory"]] = (
            pool["event_count"],
            pool["last_bytes"],
            pool["peak"]["in_use_bytes"],
        )
    equal(sorted(figures), [f"rank{at}" for at in range(len(FORMS))])
    for host, own in figures.items():
        equal(own, figures["rank0"], host)


def test_any_form_can_be_dropped(t):
    daemon = t.serve(t.folder())
    document = Document(DOCUMENT)
    schema = document.media(document.tree["paths"]["/api/v1/uploads"]["post"], 201)["application/json"]
    for name, form in FORMS.items():
        given = add(daemon, name, form(plain_snapshot()))
        equal(list(document.faults(given, schema)), [], name)
        session = sessions_of(daemon, given["id"])[0]
        equal((session["kind"], session["name"], session["snapshot_count"]), ("trace", name.partition(".")[0], 1))


def test_a_trace_of_torch_profiler_is_a_host_by_its_name(t):
    with open(os.path.join(ROOT, "tests", "fixtures", "torch", "cpu.pt.trace.json.gz"), "rb") as file:
        data = file.read()
    daemon = t.serve(t.folder())
    for name, content in (("rank0.pt.trace.json.gz", data), ("rank0.pt.trace.json", gzip.decompress(data))):
        session = sessions_of(daemon, add(daemon, name, content)["id"])[0]
        summary = daemon.get_json("/api/v1/memory_profile/summary", session=session["id"])["data"]
        equal(
            [(pool["host_name"], pool["memory"], pool["event_count"]) for pool in summary["pools"]],
            [("rank0", "CPU", 393)],
            name,
        )
        equal((summary["hosts"][0]["step_count"], summary["pools"][0]["has_stacks"]), (3, True))


def test_json_pages_and_archives_of_other_things_are_none(t):
    others = {
        "trace.json": b'{"displayTimeUnit":"ns","traceEvents":[{"ph":"X"}]}',
        "speech.json": b'{"segments": [{"id": 0, "text": "x"}]}',
        "notes.html": b"<html><body>local_files</body></html>",
        "broken.zip": b"PK\3\4" + bytes(40),
        "list.json": b"[1, 2]",
        "two.zip": zipped(a_pickle=b"x", b_pickle=b"y"),
        "model.zip": zipped(data_pkl=b"x"),
    }
    for name, data in others.items():
        t.write(f"x/{name}", data)
    t.write("run/h.pickle", plain_snapshot())
    equal(sorted(t.serve(t.folder()).sessions()), ["run"])


def test_what_is_dropped_alone_is_refused_with_its_reason(t):
    daemon = t.serve(t.folder())
    refused = {
        "model.pt": (zipped(data_pkl=b"x"), "a checkpoint or model of PyTorch"),
        "old.pt": (b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19.", "a checkpoint or model of PyTorch"),
        "model.pkl": (pickle.dumps({"w": collections.OrderedDict()}, 4), "opcode STACK_GLOBAL"),
        "list.pickle": (pickle.dumps([1, 2], 4), "no segments and no device_traces"),
        "two.zip": (zipped(a_pickle=b"x", b_pickle=b"y"), "a zip archive of 2 files"),
        "cut.zip": (zipped(a_pickle=plain_snapshot())[:300], "the zip archive is cut"),
    }
    for name, (data, reason) in refused.items():
        answer = daemon.ask(f"/api/v1/uploads?name={name}", "POST", RAW, data)
        assert answer.status >= 400 and reason in str(answer.json), f"{name}: {answer.status} {answer.json}"


def test_a_trace_that_contradicts_itself_has_no_sum_below_zero(t):
    """the first event tells more bytes than are in use after it; a free comes twice"""
    rows = [(1 << 32, 4096, 512), (256, 8192, 768), (-512, 4096, 256), (-256, 8192, 0), (128, 8192, 128)]
    events = [
        {
            "ph": "i",
            "cat": "cpu_instant_event",
            "s": "t",
            "name": "[memory]",
            "pid": 7,
            "tid": 1,
            "ts": 100.0 + at,
            "args": {
                "Device Type": 1,
                "Device Id": 0,
                "Bytes": size,
                "Addr": address,
                "Total Allocated": total,
                "Total Reserved": 4096,
            },
        }
        for at, (size, address, total) in enumerate(rows)
    ]
    daemon = t.serve(
        os.path.dirname(
            t.write("one/h.pt.trace.json", json.dumps({"schemaVersion": 1, "traceEvents": events}).encode())
        )
    )
    (session,) = daemon.get_json("/api/v1/sessions")["sessions"]
    place = f"session={session['id']}"
    (pool,) = daemon.get_json(f"/api/v1/memory_profile/summary?{place}")["data"]["pools"]
    equal((pool["peak"]["in_use_bytes"], [row["size_bytes"] for row in pool["categories"]]), (768, [768]))
    bands = daemon.get_json(f"/api/v1/memory_profile/timeline?{place}&stack=category")["data"]["stacked"]["bands"]
    equal(min(min(band["bytes"]) for band in bands), 0)
