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

DOCUMENT = os.path.join(ROOT, "docs", "openapi.yaml")
# what names the thing that a tool's views are about
WHERE = {"memory_viewer": ("session", "host", "module"), "memory_profile": ("session", "host"),
         "modules": ("session", "host", "within_ms", "category_rules"), "compare": ("a", "b"), "compare_profiles": ("a", "b"),
         "fleet": ("job", "commit", "module", "host", "user", "kind", "label", "since", "until", "by", "within_ms"),
         "device_memory": ("session", "profile", "base"), "oom": ("session", "file", "local")}
OTHER = {"/api/v1/oom/plan", "/api/v1/oom/text"} # below a tool's name, and no view
# which session of the demo a tool shows
DEMO = {"memory_viewer": "b-activations-unrolled", "memory_profile": "training", "device_memory": "leak",
        "oom": "b-activations-unrolled", "compare": "b-activations-unrolled", "compare_profiles": "leak"}


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
                continue # its fields are XProf's; names that people choose
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
        documented = {path.removeprefix(begin) for path in document.tree["paths"]
                      if path.startswith(begin) and path not in OTHER}
        equal(documented, {view["name"] for view in tool["views"]}, "views")


def test_documented_formats_are_those_that_are_answered(t):
    """each with a content type of its own that is documented, and no other"""
    document, daemon = Document(DOCUMENT), t.serve("--demo")
    sessions = daemon.sessions()
    for path, _, operation in document.operations():
        schemas = [document.resolve(parameter)["schema"] for parameter in operation["parameters"]
                   if document.resolve(parameter)["name"] == "format"]
        for schema in schemas:
            session = sessions[DEMO.get(path.split('/')[3], "training")]["id"]
            about = "" if path.startswith(("/api/v1/sessions", "/api/v1/fleet/")) else f"session={session}&"
            about = f"a={session}&b={session}&" if is_of_two(path) else about
            address = f"{path.replace('{session}', session)}?{about}format="
            answers = [daemon.ask(address + word) for word in schema["enum"]]
            equal([answer.status for answer in answers], [200] * len(answers), path)
            equal({answer.headers["content-type"].partition(";")[0] for answer in answers}, set(document.media(operation, 200)), path)
            refused = daemon.ask(address + "none")
            equal((refused.status, refused.json["detail"].rpartition("Known: ")[2]), (400, ", ".join(schema["enum"])), path)


