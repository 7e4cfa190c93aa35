# SPDX-License-Identifier: Apache-2.0
"""docs/openapi.yaml: every route and every status in it is met, every answer follows its schema, and
nothing is answered that is not in it."""

import gzip
import json
import os
import urllib.parse

import inputs
from captures import allowed, taken, walk_captures
from confirmations import walk_confirmations
from document import Document
from fleet_story import walk_fleet
from harness import ROOT, equal, nulls, wait_until
from live import run_of, walk_live
from openapi_access import LOGIN, walk_login, walk_rescan, walk_wrong_tokens
from openapi_walks import (
    address_of,
    is_of_two,
    walk_common,
    walk_compare,
    walk_errors,
    walk_profile,
    walk_profiles,
    walk_ready,
    walk_texts,
    walk_uploads,
    walk_vanished,
    walk_views,
)

DOCUMENT = os.path.join(ROOT, "docs", "openapi.yaml")
# what names the thing that a tool's views are about
WHERE = {
    "memory_viewer": ("session", "host", "module"),
    "memory_profile": ("session", "host"),
    "modules": ("session", "host", "within_ms", "category_rules"),
    "compare": ("a", "b"),
    "compare_profiles": ("a", "b"),
    "fleet": ("job", "commit", "module", "host", "user", "kind", "label", "since", "until", "by", "within_ms"),
    "device_memory": ("session", "profile", "base"),
    "oom": ("session", "file", "local"),
}
OTHER = {"/api/v1/oom/plan", "/api/v1/oom/text"}  # below a tool's name, and no view
# which session of the demo a tool shows
DEMO = {
    "memory_viewer": "b-activations-unrolled",
    "memory_profile": "training",
    "device_memory": "leak",
    "oom": "b-activations-unrolled",
    "compare": "b-activations-unrolled",
    "compare_profiles": "leak",
}


SAYS_WHETHER_IT_FITS = ("memory_viewer/summary", "memory_viewer/whatif", "modules/summary", "modules/table")


