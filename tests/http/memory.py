# SPDX-License-Identifier: Apache-2.0
"""Memory follows what is looked at, not what lies there."""

import concurrent.futures
import contextlib
import hashlib
import os
import resource
import socket
import subprocess
import zlib

import inputs
from harness import ROOT, equal


def check_below(t, daemon, field, mib):
    """a size of the process in MiB; a sanitizer takes much memory of its own"""
    allowed = mib * 3 + 700 if t.is_sanitized else mib
    used = daemon.status_kib(field) / 1024
    assert used < allowed, f"{field} {used:.0f} MiB, at most {allowed} expected"


def test_a_large_trace_is_not_read_whole(t):
    t.write("plugins/profile/large/h.xplane.pb", inputs.trace("jit_small", 1, 8, padding=150 << 20))
    daemon = t.serve(t.folder())
    equal(daemon.ask("/module_list?run=large").text, "jit_small(1)")
    session = daemon.session_id("large")
    equal(daemon.ask(f"/api/v1/memory_viewer/summary?session={session}").status, 200)
    check_below(t, daemon, "VmHWM", 30)


def test_many_sessions_cost_little_until_they_are_opened(t):
    data = inputs.trace("jit_one", 1, 20000)
    for at in range(40):
        t.write(f"plugins/profile/run{at:02}/h.xplane.pb", data)
    daemon = t.serve(t.folder())
    equal(len(daemon.sessions()), 40)
    check_below(t, daemon, "VmHWM", 20)


def test_what_was_looked_at_longest_ago_leaves(t):
    """40 modules of about 15 MB and 40 answers of 6 MB stay within the budgets of 256 and 64 MiB"""
    data = inputs.trace("jit_one", 1, 20000)
    for at in range(20 if t.is_sanitized else 40):
        t.write(f"plugins/profile/run{at:02}/h.xplane.pb", data)
    daemon = t.serve(t.folder())
    for name, row in sorted(daemon.sessions().items()):
        equal(daemon.ask(f"/api/v1/memory_viewer/xprof?session={row['id']}").status, 200, name)
    check_below(t, daemon, "VmRSS", 420)


def test_a_program_that_can_never_fit_is_413(t):
    t.write("plugins/profile/large/h.xplane.pb", inputs.trace("jit_large", 1, 120000))
    daemon = t.serve("--memory-limit=40", t.folder())
    summary = f"/api/v1/memory_viewer/summary?session={daemon.session_id('large')}"
    answer = daemon.ask(summary)
    equal((answer.status, answer.json["code"]), (413, "memory"))
    equal({**daemon.ask(summary).json, "request_id": None}, {**answer.json, "request_id": None})
    check_below(t, daemon, "VmHWM", 100)


def test_programs_together_stay_within_the_limit(t):
    """six of about 90 MB at once: those that find no room are told to ask again, and are answered then"""
    data = inputs.trace("jit_large", 1, 120000)
    for at in range(6):
        t.write(f"plugins/profile/run{at}/h.xplane.pb", data)
    daemon = t.serve("--memory-limit=200", t.folder())
    paths = [f"/api/v1/memory_viewer/summary?session={row['id']}" for row in daemon.sessions().values()]
    with concurrent.futures.ThreadPoolExecutor(6) as pool:
        answers = list(pool.map(daemon.ask, paths))
    refused = [answer for answer in answers if answer.status != 200]
    equal(
        {(answer.status, answer.json["code"], answer.headers["retry-after"]) for answer in refused},
        {(503, "limit", "1")},
    )
    assert 0 < len(refused) < 6, answers
    equal([daemon.ask(path).status for path in paths], [200] * 6)
    check_below(t, daemon, "VmHWM", 300)


def downloaded(daemon, path, headers, count=None):
    """(headers, size, SHA-256) of what comes, unpacked, without keeping it; or only the first `count` bytes are read"""
    connection = daemon.connect()
    connection.request("GET", path, headers=headers)
    answer = connection.getresponse()
    equal(answer.status, 200)
    found = {name.lower(): value for name, value in answer.getheaders()}
    plain = zlib.decompressobj(31).decompress if found.get("content-encoding") == "gzip" else bytes
    digest, size = hashlib.sha256(), 0
    while (count is None or size < count) and (piece := answer.read(1 << 18)):
        digest.update(piece := plain(piece))
        size += len(piece)
    connection.close()
    return found, size, digest.hexdigest()


