# SPDX-License-Identifier: Apache-2.0
"""Two programs side by side: memviewd diff and /api/v1/compare say the same, and refuse what does not go together."""
import json
import os

import inputs
from harness import equal


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
        equal((answer.status, answer.text.strip()), (200, process.stdout.strip()))
    summary = daemon.ask(f"/api/v1/compare/summary?{about}").json["data"]
    answer = json.loads(t.run("diff", "--json", a, b).stdout)
    equal([answer[name] for name in ("sentence", "waterfall", "a", "b")], [summary[name] for name in ("sentence", "waterfall", "a", "b")])
    assert t.run("diff", a, b).stdout.startswith(answer["sentence"])


def test_sums_are_exact(t):
    a, b = programs(t)
    for one, two in ((a, b), (b, a), (a, path(t, "dumps/h-long-context"))):
        answer = json.loads(t.run("diff", "--json", one, two).stdout)
        equal(answer["total_before"] + sum(row["bytes"] for row in answer["waterfall"]), answer["total_after"])
        of_buffers = sum(match["delta_bytes"] for match in answer["matches"])
        equal(of_buffers, sum(row["bytes"] for row in answer["waterfall"] if row["category"] != "fragmentation"))


def test_modules_of_a_trace_are_chosen_by_name(t):
    trace = t.write("run.xplane.pb", inputs.xspace({("jit_one", 5): inputs.hlo_proto("jit_one", 4),
                                                    ("jit_two", 6): inputs.hlo_proto("jit_two", 6)}))
    answer = json.loads(t.run("diff", "--json", trace, trace, "--module=jit_one", "--module=jit_two(6)").stdout)
    equal((answer["a"]["module"], answer["b"]["module"]), ("jit_one", "jit_two"))
    process = t.run("diff", trace, trace, "--module=nothing")
    equal((process.returncode, "has no module of that name" in process.stderr), (2, True))


def test_two_spaces_and_two_steps_are_compared(t):
    a, _ = programs(t)
    answer = json.loads(t.run("diff", "--json", a, a, "--space=0", "--space=1").stdout)
    equal((answer["a"]["space"], answer["b"]["space"], answer["is_of_steps"]), (0, 1, False))
    answer = json.loads(t.run("diff", "--json", a, a, "--step=3", "--step=peak").stdout)
    equal((answer["a"]["step"], answer["b"]["is_peak"], answer["is_of_steps"]), (3, True, True))
    equal(answer["total_before"] + sum(row["bytes"] for row in answer["waterfall"]), answer["total_after"])


def test_what_cannot_be_compared_is_refused(t):
    a, b = programs(t)
    bare = path(t, "dumps/f5-vmem-matmul-blocks/module_0003.jit_f5.cl_1014260217.before_optimizations.hlo.pb")
    text = t.write("notes", b"only text\n" * 20)
    for arguments, words in (((a,), "wants two paths"), ((a, b, a), "wants two paths"), ((a, "/no/such"), "no such file"),
                             ((a, bare), "B holds no buffer assignment"), ((text, a), "has no HLO module"),
                             ((a, b, "--space=9"), "uses no memory space 9"), ((a, b, "--step=soon"), "is not a whole number"),
                             ((a, b, "--json", "--markdown"), "exclude each other"),
                             ((a, b, "--module=1", "--module=2", "--module=3"), "stand once")):
        process = t.run("diff", *arguments)
        equal((process.returncode, process.stdout), (2, ""), arguments)
        assert words in process.stderr, process.stderr
    equal(t.run("diff", a, path(t, "memprof/memory1.prof")).returncode, 2)


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
    for question, status, words in ((f"a={one}", 400, "parameter b is missing"), (f"a={one}/////&b={two}", 400, "more parts"),
                                    (f"a={one}///0&space_a=0&b={two}", 400, "given twice"), (f"a={one}&b=0", 404, "no session"),
                                    (f"a={one}//000000000000&b={two}", 404, ""), (f"a={one}&a={one}&b={two}", 400, "more than once"),
                                    (f"a={one}&b={two}///9", 409, "no memory space 9"),
                                    (f"a={one}&b={ids['memprof']}", 409, "B is a device profile, in bytes by call stack"),
                                    (f"a={ids['memprof']}&b={ids['memprof']}", 409, "Device Memory compares those")):
        answer = daemon.ask(f"{address}?{question}")
        equal(answer.status, status, question)
        assert words in answer.json["detail"], answer.json