def objects(schema):
    """every schema of an object below a schema"""
    if isinstance(schema, dict):
        kind = schema.get("type")
        if kind == "object" or isinstance(kind, list) and "object" in kind:
            yield schema
        for value in schema.values():
            yield from objects(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from objects(value)


def test_every_object_is_closed(t):
    for name, schema in Document(DOCUMENT).tree["components"]["schemas"].items():
        for found in objects(schema):
            if name == "XprofAnswer" or found.get("additionalProperties") == {"type": "string"}:
                continue  # its fields are XProf's; names that people choose
            equal(found.get("additionalProperties"), False, f"{name}: {found}")


def test_the_parser_of_this_test_reads_the_document_right(t):
    """a few facts that a misread indentation would break"""
    tree = Document(DOCUMENT).tree
    equal(tree["openapi"], "3.1.0")
    equal(tree["components"]["schemas"]["Id"]["pattern"], "^([0-9a-f]{12}|[0-9a-f]{40}(-[0-9]{1,4})?)$")
    sort = tree["paths"]["/api/v1/sessions"]["get"]["parameters"][0]
    equal((sort["name"], sort["schema"]["enum"]), ("sort", ["newest", "name", "largest", "failed"]))
    equal(tree["components"]["schemas"]["Known"], {"type": "integer"})


def test_documented_parameters_are_the_views_own(t):
    document, daemon = Document(DOCUMENT), t.serve(t.folder())
    operations = {(path, method): operation for path, method, operation in document.operations()}
    for tool in daemon.get_json("/api/v1/tools")["tools"]:
        for view in tool["views"]:
            operation = operations[f"/api/v1/{tool['name']}/{view['name']}", "GET"]
            documented = [document.resolve(parameter)["name"] for parameter in operation["parameters"]]
            chosen = ["capacity"] if f"{tool['name']}/{view['name']}" in SAYS_WHETHER_IT_FITS else []
            equal(sorted(documented), sorted([*WHERE[tool["name"]], *view["params"], *chosen]), view["name"])
        begin = f"/api/v1/{tool['name']}/"
        documented = {
            path.removeprefix(begin) for path in document.tree["paths"] if path.startswith(begin) and path not in OTHER
        }
        equal(documented, {view["name"] for view in tool["views"]}, "views")


def test_documented_formats_are_those_that_are_answered(t):
    """each with a content type of its own that is documented, and no other"""
    document, daemon = Document(DOCUMENT), t.serve("--demo")
    sessions = daemon.sessions()
    for path, _, operation in document.operations():
        schemas = [
            document.resolve(parameter)["schema"]
            for parameter in operation["parameters"]
            if document.resolve(parameter)["name"] == "format"
        ]
        for schema in schemas:
            session = sessions[DEMO.get(path.split("/")[3], "training")]["id"]
            about = "" if path.startswith(("/api/v1/sessions", "/api/v1/fleet/")) else f"session={session}&"
            about = f"a={session}&b={session}&" if is_of_two(path) else about
            address = f"{path.replace('{session}', session)}?{about}format="
            answers = [daemon.ask(address + word) for word in schema["enum"]]
            equal([answer.status for answer in answers], [200] * len(answers), path)
            equal(
                {answer.headers["content-type"].partition(";")[0] for answer in answers},
                set(document.media(operation, 200)),
                path,
            )
            refused = daemon.ask(address + "none")
            equal(
                (refused.status, refused.json["detail"].rpartition("Known: ")[2]),
                (400, ", ".join(schema["enum"])),
                path,
            )


def test_parameters_refuse_what_is_not_documented(t):
    """what is one of several words or a number, in every view, whether the view needs it or not"""
    document, daemon = Document(DOCUMENT), t.serve("--demo")
    sessions = daemon.sessions()
    accepted = []
    for path, _, operation in document.operations():
        session = sessions.get(DEMO.get(path.split("/")[-2]), {}).get("id")
        needed = {"session": session, "a": session, "b": session, "id": "2", "match": ".", "file": "x"}
        parameters = [document.resolve(parameter) for parameter in operation["parameters"]]
        known = {
            parameter["name"]: needed[parameter["name"]] for parameter in parameters if needed.get(parameter["name"])
        }
        for parameter in parameters:
            schema = document.resolve(parameter["schema"])
            if parameter["in"] == "query" and ("enum" in schema or schema.get("type") == "integer"):
                if daemon.ask(f"{path}?{urllib.parse.urlencode({**known, parameter['name']: 'zz'})}").status != 400:
                    accepted.append(f"{path} {parameter['name']}")
    assert not accepted, accepted


class Walk:
    """asks for every documented pair of route and status"""

    def __init__(self, t):
        self.document = Document(DOCUMENT)
        run = {("jit_one", 5): inputs.hlo_proto("jit_one", 40), ("jit_two", 6): inputs.hlo_proto("jit_two", 6)}
        t.write("plugins/profile/run/h.xplane.pb", inputs.xspace(run) + inputs.memory_plane(40))
        t.write("plugins/profile/named/h.xplane.pb", inputs.gpu_trace(3))
        packed = gzip.compress(inputs.memory_plane(4000))
        t.write("torn/h.xplane.pb.gz", packed[:-60] + bytes(20) + packed[-40:])
        t.write("plugins/profile/none/h.xplane.pb", inputs.xspace({}))
        t.write("kept/rank0.pickle", inputs.kept_snapshot())
        t.write("broken/module_0001.jit_f.after_optimizations.hlo.pb", inputs.hlo_proto("jit_f", 8)[:-20])
        t.write("broken/error.txt", b"RESOURCE_EXHAUSTED")
        self.log = b"RESOURCE_EXHAUSTED: Out of memory while trying to allocate 300 bytes.\n"
        t.write("job/train.log", self.log)
        packed_log = gzip.compress(self.log * 1000)
        lone = [t.write("../cut.log.gz", packed_log[:-40]), t.write("../bomb.log.gz", inputs.gzip_bomb())]
        self.profile = inputs.profile(
            [((("f", "/a/x.py", 3), ("g", "/a/x.py", 9)), (1, 64), {"kind": "buffer", "device": "d:0"})]
        )
        t.write("series/memory1.prof", self.profile)
        t.write("series/memory2.prof", gzip.compress(self.profile))
        t.write("damaged/memory.prof", self.profile.replace(b"\x0a\x02\x01\x02", b"\x0a\x7f\x01\x02"))
        self.profile_bomb = gzip.compress(inputs.profile([], padding=160 << 20))
        t.write("swollen/memory.prof", self.profile_bomb)
        t.write("noise/h.xplane.pb", b"\x0a\xff\xff\xff\xff\x7f" * 20)
        t.write("bomb/h.xplane.pb.gz", inputs.gzip_bomb())
        self.gone = {
            "gone": t.write("plugins/profile/gone/h.xplane.pb", inputs.xspace(run)),
            "alone/gone.log": t.write("alone/gone.log", self.log),
            "vanished": t.write("vanished/memory.prof", self.profile),
        }
        program = "modules/mlp-adam/module_0000.jit_step.cl_1014260217.after_optimizations.hlo.pb.gz"
        self.daemon = t.serve_with_compiler(
            "stops",
            program,
            *allowed(t),
            t.folder(),
            os.path.join(t.fixtures, "dumps"),
            os.path.join(t.fixtures, "memprof"),
            *lone,
        )
        self.small = t.serve("--memory-limit=1", t.folder())
        self.locked = t.serve("--bind=0.0.0.0", t.folder())
        self.token = urllib.parse.parse_qs(self.locked.fragment)["token"][0]
        wait_until(lambda: "job/train.log" in self.daemon.sessions(), what="the reading of the log")
        self.sessions = {name: row["id"] for name, row in self.daemon.sessions().items()}
        self.met = set()
        self.upload = self.daemon.ask(
            "/api/v1/uploads?name=a.hlo.pb", "POST", {"Content-Type": "application/octet-stream"}, inputs.hlo_proto()
        ).json["id"]
        self.sessions["upload"] = self.upload
        asked = self.daemon.ask(
            "/api/v1/confirmations",
            "POST",
            LOGIN,
            json.dumps({"session": self.sessions["h-long-context"], "change": ["sequence=0.5"]}),
        )
        self.confirmation, self.capture, self.run = asked.json["id"], taken(self.daemon)["id"], run_of(t, self.daemon)
        wait_until(
            lambda: self.daemon.get_json(f"/api/v1/confirmations/{self.confirmation}")["state"] == "done",
            what="the compiler's answer",
        )

    def check(self, path, method, answer):
        """notes what was met; an answer must be documented and follow its schema"""
        operation = self.document.tree["paths"][path][method.lower()]
        media = self.document.media(operation, answer.status)
        assert media is not None, f"{method} {path}: status {answer.status} is not documented: {answer}"
        self.met.add((path, method, str(answer.status)))
        if not answer.body:
            return
        kind = answer.headers["content-type"].partition(";")[0]
        assert kind in media, f"{method} {path}: {kind} is not documented for {answer.status}"
        if kind.endswith(("/json", "+json")):
            faults = [
                *self.document.faults(answer.json, media[kind]),
                *(f"{each} is null" for each in nulls(answer.json)),
            ]
            assert not faults, f"{method} {path} {answer.status}: " + "; ".join(faults[:5])

    def ask(self, path, address, method="GET", headers=None, body=None, daemon=None):
        answer = (daemon or self.daemon).ask(address, method, headers, body)
        self.check(path, method if method in ("GET", "POST", "DELETE") else self.own_method(path), answer)
        return answer

    def own_method(self, path):
        return next(iter(self.document.tree["paths"][path])).upper()


def test_every_route_and_status_is_met_and_follows_its_schema(t):
    walk = Walk(t)
    for path, method, _ in walk.document.operations():
        if method == "GET":
            walk_common(walk, path)
            walk_errors(walk, path)
    for more in (walk_login, walk_texts, walk_uploads, walk_confirmations, walk_views, walk_compare, walk_profile):
        more(walk)
    for more in (walk_profiles, walk_captures, walk_live, walk_fleet):
        more(walk, t)
    walk_rescan(walk)
    walk_vanished(walk)
    walk_ready(walk, t)
    walk_wrong_tokens(walk, t, address_of)
    documented = {
        (path, method, status)
        for path, method, operation in walk.document.operations()
        for status in operation["responses"]
    }
    missed = documented - walk.met
    assert not missed, f"documented, but never met: {sorted(missed)}"