def test_parameters_refuse_what_is_not_documented(t):
    """what is one of several words or a number, in every view, whether the view needs it or not"""
    document, daemon = Document(DOCUMENT), t.serve("--demo")
    sessions = daemon.sessions()
    accepted = []
    for path, _, operation in document.operations():
        session = sessions.get(DEMO.get(path.split("/")[-2]), {}).get("id")
        needed = {"session": session, "a": session, "b": session, "id": "2", "match": ".", "file": "x"}
        parameters = [document.resolve(parameter) for parameter in operation["parameters"]]
        known = {parameter["name"]: needed[parameter["name"]] for parameter in parameters if needed.get(parameter["name"])}
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
        self.profile = inputs.profile([((("f", "/a/x.py", 3), ("g", "/a/x.py", 9)), (1, 64), {"kind": "buffer", "device": "d:0"})])
        t.write("series/memory1.prof", self.profile)
        t.write("series/memory2.prof", gzip.compress(self.profile))
        t.write("damaged/memory.prof", self.profile.replace(b"\x0a\x02\x01\x02", b"\x0a\x7f\x01\x02"))
        self.profile_bomb = gzip.compress(inputs.profile([], padding=160 << 20))
        t.write("swollen/memory.prof", self.profile_bomb)
        t.write("noise/h.xplane.pb", b"\x0a\xff\xff\xff\xff\x7f" * 20)
        t.write("bomb/h.xplane.pb.gz", inputs.gzip_bomb())
        self.gone = {"gone": t.write("plugins/profile/gone/h.xplane.pb", inputs.xspace(run)),
                     "alone/gone.log": t.write("alone/gone.log", self.log), "vanished": t.write("vanished/memory.prof", self.profile)}
        program = "modules/mlp-adam/module_0000.jit_step.cl_1014260217.after_optimizations.hlo.pb.gz"
        self.daemon = t.serve_with_compiler("stops", program, *allowed(t), t.folder(), os.path.join(t.fixtures, "dumps"), os.path.join(t.fixtures, "memprof"), *lone)
        self.small = t.serve("--memory-limit=1", t.folder())
        self.locked = t.serve("--bind=0.0.0.0", t.folder())
        self.token = urllib.parse.parse_qs(self.locked.fragment)["token"][0]
        wait_until(lambda: "job/train.log" in self.daemon.sessions(), what="the reading of the log")
        self.sessions = {name: row["id"] for name, row in self.daemon.sessions().items()}
        self.met = set()
        self.upload = self.daemon.ask("/api/v1/uploads?name=a.hlo.pb", "POST", {"Content-Type": "application/octet-stream"},
                                     inputs.hlo_proto()).json["id"]
        self.sessions["upload"] = self.upload
        asked = self.daemon.ask("/api/v1/confirmations", "POST", LOGIN, json.dumps({"session": self.sessions["h-long-context"], "change": ["sequence=0.5"]}))
        self.confirmation, self.capture, self.run = asked.json["id"], taken(self.daemon)["id"], run_of(t, self.daemon)
        wait_until(lambda: self.daemon.get_json(f"/api/v1/confirmations/{self.confirmation}")["state"] == "done", what="the compiler's answer")

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
            faults = [*self.document.faults(answer.json, media[kind]), *(f"{each} is null" for each in nulls(answer.json))]
            assert not faults, f"{method} {path} {answer.status}: " + "; ".join(faults[:5])

    def ask(self, path, address, method="GET", headers=None, body=None, daemon=None):
        answer = (daemon or self.daemon).ask(address, method, headers, body)
        self.check(path, method if method in ("GET", "POST", "DELETE") else self.own_method(path), answer)
        return answer

    def own_method(self, path):
        return next(iter(self.document.tree["paths"][path])).upper()


def is_of_text(path):
    return "/oom" in path


def is_of_session(path):
    return any(tool in path for tool in ("/memory_viewer/", "/memory_profile/", "/modules/", "/api/v1/verdict"))


def is_of_device(path):
    return "/device_memory/" in path


def is_of_two(path):
    return "/compare" in path


def is_of_profiles(path):
    return is_of_device(path) or "/compare_profiles/" in path


DEVICE_EXTRAS = {"callers": "&match=.", "source": "&file=/a/x.py"}


def address_of(path, session, extra=""):
    address = path.replace("{session}", session).replace("{upload}", session).replace("{confirmation}", session).replace("{capture}", session).replace("{run}", session)
    if is_of_text(path):
        address += f"?session={session}"
    if path == "/api/v1/source":
        address += "?file=/a/x.py"
    if path == "/api/v1/batch":
        address += "?ask=sessions"
    if is_of_two(path):
        address += f"?a={session}&b={session}"
    if is_of_device(path):
        address += f"?session={session}" + DEVICE_EXTRAS.get(path.rpartition("/")[2], "")
    if is_of_session(path):
        address += f"?session={session}"
        address += {"buffer": "&id=2", "event": "&id=2", "block": "&id=0"}.get(path.rpartition("/")[2], "")
    return address + (("&" if "?" in address else "?") + extra if extra else "")


