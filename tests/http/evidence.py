# SPDX-License-Identifier: Apache-2.0
"""Each figure of a verdict has its evidence: what is seen there adds up to the figure, or the difference is named."""

import os
import pickle
import re
import sys
import urllib.parse

from harness import ROOT, equal, with_evidence
import live_arrays

sys.path.append(os.path.join(ROOT, "tests", "golden"))  # behind our own: both have a module "verdict"
import made_allocator  # noqa: E402

GIB = 2**30
SIZE = re.compile(r"(?<![\w.])\d[\d.]* (?:[KMGT]i)?B\b")


def figures_of(answer):
    """(what it is, bytes, evidence) of all figures of the four blocks and the ledger"""
    fit, peak = answer["fit"], answer["peak"]
    for key in ("needed", "capacity", "over", "free"):
        yield f"fit.{key}", fit[f"{key}_bytes"], fit["evidence"][key]
    yield "cause", answer["cause"]["bytes"], answer["cause"]["evidence"]
    yield "where", answer["where_bytes"], answer["where_evidence"]
    for row in answer["where"] + answer["categories"]:
        yield f"where {row['label']}", row["bytes"], row["evidence"]
    yield "peak", peak["bytes"], peak["evidence"]
    yield "rest", peak["rest_bytes"], peak["rest_evidence"]
    for row in peak["patterns"]:
        yield f"pattern {row['kind']}", row["bytes"], row["evidence"]
        yield f"saves {row['kind']}", row["saves_bytes"], row["saves_evidence"]
    for row in peak["groups"]:
        yield f"group {row['label']}", row["bytes"], row["evidence"]
    for row in answer["advice"]:
        yield f"saves: {row['title']}", row["saves_bytes"], row["evidence"]["saves"]
        yield f"lands: {row['title']}", row["lands_at_bytes"], row["evidence"]["lands_at"]
    for row in answer["ledger"]["bars"]:
        yield f"bar {row['kind']}", row["bytes"], row["evidence"]
    yield "ledger capacity", answer["ledger"]["capacity_bytes"], answer["ledger"]["capacity_evidence"]
    for mention in answer["further"]:
        yield "further", mention["bytes"], mention["evidence"]
    for sentence, mentions in sentences_of(answer):
        for mention in mentions:
            assert mention["text"] in sentence, (mention, sentence)
            yield f"in {sentence}", mention["bytes"], mention["evidence"]


def sentences_of(answer):
    yield answer["verdict"], answer["figures"]
    yield answer["fit"]["sentence"], answer["fit"]["figures"]
    yield answer["cause"]["text"], answer["cause"]["figures"]
    yield answer["advice_sentence"] or "", answer["advice_figures"]
    yield answer["ledger"]["sentence"], answer["ledger"]["figures"]
    for row in answer["peak"]["patterns"]:
        yield row["sentence"], row["figures"]
    for row in answer["advice"]:
        yield row["evidence"]["sentence"], row["evidence"]["figures"]


