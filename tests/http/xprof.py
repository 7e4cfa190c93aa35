# SPDX-License-Identifier: Apache-2.0
"""XProf's surface: its addresses and its manners. Its figures are held against the recorded answers by
tests/golden."""

import os

import inputs
from harness import equal, loads

PREFIX = "/data/plugin/profile"


def logdir(t):
    one, two = inputs.hlo_proto("jit_one", 4), inputs.hlo_proto("jit_two", 6)
    t.write("train/plugins/profile/2026_01_02/b.host.xplane.pb", inputs.xspace({("jit_one", 5): one}))
    t.write("train/plugins/profile/2026_01_02/a.xplane.pb", inputs.xspace({("jit_two", 15): two, ("jit_one", 5): one}))
    t.write("plugins/profile/2026_01_01/h.xplane.pb", inputs.xspace({}))
    t.write("plugins/profile/empty/notes.txt", b"no trace")
    t.write("plugins/profile/broken/h.xplane.pb", b"\x0a\xff\xff\xff\xff\x0f")
    t.write("plugins/profile/file", b"not a folder")
    return t.serve(f"--logdir={t.folder()}")


def test_runs_are_what_xprof_lists_in_its_order(t):
    daemon = logdir(t)
    equal(daemon.get_json("/runs"), ["train/2026_01_02", "empty", "broken", "2026_01_01"])


def test_with_and_without_the_prefix_and_a_last_slash(t):
    daemon = logdir(t)
    for path in ("/runs", "/runs/", PREFIX + "/runs", PREFIX + "/runs/"):
        equal(daemon.get_json(path), daemon.get_json("/runs"), path)
    equal(daemon.ask(PREFIX + "/version").text, "2.24.2")
    equal(
        sorted(daemon.get_json(PREFIX + "/config")), ["enableTabNameLabel", "hideCaptureProfileButton", "srcPathPrefix"]
    )


def test_links_to_its_pages_lead_to_ours(t):
    daemon = logdir(t)
    session = daemon.session_id("train/2026_01_02")
    modules = {row["name"]: row["id"] for row in daemon.get_json(f"/api/v1/sessions/{session}/modules")["modules"]}
    hosts = {row["name"]: row["id"] for row in daemon.get_json(f"/api/v1/sessions/{session}")["hosts"]}
    for path in ("/memory_viewer", "/memory_viewer/", PREFIX + "/memory_viewer", "/memory_profile"):
        tool = path.strip("/").rpartition("/")[2]
        for query, more in (
            ("", ""),
            ("&tag=memory_viewer&host=b.host", f"&host={hosts['b.host']}"),
            ("&host=none", ""),
            ("&module_name=jit_one(5)", f"&module={modules['jit_one']}"),
        ):
            answer = daemon.ask(f"{path}?run=train/2026_01_02{query}")
            equal(
                (answer.status, answer.headers["location"]),
                (302, f"/?tool={tool}&session={session}{more}"),
                (path, query),
            )
    for query in ("", "?run=none", "?run=empty", "?run=x&session_path=/etc"):
        answer = daemon.ask("/memory_viewer" + query)
        equal((answer.status, answer.headers["location"]), (302, "/?tool=home"), query)
    link = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
    equal(daemon.ask("/memory_viewer?run=x", headers=link).status, 302, "a link of another site")
    equal(daemon.ask("/memory_viewer?run=x", headers={**link, "Sec-Fetch-Mode": "cors"}).status, 403)
    locked = t.serve("--bind=0.0.0.0", "--path-prefix=/a", t.folder())
    equal(locked.ask("/memory_viewer?run=train/2026_01_02").status, 401, "the ids of sessions are for who is signed in")
    below = t.serve("--path-prefix=/a", t.folder()).ask("/a/memory_viewer?run=none")
    equal(below.headers["location"], "/a/?tool=home")


