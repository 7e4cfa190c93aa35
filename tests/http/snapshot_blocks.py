# SPDX-License-Identifier: Apache-2.0
"""Allocations of a snapshot one by one, as the timeline draws them: what there is and from when to when is told here
from the events of the file; all together they are what is in use at each event."""

import os
import pickle
import sys

from document import Document
from harness import ROOT, equal

sys.path.append(os.path.join(ROOT, "tests", "golden"))  # behind our own: both have a module "verdict"
import made_allocator as made  # noqa: E402
import made_program  # noqa: E402

DOCUMENT = os.path.join(ROOT, "docs", "openapi.yaml")
ALL = 2048


def opened(t, snapshot):
    daemon = t.serve(os.path.dirname(t.write("job/rank0.pickle", pickle.dumps(snapshot, 4))))
    (session,) = daemon.get_json("/api/v1/sessions")["sessions"]
    return daemon, {"session": session["id"]}


def asked(daemon, place, view, **params):
    answer = daemon.get_json(f"/api/v1/memory_profile/{view}", **place, **params)
    document = Document(DOCUMENT)
    schema = document.media(document.tree["paths"][f"/api/v1/memory_profile/{view}"]["get"], 200)["application/json"]
    equal(list(document.faults(answer, schema)), [], view)
    return answer["data"]


def lives(snapshot):
    """(bytes, event that begins it or -1, event that ends it or None), of the events of the file in its order"""
    at, live, found = -1, {}, []
    for event in snapshot["device_traces"][0]:
        if event["action"] not in ("alloc", "free_completed"):
            continue
        at += 1
        if event["action"] == "alloc":
            live[event["addr"]] = (event["size"], at)
        else:
            size, begin = live.pop(event["addr"], (event["size"], -1))
            found.append((size, begin, at))
    found += [(size, begin, None) for size, begin in live.values()]
    for segment in snapshot["segments"]:
        found += [
            (block["requested_size"], -1, None)
            for block in segment["blocks"]
            if block["state"] != "inactive" and block["address"] not in live
        ]
    return sorted(found, key=str)


def told(data):
    return sorted(
        [(row["size_bytes"], row.get("from_event", -1), row.get("to_event")) for row in data["blocks"]], key=str
    )


def check_sums(data, when):
    """at each event all of them are what is in use, and those of a category its band"""
    bands = {band["label"]: band for band in data["stacked"]["bands"]}
    for at, event in enumerate(data["columns"]["event"]):
        there = [row for row in data["blocks"] if row.get("from_event", -1) <= event < row.get("to_event", 1 << 60)]
        equal(
            sum(row["size_bytes"] for row in there), data["columns"]["heap_bytes"][at], f"{when}: after event {event}"
        )
        for place, band in enumerate(data["stacked"]["bands"]):
            if band["kind"] != "before":
                equal(
                    sum(row["size_bytes"] for row in there if row.get("band") == place),
                    band["bytes"][at],
                    f"{when}: band {place} after event {event}",
                )
        for label, band in bands.items() if data["stacked"]["by"] == "category" else ():
            if band["kind"] != "before":
                equal(
                    sum(row["size_bytes"] for row in there if row.get("category", "unknown") == label),
                    band["bytes"][at],
                    f"{when}: {label} after event {event}",
                )


def test_blocks_of_the_timeline_are_those_of_the_events_and_add_up_to_the_curve(t):
    one = made_program.Program(capacity=300 << 20).one
    for name, keeps in (("whole", None), ("cut", 150)):
        snapshot = made.snapshot(one, keeps=keeps)
        daemon, place = opened(t, snapshot)
        data = asked(daemon, place, "timeline", width=16384, stack="category", blocks=ALL)
        equal((told(data), data["block_count"]), (lives(snapshot), len(data["blocks"])), name)
        equal(any("block" in row for row in data["blocks"]), keeps is not None, name)
        check_sums(data, name)
        for by in ("op", "program"):
            check_sums(asked(daemon, place, "timeline", width=16384, stack=by, blocks=ALL), f"{name} by {by}")
        assert all("band" not in row for row in asked(daemon, place, "timeline", width=64, blocks=ALL)["blocks"]), (
            "no bands were asked for"
        )


