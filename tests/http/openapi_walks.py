# SPDX-License-Identifier: Apache-2.0
"""What the walk of openapi.py asks of each part of the API, to meet its routes and statuses."""

import gzip
import os
import inputs
from harness import equal, wait_until


def is_of_text(path):
    return "/oom" in path


def is_of_session(path):
    return any(
        tool in path
        for tool in ("/memory_viewer/", "/memory_profile/", "/modules/", "/api/v1/verdict", "/api/v1/readings")
    )


def is_of_device(path):
    return "/device_memory/" in path


def is_of_two(path):
    return "/compare" in path


def is_of_profiles(path):
    return is_of_device(path) or "/compare_profiles/" in path


DEVICE_EXTRAS = {"callers": "&match=.", "source": "&file=/a/x.py"}


def address_of(path, session, extra=""):
    address = (
        path.replace("{session}", session)
        .replace("{upload}", session)
        .replace("{confirmation}", session)
        .replace("{capture}", session)
        .replace("{run}", session)
    )
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
    session = walk.sessions[
        "job/train.log"
        if is_of_text(path)
        else "series"
        if is_of_profiles(path)
        else "kept"
        if path.endswith("/block")
        else "run"
    ]
    for word, own in (
        ("{upload}", walk.upload),
        ("{confirmation}", walk.confirmation),
        ("{capture}", walk.capture),
        ("{run}", walk.run),
    ):
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
        equal(
            walk.ask(path, address_of(path, walk.sessions["run" if is_of_profiles(path) else "series"])).status,
            409,
            path,
        )
    if is_of_device(path):
        equal(walk.ask(path, address_of(path, walk.sessions["run"])).status, 404, path)
    if is_of_profiles(path):
        equal(walk.ask(path, address_of(path, walk.sessions["damaged"])).status, 422, path)
        equal(walk.ask(path, address_of(path, walk.sessions["swollen"])).status, 413, path)


def walk_profiles(walk, t):
    """what device profiles are asked beside the usual"""
    path, raw = "/api/v1/profiles", {"Content-Type": "application/octet-stream"}
    for headers, body, daemon, status in (
        (raw, walk.profile, walk.daemon, 201),
        (raw, gzip.compress(walk.profile), walk.daemon, 201),
        ({"Content-Type": "text/plain"}, walk.profile, walk.daemon, 415),
        ({}, walk.profile, walk.daemon, 415),
        (raw, b"no profile", walk.daemon, 422),
        (raw, walk.profile[:-3], walk.daemon, 422),
        ({**raw, "Origin": "http://evil.example"}, walk.profile, walk.daemon, 403),
        ({**raw, "Sec-Fetch-Site": "cross-site"}, walk.profile, walk.daemon, 403),
        (raw, walk.profile, walk.locked, 401),
        (raw, walk.profile_bomb, walk.daemon, 413),
        (raw, b"x" * ((64 << 20) + 1), walk.daemon, 413),
        (raw, b"x" * (2 << 20), walk.small, 503),
        ({**raw, "X": "a" * 20000}, walk.profile, walk.daemon, 431),
    ):
        equal(walk.ask(path, path, "POST", headers, body, daemon).status, status, (headers, body[:40]))
    equal(walk.ask(path, path + "?x=1", "POST", raw, walk.profile).status, 400)
    equal(walk.ask(path, path + "?name=" + "a" * 9000, "POST", raw, walk.profile).status, 414)
    refused = walk.daemon.ask(path, "DELETE")
    walk.check(path, "POST", refused)
    equal(refused.status, 405, "DELETE")
    uploaded = walk.ask(path, path + "?name=m.prof", "POST", raw, walk.profile).json["id"]
    session = walk.sessions["memprof"]
    ids = {
        row["name"]: row["id"]
        for row in walk.ask("/api/v1/sessions/{session}/profiles", f"/api/v1/sessions/{session}/profiles").json[
            "profiles"
        ]
    }
    profile = "/api/v1/device_memory/profile"
    for view in ("summary", "flame", "graph", "top", "callers", "source", "buffers", "traces", "tags", "series"):
        one, extra = f"/api/v1/device_memory/{view}", DEVICE_EXTRAS.get(view, "")
        for question in (
            f"profile={uploaded}",
            f"profile={uploaded}&by=line&machinery=1&focus=f(&tag=kind=buffer&tagignore=zzz",
            f"session={session}&profile={ids['memory9.prof']}&base={ids['memory1.prof']}",
            f"session={session}&profile={ids['memory.prof']}&profile={ids['memory9.prof']}&base={uploaded}"
            "&subtract=1&normalize=1",
        ):
            equal(walk.ask(one, f"{one}?{question}{extra}").status, 200, question)
            equal(walk.ask(profile, f"{profile}?{question.replace('&by=line', '')}").status, 200, question)
    for extra in ("search=func", "invert=1&machinery=1", "pivot=~func1", "search=(", "base=" + ids["memory1.prof"]):
        walk.ask(
            "/api/v1/device_memory/flame",
            f"/api/v1/device_memory/flame?session={session}&profile={ids['memory.prof']}&{extra}",
        )
    for view in ("top", "buffers", "series", "traces"):
        for form in ("csv", "ndjson", "text", "collapsed"):
            one = f"/api/v1/device_memory/{view}"
            walk.ask(one, f"{one}?session={session}&format={form}")


