# SPDX-License-Identifier: Apache-2.0
"""memviewd check: what is a finding, every format, what is refused, and the commands of docs/use/check-workflow.yml."""

import gzip
import os
import pickle
import re
import subprocess
import sys
import textwrap
import xml.etree.ElementTree

import inputs
from harness import ROOT, equal, loads

sys.path.append(os.path.join(ROOT, "tests", "golden"))  # behind our own: both have a module "verdict"
import made_allocator  # noqa: E402

MIB = 1 << 20


def program(t, name):
    return os.path.join(t.fixtures, "programs", name)


def check(t, *arguments, status):
    process = t.run("check", *arguments)
    equal(process.returncode, status, (arguments, process.stdout, process.stderr))
    return process.stdout


def test_growth_is_told_as_diff_tells_it(t):
    before, after = program(t, "z-base"), program(t, "z-plus1")
    report = loads(check(t, after, "--baseline", before, "--format=json", status=1))
    (module,) = report["modules"]
    (finding,) = module["findings"]
    difference = loads(t.run("diff", "--json", before, after).stdout)
    equal((finding["rule"], finding["sentence"]), ("grown", difference["sentence"]))
    equal((module["baseline_bytes"], module["total_bytes"]), (difference["total_before"], difference["total_after"]))
    equal(finding["bytes"], difference["total_after"] - difference["total_before"])
    assert os.path.exists(module["file"]), module["file"]
    equal(
        loads(check(t, after, "--baseline", before, "--format=json", "--tolerance=12%", status=0))["finding_count"], 0
    )
    equal(loads(check(t, before, "--baseline", after, "--format=json", "--tolerance=0", status=0))["finding_count"], 0)


def test_the_limit_is_exact(t):
    path = program(t, "z-base")
    total = loads(t.run("summary", "--json", path).stdout)["sessions"][0]["modules"][0]["summary"]["data"]["spaces"][0][
        "total_bytes"
    ]
    check(t, path, f"--max-total={total}", status=0)
    report = loads(check(t, path, f"--max-total={total - 1}", "--format=json", status=1))
    equal([(row["rule"], row["bytes"]) for row in report["modules"][0]["findings"]], [("over", 1)])


def test_modules_are_matched_by_name(t):
    before = t.write(
        "before/run.xplane.pb",
        inputs.xspace({("jit_one", 5): inputs.hlo_proto("jit_one", 4), ("jit_two", 6): inputs.hlo_proto("jit_two", 6)}),
    )
    after = t.write(
        "after/run.xplane.pb",
        inputs.xspace(
            {("jit_two", 8): inputs.hlo_proto("jit_two", 6, 4096), ("jit_three", 9): inputs.hlo_proto("jit_three", 6)}
        ),
    )
    report = loads(check(t, after, "--baseline", before, "--format=json", status=1))
    equal(
        {row["module"]: [finding["rule"] for finding in row["findings"]] for row in report["modules"]},
        {"jit_two": ["grown"], "jit_three": []},
    )
    assert "1 not in the baseline" in report["sentence"], report["sentence"]
    equal(len(loads(check(t, after, "--max-total=1", "--module=jit_t*", "--format=json", status=1))["modules"]), 2)
    equal(len(loads(check(t, after, "--max-total=1", "--module=*three", "--format=json", status=1))["modules"]), 1)
    check(t, after, "--baseline", before, "--module=*three", status=2)