def walk_common(walk, path):
    """what every GET has"""
    session = walk.sessions["job/train.log" if is_of_text(path) else "series" if is_of_profiles(path) else "kept" if path.endswith("/block") else "run"]
    for word, own in (("{upload}", walk.upload), ("{confirmation}", walk.confirmation), ("{capture}", walk.capture), ("{run}", walk.run)):
        session = own if word in path else session
    address = address_of(path, session)
    first = walk.ask(path, address)
    equal(first.status, 200, address)
    if path != "/metrics":
        equal(walk.ask(path, address, headers={"If-None-Match": first.headers["etag"]}).status, 304, path)
    equal(walk.ask(path, address, headers={"Host": "evil.example"}).status, 403, path)
    equal(walk.ask(path, address, headers={"X": "a" * 20000}).status, 431, path)
    equal(walk.ask(path, address_of(path, session, "filter=" + "a" * 9000)).status, 414, path)
    refused = walk.daemon.ask(address, "PUT")
    walk.check(path, "GET", refused)
    equal(refused.status, 405, path)
    if path.startswith("/api/"):
        equal(walk.ask(path, address, daemon=walk.locked).status, 401, path)
        equal(walk.ask(path, address_of(path, session, "nothing=1")).status, 400, path)
    else:
        equal(walk.ask(path, address + "?x=%zz").status, 400, path)
    if path.startswith("/metrics"):
        equal(walk.ask(path, address, daemon=walk.locked).status, 401, path)


def walk_errors(walk, path):
    """what a question about a session may meet"""
    if "{upload}" in path:
        equal(walk.ask(path, address_of(path, "0" * 40)).status, 404, path)
    if any(word in path for word in ("{confirmation}", "{capture}", "{run}")):
        equal(walk.ask(path, address_of(path, "0" * 12)).status, 404, path)
    if "{session}" in path or is_of_session(path) or is_of_text(path) or is_of_device(path) or is_of_two(path):
        equal(walk.ask(path, address_of(path, "000000000000")).status, 404, path)
    if path.endswith("/modules"):
        equal(walk.ask(path, address_of(path, walk.sessions["noise"])).status, 422, path)
    is_of_host = "/memory_profile/" in path and not path.endswith("/summary")
    is_of_programs = "/memory_viewer/" in path or "/compare/" in path
    if path.endswith("/modules") or is_of_programs or is_of_host:
        equal(walk.ask(path, address_of(path, walk.sessions["bomb"])).status, 413, path)
    if is_of_host:
        equal(walk.ask(path, address_of(path, walk.sessions["torn"])).status, 422, path)
    if is_of_programs:
        equal(walk.ask(path, address_of(path, walk.sessions["broken"])).status, 422, path)
        equal(walk.ask(path, address_of(path, walk.sessions["none"])).status, 404, path)
    if is_of_two(path):
        equal(walk.ask(path, address_of(path, walk.sessions["run" if is_of_profiles(path) else "series"])).status, 409, path)
    if is_of_device(path):
        equal(walk.ask(path, address_of(path, walk.sessions["run"])).status, 404, path)
    if is_of_profiles(path):
        equal(walk.ask(path, address_of(path, walk.sessions["damaged"])).status, 422, path)
        equal(walk.ask(path, address_of(path, walk.sessions["swollen"])).status, 413, path)