def test_hosts_and_tools(t):
    daemon = logdir(t)
    equal(
        daemon.get_json("/hosts", run="train/2026_01_02", tag="memory_viewer"),
        [{"hostname": "a"}, {"hostname": "b.host"}],
    )
    equal(daemon.get_json("/hosts", run="empty"), [])
    equal(daemon.get_json("/run_tools", run="train/2026_01_02"), ["memory_viewer"])
    for run in ("2026_01_01", "empty", "broken"):
        equal(daemon.get_json("/run_tools", run=run), [], run)
    for path in ("/hosts", "/run_tools", "/module_list", "/data"):
        for query in ("", "?run=", "?run=nothing", "?run=../x"):
            answer = daemon.ask(path + query)
            equal((answer.status, answer.headers["content-type"]), (404, "text/plain; charset=utf-8"), path + query)


def test_one_host_with_programs_is_enough_for_the_tool(t):
    t.write("plugins/profile/run/a.xplane.pb", inputs.xspace({}))
    t.write("plugins/profile/run/b.xplane.pb", inputs.trace())
    daemon = t.serve(t.folder())
    equal(daemon.get_json("/run_tools", run="run"), ["memory_viewer"])
    equal(daemon.ask("/module_list?run=run").text, "jit_made(7)")


def test_programs_of_several_hosts_are_listed_once(t):
    daemon = logdir(t)
    answer = daemon.ask("/module_list?run=train/2026_01_02")
    equal((answer.text, answer.headers["content-type"]), ("jit_one(5),jit_two(15)", "text/plain; charset=utf-8"))


def test_modules_are_listed_by_the_alphabet(t):
    programs = {
        (name, at + 1): inputs.hlo_proto(name, 10 - at) for at, name in enumerate(("jit_b", "jit_a", "jit__z", "jit_B"))
    }
    t.write("plugins/profile/run/h.xplane.pb", inputs.xspace(programs))
    daemon = t.serve(f"--logdir={t.folder()}")
    equal(daemon.ask("/module_list?run=run").text, "jit_B(4),jit__z(3),jit_a(2),jit_b(1)")


def test_a_trace_without_hlo_is_no_module(t):
    daemon = logdir(t)
    equal(daemon.ask("/module_list?run=2026_01_01").text, "NO_MODULE")
    for space in range(7):
        answer = daemon.ask(f"/data?run=2026_01_01&tag=memory_viewer&host=h&module_name=NO_MODULE&memory_space={space}")
        equal((answer.status, answer.json), (200, {}), space)
    equal(daemon.ask("/data?run=train/2026_01_02&tag=memory_viewer&module_name=NO_MODULE").status, 404)


def test_runs_that_cannot_be_read_have_an_empty_list(t):
    daemon = logdir(t)
    for run in ("empty", "broken"):
        answer = daemon.ask(f"/module_list?run={run}")
        equal((answer.status, answer.text), (200, ""), run)
    equal(daemon.ask("/data?run=broken&tag=memory_viewer&module_name=x").status, 404)
    equal(daemon.ask("/data?run=empty&tag=memory_viewer&module_name=x").status, 500)


def data(daemon, **parameters):
    query = "&".join(f"{name}={value}" for name, value in parameters.items())
    return daemon.ask(f"/data?run=train/2026_01_02&tag=memory_viewer&{query}")


def test_a_module_by_name_or_by_program_id(t):
    daemon = logdir(t)
    equal(data(daemon, module_name="jit_one(5)").json["moduleName"], "jit_one")
    equal(data(daemon, program_id="5").json["moduleName"], "jit_one")
    equal(data(daemon, program_id="15").json["moduleName"], "jit_two")
    equal(data(daemon, program_id="jit_t").json["moduleName"], "jit_two")
    equal(data(daemon, module_name="jit_two(15)", program_id="5").json["moduleName"], "jit_two")
    for parameters in ({}, {"module_name": "jit_one"}, {"module_name": "x"}, {"program_id": "99"}):
        answer = data(daemon, **parameters)
        equal((answer.status, answer.text), (404, "No Data"), parameters)


