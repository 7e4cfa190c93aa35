# SPDX-License-Identifier: Apache-2.0
"""The views of the Memory Viewer: buffers, filters, groups, places in the code, ranks."""

import csv
import io
import os
import re
from urllib.parse import quote

from harness import equal


def serve_dumps(t):
    return t.serve(os.path.join(t.fixtures, "dumps"))


def test_the_seed_shows_its_two_buffers(t):
    daemon = serve_dumps(t)
    session = daemon.session_id("seed-matmul-327680")
    data = daemon.get_json("/api/v1/memory_viewer/summary", session=session)["data"]
    equal((data["spaces"][0]["name"], data["spaces"][0]["peak_bytes"]), ("HBM", 300 << 30))
    rows = daemon.get_json("/api/v1/memory_viewer/buffers", session=session)["data"]["rows"]
    equal([(row["name"], row["bytes"]) for row in rows], [("fusion.31", 200 << 30), ("xor_convert_fusion", 100 << 30)])
    one = daemon.get_json("/api/v1/memory_viewer/buffer", session=session, id=rows[0]["id"])["data"]
    equal((one["name"], one["source_file"]), ("fusion.31", "/home/user/training/oom.py"))
    text = daemon.get_json(f"/api/v1/sessions/{session}")["error_texts"][0]["text"]
    assert text.startswith("RESOURCE_EXHAUSTED"), text


def test_buffers_as_csv(t):
    daemon = serve_dumps(t)
    session = daemon.session_id("seed-matmul-327680")
    answer = daemon.ask(f"/api/v1/memory_viewer/buffers?session={session}&format=csv")
    equal(answer.headers["content-type"], "text/csv; charset=utf-8")
    assert answer.headers["content-disposition"].startswith('attachment; filename="buffers-'), answer.headers
    rows = list(csv.DictReader(io.StringIO(answer.text)))
    equal([row["name"] for row in rows], ["fusion.31", "xor_convert_fusion"])
    equal("oom.py" in answer.text, True)
    bare = daemon.ask(f"/api/v1/memory_viewer/buffers?session={session}&format=csv&paths=without")
    equal(("oom.py" in bare.text, bare.text.count("\r\n")), (False, 3))
    equal(daemon.ask(f"/api/v1/memory_viewer/buffers?session={session}&format=csv&paths=x").status, 400)
    equal(daemon.ask(f"/api/v1/memory_viewer/summary?session={session}&format=csv").status, 400)


def test_rows_of_a_page_add_up_with_their_totals(t):
    daemon = serve_dumps(t)
    session = daemon.session_id("d-tile-padding")
    data = daemon.get_json("/api/v1/memory_viewer/buffers", session=session, limit=1000)["data"]
    equal(sum(row["bytes"] for row in data["rows"]), data["total_bytes"])
    equal(data["total_bytes"], daemon.get_json("/api/v1/memory_viewer/strips", session=session)["data"]["bytes"])


def ask_buffers(daemon, session, **params):
    return daemon.get_json("/api/v1/memory_viewer/buffers", session=session, limit=1000, **params)["data"]


def test_filters_keep_what_they_say(t):
    daemon = serve_dumps(t)
    session = daemon.session_id("seed-matmul-327680")
    kept = lambda text: [row["name"] for row in ask_buffers(daemon, session, filter=text)["rows"]]
    both, fusion, convert = ["fusion.31", "xor_convert_fusion"], ["fusion.31"], ["xor_convert_fusion"]
    for text, wanted in (
        (">100GiB", fusion),
        (">=100GiB", both),
        ("size:>60%", fusion),
        ("name:/^fus.*31$/", fusion),
        ("-name:/31/", convert),
        ("shape:[327680,327680]", both),
        ("shape:[*]", []),
        ("shape:bf16[...]", fusion),
        ("alive:0", both),
        ("alive:>5", []),
        ("pad:>0%", []),
        ("oom.py", both),
        ("oom.py:99999", []),
        ("name:xor*,*.31", both),
        ("lives:>=1", both),
    ):
        equal(kept(text), wanted, text)
    data = ask_buffers(daemon, session, filter=">100GiB")
    equal(
        (data["matched_count"], data["matched_bytes"] >> 30, data["total_count"], data["total_bytes"] >> 30),
        (1, 200, 2, 300),
    )