def walk_uploads(walk):
    """what files that are opened like a session meet"""
    path, raw = "/api/v1/uploads", {"Content-Type": "application/octet-stream"}
    program, name = inputs.hlo_proto(), "?name=a.hlo.pb"
    for headers, body, daemon, status in (
        (raw, program, walk.daemon, 201),
        (raw, inputs.trace(), walk.daemon, 201),
        (raw, walk.profile, walk.daemon, 201),
        ({"Content-Type": "text/plain"}, program, walk.daemon, 415),
        ({}, program, walk.daemon, 415),
        (raw, b"\0\1\2\3", walk.daemon, 422),
        (raw, b"", walk.daemon, 422),
        ({**raw, "Origin": "http://evil.example"}, program, walk.daemon, 403),
        (raw, program, walk.locked, 401),
        (raw, b"x" * (2 << 20), walk.small, 503),
        ({**raw, "X": "a" * 20000}, program, walk.daemon, 431),
    ):
        equal(walk.ask(path, path + name, "POST", headers, body, daemon).status, status, (headers, body[:40]))
    for wrong in (
        "",
        "?name=",
        "?name=/a.hlo.pb",
        "?name=a/../b.hlo.pb",
        "?name=.a",
        "?name=a&x=1",
        "?name=" + "a" * 256,
    ):
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
    for name, status in (
        ("cut.log.gz", 422),
        ("bomb.log.gz", 413),
        ("job/train.log", 200),
        ("h-long-context", 200),
        ("seed-matmul-327680", 200),
        ("series", 200),
        ("named", 200),
        ("none", 200),
        ("broken", 422),
    ):
        equal(walk.ask(verdict, address_of(verdict, walk.sessions[name])).status, status, name)
    for wrong, status in (
        ("local=" + "0" * 32, 404),
        ("local=0", 400),
        ("report=x", 400),
        ("report=99", 404),
        ("file=other.log", 404),
        ("capacity=lots", 400),
        ("module=" + "0" * 12, 404),
        ("capacity=v5e", 200),
        ("capacity=1GiB", 200),
    ):
        equal(walk.ask(verdict, address_of(verdict, walk.sessions["run"], wrong)).status, status, wrong)
    plain = {"Content-Type": "text/plain; charset=utf-8"}
    small = walk.small
    for headers, body, daemon, status in (
        (plain, walk.log, walk.daemon, 200),
        ({"Content-Type": "application/octet-stream"}, b"\0\xff", walk.daemon, 200),
        ({"Content-Type": "application/x-www-form-urlencoded"}, walk.log, walk.daemon, 415),
        ({}, walk.log, walk.daemon, 415),
        ({"Content-Type": "text/plainer"}, walk.log, walk.daemon, 415),
        (plain, b"", walk.daemon, 400),
        ({**plain, "Origin": "http://evil.example"}, walk.log, walk.daemon, 403),
        ({**plain, "Origin": "null"}, walk.log, walk.daemon, 403),
        ({**plain, "Sec-Fetch-Site": "cross-site"}, walk.log, walk.daemon, 403),
        ({**plain, "Host": "evil.example"}, walk.log, walk.daemon, 403),
        (plain, walk.log, walk.locked, 401),
        ({**plain, "X": "a" * 20000}, walk.log, walk.daemon, 431),
        (plain, b"x" * ((64 << 20) + 1), walk.daemon, 413),
        (plain, b"x" * (2 << 20), small, 503),
        (plain, gzip.compress(walk.log * 1000)[:-40], walk.daemon, 422),
    ):
        equal(walk.ask(path, path, "POST", headers, body, daemon).status, status, (headers, body[:40]))
    equal(walk.ask(path, path + "?x=" + "a" * 9000, "POST", plain, walk.log).status, 414)
    refused = walk.daemon.ask(path, "DELETE")
    walk.check(path, "POST", refused)
    equal((refused.status, refused.headers["allow"]), (405, "GET, HEAD, POST"))