def test_what_cannot_be_checked_is_no_success(t):
    path = program(t, "z-base")
    text = t.write("notes", b"only text\n" * 20)
    bare = os.path.join(
        t.fixtures, "dumps/f5-vmem-matmul-blocks/module_0003.jit_f5.cl_1014260217.before_optimizations.hlo.pb"
    )
    for arguments in (
        (),
        (path,),
        (path, path, "--max-total=1G"),
        ("/no/such", "--max-total=1G"),
        (text, "--max-total=1G"),
        (path, "--max-total=much"),
        (path, "--baseline=/no/such"),
        (path, f"--baseline={text}"),
        (path, "--max-total=1G", "--format=xml"),
        (path, "--max-total=1G", "--module=nothing"),
        (path, f"--baseline={path}", "--tolerance=-1%"),
        (path, f"--baseline={path}", "--tolerance=2%%"),
    ):
        process = t.run("check", *arguments)
        equal((process.returncode, process.stdout), (2, ""), arguments)
        assert process.stderr, arguments
    report = loads(check(t, bare, "--max-total=1G", "--format=json", status=2))
    assert "holds no buffer assignment" in report["modules"][0]["fault"], report
    equal(report["fault_count"], 1)


def commands(step):
    """(name, shell text) of the steps of the workflow that run something, and its variables"""
    with open(os.path.join(ROOT, "docs", "use", "check-workflow.yml"), encoding="utf-8") as file:
        text = file.read()
    variables = dict(re.findall(r"^  ([A-Z_]+): (\S+)$", text, re.M))
    steps = {
        name: textwrap.dedent(body) for name, body in re.findall(r"- name: (.+)\n +run: \|\n((?: {10}.*\n)+)", text)
    }
    equal(set(steps), {"Build memviewd", "Compile both ahead of time", "Summary", "Check"})
    return steps[step], variables


def run_workflow(t, base, head):
    """its checking steps where dump/base and dump/head lie; (status of the last, what it printed, summary, JUnit)"""
    folder = t.folder(os.path.basename(head))
    os.makedirs(os.path.join(folder, "dump"))
    os.symlink(base, os.path.join(folder, "dump", "base"))
    os.symlink(head, os.path.join(folder, "dump", "head"))
    os.symlink(t.binary, os.path.join(folder, "memviewd"))
    summary = os.path.join(folder, "summary.md")
    for step in ("Summary", "Check"):
        text, variables = commands(step)
        process = subprocess.run(
            ["bash", "-e", "-c", text],
            cwd=folder,
            capture_output=True,
            text=True,
            env={**os.environ, **variables, "GITHUB_STEP_SUMMARY": summary, "PATH": f"{folder}:{os.environ['PATH']}"},
        )
        equal(process.stderr, "")
        assert step == "Check" or process.returncode == 0, process
    with open(summary, encoding="utf-8") as file:
        return (
            process.returncode,
            process.stdout,
            file.read(),
            xml.etree.ElementTree.parse(os.path.join(folder, "memory.xml")),
        )


def test_the_workflow_finds_growth(t):
    status, printed, summary, junit = run_workflow(t, program(t, "z-base"), program(t, "z-plus1"))
    equal(status, 1)
    equal([line.split(" ")[0] for line in printed.splitlines()], ["::error", "::notice"])
    assert "plan grown" in printed and "B needs 437.59 MiB more" in printed, printed
    assert summary.startswith("**Memory:** 1 of 1 module has a finding"), summary
    equal(
        {case.get("name"): [child.tag for child in case] for case in junit.iter("testcase")},
        {"over": [], "grown": ["failure"], "donation_lost": [], "fusion_lost": []},
    )
    equal(run_workflow(t, program(t, "z-base"), program(t, "z-base"))[0], 0)


def test_the_workflow_finds_a_lost_donation(t):
    data = os.path.join(t.need_shared(), "data")
    donated, apart = os.path.join(data, "modules", "e-with-donation"), os.path.join(data, "dumps", "e-no-donation")
    status, printed, _, junit = run_workflow(t, donated, apart)
    equal(status, 1)
    for words in (
        "17.50 GiB of HBM; 14.00 GiB are allowed: over by 3.50 GiB",
        "B needs 8.11 GiB more",
        "442 arguments, 8.69 GiB, gave their memory to results in the baseline and no longer do",
        'jax.jit(train_step, donate_argnames=("state",))',
    ):
        assert words in printed, printed
    equal(sorted(case.get("name") for case in junit.iter("testcase") if len(case)), ["donation_lost", "grown", "over"])
    equal(run_workflow(t, apart, donated)[0], 0)


