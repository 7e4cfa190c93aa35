# SPDX-License-Identifier: Apache-2.0
"""memviewd whatif --confirm with a library that goes wrong: one sentence, the prediction stands, the exit status says
which."""

import os
import re
import shutil
import signal
import subprocess
import sys

sys.path.append(
    os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "golden")
)  # behind our own: both have a module "whatif"
from members import loads  # noqa: E402: its folder is added above

HERE = os.path.dirname(os.path.abspath(__file__))
DUMP = os.path.join(HERE, "..", "fixtures", "modules", "mlp-adam")
COMPILED = os.path.join(DUMP, "module_0000.jit_step.cl_1014260217.after_optimizations.hlo.pb.gz")
PLAIN = os.path.join(HERE, "..", "fixtures", "edits", "plain-layers")
PLAIN_COMPILED = os.path.join(PLAIN, "module_0000.jit_step.cl_1014260217.after_optimizations.hlo.pb.gz")
ALONE = os.path.join(HERE, "..", "fixtures", "programs", "z-base")
STANDS = r"Not confirmed; the prediction remains\. "

# (word, what the stand-in dumps, PATH, options, exit status, state, status, expression that the whole sentence matches)
CASES = [
    (
        "stops",
        COMPILED,
        DUMP,
        ["--change=batch=0.5"],
        1,
        "refuted",
        "done",
        r"Refuted by the compiler: 8\.0\d MiB becomes 8\.0\d MiB \(predicted: [67]\.\d\d MiB\), which saves 0 B\.",
    ),
    (
        "stops",
        None,
        DUMP,
        ["--change=batch=0.5"],
        1,
        "different",
        "done",
        r"Not confirmed: the unchanged program compiles to other figures than those of the dump; arguments [\d,]+ B "
        r"less; .* in all [\d,]+ B less "
        r"\(dump of libtpu cl/1014260217, compiled by cl/4242\)\. By this compiler 17\.5 KiB becomes 17\.5 KiB.*, "
        r"which saves 0 B\.",
    ),
    # Layers that only their parameters tell are edited too: the stand-in, which dumps the same for both, is asked of
    # both.
    (
        "stops",
        PLAIN_COMPILED,
        PLAIN,
        ["--change=checkpoint=*"],
        1,
        "refuted",
        "done",
        r"Refuted by the compiler: 554\.\d\d MiB becomes 554\.\d\d MiB \(predicted: \d+\.\d\d MiB\), which saves 0 B\.",
    ),
    (
        "hangs",
        COMPILED,
        DUMP,
        ["--change=batch=0.5", "--limit-seconds=1"],
        1,
        "unanswered",
        "timed_out",
        STANDS + r"The unchanged program: libtpu cl/4242 was ended while it compiled: it took longer than 1 s\.",
    ),
    (
        "segfaults",
        COMPILED,
        DUMP,
        ["--change=batch=0.5"],
        1,
        "unanswered",
        "crashed",
        STANDS + r"The unchanged program: libtpu cl/4242 ended by signal 11 .*",
    ),
    (
        "new_version",
        COMPILED,
        DUMP,
        ["--change=batch=0.5"],
        1,
        "unanswered",
        "unknown_version",
        STANDS + r"The unchanged program: This libtpu is not known: .*",
    ),
    (
        "stops",
        COMPILED,
        DUMP,
        ["--change=batch=0.5", "--libtpu=/nowhere/libtpu.so"],
        1,
        "unanswered",
        "no_libtpu",
        STANDS + r"The unchanged program: No compiler: /nowhere/libtpu\.so \(--libtpu\) is no libtpu\.so\.",
    ),
    (
        "stops",
        COMPILED,
        DUMP,
        ["--change=offload=*"],
        1,
        "unanswered",
        "not_editable",
        STANDS + r"The program cannot be changed so: offload=\*: the compiler cannot be asked: .*",
    ),
    (
        "stops",
        COMPILED,
        ALONE,
        ["--change=batch=0.5"],
        1,
        "unanswered",
        "no_program",
        STANDS + r"The program as it was before optimizations .* is not beside it\.",
    ),
]


