# SPDX-License-Identifier: Apache-2.0
"""What `memviewd run` adds to XLA_FLAGS, and what stays of the dump. Tests of run.py."""

import glob
import os
import re
import shutil
import time

from box import DUMPING, MODULE, OUT_OF_MEMORY, PATIENCE_SECONDS


# ---- XLA_FLAGS ------------------------------------------------------------------------


def flags_seen(box, before):
    done = box.run("sh", "-c", 'printf %s "$XLA_FLAGS"', variables={} if before is None else {"XLA_FLAGS": before})
    return re.sub(re.escape(box.runs) + r"/run-[\d-]+", "RUN", done.stdout.decode())


def test_flags_are_added_to_the_persons(box):
    path = os.path.join(box.folder, "flags")
    with open(path, "w", encoding="utf-8") as file:
        file.write("--xla_a=1\n  --xla_b\n")
    ours = "--xla_dump_to=RUN --xla_dump_hlo_as_proto --xla_dump_include_timestamp=true"
    for before, after in (
        (None, ours),
        ("", ours),
        ("--xla_a=1  -xla_b", "--xla_a=1  -xla_b " + ours),
        (path, "--xla_a=1\n  --xla_b\n " + ours),
        ("/nowhere", "/nowhere"),
        ("--xla_x='--xla_dump_to=/a'", "--xla_x='--xla_dump_to=/a' " + ours),
        ("--xla_dump_to=/a", "--xla_dump_to=/a --xla_dump_hlo_as_text --xla_dump_hlo_as_proto"),
        (
            "--xla_dump_to=/a --xla_dump_hlo_as_text=true",
            "--xla_dump_to=/a --xla_dump_hlo_as_text=true --xla_dump_hlo_as_proto",
        ),
        ('--xla_dump_hlo_as_proto --xla_dump_to="/a b"', '--xla_dump_hlo_as_proto --xla_dump_to="/a b"'),
        (
            "--xla_dump_include_timestamp=false",
            "--xla_dump_include_timestamp=false --xla_dump_to=RUN --xla_dump_hlo_as_proto",
        ),
        ("--xla_dump_to=-", "--xla_dump_to=- --xla_dump_hlo_as_text --xla_dump_hlo_as_proto"),
    ):
        assert flags_seen(box, before) == after, (before, flags_seen(box, before))
    cached = box.run("sh", "-c", 'printf %s "$XLA_FLAGS"', variables={"JAX_COMPILATION_CACHE_DIR": box.folder}).stdout
    assert cached.endswith(b" --xla_dump_hlo_as_proto"), cached
    box.runs = os.path.join(box.folder, 'with " and space')
    assert flags_seen(box, None).startswith('--xla_dump_to="' + box.runs.replace('"', '\\"')), flags_seen(box, None)


# ---- the dump -------------------------------------------------------------------------


def names(folder):
    return sorted(os.path.relpath(os.path.join(at, name), folder) for at, _, files in os.walk(folder) for name in files)


def test_only_what_is_read_stays(box):
    done = box.run(*box.script(DUMPING + "dump(7)\nopen(f'{DUMP}/memory.prof', 'w').write('mine')"), options=["--keep"])
    stem = "module_0007.jit_step"
    assert b"its output and 1 program are in" in done.stderr, done
    assert names(box.only_session()) == [
        "memory.prof",
        *(f"{stem}.{end}.pb" for end in ("after_optimizations.hlo", "before_optimizations.hlo", "target_arguments")),
        f"{stem}/topology.pb",
        "output.log",
        "run.lock",
    ]


def test_the_newest_programs_stay(box):
    done = box.run(
        *box.script(DUMPING + "for i in range(30):\n    dump(i)\n    time.sleep(0.005)\n"),
        options=["--keep", "--programs=4", "--quiet"],
    )
    assert done.stderr == b"", done
    assert [name for name in names(box.only_session()) if "after" in name] == [
        f"module_{i:04d}.jit_step.after_optimizations.hlo.pb" for i in range(26, 30)
    ]


def test_a_dump_without_end_stays_small(box):
    job = box.start(
        *box.script(DUMPING + "i = 0\nwhile True:\n    dump(i, extra=1 << 20)\n    i += 1\n    time.sleep(0.02)\n"),
        options=["--keep", "--quiet", "--dump-limit=8"],
    )
    most = written = 0
    end = time.monotonic() + PATIENCE_SECONDS
    while written < 100 and time.monotonic() < end:
        sessions = box.sessions()
        modules = glob.glob(os.path.join(sessions[0], "module_*after_opt*")) if sessions else []
        most = max(most, len(modules))
        written = max([written] + [int(re.search(r"module_(\d+)", name)[1]) for name in modules])
        time.sleep(0.02)
    job.terminate()
    job.wait(PATIENCE_SECONDS)
    left = len(glob.glob(os.path.join(box.only_session(), "module_*after_opt*")))
    assert written >= 100 and 4 <= left <= 8 and most < 50, (most, written, left)


def test_their_own_dump_is_theirs(box):
    own = os.path.join(box.folder, "own")
    os.mkdir(own)
    for name in ("module_0001.old.after_optimizations.hlo.pb", "other"):
        shutil.copy(MODULE, os.path.join(own, name))
        os.utime(os.path.join(own, name), (1, 1))
    done = box.run(
        *box.script(DUMPING + "for i in range(2, 7): dump(i)\n" + OUT_OF_MEMORY),
        options=["--programs=3"],
        variables={"XLA_FLAGS": f"--xla_dump_to={own}"},
    )
    assert done.returncode == 1 and b"its output and 3 programs are in" in done.stderr, done
    assert len(os.listdir(own)) == 2 + 5 * 7, sorted(os.listdir(own))
    kept = [name for name in names(box.only_session()) if "after" in name]
    assert len(kept) == 3 and not any("after_codegen" in name or "old" in name for name in kept), kept
