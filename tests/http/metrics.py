# SPDX-License-Identifier: Apache-2.0
"""GET /metrics: the text of Prometheus, and that its figures are what was asked."""

import re

import inputs
from harness import equal

SAMPLE = re.compile(r'([a-z_:]+)(?:\{((?:[a-z]+="[^"\\\n]*",?)*)\})? (\S+)')
REQUESTS, TIMES = "memviewd_requests_total", "memviewd_request_duration_seconds"


def samples_of(daemon):
    """{(name, labels): value}; each line must be one of the format, and each name have one TYPE before its samples"""
    answer = daemon.ask("/metrics")
    equal((answer.status, answer.headers["content-type"]), (200, "text/plain; version=0.0.4; charset=utf-8"))
    assert answer.text.endswith("\n")
    samples, types = {}, {}
    for line in answer.text.splitlines():
        if line.startswith("# TYPE "):
            _, _, name, kind = line.split()
            assert name not in types, f"{name} has two types"
            types[name] = kind
        elif not line.startswith("# HELP "):
            name, labels, value = SAMPLE.fullmatch(line).groups()
            assert name in types or re.sub("_(bucket|sum|count)$", "", name) in types, line
            assert (name, labels) not in samples, line
            samples[name, labels] = float(value)
    return samples


def test_requests_are_counted_by_route(t):
    t.write(
        "plugins/profile/secret-name/h.xplane.pb", inputs.xspace({("jit_secret", 5): inputs.hlo_proto("jit_secret", 4)})
    )
    daemon = t.serve(t.folder())
    session = daemon.session_id("secret-name")
    before = samples_of(daemon)
    for path in (
        "/api/v1/about",
        "/api/v1/about?x=1",
        f"/api/v1/sessions/{session}",
        "/nothing",
        "/api/v1/nothing",
        "/app.js",
        "/runs?secret=1",
        f"/api/v1/memory_viewer/summary?session={session}",
    ):
        daemon.ask(path)
    daemon.ask("/api/v1/oom", "POST", {"Content-Type": "text/plain"}, b"x" * 12345)
    after = samples_of(daemon)

    def grown(name, labels):
        return after.get((name, labels), 0) - before.get((name, labels), 0)

    for route, status, count in (
        ("/api/v1/about", "2xx", 1),
        ("/api/v1/about", "4xx", 1),
        ("/api/v1/sessions/{}", "2xx", 1),
        ("none", "4xx", 1),
        ("pages", "2xx", 1),
        ("pages", "4xx", 1),
        ("/runs", "2xx", 1),
        ("/api/v1/{}/{}", "2xx", 1),
        ("/metrics", "2xx", 1),
    ):
        equal(grown(REQUESTS, f'route="{route}",status="{status}"'), count, (route, status))
    equal(grown(TIMES + "_count", 'route="/api/v1/about"'), 2)
    equal(grown(TIMES + "_bucket", 'route="/api/v1/about",le="+Inf"'), 2)
    equal(grown("memviewd_request_body_bytes_total", 'route="/api/v1/oom"'), 12345)
    assert grown("memviewd_response_bytes_total", 'route="pages"') > 1000
    assert not [labels for _, labels in after if labels and ("secret" in labels or session in labels)], (
        "names are no labels"
    )
    for name, value in (("memviewd_sessions", 1), ("memviewd_ready", 1)):
        equal(after[name, None], value, name)
    assert (
        after["process_resident_memory_bytes", None] > 1 << 20 and after["memviewd_memory_limit_bytes", None] > 1 << 20
    )
    for route in {labels for name, labels in after if name == TIMES + "_count"}:
        buckets = [
            value
            for (name, labels), value in after.items()
            if name == TIMES + "_bucket" and labels.startswith(route + ",")
        ]
        equal((buckets, buckets[-1]), (sorted(buckets), after[TIMES + "_count", route]), route)


def test_what_is_kept_read_and_uploaded_is_told_by_kind(t):
    proto = inputs.hlo_proto("jit_f", 4)
    t.write("dump/module_0001.jit_f.hlo.pb", proto)
    daemon = t.serve(t.folder())
    session = daemon.session_id("dump")
    before = samples_of(daemon)
    kinds = {labels for name, labels in before if name == "memviewd_cache_misses_total"}
    assert len(kinds) > 10 and 'kind="traces"' in kinds, kinds
    for _ in range(3):
        equal(daemon.ask(f"/api/v1/memory_viewer/summary?session={session}").status, 200)
    log = b"RESOURCE_EXHAUSTED: out of memory\n" * 30000
    equal(
        daemon.ask("/api/v1/uploads?name=job.log", "POST", {"Content-Type": "application/octet-stream"}, log).status,
        201,
    )
    equal(daemon.ask("/api/v1/memory_viewer/summary?session=0").status, 404)
    after = samples_of(daemon)

    def grown(name, labels=None):
        return after[name, labels] - before[name, labels]

    equal(grown("memviewd_cache_misses_total", 'kind="modules"'), 1)
    equal(grown("memviewd_cache_misses_total", 'kind="answers"'), 1)
    equal(grown("memviewd_cache_hits_total", 'kind="answers"'), 2)
    equal(grown("memviewd_cache_failures_total", 'kind="modules"'), 0)
    equal(
        (
            grown("memviewd_cache_misses_total", 'kind="uploaded_sets"'),
            grown("memviewd_cache_entries", 'kind="uploaded_sets"'),
        ),
        (1, 1),
    )
    assert grown("memviewd_decode_seconds_total", 'kind="modules"') > 0
    assert len(log) <= grown("memviewd_memory_bytes", 'account="uploads"') < len(log) + 100000
    assert (
        grown("memviewd_memory_bytes", 'account="read"') >= grown("memviewd_cache_bytes", 'kind="modules"') - 1000 > 0
    )
    assert grown("memviewd_disk_read_bytes_total") >= len(proto)
    assert grown("process_cpu_seconds_total") >= 0
    assert 5 < after["process_open_fds", None] < after["process_max_fds", None]


def test_what_fails_is_told(t):
    t.write("dump/module_0001.jit_f.hlo.pb", inputs.hlo_proto("jit_f", 4)[:-9])
    daemon = t.serve(t.folder())
    equal(daemon.ask(f"/api/v1/memory_viewer/summary?session={daemon.session_id('dump')}").status, 422)
    samples = samples_of(daemon)
    assert sum(value for (name, _), value in samples.items() if name == "memviewd_cache_failures_total") > 0


def test_metrics_ask_for_the_token(t):
    equal(t.serve("--bind=0.0.0.0", t.folder()).ask("/metrics").status, 401)