def walk_vanished(walk):
    """a file that goes away between the scan and the question"""
    paths = [
        path
        for path, _, operation in walk.document.operations()
        if "503" in operation["responses"]
        and path not in ("/-/ready", "/metrics/jobs")
        and not path.startswith("/api/v1/fleet/")
    ]
    for path in paths:
        if path in ("/api/v1/profiles", "/api/v1/uploads"):
            continue
        name = "alone/gone.log" if is_of_text(path) else "vanished" if is_of_profiles(path) else "gone"
        session, gone = walk.sessions[name], walk.gone[name]
        with open(gone, "rb") as file:
            data = file.read()
        for _ in range(20):  # the scanner may have been quicker
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
            for extra in (
                "",
                "&alone=1&width=8",
                "&alone=1&glob=*&change=nonsense&change=unpad=*",
                "&fit=1&capacity_bytes=65536",
                "&fit=1",
                "&format=text",
            ):
                walk.ask(
                    "/api/v1/memory_viewer/whatif",
                    f"/api/v1/memory_viewer/whatif?session={session}&module={module['id']}{extra}",
                )
            for space in module["spaces"]:
                about = f"session={session}&module={module['id']}&space={space['space']}"
                for view, extra in (
                    ("curve", "&width=16"),
                    ("curve", "&from=1&to=2&stack=category"),
                    ("strips", "&width=3"),
                    ("strips", "&width=3&mark=covers:0..64K&filter=fusion"),
                    ("window", "&filter=covers:0..64K"),
                    ("buffers", "&step=all&sort=name"),
                    ("buffers", "&filter=fusion&limit=3"),
                    ("buffers", "&format=csv"),
                    ("groups", ""),
                    ("groups", "&by=scope&limit=2"),
                    ("groups", "&by=whose&limit=5"),
                    ("tree", ""),
                    ("tree", "&by=stack&metric=byte_steps&nodes=3"),
                    ("window", ""),
                    ("window", "&from=1&to=2&limit=1"),
                    ("map", "&width=4"),
                    ("map", ""),
                    ("xprof", ""),
                ):
                    walk.ask(f"/api/v1/memory_viewer/{view}", f"/api/v1/memory_viewer/{view}?{about}{extra}")
                rows = walk.ask("/api/v1/memory_viewer/buffers", f"/api/v1/memory_viewer/buffers?{about}").json
                for row in rows["data"]["rows"][:20]:
                    walk.ask("/api/v1/memory_viewer/buffer", f"/api/v1/memory_viewer/buffer?{about}&id={row['id']}")


def walk_compare(walk):
    """two real programs, two moments of one, two device profiles, and what lists of them can be asked"""
    a, b = walk.sessions["seed-matmul-327680"], walk.sessions["h-long-context"]
    for about in (f"a={a}&b={b}", f"a={b}////3&b={b}", f"a={b}&b={b}&step_b=9"):
        for view, extra in (
            ("summary", ""),
            ("diff", ""),
            ("diff", "&format=text"),
            ("curve", "&width=16"),
            ("curve", "&align=position"),
            ("groups", ""),
            ("groups", "&state=new&sort=-count"),
            ("groups", "&format=csv"),
            ("buffers", "&group=0"),
            ("buffers", "&filter=state:gone,new&limit=3&paths=without"),
            ("buffers", "&format=csv"),
        ):
            equal(
                walk.ask(f"/api/v1/compare/{view}", f"/api/v1/compare/{view}?{about}{extra}").status, 200, view + extra
            )
    session = walk.sessions["memprof"]
    ids = [
        row["id"]
        for row in walk.ask("/api/v1/sessions/{session}/profiles", f"/api/v1/sessions/{session}/profiles").json[
            "profiles"
        ]
    ]
    for about in (f"a={session}//{one}&b={session}//{other}" for one in ids[:3] for other in ids[-2:]):
        for view, extra in (
            ("summary", ""),
            ("diff", ""),
            ("diff", "&format=markdown"),
            ("sites", ""),
            ("sites", "&state=new&metric=count"),
            ("sites", "&format=csv&by=function"),
            ("stacks", "&group=0&machinery=1"),
            ("stacks", "&format=csv"),
        ):
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
    for view, extra in (
        ("timeline", "&width=2"),
        ("timeline", "&details=1"),
        ("timeline", "&blocks=2"),
        ("timeline", "&blocks=2&stack=op"),
        ("timeline", "&from=5&to=4000"),
        ("live", "&group=none"),
        ("live", "&group=op,shape&sort=-count,op"),
        ("live", "&time=0"),
        ("live", "&a=0&b=9000000&time=peak"),
        ("live", "&format=csv"),
        ("events", "&filter=freed:never&limit=3"),
        ("events", "&sort=-lifetime,op"),
        ("events", "&format=csv"),
        ("event", "&id=0"),
        ("event", "&id=5"),
        ("growth", "&sort=-slope"),
        ("growth", "&format=json"),
        ("growth", "&boundary=launch"),
        ("growth", "&filter=verdict:grows"),
        ("growth", "&format=csv"),
        ("addresses", "&width=2"),
        ("addresses", "&event=3&low=0x1000&high=0x2000"),
        ("fragmentation", "&width=1"),
        ("holes", "&event=3&request=4096"),
        ("segments", "&event=3&width=4&scale=all"),
        ("segments", "&format=csv"),
    ):
        equal(
            walk.ask(f"/api/v1/memory_profile/{view}", f"/api/v1/memory_profile/{view}{about}{extra}").status,
            200,
            view + extra,
        )
    about = f"?session={walk.sessions['named']}"
    for view, extra in (
        ("summary", ""),
        ("live", ""),
        ("live", "&group=program,role"),
        ("events", ""),
        ("event", "&id=1"),
        ("growth", ""),
        ("timeline", "&stack=program&details=1"),
        ("timeline", "&stack=op"),
        ("timeline", "&stack=trend"),
    ):
        equal(
            walk.ask(f"/api/v1/memory_profile/{view}", f"/api/v1/memory_profile/{view}{about}{extra}").status,
            200,
            view + extra,
        )


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
