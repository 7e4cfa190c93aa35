# SPDX-License-Identifier: Apache-2.0
"""docs/operate/deploy/objects_engines.py, run by Ray Data and by Spark themselves (make engines-test)."""

import json
import os
import shutil
import subprocess

import objects
import tools
from harness import Skip, equal


def by_engine(t, engine):
    """what the engine itself makes of docs/operate/deploy/objects_engines.py, in batches of five: lines"""
    folder, paths = objects.profiles(t)
    out = os.path.join(t.folder("work"), "out")
    with open(os.path.join(objects.DEPLOY, "objects_engines.py"), encoding="utf-8") as file:
        program = objects.in_parts(file.read())
    t.write("../work/objects.py", program.encode())
    t.write("../work/objects.txt", "".join(path + "\n" for path in paths).encode())
    python = tools.python_of("engine-tools", "make engines-test")
    objects.run_here(
        t,
        f"{python} objects.py {engine} /profiles {out} < objects.txt",
        PYSPARK_PYTHON=python,
        RAY_USAGE_STATS_ENABLED="0",
        SPARK_LOCAL_IP="127.0.0.1",
    )
    return out, objects.expected(t, paths, folder)


def test_ray(t, _):
    out, rows = by_engine(t, "ray")
    read = (
        "import json, pyarrow.parquet as p, sys; print(json.dumps(p.read_table(sys.argv[1]).select(['id', 'file', "
        "'needed_bytes']).to_pylist()))"
    )
    done = subprocess.run(
        [tools.python_of("engine-tools", ""), "-c", read, out], capture_output=True, text=True, check=True, timeout=300
    )
    equal(
        sorted((row["id"], row["file"], row["needed_bytes"]) for row in json.loads(done.stdout)),
        sorted((row["id"], row["file"], row["needed_bytes"]) for row in map(json.loads, rows)),
    )
    assert len(os.listdir(out)) > 0


def test_spark(t, _):
    python = tools.python_of("engine-tools", "make engines-test")
    if (
        not shutil.which("java")
        or subprocess.run([python, "-c", "import pyspark"], stderr=subprocess.DEVNULL).returncode != 0
    ):
        raise Skip("needs Java and pyspark, which is no wheel: pip install pyspark in build/engine-tools")
    out, rows = by_engine(t, "spark")
    parts = [name for name in sorted(os.listdir(out)) if name.startswith("part-")]
    equal(sorted(line for name in parts for line in open(os.path.join(out, name), encoding="utf-8")), rows)
    assert len(parts) > 1, parts