def walk_profiles(walk, t):
    """what device profiles are asked beside the usual"""
    path, raw = "/api/v1/profiles", {"Content-Type": "application/octet-stream"}
    for headers, body, daemon, status in (
            (raw, walk.profile, walk.daemon, 201), (raw, gzip.compress(walk.profile), walk.daemon, 201),
            ({"Content-Type": "text/plain"}, walk.profile, walk.daemon, 415), ({}, walk.profile, walk.daemon, 415),
            (raw, b"no profile", walk.daemon, 422), (raw, walk.profile[:-3], walk.daemon, 422),
            ({**raw, "Origin": "http://evil.example"}, walk.profile, walk.daemon, 403),
            ({**raw, "Sec-Fetch-Site": "cross-site"}, walk.profile, walk.daemon, 403), (raw, walk.profile, walk.locked, 401),
            (raw, walk.profile_bomb, walk.daemon, 413), (raw, b"x" * ((64 << 20) + 1), walk.daemon, 413),
            (raw, b"x" * (2 << 20), walk.small, 503), ({**raw, "X": "a" * 20000}, walk.profile, walk.daemon, 431)):
        equal(walk.ask(path, path, "POST", headers, body, daemon).status, status, (headers, body[:40]))
    equal(walk.ask(path, path + "?x=1", "POST", raw, walk.profile).status, 400)
    equal(walk.ask(path, path + "?name=" + "a" * 9000, "POST", raw, walk.profile).status, 414)
    refused = walk.daemon.ask(path, "DELETE")
    walk.check(path, "POST", refused)
    equal(refused.status, 405, "DELETE")
    uploaded = walk.ask(path, path + "?name=m.prof", "POST", raw, walk.profile).json["id"]
    session = walk.sessions["memprof"]
    ids = {row["name"]: row["id"] for row in walk.ask("/api/v1/sessions/{session}/profiles", f"/api/v1/sessions/{session}/profiles").json["profiles"]}
    profile = "/api/v1/device_memory/profile"
    for view in ("summary", "flame", "graph", "top", "callers", "source", "buffers", "traces", "tags", "series"):
        one, extra = f"/api/v1/device_memory/{view}", DEVICE_EXTRAS.get(view, "")
        for question in (f"profile={uploaded}", f"profile={uploaded}&by=line&machinery=1&focus=f(&tag=kind=buffer&tagignore=zzz",
                         f"session={session}&profile={ids['memory9.prof']}&base={ids['memory1.prof']}",
                         f"session={session}&profile={ids['memory.prof']}&profile={ids['memory9.prof']}&base={uploaded}&subtract=1&normalize=1"):
            equal(walk.ask(one, f"{one}?{question}{extra}").status, 200, question)
            equal(walk.ask(profile, f"{profile}?{question.replace('&by=line', '')}").status, 200, question)
    for extra in ("search=func", "invert=1&machinery=1", "pivot=~func1", "search=(", "base=" + ids["memory1.prof"]):
        walk.ask("/api/v1/device_memory/flame", f"/api/v1/device_memory/flame?session={session}&profile={ids['memory.prof']}&{extra}")
    for view in ("top", "buffers", "series", "traces"):
        for form in ("csv", "ndjson", "text", "collapsed"):
            one = f"/api/v1/device_memory/{view}"
            walk.ask(one, f"{one}?session={session}&format={form}")


def walk_uploads(walk):
    """what files that are opened like a session meet"""
    path, raw = "/api/v1/uploads", {"Content-Type": "application/octet-stream"}
    program, name = inputs.hlo_proto(), "?name=a.hlo.pb"
    for headers, body, daemon, status in (
            (raw, program, walk.daemon, 201), (raw, inputs.trace(), walk.daemon, 201), (raw, walk.profile, walk.daemon, 201),
            ({"Content-Type": "text/plain"}, program, walk.daemon, 415), ({}, program, walk.daemon, 415),
            (raw, b"\0\1\2\3", walk.daemon, 422), (raw, b"", walk.daemon, 422),
            ({**raw, "Origin": "http://evil.example"}, program, walk.daemon, 403), (raw, program, walk.locked, 401),
            (raw, b"x" * (2 << 20), walk.small, 503), ({**raw, "X": "a" * 20000}, program, walk.daemon, 431)):
        equal(walk.ask(path, path + name, "POST", headers, body, daemon).status, status, (headers, body[:40]))
    for wrong in ("", "?name=", "?name=/a.hlo.pb", "?name=a/../b.hlo.pb", "?name=.a", "?name=a&x=1", "?name=" + "a" * 256):
        equal(walk.ask(path, path + wrong, "POST", raw, program).status, 400, wrong)
    equal(walk.ask(path, path + name + "&with=" + "0" * 40, "POST", raw, program).status, 404)
    equal(walk.ask(path, path + "?name=" + "a" * 9000, "POST", raw, program).status, 414)
    refused = walk.daemon.ask(path, "DELETE")
    walk.check(path, "POST", refused)
    equal(refused.status, 405, "DELETE")
    given = ""
    for at in range(1001):
        answer = walk.daemon.ask(f"{path}?name={at}.log&with={given}", "POST", raw, b"x")
        given = answer.json.get("id", given)
    walk.check(path, "POST", answer)
    equal(answer.status, 413, "too many files")