def test_a_long_table_is_made_while_it_is_sent(t):
    """a million events are 89 MB of CSV: less than half of that at any time, packed or not, read to the end or not"""
    path, events = t.write("plugins/profile/run/h.xplane.pb", b""), 100000 if t.is_sanitized else 1000000
    subprocess.run(
        [os.path.join(ROOT, "scripts", "make-trace"), path, "--events", str(events)],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    daemon = t.serve(t.folder())
    about = f"session={daemon.session_id('run')}"
    pool = daemon.get_json(f"/api/v1/memory_profile/summary?{about}")["data"]["pools"][0]
    table = f"/api/v1/memory_profile/events?{about}&format=csv"
    begin = daemon.ask(table + "&limit=1000")
    before = daemon.status_kib("VmHWM")
    found, size, digest = downloaded(daemon, table, {})
    equal(("etag" in found, found["content-type"]), (False, begin.headers["content-type"]))
    equal(downloaded(daemon, table, {"Accept-Encoding": "gzip"})[1:], (size, digest))
    equal(daemon.ask(table, "HEAD").body, b"")
    for _ in range(5):
        downloaded(daemon, table + "&sort=-size", {"Accept-Encoding": "gzip"}, 1 << 20)
    grown = (daemon.status_kib("VmHWM") - before) / 1024
    assert t.is_sanitized or grown < 44, f"{grown:.0f} MiB more for {size >> 20} MiB"
    # the same lines, in the same order, as in pages
    assert "etag" in begin.headers, begin.headers
    with concurrent.futures.ThreadPoolExecutor(2) as both:
        whole = list(both.map(lambda _: daemon.ask(table + "&filter=size:>1KiB").body, range(2)))
    equal(whole[0], whole[1])
    equal(daemon.ask(table).body[: len(begin.body)], begin.body)
    assert pool["allocation_count"] < daemon.ask(table).body.count(b"\n") < events


def test_the_large_real_inputs_stay_below_their_limits(t):
    """module list of a 103 MB trace in a thirtieth of XProf's 1.6 GB, a 23.5 MB program in a fifteenth of 1.5 GB"""
    shared = t.need_shared()
    import gzip

    packed = os.path.join(shared, "data/logdir-packed/tf/plugins/profile/large/vm.xplane.pb.gz")
    with gzip.open(packed) as file:
        t.write("plugins/profile/large/vm.xplane.pb", file.read())
    daemon = t.serve(t.folder())
    equal(daemon.ask("/module_list?run=large").text, "NO_MODULE")
    check_below(t, daemon, "VmHWM", 53)
    daemon = t.serve(os.path.join(shared, "data/logdir/tpu"))
    equal(daemon.ask("/module_list?run=large-transformer-64l").status, 200)
    name = "jit_train_step(1994907181506094850)"
    equal(daemon.ask(f"/data?run=large-transformer-64l&tag=memory_viewer&module_name={name}").status, 200)
    check_below(t, daemon, "VmHWM", 100)


def test_what_is_kept_makes_room_for_what_is_given(t):
    """programs that nobody looks at any more never keep an upload out"""
    t.write("plugins/profile/large/h.xplane.pb", inputs.trace("jit_large", 1, 120000))
    daemon = t.serve("--memory-limit=120", t.folder())
    summary = f"/api/v1/memory_viewer/summary?session={daemon.session_id('large')}"
    plain = {"Content-Type": "text/plain"}
    for letter in b"ab":
        equal(daemon.ask(summary).status, 200)
        answer = daemon.ask("/api/v1/oom", "POST", plain, bytes([letter]) * (60 << 20))
        equal(answer.status, 200, answer)
    equal(daemon.ask(summary).status, 200)
    profile = inputs.profile([((("f", "a.py", 1),), (1, 5), {"kind": "buffer", "device": "d:0"})])
    equal(daemon.ask("/api/v1/profiles", "POST", {"Content-Type": "application/octet-stream"}, profile).status, 201)


def test_small_texts_find_room_beside_a_large_body(t):
    """bodies under way may take a quarter of the memory, and a lone one more: error texts beside it are read all the
    same"""
    daemon = t.serve("--memory-limit=64", t.folder())
    head = (
        f"POST /api/v1/uploads?name=a.hlo.pb HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/octet-stream\r\n"
        f"Content-Length: {30 << 20}\r\n\r\n"
    ).encode()
    with socket.create_connection((daemon.host, daemon.port), timeout=60) as connection:
        connection.sendall(head + b"x" * (17 << 20))
        told = set()
        for at in range(100):
            text = b"RESOURCE_EXHAUSTED: Out of memory allocating %d bytes.\n" % at * 8
            answer = daemon.ask("/api/v1/oom", "POST", {"Content-Type": "text/plain"}, text)
            told.add((answer.status, answer.json.get("detail")))
        equal(told, {(200, None)})


def test_many_profiles_named_one_by_one_cost_little(t):
    data = inputs.profile([((("f", "a.py", 1),), (1, 5), {"kind": "buffer", "device": "d:0"})])
    daemon = t.serve(*[t.write(f"{at}.prof", data) for at in range(3000)])
    equal([row["profile_count"] for row in daemon.sessions().values()], [3000])
    check_below(t, daemon, "VmHWM", 60)


def test_a_list_of_modules_keeps_what_it_says_and_no_more(t):
    """400 hosts with 12 modules each: a window for each module would be 150 MB"""
    data = inputs.xspace({(f"jit_{at}", at): inputs.hlo_proto(f"jit_{at}") for at in range(12)})
    for at in range(400):
        t.write(f"plugins/profile/job/h{at:03}.xplane.pb", data)
    daemon = t.serve("--memory-limit=128", t.folder())
    answer = daemon.get_json(f"/api/v1/sessions/{daemon.session_id('job')}/modules", limit=5)
    equal(len(answer["modules"]), 5)
    check_below(t, daemon, "VmHWM", 60)


def restrict(daemon, more_mib=None):
    """lets the process have so much more than it has; None: as much as it wants"""
    limit = resource.RLIM_INFINITY if more_mib is None else (daemon.status_kib("VmSize") << 10) + (more_mib << 20)
    resource.prlimit(daemon.process.pid, resource.RLIMIT_AS, (limit, resource.RLIM_INFINITY))


def test_what_the_system_has_no_memory_for_is_503_and_others_are_answered(t):
    if t.is_sanitized:
        return  # a sanitizer takes terabytes of address space: what is held here is held by the plain run
    t.write("plugins/profile/large/h.xplane.pb", inputs.trace("jit_large", 1, 120000))
    t.write("plugins/profile/small/h.xplane.pb", inputs.trace("jit_small", 2))
    daemon = t.serve("--memory-limit=4000", t.folder())
    large, small = (f"/api/v1/memory_viewer/summary?session={daemon.session_id(name)}" for name in ("large", "small"))
    equal(daemon.ask("/module_list?run=small").status, 200)
    restrict(daemon, 16)
    answer = daemon.ask(large)
    equal((answer.status, answer.json["code"]), (503, "exhausted"), answer)
    equal(daemon.ask(small).status, 200)
    restrict(daemon)
    equal(daemon.ask(large).status, 200, "when there is memory again")


def test_without_any_memory_left_the_daemon_lives_on(t):
    if t.is_sanitized:
        return  # a sanitizer takes terabytes of address space: what is held here is held by the plain run
    for at in range(300):
        t.write(f"plugins/profile/run{at}/h.xplane.pb", inputs.trace(f"jit_{at}", at))
    daemon = t.serve("--memory-limit=4000", t.folder())
    ids = [row["id"] for row in daemon.sessions().values()]
    for more_mib in (0, 1, 2):
        restrict(daemon, more_mib)
        for id in ids[more_mib * 100 : more_mib * 100 + 100]:
            for path in (f"/api/v1/memory_viewer/buffers?session={id}", "/api/v1/sessions?limit=300"):
                status = daemon.ask(path, connection=daemon.connect()).status
                assert status in (200, 503), status
        restrict(daemon)
    equal(daemon.ask("/api/v1/sessions").status, 200)


def test_a_connection_that_finds_no_memory_is_told_503(t):
    """and is not closed without a word: 250 of them want 64 MB, when there are 8"""
    if t.is_sanitized:
        return  # its own memory would count
    daemon = t.serve(t.folder())
    daemon.ask("/api/v1/about")
    with contextlib.ExitStack() as stack:
        limit = (daemon.status_kib("VmData") << 10) + (8 << 20)
        resource.prlimit(daemon.process.pid, resource.RLIMIT_DATA, (limit, resource.RLIM_INFINITY))
        told = []
        for _ in range(250):
            connection = stack.enter_context(contextlib.closing(daemon.connect()))
            told.append(daemon.ask("/api/v1/about", connection=connection))
        equal({answer.status for answer in told}, {200, 503})
        refused = [answer for answer in told if answer.status == 503]
        equal(
            {
                (answer.json["code"], answer.headers["retry-after"], answer.headers["content-type"])
                for answer in refused
            },
            {("exhausted", "1", "application/problem+json")},
        )
        resource.prlimit(daemon.process.pid, resource.RLIMIT_DATA, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    equal(daemon.ask("/api/v1/about").status, 200)


def test_ulimit_is_seen(t):
    """half of what ulimit -v leaves is for what is read: what needs more is told so"""
    if t.is_sanitized:
        return  # a sanitizer takes terabytes of address space: what is held here is held by the plain run
    binary = t.binary
    for mib in (200, 400, 1000):
        t.binary = os.path.join(t.folder(), f"limited{mib}")
        with open(t.binary, "w") as script:
            script.write(f'#!/bin/sh\nulimit -v {mib << 10}\nexec {binary} "$@"\n')
        os.chmod(t.binary, 0o700)
        daemon = t.serve(t.folder())
        equal(daemon.get_json("/api/v1/about")["memory_limit_bytes"], mib << 19, f"ulimit -v of {mib} MiB")
