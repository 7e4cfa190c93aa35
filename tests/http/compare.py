# SPDX-License-Identifier: Apache-2.0
"""Two programs side by side: memviewd diff and /api/v1/compare say the same, and refuse what does not go together."""

import os

import inputs
from harness import equal, loads


def path(t, name):
    return os.path.join(t.fixtures, name)


def programs(t):
    return [path(t, f"programs/{name}") for name in ("z-base", "z-plus1")]


def test_the_command_prints_what_the_api_answers(t):
    a, b = programs(t)
    daemon = t.serve(os.path.dirname(a))
    ids = {name: row["id"] for name, row in daemon.sessions().items()}
    about = f"a={ids['z-base']}&b={ids['z-plus1']}"
    for option, word in (("--json", "json"), ("--markdown", "markdown")):
        process = t.run("diff", option, a, b)
        equal(process.returncode, 0, process.stderr)
        answer = daemon.ask(f"/api/v1/compare/diff?{about}&format={word}")
        equal(answer.status, 200)
        if option == "--json":  # a command says beside it what it could not read
            equal(loads(process.stdout), {**answer.json, "not_read": []})
        else:
            equal(answer.text.strip(), process.stdout.strip())
    summary = daemon.ask(f"/api/v1/compare/summary?{about}").json["data"]
    answer = loads(t.run("diff", "--json", a, b).stdout)
    equal(
        [answer[name] for name in ("sentence", "waterfall", "a", "b")],
        [summary[name] for name in ("sentence", "waterfall", "a", "b")],
    )
    assert t.run("diff", a, b).stdout.startswith(answer["sentence"])


def test_names_are_nothing_but_texts_in_markdown(t):
    """a name out of a file mentions nobody on GitHub, and breaks out of no cell"""
    folder = t.folder()
    for name, count in (("a.hlo.pb", 8), ("b.hlo.pb", 9)):
        with open(os.path.join(folder, name), "wb") as file:
            file.write(inputs.hlo_proto("`@team|<img src=x>", count))
    process = t.run("diff", "--markdown", os.path.join(folder, "a.hlo.pb"), os.path.join(folder, "b.hlo.pb"))
    assert "- A: \\`@&#8203;team\\|\\<img src=x\\>" in process.stdout and "@team" not in process.stdout, process
    assert (
        "`@team|<img src=x>" in t.run("diff", os.path.join(folder, "a.hlo.pb"), os.path.join(folder, "b.hlo.pb")).stdout
    )


def test_sums_are_exact(t):
    a, b = programs(t)
    for one, two in ((a, b), (b, a), (a, path(t, "dumps/h-long-context"))):
        answer = loads(t.run("diff", "--json", one, two).stdout)
        equal(answer["total_before"] + sum(row["bytes"] for row in answer["waterfall"]), answer["total_after"])
        of_buffers = sum(match["delta_bytes"] for match in answer["matches"])
        equal(of_buffers, sum(row["bytes"] for row in answer["waterfall"] if row["category"] != "fragmentation"))


def test_modules_of_a_trace_are_chosen_by_name(t):
    trace = t.write(
        "run.xplane.pb",
        inputs.xspace({("jit_one", 5): inputs.hlo_proto("jit_one", 4), ("jit_two", 6): inputs.hlo_proto("jit_two", 6)}),
    )
    answer = loads(t.run("diff", "--json", trace, trace, "--module=jit_one", "--module=jit_two(6)").stdout)
    equal((answer["a"]["module"], answer["b"]["module"]), ("jit_one", "jit_two"))
    process = t.run("diff", trace, trace, "--module=nothing")
    equal((process.returncode, "has no module with that name" in process.stderr), (2, True))


def test_two_spaces_and_two_steps_are_compared(t):
    a, _ = programs(t)
    answer = loads(t.run("diff", "--json", a, a, "--space=0", "--space=1").stdout)
    equal((answer["a"]["space"], answer["b"]["space"], answer["is_of_steps"]), (0, 1, False))
    answer = loads(t.run("diff", "--json", a, a, "--step=3", "--step=peak").stdout)
    equal((answer["a"]["step"], answer["b"]["is_peak"], answer["is_of_steps"]), (3, True, True))
    equal(answer["total_before"] + sum(row["bytes"] for row in answer["waterfall"]), answer["total_after"])