def test_memory_space_is_a_number_or_0(t):
    daemon = logdir(t)
    usual = data(daemon, module_name="jit_one(5)").json
    assert usual["heapSizes"], usual
    for text in ("0", "x", "", "1x", "%20%200", "999999999999999999999"):
        equal(data(daemon, module_name="jit_one(5)", memory_space=text).json, usual, text)
    other = data(daemon, module_name="jit_one(5)", memory_space="3")
    equal(other.status, 200)
    assert other.json != usual and not other.json.get("heapSizes"), other


def test_a_host_must_be_one_of_the_run(t):
    daemon = logdir(t)
    equal(data(daemon, module_name="jit_one(5)", host="b.host").status, 200)
    equal(data(daemon, module_name="jit_one(5)", host="c").status, 500)


def test_other_tools_have_no_data(t):
    daemon = logdir(t)
    for tag in ("", "overview_page", "trace_viewer@", "x"):
        answer = daemon.ask(f"/data?run=train/2026_01_02&tag={tag}")
        equal((answer.status, answer.text), (404, "No Data"), tag)


def test_session_path_and_run_path_choose_below_the_logdir(t):
    daemon = logdir(t)
    run = os.path.join(t.folder(), "train/plugins/profile/2026_01_02")
    equal(daemon.get_json("/runs", session_path=run), ["2026_01_02"])
    equal(daemon.get_json("/runs", session_path=run + "/"), ["2026_01_02"])
    equal(daemon.get_json("/runs", run_path=os.path.dirname(run)), ["2026_01_02"])
    equal(daemon.ask(f"/module_list?run=2026_01_02&session_path={run}").text, "jit_one(5),jit_two(15)")
    equal(daemon.get_json("/runs", session_path=os.path.dirname(run)), [])


def test_session_path_and_run_path_lead_nowhere_else(t):
    daemon = logdir(t)
    run = "train/plugins/profile/2026_01_02"
    for path in (
        "/",
        "/etc",
        t.folder() + "x",
        os.path.join(t.folder(), "..", "x"),
        os.path.join(t.folder(), "train/../../.."),
        "gs://bucket/x",
        ".",
        run,
    ):
        for name in ("session_path", "run_path"):
            for route in ("/runs", "/hosts", "/module_list", "/data", "/run_tools"):
                answer = daemon.ask(f"{route}?run=2026_01_02&{name}={path}")
                equal(answer.status, 403, (route, name, path))
    assert "--logdir" in daemon.ask("/runs?session_path=/etc").text


def test_the_prefix_of_a_proxy_does_not_matter(t):
    """what a proxy strips does not reach us; what the page asks is relative"""
    page = t.serve("--demo").ask("/")
    if page.status == 200:
        for mark in ('src="/', 'href="/'):
            assert mark not in page.text, mark


def test_packed_traces_are_hosts_too(t):
    import gzip

    t.write("plugins/profile/packed/h.xplane.pb.gz", gzip.compress(inputs.trace("jit_packed", 9)))
    daemon = t.serve(t.folder())
    equal(daemon.get_json("/hosts", run="packed"), [{"hostname": "h"}])
    equal(daemon.ask("/module_list?run=packed").text, "jit_packed(9)")
    answer = daemon.ask("/data?run=packed&tag=memory_viewer&module_name=jit_packed(9)")
    equal(loads(answer.text)["moduleName"], "jit_packed")


def test_our_views_say_the_same_after_an_answer_that_needed_no_owners(t):
    daemon = logdir(t)
    asked_first = data(daemon, module_name="jit_one(5)")
    session = next(each["id"] for each in daemon.get_json("/api/v1/sessions")["sessions"] if "train" in each["name"])
    modules = daemon.get_json(f"/api/v1/sessions/{session}/modules")["modules"]
    module = next(each["id"] for each in modules if each["name"].startswith("jit_one"))
    paths = [
        f"/api/v1/memory_viewer/{view}?session={session}&module={module}" for view in ("whose", "summary", "buffers")
    ]
    after = [daemon.get_json(path) for path in paths]
    other = t.serve(f"--logdir={t.folder()}")
    equal([other.get_json(path) for path in paths], after)
    equal(data(other, module_name="jit_one(5)").text, asked_first.text)