def area(row, start, end):
    return row["size_bytes"] * (min(row.get("freed_ps", end), end) - max(row.get("born_ps", start), start) + 1)


def test_few_blocks_are_those_that_take_most_of_the_window(t):
    daemon, place = opened(t, made.snapshot(made_program.Program(capacity=300 << 20).one))
    whole = asked(daemon, place, "timeline", width=64, blocks=ALL)
    start, end = whole["from_ps"], whole["to_ps"]
    for window in ((start, end), (start + (end - start) // 3, start + (end - start) // 2)):
        params = {} if window == (start, end) else {"from": window[0], "to": window[1]}
        every = asked(daemon, place, "timeline", width=64, blocks=ALL, **params)
        equal(every["block_count"], len(every["blocks"]))
        assert params == {} or every["block_count"] < whole["block_count"], (
            "what is not there in the window is not listed"
        )
        for limit in (1, 7, 40):
            few = asked(daemon, place, "timeline", width=64, blocks=limit, **params)
            equal((few["blocks"], few["block_count"]), (every["blocks"][:limit], every["block_count"]))
        areas = [area(row, *window) for row in every["blocks"]]
        equal(areas, sorted(areas, reverse=True))
    assert "blocks" not in asked(daemon, place, "timeline", width=64)
    for wrong in ("-1", "2049", "many"):
        equal(
            daemon.ask(f"/api/v1/memory_profile/timeline?session={place['session']}&blocks={wrong}").status, 400, wrong
        )


def test_a_block_that_no_event_tells_of_says_who_made_it(t):
    snapshot = made.snapshot(made_program.Program(capacity=300 << 20).one, keeps=150)
    daemon, place = opened(t, snapshot)
    blocks = [block for segment in snapshot["segments"] for block in segment["blocks"]]
    kept = [row for row in asked(daemon, place, "timeline", width=64, blocks=ALL)["blocks"] if "block" in row]
    assert len(kept) > 3
    for row in kept:
        data, own = asked(daemon, place, "block", id=row["block"]), blocks[row["block"]]
        equal(
            (data["size_bytes"], data["rounded_bytes"], data["address"]),
            (own["requested_size"], own["size"], hex(own["address"])),
        )
        equal(
            [(frame["file"], frame["function"]) for frame in data["stack"]],
            [(frame["filename"], frame["name"]) for frame in own["frames"]],
        )
        equal(
            [data.get(name) for name in ("op", "line", "category")],
            [row.get(name) for name in ("op", "line", "category")],
        )
    others = set(range(len(blocks) + 2)) - {row["block"] for row in kept}
    for status, number in ((404, min(others)), (404, len(blocks) + 1), (400, -1), (400, "x")):
        equal(daemon.ask(f"/api/v1/memory_profile/block?session={place['session']}&id={number}").status, status, number)


def test_line_of_an_event_is_the_innermost_that_is_not_of_pytorch(t):
    daemon, place = opened(t, made.snapshot(made_program.Program(capacity=300 << 20).one))
    rows = asked(daemon, place, "timeline", width=64, blocks=ALL)["blocks"]
    lines = {row.get("line") for row in rows}
    assert any(line and line.startswith("net.py:") for line in lines), lines
    for row in rows[:20]:
        event = asked(daemon, place, "event", id=row["event"])["event"]
        equal(
            (event.get("line"), event["time_ps"], event["size_bytes"]),
            (row.get("line"), row["born_ps"], row["size_bytes"]),
        )
        own = [
            f"{os.path.basename(frame['file'])}:{frame['line']} {frame['function']}"
            for frame in event.get("stack", [])
            if "site-packages/torch" not in frame["file"]
        ]
        equal(event.get("line"), own[0] if own else event.get("line"))


def test_pieces_of_segments_are_the_blocks_of_the_file_with_their_categories(t):
    snapshot = made.snapshot(made_program.Program(capacity=300 << 20).one, keeps=150)
    daemon, place = opened(t, snapshot)
    drawn = {
        row.get("event", ("block", row.get("block"))): row
        for row in asked(daemon, place, "timeline", width=64, blocks=ALL)["blocks"]
    }
    data = asked(daemon, place, "segments", time="end", width=8192, scale="all", limit=1000)
    found = []
    for row in data["rows"]:
        for piece in row["pieces"]:
            if piece["kind"] in ("hole", "mixed"):
                continue
            own = drawn[piece["event"] if "event" in piece else ("block", piece["block"])]
            equal(piece.get("category"), own.get("category"), piece)
            found.append((int(piece["address"], 16), piece["size_bytes"]))
    equal(
        sorted(found),
        sorted(
            (block["address"], block["size"])
            for segment in snapshot["segments"]
            for block in segment["blocks"]
            if block["state"] != "inactive"
        ),
    )


def test_one_scale_for_all_segments_is_a_part_of_what_is_reserved(t):
    daemon, place = opened(t, made.snapshot(made_program.Program(capacity=300 << 20).one))
    for scale, whole in (
        ("largest", lambda rows: max(row["size_bytes"] for row in rows)),
        ("all", lambda rows: sum(row["size_bytes"] for row in rows)),
    ):
        rows = asked(daemon, place, "segments", width=2, scale=scale, limit=1000)["rows"]
        pixel = whole(rows) // 2
        for row in rows:
            for one, other in zip(row["pieces"], row["pieces"][1:]):
                assert one["size_bytes"] >= pixel or other["size_bytes"] >= pixel, (scale, one, other)
    equal(
        asked(daemon, place, "segments", width=2)["rows"],
        asked(daemon, place, "segments", width=2, scale="largest")["rows"],
    )
    equal(daemon.ask(f"/api/v1/memory_profile/segments?session={place['session']}&scale=some").status, 400)


def test_segments_at_a_failed_request_are_those_that_it_met(t):
    one = made.fragmented()
    (failed,) = one.failures
    daemon, place = opened(t, made.snapshot(one))
    (failure,) = asked(daemon, place, "timeline", width=64)["failures"]
    data = asked(daemon, place, "segments", time=failure["time_ps"])
    equal(data["failure"], failure)
    equal(
        (
            data["failure"]["requested_bytes"],
            data["reserved_bytes"],
            data["free_bytes"],
            data["largest_hole"]["size_bytes"],
        ),
        (24 * made.MIB, failed["reserved"], failed["free"], failed["largest"]),
    )
    equal(data["largest_hole"]["is_usable"], True)
    equal(
        data["finding"]["sentence"],
        "a request failed: it asked for 24.00 MiB, and the largest free piece that it could take is "
        f"{failed['largest'] // made.MIB}.00 MiB",
    )
    before = asked(daemon, place, "segments", time="start")
    assert not {"failure", "finding"} & before.keys() and "is_usable" not in (before.get("largest_hole") or {}), before


def test_what_is_free_for_others_is_no_piece_for_a_request_that_failed(t):
    """12 MiB are free, all of another stream"""
    one = made.Caching(1, capacity=64 * made.MIB)
    one.allocate(8 * made.MIB, 7)
    one.free(one.allocate(8 * made.MIB, 7))
    try:
        one.allocate(60 * made.MIB)
    except made.OutOfMemory:
        pass
    daemon, place = opened(t, made.snapshot(one))
    (failure,) = asked(daemon, place, "timeline", width=64)["failures"]
    data = asked(daemon, place, "segments", time=failure["time_ps"])
    equal((data["largest_hole"]["size_bytes"], data["largest_hole"]["is_usable"]), (12 * made.MIB, False))
    equal(data["finding"]["sentence"], "a request failed: it asked for 60.00 MiB, and no free piece could take it")
    assert (
        "PyTorch 12.00 MiB of its 20.00 MiB, no free piece that it could use"
        in asked(daemon, place, "summary")["pools"][0]["finding"]["sentence"]
    )
    equal(
        asked(daemon, place, "holes", time=failure["time_ps"])["finding"]["sentence"],
        "a request of 60.00 MiB, which failed, meets no free piece that it could use",
    )