def test_what_cannot_be_compared_is_refused(t):
    a, b = programs(t)
    bare = path(t, "dumps/f5-vmem-matmul-blocks/module_0003.jit_f5.cl_1014260217.before_optimizations.hlo.pb")
    text = t.write("notes", b"only text\n" * 20)
    for arguments, words in (
        ((a,), "wants two paths"),
        ((a, b, a), "wants two paths"),
        ((a, "/no/such"), "no such file"),
        ((a, bare), "B holds no buffer assignment"),
        ((text, a), "has no HLO module, no device profile and no allocator snapshot"),
        ((a, b, "--space=9"), "uses no memory space 9"),
        ((a, b, "--step=soon"), "is not a whole number"),
        ((a, b, "--json", "--markdown"), "exclude each other"),
        ((a, b, "--module=1", "--module=2", "--module=3"), "at once, or once for A"),
    ):
        process = t.run("diff", *arguments)
        equal((process.returncode, process.stdout), (2, ""), arguments)
        assert words in process.stderr, process.stderr
    profile = path(t, "memprof/memory1.prof")
    for arguments, words in (
        ((a, profile), "device profile, in bytes by call stack"),
        ((profile, a), "these two cannot be compared"),
        ((profile, profile, "--step=3"), "have no --module, --space or --step"),
    ):
        process = t.run("diff", *arguments)
        equal((process.returncode, process.stdout, words in process.stderr), (2, "", True), process.stderr)


def test_references_say_what_is_meant(t):
    a, b = programs(t)
    daemon = t.serve(os.path.dirname(a), path(t, "memprof"), path(t, "dumps"))
    ids = {name: row["id"] for name, row in daemon.sessions().items()}
    one, two = ids["z-base"], ids["z-plus1"]
    module = daemon.get_json(f"/api/v1/sessions/{one}/modules")["modules"][0]["id"]
    address = "/api/v1/compare/summary"
    whole = daemon.ask(f"{address}?a={one}&b={two}").json["data"]
    equal(daemon.ask(f"{address}?a={one}//{module}/0&b={two}////peak").json["data"], whole)
    equal(daemon.ask(f"{address}?a={one}&b={two}&space_a=0").json["data"], whole)
    for question, status, words in (
        (f"a={one}", 400, "parameter b is missing"),
        (f"a={one}/////&b={two}", 400, "more parts"),
        (f"a={one}///0&space_a=0&b={two}", 400, "given twice"),
        (f"a={one}&b=0", 404, "no session"),
        (f"a={one}//000000000000&b={two}", 404, ""),
        (f"a={one}&a={one}&b={two}", 400, "more than once"),
        (f"a={one}&b={two}///9", 409, "no memory space 9"),
        (f"a={one}&b={ids['memprof']}", 409, "B is a device profile, in bytes by call stack"),
        (f"a={ids['memprof']}&b={ids['memprof']}", 409, "/api/v1/compare_profiles compare those"),
    ):
        answer = daemon.ask(f"{address}?{question}")
        equal(answer.status, status, question)
        assert words in answer.json["detail"], answer.json


def test_device_profiles_are_compared(t):
    """the command, the API, and Device Memory's own difference (as pprof -diff_base) have one set of figures"""
    first, last = (path(t, f"memprof/{name}.prof") for name in ("memory1", "memory9"))
    answer = loads(t.run("diff", "--json", first, last).stdout)
    equal(answer["total_before"] + sum(row["bytes"] for row in answer["waterfall"]), answer["total_after"])
    for rows in ("matches", "stacks"):
        equal(sum(row["delta_bytes"] for row in answer[rows]), answer["total_after"] - answer["total_before"], rows)
    assert t.run("diff", first, last).stdout.startswith(answer["sentence"] + "\n\nA  memory1.prof, 7.67 MiB\n")
    assert "| +1.68 MiB | grown | anotherfunc memprof.py:19" in t.run("diff", "--markdown", first, last).stdout
    top = loads(t.run("top", "--json", "--diff-base", first, last).stdout)["data"]
    grown = {row["frame"]["name"]: row["self"] for row in top["rows"] if row["self"]}
    equal({row["b"].split(" \u203a ")[0]: row["delta_bytes"] for row in answer["matches"] if row["delta_bytes"]}, grown)