def walk_texts(walk):
    """what only out-of-memory texts meet"""
    path, text = "/api/v1/oom", "/api/v1/oom/text"
    for one in (path, path + "/report", text):
        equal(walk.ask(one, address_of(one, walk.sessions["run"])).status, 404, "a session without texts")
        equal(walk.ask(one, address_of(one, walk.sessions["job/train.log"], "file=other.log")).status, 404)
        equal(walk.ask(one, f"{one}?local={'0' * 32}").status, 404)
        for wrong in ("?local=0", "?local=/etc/passwd", f"?local={'0' * 32}&session=0", ""):
            equal(walk.ask(one, one + wrong).status, 400, wrong)
        far = "" if one != text else "from=300000000&to=300000001"
        equal(walk.ask(one, address_of(one, walk.sessions["cut.log.gz"], far)).status, 422)
        equal(walk.ask(one, address_of(one, walk.sessions["bomb.log.gz"], far)).status, 413)
    plan = "/api/v1/oom/plan"
    for name, status in (("cut.log.gz", 422), ("bomb.log.gz", 413), ("run", 404)):
        equal(walk.ask(plan, address_of(plan, walk.sessions[name])).status, status, name)
    for wrong in ("from=x", "from=-1", "from=5&to=4", "to=2000000", "from=99999999999999999999"):
        equal(walk.ask(text, address_of(text, walk.sessions["job/train.log"], wrong)).status, 400, wrong)
    verdict = "/api/v1/verdict"
    for name, status in (("cut.log.gz", 422), ("bomb.log.gz", 413), ("job/train.log", 200), ("h-long-context", 200),
                         ("seed-matmul-327680", 200), ("series", 200), ("named", 200), ("none", 200), ("broken", 422)):
        equal(walk.ask(verdict, address_of(verdict, walk.sessions[name])).status, status, name)
    for wrong, status in (("local=" + "0" * 32, 404), ("local=0", 400), ("report=x", 400), ("report=99", 404), ("file=other.log", 404),
                          ("capacity=lots", 400), ("module=" + "0" * 12, 404), ("capacity=v5e", 200), ("capacity=1GiB", 200)):
        equal(walk.ask(verdict, address_of(verdict, walk.sessions["run"], wrong)).status, status, wrong)
    plain = {"Content-Type": "text/plain; charset=utf-8"}
    small = walk.small
    for headers, body, daemon, status in (
            (plain, walk.log, walk.daemon, 200), ({"Content-Type": "application/octet-stream"}, b"\0\xff", walk.daemon, 200),
            ({"Content-Type": "application/x-www-form-urlencoded"}, walk.log, walk.daemon, 415), ({}, walk.log, walk.daemon, 415),
            ({"Content-Type": "text/plainer"}, walk.log, walk.daemon, 415), (plain, b"", walk.daemon, 400),
            ({**plain, "Origin": "http://evil.example"}, walk.log, walk.daemon, 403),
            ({**plain, "Origin": "null"}, walk.log, walk.daemon, 403),
            ({**plain, "Sec-Fetch-Site": "cross-site"}, walk.log, walk.daemon, 403),
            ({**plain, "Host": "evil.example"}, walk.log, walk.daemon, 403), (plain, walk.log, walk.locked, 401),
            ({**plain, "X": "a" * 20000}, walk.log, walk.daemon, 431), (plain, b"x" * ((64 << 20) + 1), walk.daemon, 413),
            (plain, b"x" * (2 << 20), small, 503),
            (plain, gzip.compress(walk.log * 1000)[:-40], walk.daemon, 422)):
        equal(walk.ask(path, path, "POST", headers, body, daemon).status, status, (headers, body[:40]))
    equal(walk.ask(path, path + "?x=" + "a" * 9000, "POST", plain, walk.log).status, 414)
    refused = walk.daemon.ask(path, "DELETE")
    walk.check(path, "POST", refused)
    equal((refused.status, refused.headers["allow"]), (405, "GET, HEAD, POST"))