def test_a_smaller_program_may_store_what_it_likes(t):
    data = os.path.join(t.need_shared(), "data", "whatif")
    report = loads(
        check(
            t,
            os.path.join(data, "fsdp.shard4"),
            "--baseline",
            os.path.join(data, "fsdp.base"),
            "--tolerance=0%",
            "--format=json",
            status=0,
        )
    )
    equal(report["finding_count"], 0)


def test_a_log_that_cannot_be_read_is_no_module(t):
    with open(
        os.path.join(program(t, "z-base"), "module_0001.jit_train_step.after_optimizations.hlo.pb.gz"), "rb"
    ) as file:
        t.write("dump/module_0001.jit_train_step.after_optimizations.hlo.pb.gz", file.read())
    folder = os.path.dirname(t.write("dump/train.log.gz", gzip.compress(b"step 1\n" * 1000)[:20]))
    check(t, folder, "--max-total=1000GiB", status=0)


def folder_of(t, name):
    return os.path.join(t.folder(), name)


def snapshot_of(t, path, *mebibytes):
    """an allocator snapshot of a process that takes 24 MiB for each, which is asked for at once"""
    one = made_allocator.Caching(1, capacity=4096 * MIB)
    for size in mebibytes:
        one.allocate(size * MIB)
    return t.write(path, pickle.dumps(made_allocator.snapshot(one), 4)), one.reserved


def test_snapshots_are_checked_by_what_their_process_takes(t):
    path, reserved = snapshot_of(t, "head/rank0.pickle", 24, 24, 24)
    check(t, path, f"--max-total={reserved}", status=0)
    report = loads(check(t, path, f"--max-total={reserved - 1}", "--format=json", status=1))
    (module,) = report["modules"]
    equal((module["module"], module["space_name"], module["total_bytes"]), ("rank0", "GPU 0", reserved))
    equal([(row["rule"], row["bytes"]) for row in module["findings"]], [("over", 1)])
    assert report["sentence"].startswith("1 of 1 process has a finding"), report["sentence"]
    for output in ("text", "junit", "markdown", "github"):
        assert "rank0" in check(t, path, f"--max-total={reserved - 1}", f"--format={output}", status=1)


def test_a_request_that_failed_counts_with_what_was_taken(t):
    one = made_allocator.fragmented()
    (failed,) = one.failures
    path = t.write("failed/rank0.pickle", pickle.dumps(made_allocator.snapshot(one), 4))
    needed = failed["reserved"] + failed["requested"]
    check(t, path, f"--max-total={needed}", status=0)
    equal(
        loads(check(t, path, f"--max-total={needed - 1}", "--format=json", status=1))["modules"][0]["total_bytes"],
        needed,
    )


def test_snapshots_are_held_against_earlier_ones(t):
    (before, was), (after, now) = (
        snapshot_of(t, "base/old.pickle", 24, 24),
        snapshot_of(t, "head/rank0.pickle", 24, 24, 24),
    )
    (finding,) = loads(check(t, after, "--baseline", before, "--format=json", status=1))["modules"][0]["findings"]
    equal((finding["rule"], finding["bytes"]), ("grown", now - was))
    check(t, before, "--baseline", after, status=0)
    check(t, after, "--baseline", before, "--tolerance=60%", status=0)
    snapshot_of(t, "base/rank0.pickle", 24, 24, 24)
    equal(
        loads(check(t, folder_of(t, "head"), "--baseline", folder_of(t, "base"), "--format=json", status=0))[
            "finding_count"
        ],
        0,
    )
    snapshot_of(t, "several/rank7.pickle", 24)
    snapshot_of(t, "several/rank8.pickle", 24)
    check(t, folder_of(t, "several"), "--baseline", folder_of(t, "head"), status=2)