def test_profiles_of_two_sessions_are_compared(t):
    """by references, an uploaded one too"""
    daemon = t.serve(path(t, "memprof"), path(t, "programs"), t.folder())
    ids = {name: row["id"] for name, row in daemon.sessions().items()}
    session = ids["memprof"]
    profiles = {row["name"]: row["id"] for row in daemon.get_json(f"/api/v1/sessions/{session}/profiles")["profiles"]}
    a, b = (f"{session}//{profiles[name]}" for name in ("memory1.prof", "memory9.prof"))
    address = "/api/v1/compare_profiles"
    summary = daemon.get_json(f"{address}/summary", a=a, b=b)["data"]
    equal(
        summary["sentence"],
        "B holds 1.68 MiB more, 9.35 MiB instead of 7.67 MiB: anotherfunc memprof.py:19 \u203a normal has "
        "grown (+1.68 MiB).",
    )
    equal(daemon.get_json(f"{address}/summary", a=a, b=session)["data"]["b"]["name"], "memory9.prof")
    sites = daemon.get_json(f"{address}/sites", a=a, b=b, state="grown", filter="kind:buffer")["data"]
    equal(
        [(row["name"], row["a_count"], row["b_count"]) for row in sites["groups"]],
        [("anotherfunc memprof.py:19 \u203a normal", 1, 9)],
    )
    stacks = daemon.get_json(f"{address}/stacks", a=a, b=b, group=sites["groups"][0]["group"])["data"]
    equal([row["delta_bytes"] for row in stacks["rows"]], [1760000])
    with open(path(t, "memprof/memory9.prof"), "rb") as file:
        upload = daemon.ask(
            "/api/v1/profiles?name=mine.prof", "POST", {"Content-Type": "application/octet-stream"}, file.read()
        ).json["id"]
    equal(daemon.get_json(f"{address}/summary", a=a, b=f"//{upload}")["data"]["b"]["name"], "mine.prof")
    equal(daemon.ask(f"{address}/diff?a={a}&b={b}&format=text").text.partition("\n")[0], summary["sentence"])
    for question, status, words in (
        (f"a={a}", 400, "parameter b is missing"),
        (f"a={a}&a={a}&b={b}", 400, "more than once"),
        (f"a={session}//000000000000&b={b}", 404, "no profile of that id"),
        (f"a=//{'0' * 64}&b={b}", 404, "give it again"),
        (f"a={a}&b={b}&space_a=0", 400, "unknown parameter"),
        (f"a={ids['z-base']}&b={b}", 409, "A a compiler's plan, in bytes by step"),
        (f"a={ids['z-base']}&b={ids['z-base']}", 409, "/api/v1/compare compare those"),
    ):
        answer = daemon.ask(f"{address}/summary?{question}")
        equal(answer.status, status, question)
        assert words in answer.json["detail"], answer.json


def test_both_sides_say_what_could_not_be_read(t):
    whole = inputs.hlo_proto()
    folders = []
    for side in ("a", "b"):
        t.write(f"{side}/module_0001.jit_one.after_optimizations.hlo.pb", whole)
        folders.append(os.path.dirname(t.write(f"{side}/module_0002.jit_two.after_optimizations.hlo.pb", b"")))
    process = t.run("diff", "--json", *folders)
    equal(process.returncode, 0, process.stderr)
    equal(
        [row["file"] for row in loads(process.stdout)["not_read"]],
        [f"{folder}/module_0002.jit_two.after_optimizations.hlo.pb" for folder in folders],
    )
    empty = os.path.dirname(t.write("d/README", b"nothing"))
    process = t.run("diff", folders[0], empty)
    equal(process.returncode, 2)
    assert f"{empty}: has no HLO module" in process.stderr, process.stderr
