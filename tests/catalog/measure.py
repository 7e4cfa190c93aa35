#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How fast files get into the catalog, and how long pages wait for one of a million sessions.

  measure.py --binary PATH [--runs N] [--files N] [--shards N,N,...] [--skip files|million]

From nothing: a PostgreSQL of its own with what Debian sets; N small traces (80,000), eight in each session, which are
indexed new and known, without labels, and by several processes at a time (2,4,8); then a million sessions by
million.sql (some minutes), of which each query of page/ is asked by pgbench N times (200), and each question of the
page Fleet of a daemon, none of which it has kept, and how long memviewd index looks for regressions in all series of
that. Prints tables as Markdown, and plans. Measures, and holds nothing.

Times by the clock are those of this machine with all that runs on it; those of processors are of memviewd and of all
processes of PostgreSQL.
"""

import argparse
import glob
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "http")]
import harness  # noqa: E402: its folder is added above
import inputs  # noqa: E402
import postgres  # noqa: E402

FILES_A_FOLDER = 8
TICKS_A_SECOND = os.sysconf("SC_CLK_TCK")
LAST_DAY = "2026-09-26"  # of million.sql
EMPTY = "DROP SCHEMA IF EXISTS memviewd CASCADE"
FAR_MS = 4_000_000_000_000  # until= so late is no condition, and makes another question of the same
QUESTIONS = [
    "summary",
    "regressions",
    "hosts",
    "summary?job=job5",
    "summary?user=user7",
    "summary?host=host3",
    "summary?commit=c7",
    "summary?module=jit_eval_step",
    "summary?label=user=user7",
    "summary?label=team=team2",
    "summary?label=cluster=eu",
    "summary?label=queue=q9",
    "summary?job=job5&host=host2",
    "summary?user=user7&host=host1",
]


def text(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def table(*heads):
    print("\n| " + " | ".join(heads) + " |\n|" + "---|" * len(heads), flush=True)


def line(*cells):
    print("| " + " | ".join(str(cell) for cell in cells) + " |", flush=True)


def percentile_95(took):
    return statistics.quantiles(took, n=20)[-1]


# ---- files ----


def write_files(folder, count):
    trace = inputs.xspace({("jit_train", 5): inputs.hlo_proto("jit_train", 4)})
    for at in range(count):
        path = os.path.join(folder, f"job{at // 800}/c{at // FILES_A_FOLDER % 100}/plugins/profile/run")
        os.makedirs(path, exist_ok=True)
        with open(os.path.join(path, f"host{at % FILES_A_FOLDER}.xplane.pb"), "wb") as file:
            file.write(trace)


def processor_seconds_of(pid):
    cells = text(f"/proc/{pid}/stat").rpartition(")")[2].split()
    return sum(map(int, cells[11:13])) / TICKS_A_SECOND


def processor_seconds(database):
    """of the server and of all processes that it ever started"""
    ticks = 0
    for path in glob.glob("/proc/[0-9]*/stat"):
        try:
            cells = text(path).rpartition(")")[2].split()
        except OSError:
            continue
        if int(path.split("/")[2]) == database.process.pid:
            ticks += sum(map(int, cells[11:15]))  # its own and those of children that ended
        elif int(cells[1]) == database.process.pid:
            ticks += sum(map(int, cells[11:13]))
    return ticks / TICKS_A_SECOND


def index(what, binary, database, folder, shards=1, labels=("--label-path={job}/{commit}",)):
    began, server = time.monotonic(), processor_seconds(database)
    running = [
        subprocess.Popen(
            [binary, "index", folder, "--catalog=" + database.url, *labels, f"--shard={at}/{shards}"],
            stderr=subprocess.DEVNULL,
        )
        for at in range(shards)
    ]
    own = 0
    for process in running:
        _, status, usage = os.wait4(process.pid, 0)
        assert status == 0, what
        own += usage.ru_utime + usage.ru_stime
    took = time.monotonic() - began
    time.sleep(0.2)  # the server's processes end
    line(what, f"{took:.1f} s", f"{own:.1f} s", f"{processor_seconds(database) - server:.1f} s")


def measure_files(binary, database, count, shards):
    with tempfile.TemporaryDirectory() as folder:
        write_files(folder, count)
        subprocess.run(
            [binary, "index", folder, "--out=" + os.devnull], check=True, stderr=subprocess.DEVNULL
        )  # so that no first reading waits for the disk
        table(f"{count} small traces", "by the clock", "memviewd's processor time", "PostgreSQL's")
        database.execute(EMPTY)
        index("all new", binary, database, folder)
        index("all known", binary, database, folder)
        for each in shards:
            database.execute(EMPTY)
            index(f"all new, {each} processes", binary, database, folder, each)
        database.execute(EMPTY)
        index("all new, without labels", binary, database, folder, labels=())
        database.execute(EMPTY)


# ---- a million rows ----


def plan_of(database, path):
    sql = re.sub(r":(\w+)", "7", re.sub(r"(?m)^(\\set|--).*\n", "", text(path)))
    return [row["QUERY PLAN"] for row in database.rows("EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) " + sql)]


def ask_database(database, path, runs):
    """milliseconds of each run"""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(
            [
                f"{database.programs}/pgbench",
                "-n",
                "-h",
                "127.0.0.1",
                "-p",
                str(database.port),
                "-U",
                postgres.USER,
                "-f",
                path,
                "-t",
                str(runs),
                "-l",
                "--log-prefix=" + os.path.join(folder, "log"),
                postgres.DATABASE,
            ],
            check=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env={**os.environ, "PGPASSWORD": database.password},
        )
        (log,) = glob.glob(os.path.join(folder, "log.*"))
        return [int(line.split()[2]) / 1000 for line in text(log).splitlines()]


def measure_queries(database, runs):
    paths = sorted(glob.glob(os.path.join(HERE, "page", "*.sql")))
    table("query", "median", "95th percentile")
    for path in paths:
        took = ask_database(database, path, runs)
        line(os.path.basename(path), f"{statistics.median(took):.0f} ms", f"{percentile_95(took):.0f} ms")
    table("query of docs/operate/fleet", "median", "95th percentile", "PostgreSQL's processor time")
    for path in sorted(glob.glob(os.path.join(harness.ROOT, "docs", "operate", "fleet", "*.sql"))):
        with tempfile.NamedTemporaryFile("w", suffix=".sql") as own:
            own.write("SET jit = off;\n" + text(path).replace("now()", f"timestamptz '{LAST_DAY}'"))
            own.flush()
            os.chmod(own.name, 0o644)
            count, server = max(runs // 20, 3), processor_seconds(database)
            took = ask_database(database, own.name, count)
        line(
            os.path.basename(path),
            f"{statistics.median(took):.0f} ms",
            f"{percentile_95(took):.0f} ms",
            f"{(processor_seconds(database) - server) * 1000 / count:.0f} ms",
        )
    for path in paths:
        print(f"\n{os.path.basename(path)}:\n    " + "\n    ".join(plan_of(database, path)), flush=True)


def measure_page(binary, database, runs):
    with harness.Toolbox(binary, None) as toolbox:
        daemon = toolbox.serve("--catalog=" + database.url)
        table(
            "question",
            "first",
            "median",
            "95th percentile",
            "memviewd's processor time",
            "PostgreSQL's",
            "points or rows",
        )
        for question in QUESTIONS:
            took, own, server = [], processor_seconds_of(daemon.process.pid), processor_seconds(database)
            for run in range(runs):
                began = time.monotonic()
                data = daemon.get_json(
                    f"/api/v1/fleet/{question}{'&' if '?' in question else '?'}until={FAR_MS + run}"
                )["data"]
                took.append((time.monotonic() - began) * 1000)
            each = [
                (now - before) * 1000 / runs
                for now, before in (
                    (processor_seconds_of(daemon.process.pid), own),
                    (processor_seconds(database), server),
                )
            ]
            line(
                f"`{question}`",
                f"{took[0]:.0f} ms",
                f"{statistics.median(took):.0f} ms",
                f"{percentile_95(took):.0f} ms",
                *(f"{one:.0f} ms" for one in each),
                data.get("record_count", ""),
            )


def measure_regressions(binary, database):
    database.execute(
        "INSERT INTO memviewd.series_changes (series_id, job, module, kind, memory_space, configuration, logdir, "
        "changed_at, settled_at) "
        "SELECT memviewd.series_id(job, module, kind, memory_space, configuration), job, module, kind, memory_space, "
        "configuration, '', now(), now() "
        "FROM (SELECT DISTINCT job, module, kind, memory_space, configuration FROM memviewd.points WHERE job IS NOT "
        "NULL) AS series"
    )
    count = database.value("SELECT count(*) FROM memviewd.settled_series")
    table("regressions", "by the clock", "memviewd's processor time", "PostgreSQL's")
    with tempfile.TemporaryDirectory() as folder:
        index(f"looked for in {count} series", binary, database, folder)
    print(f"\n{database.value('SELECT count(*) FROM memviewd.regressions')} regressions found.")


def measure_million(binary, database, runs):
    began = time.monotonic()
    database.apply_schema()
    database.execute(text(os.path.join(HERE, "million.sql")))
    database.execute("VACUUM ANALYZE")
    print(f"\nA million rows, made in {time.monotonic() - began:.0f} s.")
    table("table or index", "size")
    for row in database.rows(
        "SELECT relname, pg_size_pretty(pg_relation_size(oid)) AS size FROM pg_class WHERE relnamespace = "
        "'memviewd'::regnamespace AND pg_relation_size(oid) > 1 << 20 "
        "ORDER BY pg_relation_size(oid) DESC"
    ):
        line(row["relname"], row["size"])
    measure_page(binary, database, max(runs // 10, 2))
    measure_regressions(binary, database)
    measure_queries(database, runs)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--files", type=int, default=80000)
    parser.add_argument("--shards", default="2,4,8")
    parser.add_argument("--skip", choices=["files", "million"], action="append", default=[])
    options = parser.parse_args()
    binary = os.path.abspath(options.binary)
    print(
        f"{os.cpu_count()} processors, load {os.getloadavg()[0]:.1f} at the beginning; "
        f"{shutil.disk_usage(tempfile.gettempdir()).free >> 30} GiB free",
        flush=True,
    )
    with postgres.Postgres(is_safe=True) as database:
        if "files" not in options.skip:
            measure_files(binary, database, options.files, [int(each) for each in options.shards.split(",")])
        if "million" not in options.skip:
            measure_million(binary, database, options.runs)
    print(f"\nload {os.getloadavg()[0]:.1f} at the end")
    return 0


if __name__ == "__main__":
    sys.exit(main())