class Held:
    """evidence of one answer against what the daemon lists"""

    def __init__(self, daemon, answer, session, **capacity):
        """`capacity`: that which the answer was asked with"""
        self.capacity = capacity
        self.daemon, self.answer = daemon, with_evidence(answer)
        self.module = (
            {"session": answer["module"]["session"], "module": answer["module"]["id"]} if answer["module"] else None
        )
        self.session, self.known, self.kinds = session, {}, {}

    def ask(self, path, **params):
        key = (path, tuple(sorted(params.items())))
        if key not in self.known:
            self.known[key] = self.daemon.get_json(f"/api/v1/{path}", **params)
        return self.known[key]

    def buffers(self, what, evidence):
        params = {key: evidence[key] for key in ("space", "filter") if evidence[key] not in ("", None)}
        params["step"] = evidence["step"] or "peak"
        data = self.ask("memory_viewer/buffers", **self.module, **params, limit=1000, sort="-size")["data"]
        equal((data["matched_count"], bool(evidence["filter"] is not None)), (evidence["count"], True), what)
        if evidence["column"] is None:
            equal(data["matched_bytes"], evidence["sum_bytes"], what)
        elif len(data["rows"]) == data["matched_count"]:
            equal(sum(row["padding_bytes"] for row in data["rows"]), evidence["sum_bytes"], what)

    def replayed(self, what, bytes_, evidence):
        """of an allocator snapshot, with the request that failed as far as it is still to be made"""
        data = self.ask(
            "memory_profile/whatif",
            session=self.answer["trace_session"],
            memory=evidence["memory"],
            change=evidence["change"],
        )["data"]
        failed = data["failed_request"]
        asked = failed["requested_bytes"] if failed else 0
        lands = data["reserved_bytes_after"] + (0 if failed and failed["is_placed"] else asked)
        equal(bytes_, lands if what.startswith("lands") else data["reserved_bytes_before"] + asked - lands, what)

    def change(self, what, bytes_, evidence):
        if evidence["tool"] == "memory_profile":
            self.replayed(what, bytes_, evidence)
            return
        data = self.ask("memory_viewer/whatif", **self.module, **self.capacity, change=evidence["change"])["data"]
        before, after = data["total_bytes_before"], data["total_bytes_after"]
        if what.startswith("saves"):
            equal(bytes_, before - after, what)
        else:
            equal(bytes_ if evidence["sum_bytes"] is None else evidence["sum_bytes"], after, what)

    def text(self, what, evidence):
        begin, end = evidence["range"]
        file = {"file": evidence["file"] or self.answer["file"]}
        query = urllib.parse.urlencode({"session": self.session, "from": begin, "to": end, **file})
        body = self.daemon.ask(f"/api/v1/oom/text?{query}").body
        assert re.search(rb"\d", body) and len(body) < 40, (what, body)

    def profile(self, what, evidence):
        """rows of a device profile, which may be of another session than the text"""
        data = self.ask(
            "device_memory/buffers",
            session=self.answer["profile_session"],
            profile=evidence["file"],
            filter=evidence["filter"],
        )["data"]
        equal(data["matched_total"], evidence["sum_bytes"], what)

    def snapshot(self, what, evidence):
        """of an allocator snapshot: the view that it names, at its moment, has the figure"""
        about = {"session": self.answer["trace_session"], "memory": evidence["memory"], "time": evidence["time_ps"]}
        if evidence["column"] in ("free", "reserved"):
            equal(
                self.ask("memory_profile/segments", **about)["data"][f"{evidence['column']}_bytes"],
                evidence["sum_bytes"],
                what,
            )
        elif evidence["column"]:
            data = self.ask("memory_profile/holes", **about)["data"]
            pools = self.ask("memory_profile/summary", session=about["session"])["data"]["pools"]
            failure = next(pool for pool in pools if pool["memory"] == evidence["memory"])["failures"][data["failure"]]
            equal(failure["largest_hole_bytes"], data["largest_hole"]["size_bytes"], what)
            equal(failure[f"{evidence['column']}_bytes"], evidence["sum_bytes"], what)
        else:
            rows = self.ask(
                "memory_profile/live", **about, **({"filter": evidence["filter"]} if evidence["filter"] else {})
            )["data"]
            equal(rows["matched_bytes"], evidence["sum_bytes"], what)
        self.columns = getattr(self, "columns", set()) | {evidence["column"]}

    def hold(self):
        for what, bytes_, evidence in figures_of(self.answer):
            if bytes_ is None or bytes_ == 0:
                continue
            assert evidence, (what, bytes_)
            equal(evidence["sentence"] is None, evidence["kind"] == "buffers", what)
            self.kinds[evidence["kind"]] = self.kinds.get(evidence["kind"], 0) + 1
            is_saving = evidence["kind"] == "change" and what.startswith("saves")
            if evidence["sum_bytes"] is not None and not is_saving:
                equal(evidence["sum_bytes"] + (evidence["rest_bytes"] or 0), bytes_, what)
                equal(evidence["rest"] is None, evidence["rest_bytes"] is None, what)
            if evidence["kind"] == "buffers":
                self.buffers(what, evidence)
            elif evidence["kind"] == "change":
                self.change(what, bytes_, evidence)
            elif evidence["range"]:
                self.text(what, evidence)
            elif evidence["kind"] == "profile" and evidence["file"]:
                self.profile(what, evidence)
            elif evidence["kind"] == "trace" and evidence["memory"] and evidence["sum_bytes"] is not None:
                self.snapshot(what, evidence)
        for sentence, mentions in sentences_of(self.answer):
            unmarked = set(SIZE.findall(sentence)) - {mention["text"] for mention in mentions}
            self.unmarked = getattr(self, "unmarked", []) + [(size, sentence) for size in unmarked]
        return self


def test_of_dumps_of_the_fixtures(t):
    daemon = t.serve(os.path.join(t.fixtures, "dumps"))
    for name, row in daemon.sessions().items():
        if row["kind"] == "dump":
            Held(daemon, daemon.get_json("/api/v1/verdict", session=row["id"], capacity=""), row["id"]).hold()


def test_of_a_snapshot(t):
    one = made_allocator.fragmented()
    t.write("job/rank0.pickle", pickle.dumps(made_allocator.snapshot(one), 4))
    daemon = t.serve(t.folder())
    session = daemon.session_id("job")
    answer = daemon.get_json("/api/v1/verdict", session=session)
    held = Held(daemon, answer, session).hold()
    equal((held.columns, held.unmarked), ({None, "requested", "device_free", "free", "reserved", "largest_hole"}, []))
    cause = held.answer["cause"]
    equal(
        (cause["kind"], cause["evidence"]["column"], cause["bytes"]), ("fragmentation", "free", one.failures[0]["free"])
    )


def test_of_live_arrays(t):
    t.write("job/run.log", live_arrays.REQUEST)
    t.write("job/memory.prof", live_arrays.held(train=54 * GIB, init=6 * GIB, programs=GIB))
    daemon = t.serve(t.folder())
    session = next(row["id"] for row in daemon.sessions().values() if row["kind"] == "text")
    answer = daemon.get_json("/api/v1/verdict", session=session)
    held = Held(daemon, answer, session).hold()
    equal((held.unmarked, held.kinds["profile"] >= 8), ([], True), held.kinds)
    assert answer["profile_session"] not in (None, session), answer["profile_session"]


def test_of_real_dumps(t):
    daemon = t.serve(os.path.join(t.need_shared(), "data", "dumps"))
    for name, row in daemon.sessions().items():
        module = daemon.get_json("/api/v1/verdict", session=row["id"])
        held = Held(daemon, module, row["id"]).hold()
        equal([], [each for each in held.unmarked], name)
        if module["module"] and not name.startswith("f"):
            assert held.kinds["buffers"] > 10 and held.kinds["change"] > 1, (name, held.kinds)
            capacity = daemon.get_json("/api/v1/verdict", session=row["id"], capacity="v5p")
            Held(daemon, capacity, row["id"], capacity="v5p").hold()