def walk_vanished(walk):
    """a file that goes away between the scan and the question"""
    paths = [path for path, _, operation in walk.document.operations()
             if "503" in operation["responses"] and path not in ("/-/ready", "/metrics/jobs") and not path.startswith("/api/v1/fleet/")]
    for path in paths:
        if path in ("/api/v1/profiles", "/api/v1/uploads"):
            continue
        name = "alone/gone.log" if is_of_text(path) else "vanished" if is_of_profiles(path) else "gone"
        session, gone = walk.sessions[name], walk.gone[name]
        with open(gone, "rb") as file:
            data = file.read()
        for _ in range(20): # the scanner may have been quicker
            os.remove(gone)
            answer = walk.ask(path, address_of(path, session))
            with open(gone, "wb") as file:
                file.write(data)
            if answer.status == 503:
                break
            while session not in walk.daemon.ask("/api/v1/sessions").text:
                pass


def walk_views(walk):
    """more of what views can be asked, on real programs"""
    for name in ("seed-matmul-327680", "d-tile-padding", "f5-vmem-matmul-blocks", "h-long-context", "run"):
        session = walk.sessions[name]
        modules = walk.ask("/api/v1/sessions/{session}/modules", f"/api/v1/sessions/{session}/modules").json["modules"]
        walk.ask("/api/v1/sessions/{session}", f"/api/v1/sessions/{session}")
        for module in modules:
            for extra in ("", "&alone=1&width=8", "&alone=1&glob=*&change=nonsense&change=unpad=*", "&fit=1&capacity_bytes=65536", "&fit=1", "&format=text"):
                walk.ask("/api/v1/memory_viewer/whatif", f"/api/v1/memory_viewer/whatif?session={session}&module={module['id']}{extra}")
            for space in module["spaces"]:
                about = f"session={session}&module={module['id']}&space={space['space']}"
                for view, extra in (("curve", "&width=16"), ("curve", "&from=1&to=2&stack=category"), ("strips", "&width=3"),
                                    ("strips", "&width=3&mark=covers:0..64K&filter=fusion"), ("window", "&filter=covers:0..64K"),
                                    ("buffers", "&step=all&sort=name"), ("buffers", "&filter=fusion&limit=3"),
                                    ("buffers", "&format=csv"), ("groups", ""), ("groups", "&by=scope&limit=2"), ("groups", "&by=whose&limit=5"), ("tree", ""),
                                    ("tree", "&by=stack&metric=byte_steps&nodes=3"), ("window", ""),
                                    ("window", "&from=1&to=2&limit=1"), ("map", "&width=4"), ("map", ""), ("xprof", "")):
                    walk.ask(f"/api/v1/memory_viewer/{view}", f"/api/v1/memory_viewer/{view}?{about}{extra}")
                rows = walk.ask("/api/v1/memory_viewer/buffers", f"/api/v1/memory_viewer/buffers?{about}").json
                for row in rows["data"]["rows"][:20]:
                    walk.ask("/api/v1/memory_viewer/buffer", f"/api/v1/memory_viewer/buffer?{about}&id={row['id']}")


