#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How long pages wait for the catalog of a million sessions, and how fast files get into it.

  measure.py --binary PATH [--runs N]

Fills a PostgreSQL of its own, with what Debian sets, by million.sql (some minutes), and asks each query of page/ by pgbench N times
(200), at random places: the median and the 95th percentile in milliseconds, then its plan. Then memviewd index --catalog: how long it looks
for regressions in all series of that, and 80,000 files that are new, that are known, and by two processes. Measures, and holds nothing.
"""
import argparse
import glob
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "http")]
import inputs  # noqa: E402: its folder is added above
import postgres  # noqa: E402

FILES, FILES_A_FOLDER = 80000, 8


def text(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def plan_of(database, path):
    sql = re.sub(r":(\w+)", "7", re.sub(r"(?m)^(\\set|--).*\n", "", text(path)))
    return [row["QUERY PLAN"] for row in database.rows("EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) " + sql)]


def ask(database, path, runs):
    """milliseconds of each run"""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([f"{database.programs}/pgbench", "-n", "-h", "127.0.0.1", "-p", str(database.port), "-U", postgres.USER, "-f", path, "-t", str(runs),
                        "-l", "--log-prefix=" + os.path.join(folder, "log"), postgres.DATABASE],
                       check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env={**os.environ, "PGPASSWORD": database.password})
        (log,) = glob.glob(os.path.join(folder, "log.*"))
        return [int(line.split()[2]) / 1000 for line in text(log).splitlines()]


def measure_queries(database, runs):
    for path in sorted(glob.glob(os.path.join(HERE, "page", "*.sql"))):
        took = ask(database, path, runs)
        print(f"{os.path.basename(path)}: median {statistics.median(took):.1f} ms, 95th percentile {statistics.quantiles(took, n=20)[-1]:.1f} ms")
        print("    " + "\n    ".join(plan_of(database, path)), flush=True)


def write_files(folder):
    trace = inputs.xspace({("jit_train", 5): inputs.hlo_proto("jit_train", 4)})
    for at in range(FILES):
        path = os.path.join(folder, f"job{at // 800}/c{at // FILES_A_FOLDER % 100}/plugins/profile/run")
        os.makedirs(path, exist_ok=True)
        with open(os.path.join(path, f"host{at % FILES_A_FOLDER}.xplane.pb"), "wb") as file:
            file.write(trace)


def index(binary, database, folder, shards):
    began = time.monotonic()
    running = [subprocess.Popen([binary, "index", folder, "--catalog=" + database.url, "--label-path={job}/{commit}", f"--shard={at}/{shards}"], stderr=subprocess.PIPE, text=True)
               for at in range(shards)]
    said = [process.communicate()[1].strip() for process in running]
    return f"{time.monotonic() - began:.1f} s, {' | '.join(said)}"


def measure_regressions(binary, database):
    database.execute("INSERT INTO memviewd.series_changes (series_id, job, module, kind, memory_space, logdir, changed_at, settled_at) "
                     "SELECT memviewd.series_id(job, module, kind, memory_space), job, module, kind, memory_space, '', now(), now() "
                     "FROM (SELECT DISTINCT job, module, kind, memory_space FROM memviewd.points WHERE job IS NOT NULL) AS series")
    count = database.value("SELECT count(*) FROM memviewd.settled_series")
    with tempfile.TemporaryDirectory() as folder:
        print(f"regressions of {count} series: {index(binary, database, folder, 1)}; {database.value('SELECT count(*) FROM memviewd.regressions')} found", flush=True)


def measure_files(binary, database):
    with tempfile.TemporaryDirectory() as folder:
        write_files(folder)
        for what, shards, before in (("new", 1, "DROP SCHEMA memviewd CASCADE"), ("known", 1, "SELECT 1"), ("new, two processes", 2, "DROP SCHEMA memviewd CASCADE")):
            database.execute(before)
            print(f"{FILES} files, {what}: {index(binary, database, folder, shards)}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--runs", type=int, default=200)
    options = parser.parse_args()
    with postgres.Postgres(is_safe=True) as database:
        database.apply_schema()
        database.execute(text(os.path.join(HERE, "million.sql")))
        database.execute("VACUUM ANALYZE")
        measure_queries(database, options.runs)
        measure_regressions(os.path.abspath(options.binary), database)
        measure_files(os.path.abspath(options.binary), database)
    return 0


if __name__ == "__main__":
    sys.exit(main())
