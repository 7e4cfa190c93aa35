# SPDX-License-Identifier: Apache-2.0
"""memviewd whatif: what changes would save, in a terminal, as JSON and over the API; and what is refused."""

import os
import urllib.parse

import inputs
from harness import equal, loads

MIB = 1 << 20


def mlp(t):
    return os.path.join(t.fixtures, "modules", "mlp-adam")


def answer_of(t, *arguments):
    process = t.run("whatif", mlp(t), "--json", *arguments)
    equal((process.returncode, process.stderr), (0, ""))
    (module,) = loads(process.stdout)["modules"]
    return module


def ask(daemon, about, changes=(), **more):
    """the view over HTTP; `change` stands as often as there are changes"""
    query = urllib.parse.urlencode([*about.items(), *more.items(), *(("change", change) for change in changes)])
    return daemon.ask(f"/api/v1/memory_viewer/whatif?{query}")


def test_a_program_as_it_is(t):
    module = answer_of(t)
    assert module["total_bytes_before"] == module["total_bytes_after"] > 0, module
    equal((module["changes"], module["capacity_bytes"], module["fits_before"]), ([], None, None))
    process = t.run("whatif", mlp(t))
    equal(process.returncode, 0, process.stderr)
    assert process.stdout.startswith("jit_step: Needs ") and " as it is." in process.stdout, process.stdout


def test_changes_in_a_terminal_and_as_json(t):
    both = ("--change", "cast=*:bf16", "--change=batch=0.5")
    module = answer_of(t, *both)
    equal([change["change"] for change in module["changes"]], ["cast=*:bf16", "batch=0.5"])
    saved = sum(change["saving_bytes"] for change in module["changes"])
    equal(module["total_bytes_before"] - module["total_bytes_after"], saved)
    assert ".astype(jnp.bfloat16)" in module["changes"][0]["call"], module["changes"][0]
    for change in module["changes"]:
        assert change["confidence"] in ("exact", "model", "bound", "guess") and change["reason"], change
    text = t.run("whatif", mlp(t), *both).stdout
    for words in (
        "These changes together save",
        "  cast=*:bf16 saves",
        "  batch=0.5 saves",
        "astype(jnp.bfloat16)",
        "(model)",
    ):
        assert words in text, text


def test_sets_that_fit(t):
    before = answer_of(t)["total_bytes_before"]
    capacity = before * 3 // 4
    fit = answer_of(t, "--fit", f"--capacity={capacity}")["fit"]
    assert 0 < len(fit["sets"]) <= 5 and fit["nearest"] == [], fit
    for found in fit["sets"]:
        assert found["total_bytes"] <= capacity, found
        changes = [change if isinstance(change, str) else change["change"] for change in found["changes"]]
        equal(answer_of(t, *(f"--change={change}" for change in changes))["total_bytes_after"], found["total_bytes"])
    flops = [found["extra_flops_percent"] for found in fit["sets"]]
    equal(flops, sorted(flops))
    text = t.run("whatif", mlp(t), "--fit", f"--capacity={capacity}").stdout
    assert "make it fit" in text, text
    none = answer_of(t, "--fit", "--capacity=1")["fit"]
    equal((none["sets"], len(none["nearest"])), ([], 1))
    assert "fits" in t.run("whatif", mlp(t), "--fit", "--capacity=1TiB").stdout


def test_what_is_wrong_is_told(t):
    for change, words in (
        ("batches=0.5", 'did you mean "batch"'),
        ("batch=0.3333", "no whole number"),
        ("unpad=nothing_here", "nothing has this name"),
        ("cast=*", "it is written cast=GLOB:bf16"),
        ("x", "Known: donate"),
        ("donate=all", "donated already"),
    ):
        process = t.run("whatif", mlp(t), f"--change={change}")
        equal((process.returncode, process.stdout), (2, ""), process.stderr)
        assert words in process.stderr and process.stderr.count("\n") == 1, process.stderr
    for capacity in ("many", "-1", "16Q", "1e30", "16GiBx", ""):
        process = t.run("whatif", mlp(t), "--fit", f"--capacity={capacity}")
        assert process.returncode != 0 and "--capacity" in process.stderr, (capacity, process.stderr)
    process = t.run("whatif", mlp(t), "--fit")
    assert process.returncode != 0 and "--fit needs --capacity" in process.stderr, process.stderr
    for arguments in ((), (mlp(t), mlp(t)), (os.path.join(t.folder(), "gone"),)):
        process = t.run("whatif", *arguments)
        equal((process.returncode, process.stderr.count("\n")), (2, 1), process.stderr)
    equal(t.run("whatif", mlp(t), "--module=nothing").returncode, 2)
    process = t.run("whatif", t.write("no.xplane.pb", inputs.xspace({})))
    equal((process.returncode, process.stderr.count("\n")), (2, 1), "a trace without programs")


def test_sizes_are_read_as_people_write_them(t):
    for text, size in (
        ("1GiB", 1 << 30),
        ("1G", 1 << 30),
        ("0.5MiB", MIB // 2),
        ("4096", 4096),
        ("4096B", 4096),
        ("2T", 2 << 40),
    ):
        equal(answer_of(t, f"--capacity={text}")["capacity_bytes"], size, text)


def test_the_api_gives_the_same(t):
    daemon = t.serve(mlp(t))
    (session,) = daemon.sessions().values()
    module = next(row for row in daemon.get_json(f"/api/v1/sessions/{session['id']}/modules")["modules"])
    about = {"session": session["id"], "module": module["id"]}
    for changes in ((), ("batch=0.5",), ("offload=mu", "cast=*:bf16", "batch=0.5"), ("batch=0.5", "batch=0.5")):
        answer = ask(daemon, about, changes)
        equal(answer.status, 200, answer)
        equal(answer.json["data"], answer_of(t, *(f"--change={change}" for change in changes)), changes)
    orders = [
        ask(daemon, about, changes).json["data"]["changes"][0]["change"]
        for changes in (("batch=0.5", "cast=*:bf16"), ("cast=*:bf16", "batch=0.5"))
    ]
    equal(orders, ["batch=0.5", "cast=*:bf16"])
    for changes, more, words in (
        (("batches=1",), {}, "did you mean"),
        (("batch=0.5",) * 33, {}, "at most 32"),
        ((), {"fit": 1}, "capacity_bytes"),
        ((), {"capacity_bytes": -1}, "capacity_bytes"),
        ((), {"rows": 100000}, "rows"),
    ):
        answer = ask(daemon, about, changes, **more)
        equal(answer.status, 400, answer)
        assert words in answer.text, answer.text
    before = ask(daemon, about).json["data"]["total_bytes_before"]
    fit = ask(daemon, about, fit=1, capacity_bytes=before // 2, rows=5, width=8).json["data"]
    equal((len(fit["curve"]["bytes_before"]), len(fit["rows"]) <= 5), (min(8, fit["curve"]["step_count"]), True))
    whole = ask(daemon, about, ("batch=0.5",), width=4096).json["data"]["curve"]
    part = ask(daemon, about, ("batch=0.5",), width=4096, **{"from": 1, "to": 3}).json["data"]["curve"]
    equal(
        {key: part[key] for key in ("step", "bytes_before", "bytes_after")},
        {key: whole[key][1:3] for key in ("step", "bytes_before", "bytes_after")},
    )
    equal(ask(daemon, about, width=8, **{"from": 7, "to": 3}).json["data"]["curve"], None)
    equal(fit["fit"], answer_of(t, "--fit", f"--capacity={before // 2}")["fit"])