def walk_compare(walk):
    """two real programs, two moments of one, two device profiles, and what lists of them can be asked"""
    a, b = walk.sessions["seed-matmul-327680"], walk.sessions["h-long-context"]
    for about in (f"a={a}&b={b}", f"a={b}////3&b={b}", f"a={b}&b={b}&step_b=9"):
        for view, extra in (("summary", ""), ("diff", ""), ("diff", "&format=text"), ("curve", "&width=16"), ("curve", "&align=position"),
                            ("groups", ""), ("groups", "&state=new&sort=-count"), ("groups", "&format=csv"), ("buffers", "&group=0"),
                            ("buffers", "&filter=state:gone,new&limit=3&paths=without"), ("buffers", "&format=csv")):
            equal(walk.ask(f"/api/v1/compare/{view}", f"/api/v1/compare/{view}?{about}{extra}").status, 200, view + extra)
    session = walk.sessions["memprof"]
    ids = [row["id"] for row in walk.ask("/api/v1/sessions/{session}/profiles", f"/api/v1/sessions/{session}/profiles").json["profiles"]]
    for about in (f"a={session}//{one}&b={session}//{other}" for one in ids[:3] for other in ids[-2:]):
        for view, extra in (("summary", ""), ("diff", ""), ("diff", "&format=markdown"), ("sites", ""), ("sites", "&state=new&metric=count"),
                            ("sites", "&format=csv&by=function"), ("stacks", "&group=0&machinery=1"), ("stacks", "&format=csv")):
            one = f"/api/v1/compare_profiles/{view}"
            equal(walk.ask(one, f"{one}?{about}{extra}").status, 200, view + extra)


def walk_profile(walk):
    """more of what memory over time can be asked, on made and on real events"""
    for name in ("run", "none", "bomb", "h-long-context"):
        about = f"?session={walk.sessions[name]}"
        walk.ask("/api/v1/memory_profile/summary", "/api/v1/memory_profile/summary" + about)
    about = f"?session={walk.sessions['run']}"
    walk.ask("/api/v1/memory_profile/lanes", f"/api/v1/memory_profile/lanes{about}&width=3")
    about += "&memory=GPU_0_bfc"
    for view, extra in (("timeline", "&width=2"), ("timeline", "&details=1"), ("timeline", "&blocks=2"), ("timeline", "&blocks=2&stack=op"), ("timeline", "&from=5&to=4000"),
                        ("live", "&group=none"), ("live", "&group=op,shape&sort=-count,op"), ("live", "&time=0"),
                        ("live", "&a=0&b=9000000&time=peak"), ("live", "&format=csv"), ("events", "&filter=freed:never&limit=3"),
                        ("events", "&sort=-lifetime,op"), ("events", "&format=csv"), ("event", "&id=0"), ("event", "&id=5"),
                        ("growth", "&sort=-slope"), ("growth", "&format=json"), ("growth", "&boundary=launch"), ("growth", "&filter=verdict:grows"), ("growth", "&format=csv"),
                        ("addresses", "&width=2"), ("addresses", "&event=3&low=0x1000&high=0x2000"), ("fragmentation", "&width=1"),
                        ("holes", "&event=3&request=4096"), ("segments", "&event=3&width=4&scale=all"), ("segments", "&format=csv")):
        equal(walk.ask(f"/api/v1/memory_profile/{view}", f"/api/v1/memory_profile/{view}{about}{extra}").status, 200, view + extra)
    about = f"?session={walk.sessions['named']}"
    for view, extra in (("summary", ""), ("live", ""), ("live", "&group=program,role"), ("events", ""), ("event", "&id=1"), ("growth", ""),
                        ("timeline", "&stack=program&details=1"), ("timeline", "&stack=op"), ("timeline", "&stack=trend")):
        equal(walk.ask(f"/api/v1/memory_profile/{view}", f"/api/v1/memory_profile/{view}{about}{extra}").status, 200, view + extra)


def walk_ready(walk, t):
    """asked while the first scan of a large tree lasts; a quick machine may need several starts"""
    for at in range(4000):
        os.makedirs(os.path.join(t.folder("large"), f"{at % 60}", f"{at}"))
    for _ in range(20):
        daemon = t.serve(t.folder("large"))
        if walk.ask("/-/ready", "/-/ready", daemon=daemon).status == 503:
            break
    wait_until(lambda: daemon.ask("/-/ready").status == 200, what="the end of the first scan")
    assert "/-/ready" not in daemon.log(), "not to be ready yet is no fault, and nothing for the log"


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
    documented = {(path, method, status) for path, method, operation in walk.document.operations()
                  for status in operation["responses"]}
    missed = documented - walk.met
    assert not missed, f"documented, but never met: {sorted(missed)}"