def test_a_rectangle_of_steps_and_offsets_holds_what_overlaps_it(t):
    daemon = serve_dumps(t)  # offsets and sizes: the dump's own buffer-assignment.txt
    session = daemon.session_id("d-tile-padding")
    gib, place = 1 << 30, "covers:256GiB..511GiB"
    wanted = ["iota.remat_uncompressed", "sort.6{1}", "copy.2.remat_compressed"]
    data = ask_buffers(daemon, session, step="all", filter=f"alive:16..21 >1GiB {place}")
    equal([row["name"] for row in data["rows"]], wanted)
    equal((data["matched_count"], data["matched_bytes"]), (3, 518 * gib))
    window = daemon.get_json(
        "/api/v1/memory_viewer/window", session=session, filter=f">1GiB {place}", **{"from": 16, "to": 22}
    )["data"]
    alive, born, died = window["alive"], window["born"], window["died"]
    equal((alive["count"], alive["bytes"], alive["from"], alive["to"]), (3, 518 * gib, 11, 24))
    equal(
        [(item["name"], item["bytes"] // gib, item["step"]) for item in alive["largest"]],
        [("iota.remat_uncompressed", 256, 18), ("sort.6{1}", 256, 21), ("copy.2.remat_compressed", 6, 11)],
    )
    equal(
        ([item["name"] for item in born["largest"]], [item["name"] for item in died["largest"]]),
        (wanted[:2], [wanted[0], wanted[2]]),
    )
    equal(
        (window["bytes_before"] // gib, window["peak"], window["bytes_after"] // gib),
        (6, {"step": 18, "bytes": 256 * gib}, 256),
    )
    strips = daemon.get_json(
        "/api/v1/memory_viewer/strips", session=session, step=18, mark=f"alive:16..21 >1GiB {place}"
    )["data"]
    marked = [bar["name"] for bar in strips["orders"]["size"] if bar["marked_count"]]
    equal(marked, ["iota.remat_uncompressed"])


def test_a_broken_filter_is_refused_at_its_place(t):
    daemon = serve_dumps(t)
    session = daemon.session_id("seed-matmul-327680")
    for text, at, words in (
        ("fusion sze:1", 7, "Did you mean size?"),
        ("size:big", 5, "not a number"),
        ("name:/(/", 6, "expression"),
        ("shape:[8", 6, "no shape"),
        ("cat:", 0, "asks for nothing"),
    ):
        for view in ("buffers?filter", "groups?filter", "window?filter", "strips?mark"):
            answer = daemon.ask(f"/api/v1/memory_viewer/{view}={quote(text)}&session={session}")
            equal(
                (answer.status, answer.json["code"], answer.json["file"], answer.json["offset_bytes"]),
                (400, "argument", None, at),
                text,
            )
            assert words in answer.json["detail"], answer.json


def test_a_kind_is_found_by_its_word_and_a_column_by_its_other_names(t):
    daemon = serve_dumps(t)
    session = daemon.session_id("h-long-context")  # pages call a parameter an argument
    sums = {
        text: ask_buffers(daemon, session, filter=text)["matched_bytes"]
        for text in ("kind:parameter", "kind:argument", "kind:arg*", "kind:arg", "-kind:argument", "")
    }
    equal(len({sums[text] for text in list(sums)[:4]}), 1, sums)
    assert 0 < sums["kind:argument"] < sums[""], sums
    equal(sums["kind:argument"] + sums["-kind:argument"], sums[""], sums)


def test_a_category_is_found_whole_by_its_name_and_by_its_words(t):
    daemon = t.serve(os.path.join(t.fixtures, "modules"))
    session = daemon.session_id("mlp-adam")
    groups = daemon.get_json("/api/v1/memory_viewer/groups", session=session, by="category", limit=1000)["data"][
        "groups"
    ]
    sums = {group["key"]: group["bytes"] for group in groups}
    assert len(sums) > 1, sums
    for name, bytes_there in sums.items():
        for text in (
            f"cat:{name}",
            f"category:{name.upper()}",
            f'cat:"{name.replace("_", " ")}"',
            f"cat:{name.replace('_', '-')}",
        ):
            equal(ask_buffers(daemon, session, filter=text)["matched_bytes"], bytes_there, text)


def test_every_view_says_whose_memory_a_buffer_is_and_why(t):
    daemon = t.serve(os.path.join(t.fixtures, "modules"))
    session = daemon.session_id("mlp-adam")
    rows = {row["id"]: row for row in ask_buffers(daemon, session)["rows"]}
    members = ("category", "confidence", "rule", "kind")
    said = {row_id: [row[member] for member in members] for row_id, row in rows.items()}
    strips = daemon.get_json("/api/v1/memory_viewer/strips", session=session, width=1024)["data"]["orders"]
    drawn = daemon.get_json("/api/v1/memory_viewer/map", session=session)["data"]
    window = daemon.get_json("/api/v1/memory_viewer/window", session=session)["data"]
    parts = strips["size"] + strips["program"] + drawn["indefinite"] + drawn["rectangles"] + window["alive"]["largest"]
    parts = [part for part in parts if part["id"] in rows]
    assert len(parts) > 30, len(parts)
    for part in parts:
        equal([part[member] for member in members], said[part["id"]], part["name"])
    largest = next(iter(rows.values()))
    one = daemon.get_json("/api/v1/memory_viewer/buffer", session=session, id=largest["id"])["data"]
    equal([one[member] for member in members], said[largest["id"]])
    assert one["rule_text"].endswith("."), one["rule_text"]
    answer = daemon.ask(f"/api/v1/memory_viewer/buffers?session={session}&format=csv")
    for row in csv.DictReader(io.StringIO(answer.text)):
        equal([row[member] for member in members], said[row["id"]], row["name"])


def test_a_place_of_the_code_holds_what_its_filter_lists(t):
    daemon = serve_dumps(t)
    session = daemon.session_id("h-long-context")
    for by, field, gap in (("scope", "in", "/"), ("stack", "stack", " > ")):
        data = daemon.get_json("/api/v1/memory_viewer/tree", session=session, by=by)["data"]
        nodes, names, keys = data["nodes"], data["names"], []
        assert len(nodes["depth"]) > 5, data
        for depth, key, total, count in zip(nodes["depth"], nodes["key"], nodes["total"], nodes["count"]):
            keys[depth:] = [names[key]["text"]]
            if depth > 0:
                rows = ask_buffers(
                    daemon, session, filter='%s:"%s"*' % (field, "".join(each + gap for each in keys[1:]))
                )
                equal((rows["matched_count"], rows["matched_bytes"]), (count, total), keys)


def test_the_list_of_libraries_can_be_changed(t):
    path = t.write("libraries.txt", b"# the model is a library's\n/models.py\n")
    kinds = {}
    for options in ([], [f"--libraries={path}"]):
        daemon = t.serve(os.path.join(t.fixtures, "dumps"), *options)
        session = daemon.session_id("h-long-context")
        names = daemon.get_json("/api/v1/memory_viewer/tree", session=session, by="stack")["data"]["names"]
        kinds[len(options)] = {name["kind"] for name in names if name["file"] and name["file"].endswith("/models.py")}
    equal(kinds, {0: {"frame"}, 1: {"library"}})
    equal(t.run("--demo", "--port=0", "--libraries=/nowhere").returncode, 2)


def test_groups_hold_every_buffer_once(t):
    daemon = serve_dumps(t)
    session = daemon.session_id("h-long-context")
    for by in ("shape", "dtype", "opcode", "category", "kind", "whose", "line", "scope", "layer"):
        data = daemon.get_json("/api/v1/memory_viewer/groups", session=session, by=by, limit=1000)["data"]
        equal(sum(group["bytes"] for group in data["groups"]), data["total_bytes"], by)
        equal(sum(group["count"] for group in data["groups"]), data["total_count"], by)
        for group in data["groups"][:5]:
            rows = ask_buffers(daemon, session, by=by, key=group["key"])
            equal((rows["matched_count"], rows["matched_bytes"]), (group["count"], group["bytes"]), group["key"])
    keys = [group["key"] for group in data["groups"]]
    assert {"layer 0", "layer 1"} <= set(keys), keys
    counts = daemon.get_json("/api/v1/memory_viewer/groups", session=session, by="opcode", sort="-count")["data"][
        "groups"
    ]
    equal([group["count"] for group in counts], sorted((group["count"] for group in counts), reverse=True))
    table = daemon.ask(f"/api/v1/memory_viewer/groups?session={session}&by=layer&format=csv")
    rows = list(csv.DictReader(io.StringIO(table.text)))
    equal({row["layer"] for row in rows}, set(keys))


def test_groups_by_whose_memory_fold_layers(t):
    daemon = serve_dumps(t)
    session = daemon.session_id("h-long-context")
    data = daemon.get_json("/api/v1/memory_viewer/groups", session=session, by="whose", limit=1000)["data"]
    assert data["group_count"] < data["total_count"], data
    assert abs(sum(group["share_percent"] for group in data["groups"]) - 100) < 1e-6
    for group in data["groups"]:
        rows = ask_buffers(daemon, session, filter=f"group:{group['key']}")
        equal((rows["matched_count"], rows["matched_bytes"]), (group["count"], group["bytes"]), group["label"])
        sizes = [row["bytes"] for row in rows["rows"]]
        equal((min(sizes), max(sizes)), (group["smallest_bytes"], group["largest_bytes"]))
        assert all(
            row["group"] == group["key"] and re.sub(r"\{[^}]*\}", "", row["shape"]) == (group["shape"] or "")
            for row in rows["rows"]
        )
    folded = [group for group in data["groups"] if group["layer_count"]]
    assert folded and all("{i}" in group["scope"] and group["count"] > 1 for group in folded), len(data["groups"])
    every = daemon.get_json("/api/v1/memory_viewer/groups", session=session, by="whose", step="all", limit=1)["data"]
    equal(every["groups"][0]["share_percent"], None)


def test_changes_to_choose_from_are_told_alone_and_together(t):
    daemon = t.serve(os.path.join(t.fixtures, "modules"))
    session = daemon.session_id("mlp-adam")

    def whatif(*changes, **params):
        query = "&".join(
            f"{name}={quote(str(value))}"
            for name, value in [("change", change) for change in changes] + list(params.items())
        )
        return daemon.ask(f"/api/v1/memory_viewer/whatif?session={session}&{query}")

    refused = whatif("batch=0.5", "bath=0.5")
    equal((refused.status, refused.json["code"]), (400, "argument"))
    told = whatif("batch=0.5", "bath=0.5", alone=1).json["data"]
    equal([change["refusal"] for change in told["changes"]], [None, refused.json["detail"]])
    equal(told["total_bytes_after"], whatif("batch=0.5").json["data"]["total_bytes_after"])
    half = next(change for change in told["alone"] if change["change"] == "batch=0.5")
    equal((half["total_bytes"], half["fits"]), (told["total_bytes_after"], None))
    fits = whatif("batch=0.5", alone=1, capacity_bytes=told["total_bytes_after"]).json["data"]
    equal((fits["fits_before"], fits["fits_after"], fits["changes"][0]["fits"]), (False, True, True))
    equal(whatif("batch=0.5").json["data"]["alone"], [])


def test_a_persons_rules_come_first_in_every_view(t):
    daemon = serve_dumps(t)
    session = daemon.session_id("h-long-context")
    rules = "# mine\nattention cache\n"
    for view in ("summary", "curve", "strips", "buffers", "groups", "window", "map", "whose", "live_range"):
        daemon.get_json(f"/api/v1/memory_viewer/{view}", session=session, category_rules=rules)
        answer = daemon.ask(f"/api/v1/memory_viewer/{view}?session={session}&category_rules={quote('x cahce')}")
        equal((answer.status, answer.json["code"], answer.json["offset_bytes"]), (400, "argument", 2), view)
        assert answer.json["detail"].endswith('line 1: there is no category "cahce"; did you mean "cache"?'), (
            answer.json
        )
    rows = ask_buffers(daemon, session, category_rules=rules, filter="scope:attention")["rows"]
    assert rows and all(
        (row["category"], row["rule"], row["confidence"]) == ("cache", "category_rules", "exact") for row in rows
    )


def test_a_file_of_rules_holds_for_every_question(t):
    path = t.write("rules.txt", b"attention cache\nattention batch\n")
    daemon = t.serve(os.path.join(t.fixtures, "dumps"), f"--category-rules={path}")
    session = daemon.session_id("h-long-context")
    rows = ask_buffers(daemon, session, filter="scope:attention")["rows"]
    equal({row["category"] for row in rows}, {"cache"})
    cached = sum(row["bytes"] for row in ask_buffers(daemon, session, filter="cat:cache")["rows"])
    table = daemon.get_json("/api/v1/modules/table", session=session)["data"]["rows"]
    equal(
        {part["category"]: part["bytes"] for part in table[0]["categories"]}["cache"],
        cached,
        "on the page of all modules too",
    )
    rows = ask_buffers(daemon, session, filter="scope:attention", category_rules="attention rng")["rows"]
    equal({row["category"] for row in rows}, {"rng"})
    path = t.write("broken.txt", b"fine cache\n(x cache\n")
    for command in (
        ("--demo", "--port=0"),
        ("summary", os.path.join(t.fixtures, "dumps")),
        ("whose", os.path.join(t.fixtures, "dumps")),
        ("explain", os.path.join(t.fixtures, "dumps")),
    ):
        result = t.run(*command, f"--category-rules={path}")
        equal(result.returncode, 2, command)
        assert "broken.txt: category_rules: line 2, character" in result.stderr, result.stderr


def test_ranks_are_places_in_the_three_orders(t):
    daemon = serve_dumps(t)
    session = daemon.session_id("d-tile-padding")
    strips = daemon.get_json("/api/v1/memory_viewer/strips", session=session, width=16384)["data"]["orders"]
    place = {order: {bar["id"]: bar["first_rank"] for bar in bars} for order, bars in strips.items()}
    rows = ask_buffers(daemon, session)["rows"]
    assert any(row["ranks"]["padding"] is not None for row in rows)
    for row in rows:
        for order, rank in row["ranks"].items():
            if row["id"] in place[order]:
                equal(rank, place[order][row["id"]], f"{order} of {row['name']}")
    by_size = [row["ranks"]["size"] for row in rows]
    equal(by_size, list(range(len(rows))))
    assert all(row["ranks"] is None for row in ask_buffers(daemon, session, step="all")["rows"])
    one = daemon.get_json("/api/v1/memory_viewer/buffer", session=session, id=rows[1]["id"])["data"]
    equal(one["ranks"], rows[1]["ranks"])


def test_a_source_is_the_line_of_the_user(t):
    """not that of the library which the line called; the stack keeps both"""
    daemon = t.serve(os.path.join(t.fixtures, "modules"))
    session = daemon.session_id("mlp-adam")
    rows = daemon.get_json("/api/v1/memory_viewer/buffers", session=session, step="all", limit=1000)["data"]["rows"]
    files = {row["source_file"] for row in rows}
    assert not any("site-packages" in file for file in files), files
    called = next(
        row
        for row in rows
        if row["source_file"].endswith("/modules.py")
        and row["source_line"] == 17
        and "site-packages/optax"
        in str(
            daemon.get_json("/api/v1/memory_viewer/buffer", session=session, id=row["id"])["data"]["stack"][0]["file"]
        )
    )
    assert called, rows