def ask(arguments, place, word, dump, options, path, folder=None, before=None):
    environ = {
        **os.environ,
        "TMPDIR": place.path,
        "MEMVIEWD_STANDIN": word,
        "MEMVIEWD_STANDIN_DUMP": os.path.abspath(dump or arguments.module),
        "LD_LIBRARY_PATH": os.path.dirname(os.path.abspath(dump or arguments.module)),
    }
    environ.pop("MEMVIEWD_LIBTPU", None)
    library = (
        []
        if any(option.startswith("--libtpu") for option in options)
        else [f"--libtpu={os.path.abspath(arguments.standin)}"]
    )
    return subprocess.run(
        [
            os.path.abspath(arguments.binary),
            "whatif",
            os.path.abspath(path),
            "--confirm",
            "--topology=v5e:2x2",
            *library,
            *options,
        ],
        env=environ,
        cwd=folder,
        preexec_fn=before,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def faults_of(done, code, state, status, sentence):
    faults = [] if done.returncode == code else [f"exit status {done.returncode}, not {code}: {done.stderr[-200:]}"]
    module = loads(done.stdout)["modules"][0]
    said = module["confirmed"]
    if (said["state"], said["status"]) != (state, status):
        faults.append(f"{said['state']}, {said['status']}")
    if not re.fullmatch(sentence, said["sentence"]):
        faults.append(f"says: {said['sentence']}")
    if not module["total_bytes_before"] or not module["sentence"]:
        faults.append("there is no prediction")
    return faults


def fit_faults(arguments, place):
    """sets are asked until one fits; here none does, for the stand-in always dumps the same. Each plan is kept by
    itself"""
    folder = os.path.join(place.path, "plans")
    done = ask(arguments, place, "stops", COMPILED, ["--fit", "--capacity=7.5MiB", "--json", f"--keep={folder}"], DUMP)
    module = loads(done.stdout)["modules"][0]
    asked, sets = module["confirmed_sets"], module["fit"]["sets"]
    faults = [] if done.returncode == 1 else [f"exit status {done.returncode}"]
    faults += (
        []
        if sets and [row["changes"] for row in asked] == [[part["change"] for part in row["changes"]] for row in sets]
        else ["other sets"]
    )
    bases = [row["confirmed"]["base"]["sentence"] for row in asked if row["confirmed"]["base"]]
    faults += (
        []
        if len(bases) > 1
        and len(set(bases)) == 1
        and done.stderr.count("unchanged program: starting the compiler") <= 1
        else [f"{bases}: {done.stderr}"]
    )
    for at, row in enumerate(asked, 1):
        plan = row["confirmed"]["plan"] or ""
        if row["confirmed"]["changed"] and not (
            os.path.isfile(plan) and os.path.dirname(plan) == os.path.join(folder, f"set-{at}")
        ):
            faults.append(f"{row['changes']}: its plan is kept as {plan!r}")
    shutil.rmtree(folder)
    return faults + [f"{row['changes']} fits" for row in asked if row["is_confirmed_to_fit"]]


def text_faults(arguments, place):
    """the same words in a terminal, progress on stderr, and the changed program's plan where it is wanted"""
    folder = os.path.join(place.path, "a plan")  # told as it is seen from the folder that it is in
    done = ask(arguments, place, "stops", COMPILED, ["--change=batch=0.5", "--keep=a plan"], DUMP, place.path)
    faults = [] if "\n  Refuted by the compiler: " in done.stdout else [f"says: {done.stdout}"]
    faults += [] if "changed program: " in done.stderr else [f"tells: {done.stderr}"]
    plan = re.search(r"its plan: (.*)", done.stdout)
    if not plan or os.path.dirname(plan[1]) != folder or not os.path.isfile(plan[1]):
        faults.append("no plan is kept")
    for name in os.listdir(folder):
        os.remove(os.path.join(folder, name))
    os.rmdir(folder)
    return faults


def interrupt_faults(arguments, place):
    """Ctrl-C ends what is compiled and takes its folder along; the exit status is that of the signal"""
    faults = []
    for number in (signal.SIGINT, signal.SIGTERM):
        environ = {
            **os.environ,
            "TMPDIR": place.path,
            "MEMVIEWD_STANDIN": "hangs",
            "MEMVIEWD_STANDIN_DUMP": os.path.abspath(COMPILED),
            "LD_LIBRARY_PATH": os.path.dirname(os.path.abspath(COMPILED)),
        }
        process = subprocess.Popen(
            [
                arguments.binary,
                "whatif",
                DUMP,
                "--confirm",
                "--topology=v5e:2x2",
                f"--libtpu={arguments.standin}",
                "--change=batch=0.5",
            ],
            env=environ,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        while "compiling" not in (process.stderr.readline() or "compiling"):
            pass
        process.send_signal(number)
        out, _ = process.communicate(timeout=60)
        faults += [] if process.returncode == -number else [f"exit status {process.returncode} after signal {number}"]
        faults += [] if "was ended while it compiled: cancelled." in out else [f"says: {out}"]
        faults += place.left()
    return faults


def devices_faults(arguments, place):
    """fit --confirm: each device by its compiler; where there is none, the plan at hand, and why"""
    environ = {
        **os.environ,
        "TMPDIR": place.path,
        "MEMVIEWD_STANDIN": "stops",
        "MEMVIEWD_STANDIN_DUMP": os.path.abspath(arguments.module),
        "LD_LIBRARY_PATH": os.path.dirname(os.path.abspath(arguments.module)),
        "MEMVIEWD_PJRT_PLUGIN": os.path.abspath(arguments.standin),
    }
    done = subprocess.run(
        [
            arguments.binary,
            "fit",
            DUMP,
            "--confirm",
            "--json",
            "--device=v5e,h100,mi300x,v6e",
            f"--libtpu={arguments.standin}",
        ],
        env=environ,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    (program,) = loads(done.stdout)["programs"]
    rows = {row["device"]: row for row in program["rows"]}
    by = {
        name: (row["source"], row["compile"] and row["compile"]["compiler"], row["needed_bytes"])
        for name, row in rows.items()
    }
    wanted = {
        "v5e": ("compiled", "libtpu", 17920),
        "H100-80G": ("compiled", "CUDA plug-in", 17920),
        "MI300X": ("plan", None, program["needed_bytes"]),
        "v6e": ("plan", "libtpu", program["needed_bytes"]),
    }
    faults = [f"{name}: {by[name]}, not {value}" for name, value in wanted.items() if by[name] != value]
    faults += (
        []
        if rows["MI300X"]["compile"]["sentence"] == "No compiler is known for AMD Instinct MI300X."
        else [f"{rows['MI300X']}"]
    )
    faults += [] if "Invalid TPU external name" in rows["v6e"]["compile"]["sentence"] else [f"{rows['v6e']}"]
    return faults + ([] if done.returncode == 0 else [f"exit status {done.returncode}"])


def explain_faults(arguments, place):
    """explain --confirm: what the compiler made of what is advised, or why it was not asked; status 1, as none is
    confirmed"""
    faults = []
    for word, library, has_figure in (
        ("compiles", arguments.standin, True),
        ("aborts", arguments.standin, False),
        ("stops", "/nowhere", False),
    ):
        environ = {
            **os.environ,
            "TMPDIR": place.path,
            "MEMVIEWD_STANDIN": word,
            "MEMVIEWD_STANDIN_DUMP": os.path.abspath(arguments.module),
            "LD_LIBRARY_PATH": os.path.dirname(os.path.abspath(arguments.module)),
        }
        done = subprocess.run(
            [
                arguments.binary,
                "explain",
                DUMP,
                "--confirm",
                "--json",
                "--capacity=1MiB",
                "--topology=v5e:2x2",
                f"--libtpu={library}",
            ],
            env=environ,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        (element,) = loads(done.stdout)
        asked = [row for row in element["answer"]["advice"] if "compiled" in row]
        faults += (
            []
            if 1 <= len(asked) <= 3 and done.returncode == 1
            else [f"{word}: {len(asked)} asked, exit status {done.returncode}"]
        )
        faults += [
            f"{word}: {row}"
            for row in asked
            if ("predicted_bytes" in row) != has_figure or ("is_refuted" in row) != has_figure
        ]
        faults += (
            []
            if has_figure
            or "cl/4242 ended by signal 6" in asked[0]["compiled"]
            or "is no libtpu.so" in asked[0]["compiled"]
            else [f"{asked}"]
        )
    return faults


def explain_idle_faults(arguments, place):
    """a program that fits by far lists no advice in its text, but what the compiler was asked about"""
    environ = {
        **os.environ,
        "TMPDIR": place.path,
        "MEMVIEWD_STANDIN": "compiles",
        "MEMVIEWD_STANDIN_DUMP": os.path.abspath(arguments.module),
    }
    command = [arguments.binary, "explain", DUMP, "--confirm", "--capacity=1TiB", "--topology=v5e:2x2"]
    done = subprocess.run(
        [*command, f"--libtpu={arguments.standin}"],
        env=environ,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    said = done.stdout.partition("What would save more?")[2]
    is_idle = "nothing is needed" in said and "--json lists" in said
    return [] if is_idle and "predicted: lands at" in said else [f"{done.returncode} {said} {done.stderr}"]


def start_explain(arguments, place, word, path, options=()):
    environ = {
        **os.environ,
        "TMPDIR": place.path,
        "MEMVIEWD_STANDIN": word,
        "MEMVIEWD_STANDIN_DUMP": os.path.abspath(COMPILED),
        "LD_LIBRARY_PATH": os.path.dirname(os.path.abspath(COMPILED)),
    }
    return subprocess.Popen(
        [
            arguments.binary,
            "explain",
            path,
            "--confirm",
            "--json",
            "--topology=v5e:2x2",
            f"--libtpu={arguments.standin}",
            *options,
        ],
        env=environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def dump_with_failures(folder, name, count):
    """a folder of a dump, beside which a log tells of so many failures of its program"""
    shutil.copytree(DUMP, os.path.join(folder, name))
    with open(os.path.join(folder, name, "run.log"), "w", encoding="ascii") as file:
        for at in range(count):
            file.write(
                "jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Ran out of memory in memory space hbm. "
                f"Used {17 + at}.00G of 15.75G hbm. Exceeded hbm capacity by {1 + at}.25G.\n\nstep\n\n"
            )


def explain_interrupt_faults(arguments, place):
    """as whatif; no further failure is looked at"""
    faults = []
    folder = os.path.join(place.path, "failures")
    dump_with_failures(folder, "one", 3)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        process = start_explain(arguments, place, "hangs", folder)
        while "compiling" not in (process.stderr.readline() or "compiling"):
            pass
        process.send_signal(number)
        out, rest = process.communicate(timeout=60)
        faults += [] if process.returncode == -number else [f"exit status {process.returncode} after signal {number}"]
        faults += [] if len(loads(out)) == 1 else [f"{len(loads(out))} elements after signal {number}"]
        faults += [] if "--confirm" not in rest and "asking" not in rest else [f"tells: {rest}"]
    shutil.rmtree(folder)
    return faults + place.left()


def explain_again_faults(arguments, place):
    """failures of one program are asked about once; of many programs no more than nine changes"""
    faults = []
    folder = os.path.join(place.path, "failures")
    for program_count in (1, 5):
        for at in range(program_count):
            dump_with_failures(folder, f"of{program_count}/{at}", 2)
        process = start_explain(arguments, place, "compiles", os.path.join(folder, f"of{program_count}"))
        out, told = process.communicate(timeout=60)
        asked = [sum("compiled" in row for row in failure["answer"]["advice"]) for failure in loads(out)]
        count, wanted = told.count("asking the compiler about"), min(9, sum(asked) // 2)
        faults += [] if len(asked) == 2 * program_count and asked[0] == asked[1] > 0 else [f"{asked} of each failure"]
        faults += [] if count == wanted and process.returncode == 1 else [f"{count} asked, not {wanted}: {told[-300:]}"]
        faults += [] if ("9 changes were compiled" in told) == (program_count == 5) else [f"tells: {told[-300:]}"]
    shutil.rmtree(folder)
    return faults


def signals_faults(arguments, place):
    """a crash is one whatever signals were ignored at the start, as by a shell's trap "" CHLD"""
    done = ask(
        arguments,
        place,
        "segfaults",
        COMPILED,
        ["--json", "--change=batch=0.5"],
        DUMP,
        before=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN),
    )
    return faults_of(
        done, 1, "unanswered", "crashed", STANDS + r"The unchanged program: libtpu cl/4242 ended by signal 11 .*"
    )


def cases(arguments, place):
    """(name, faults) of each"""
    for word, dump, path, options, code, state, status, sentence in CASES:
        done = ask(arguments, place, word, dump, ["--json", *options], path)
        yield f"whatif {word} {' '.join(options)}", faults_of(done, code, state, status, sentence)
    yield "whatif --fit", fit_faults(arguments, place)
    yield "fit --confirm", devices_faults(arguments, place)
    yield "explain --confirm", explain_faults(arguments, place)
    yield "explain --confirm of what fits", explain_idle_faults(arguments, place)
    yield "explain --confirm interrupted", explain_interrupt_faults(arguments, place)
    yield "explain --confirm of several failures", explain_again_faults(arguments, place)
    yield "whatif with SIGCHLD ignored", signals_faults(arguments, place)
    yield "whatif interrupted", interrupt_faults(arguments, place)
    yield "whatif in a terminal", text_faults(arguments, place)
