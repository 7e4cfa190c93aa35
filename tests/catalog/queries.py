# SPDX-License-Identifier: Apache-2.0
"""The queries of docs/operate/fleet and the panels of its dashboard, asked of a catalog whose truth is known
(planted.py)."""

import datetime
import json
import os
import re

import planted
import writing
from harness import ROOT, equal

FOLDER = os.path.join(ROOT, "docs", "operate", "fleet")


def ask(database, name):
    with open(os.path.join(FOLDER, name + ".sql"), encoding="utf-8") as file:
        return database.rows(file.read())


def known_regressions(t, database):
    """what `memviewd index` finds in points that were there before it"""
    database.execute(
        "INSERT INTO memviewd.series_changes (series_id, job, module, kind, memory_space, configuration, changed_at, "
        "settled_at) SELECT DISTINCT "
        "memviewd.series_id(job, module, kind, memory_space, configuration), job, module, kind, memory_space, "
        "configuration, now(), now() FROM memviewd.points WHERE job IS NOT NULL"
    )
    t.write("one/h.xplane.pb", b"")  # a row without a verdict
    writing.index(t, database, os.path.join(t.folder(), "one"))


def test_the_queries_find_the_truth(t, database):
    database.apply_schema()
    planted.plant(database)
    known_regressions(t, database)
    grown = ask(database, "grew")
    equal((grown[0]["job"], grown[0]["before_commit"], grown[0]["commit"]), ("leaky", "c11", planted.LOST))
    assert abs(int(grown[0]["grown_bytes"]) - 3 * planted.GIB) < 1 << 14, grown[0]
    equal({row["job"] for row in grown}, {"leaky"}, "slow growth is no step")
    equal({(row["job"], row["host"]) for row in ask(database, "hosts")}, {("odd", planted.ODD_HOST)})
    (failing,) = ask(database, "next-to-fail")
    equal((failing["job"], failing["commits"]), ("creeping", str(planted.DAYS)))
    assert abs(int(failing["bytes_a_day"]) - planted.DAILY) < planted.DAILY / 100, failing
    assert abs(float(failing["days_left"]) - (8 * planted.GIB - 20 * planted.DAILY) / planted.DAILY) < 0.5, failing
    categories = ask(database, "categories")
    equal({row["category"] for row in categories}, {"parameter", "saved_activation"})
    equal({row["job"] for row in categories}, {"calm", "leaky", "odd", "creeping", "failing"})
    (lacking,) = ask(database, "donations")
    equal(
        (lacking["job"], lacking["commit"], lacking["pattern_no_donation_bytes"]),
        ("leaky", f"c{planted.DAYS - 1}", str(3 * planted.GIB)),
    )
    (failed,) = ask(database, "failures")
    equal((failed["job"], failed["commit"], failed["file"]), ("failing", "c15", "failing/c15/host1.xplane.pb"))


def test_the_queries_take_rows_of_memviewd(t, database):
    writing.index(t, database, t.fixtures, "--label=job=fixtures")
    asked = sorted(name.removesuffix(".sql") for name in os.listdir(FOLDER) if name.endswith(".sql"))
    equal(len(asked), 7)
    for name in asked:
        ask(database, name)


def test_two_hosts_that_differ_are_both_told(t, database):
    """by the query as by the page; and not those that are as far apart as noise is, or of no job"""
    database.apply_schema()
    planted.plant(database)
    database.execute(
        "DELETE FROM memviewd.rows WHERE job IN ('calm', 'odd') AND host IN ('host0', 'host3') AND commit IN ('c3', "
        "'c4');"
        "UPDATE memviewd.rows SET needed_bytes = needed_bytes + (1 << 21) WHERE job = 'calm' AND commit = 'c4' AND "
        "host = 'host1';"
        "UPDATE memviewd.rows SET job = NULL WHERE job = 'leaky' AND commit IN ('c5', 'c15');"
        "SELECT memviewd.points_refresh(array(SELECT point_id FROM memviewd.rows UNION SELECT point_id FROM "
        "memviewd.points)); ANALYZE"
    )
    asked = {(row["job"], row["commit"], row["host"]) for row in ask(database, "hosts")}
    equal(
        asked,
        {("odd", f"c{day}", planted.ODD_HOST) for day in range(planted.DAYS)}
        | {("odd", day, "host1") for day in ("c3", "c4")},
    )
    shown = t.serve(f"--catalog={database.url}").get_json("/api/v1/fleet/hosts")["data"]["rows"]
    equal({(row["job"], row["commit"], row["host"]) for row in shown}, asked)


def test_categories_are_all_asked_for(t, database):
    database.apply_schema()
    heads = {
        row["column_name"]
        for row in database.rows(
            "SELECT column_name FROM information_schema.columns WHERE table_schema = 'memviewd' AND table_name = "
            "'points' "
            "AND column_name LIKE 'category\\_%\\_bytes'"
        )
    }
    assert len(heads) > 10, heads
    for name in ("categories.sql", "grafana.json"):
        with open(os.path.join(FOLDER, name), encoding="utf-8") as file:
            pairs = re.findall(r"\('(\w+)', [wp]\.(category_\w+_bytes)\)", file.read())
        equal(({column for _, column in pairs}, len(pairs)), (heads, len(heads)), name)
        assert all(column == f"category_{category}_bytes" for category, column in pairs), name


def test_programs_since_are_those_of_the_view(t, database):
    """with the hosts of a session that are older than the moment"""
    database.apply_schema()
    planted.plant(database)
    database.execute(
        "UPDATE memviewd.rows SET session = job || commit, modified_at = modified_at - interval '3 hours' WHERE host "
        "= 'host0';"
        "UPDATE memviewd.rows SET session = job || commit WHERE host <> 'host0';"
        "SELECT memviewd.points_refresh(array(SELECT DISTINCT point_id FROM memviewd.rows)); ANALYZE"
    )
    for moment in ("now() - interval '9 days'", "now() - interval '9 days 1 hour'", "'-infinity'", "now()"):
        ordered = f"FROM memviewd.%s WHERE last_at > {moment} ORDER BY job, commit, module"
        expected = database.rows("SELECT * " + ordered % "programs")
        equal(database.rows("SELECT * " + ordered % f"programs_since({moment})"), expected)
        equal(len(expected) > 0, moment != "now()")


def test_programs_since_are_found_by_an_index(t, database):
    """of a million rows, reading all takes four times as long"""
    database.apply_schema()
    plan = database.execute(
        "SET enable_seqscan = off; EXPLAIN SELECT * FROM memviewd.programs_since(now() - interval '30 days')"
    )
    assert "points_last" in plan and "rows_point" in plan and "SubPlan" not in plan, plan


def test_gauges_of_jobs_are_the_newest_of_each(t, database):
    """for Prometheus; whatever a job is called"""
    name = 'a "b" \\ c\nd'
    database.apply_schema()
    planted.plant(database)
    database.execute(
        "UPDATE memviewd.rows SET job = E'a \"b\" \\\\ c\\nd', configuration = '8 devices' WHERE job = 'creeping'; "
        "UPDATE memviewd.rows SET module = 'small', needed_bytes = 1 WHERE job = 'calm' AND host = 'host3';"
        "SELECT memviewd.points_refresh(array(SELECT point_id FROM memviewd.points UNION SELECT point_id FROM "
        "memviewd.rows))"
    )
    known_regressions(t, database)
    answer = t.serve(f"--catalog={database.url}").ask("/metrics/jobs")
    equal((answer.status, answer.headers["content-type"]), (200, "text/plain; version=0.0.4; charset=utf-8"))
    samples = {}
    for line in answer.text.splitlines():
        if line.startswith("#"):
            continue
        family, labels, value = re.fullmatch(r"(\w+)\{(.*)\} (\d+)", line).groups()
        labels = {
            key: value.replace("\\n", "\n").replace('\\"', '"').replace("\\\\", "\\")
            for key, value in re.findall(r'(\w+)="((?:[^"\\]|\\.)*)"', labels)
        }
        assert samples.setdefault((family, labels["job"]), (int(value), labels)) == (int(value), labels), line
    equal({job for _, job in samples}, {"calm", "leaky", "odd", name, "failing"})
    needed = {job: value for (family, job), (value, _) in samples.items() if family == "memviewd_job_needed_bytes"}
    truth = {
        job: max(planted.needed(job, planted.DAYS - 1, host) for host in range(4 - (job == "calm")))
        for job in ("calm", "leaky", "odd", "failing")
    }
    equal(needed, {**truth, name: max(planted.needed("creeping", planted.DAYS - 1, host) for host in range(4))})
    equal(
        samples["memviewd_job_needed_bytes", name][1],
        {"job": name, "module": "jit_train_step", "memory_space": "HBM", "configuration": "8 devices"},
    )
    for family, truth in (("failures", {"failing": 1}), ("regressions", {"leaky": 1})):
        equal(
            {job: value for (of, job), (value, _) in samples.items() if of == f"memviewd_job_{family}" and value}, truth
        )
    equal(
        {value for (family, _), (value, _) in samples.items() if family == "memviewd_job_capacity_bytes"},
        {planted.CAPACITY},
    )
    equal(t.serve("--catalog=" + database.url.replace(str(database.port), "1")).ask("/metrics/jobs").status, 503)


# ---- the dashboard, with macros as Grafana writes them out ----
# Source: pkg/tsdb/grafana-postgresql-datasource/macros.go and the format "sqlstring" of its variables.

SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}


def time_of(moment):
    return moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def expand_macro(name, arguments, since, until):
    if name in ("__timeGroup", "__timeGroupAlias"):
        number, unit = re.fullmatch(r"'?(\d+)([smhdw])'?", arguments[1]).groups()
        seconds = int(number) * SECONDS[unit]
        return f"floor(extract(epoch from {arguments[0]})/{seconds})*{seconds}" + (
            ' AS "time"' if name.endswith("Alias") else ""
        )
    return {
        "__time": lambda: f'{arguments[0]} AS "time"',
        "__timeFrom": lambda: f"'{since}'",
        "__timeTo": lambda: f"'{until}'",
        "__timeFilter": lambda: f"{arguments[0]} BETWEEN '{since}' AND '{until}'",
    }[name]()


def expand(sql, variables, since, until):
    def variable(match):
        values = variables[match[1]]
        return (
            ",".join("'" + value.replace("'", "''") + "'" for value in values)
            if match[2] == "sqlstring"
            else ",".join(values)
        )

    sql = re.sub(r"\$\{(\w+)(?::(\w+))?\}", variable, sql)
    return re.sub(
        r"\$(__\w+)\(([^)]*)\)",
        lambda match: expand_macro(
            match[1], [each.strip() for each in match[2].split(",")], time_of(since), time_of(until)
        ),
        sql,
    )


def test_the_dashboard_finds_the_truth(t, database):
    database.apply_schema()
    planted.plant(database)
    database.execute(
        "UPDATE memviewd.rows SET job = 'it''s' WHERE job = 'calm'; "
        "SELECT memviewd.points_refresh(array(SELECT point_id FROM memviewd.points UNION SELECT point_id FROM "
        "memviewd.rows))"
    )
    known_regressions(t, database)
    with open(os.path.join(FOLDER, "grafana.json"), encoding="utf-8") as file:
        dashboard = json.load(file)
    until = datetime.datetime.now(datetime.timezone.utc)
    since, variables = until - datetime.timedelta(days=90), {"datasource": ["memviewd"]}
    for each in dashboard["templating"]["list"]:
        if each["type"] == "query":
            rows = database.rows(expand(each["query"], variables, since, until))
            variables[each["name"]] = [next(iter(row.values())) for row in rows]
    equal(variables["job"], ["creeping", "failing", "it's", "leaky", "odd"])
    equal(variables["module"], ["jit_train_step"])
    told = {}
    for panel in dashboard["panels"]:
        (target,) = panel["targets"]
        rows = database.rows(expand(target["rawSql"], variables, since, until))
        assert rows, panel["title"]
        equal("time" in rows[0], target["format"] == "time_series", panel["title"])
        told[panel["title"]] = rows
    equal(len(told), len(dashboard["panels"]), "titles")
    equal((told["Grown with a commit"][0]["job"], told["Grown with a commit"][0]["commit"]), ("leaky", planted.LOST))
    equal({(row["job"], row["host"]) for row in told["Hosts that differ"]}, {("odd", planted.ODD_HOST)})
    equal([row["job"] for row in told["Next to fail"]], ["creeping"])
    equal([row["job"] for row in told["Without donations"]], ["leaky"])
    equal([(row["metric"], row["failures"]) for row in told["Ran out of memory"]], [("failing", "1")])
    equal(told["Share of what the device has"][0]["metric"].split(" · ")[0], "creeping")
    equal({row["metric"] for row in told["Whose memory, over time"]}, {"parameter", "saved_activation"})
    equal(len(told["Needed, by job and module"]), 5 * planted.DAYS)


def test_what_is_older_than_so_many_months_goes(t, database):
    """old rows are gone and their points, files are known still, and a regression with less than three commits before
    it goes without a word"""
    database.apply_schema()
    planted.plant(database)
    database.execute(
        "UPDATE memviewd.rows SET modified_at = modified_at - interval '3 months' WHERE commit IN ('c0', 'c1', 'c2');"
        "UPDATE memviewd.files SET modified_at = r.modified_at FROM memviewd.rows AS r WHERE r.file_id = files.file_id;"
        "INSERT INTO memviewd.regressions (id, job, module, kind, memory_space, commit, commit_before, before_bytes, "
        "after_bytes, noise_bytes, threshold_bytes, found_at)"
        " SELECT 'of ' || c, 'calm', 'jit_train_step', 'module', 'HBM', 'c' || c, 'c' || c - 1, 1, 2, 0, 1, now() - "
        "interval '1 month' FROM unnest(ARRAY[2, 3, 5, 6, 9]) AS c;"
        "SELECT memviewd.points_refresh(array(SELECT DISTINCT point_id FROM memviewd.rows))"
    )
    files, rows = (int(database.value(f"SELECT count(*) FROM memviewd.{table}")) for table in ("files", "rows"))
    others = [
        str(row)
        for row in database.rows(
            "SELECT * FROM memviewd.points WHERE commit NOT IN ('c0', 'c1', 'c2') ORDER BY point_id"
        )
    ]
    database.execute("CALL memviewd.keep(4)")
    equal(database.value("SELECT count(*) FROM memviewd.rows"), str(rows))
    for _ in range(2):
        database.execute("CALL memviewd.keep(2)")
        equal(
            [int(database.value(f"SELECT count(*) FROM memviewd.{table}")) for table in ("files", "rows")],
            [files, rows - 5 * 3 * 4],
        )
        equal(
            database.value(
                "SELECT count(*) FROM memviewd.files AS f WHERE row_count <> (SELECT count(*) FROM memviewd.rows AS r "
                "WHERE r.file_id = f.file_id AND r.kind = 'module')"
            ),
            "0",
        )
        equal([str(row) for row in database.rows("SELECT * FROM memviewd.points ORDER BY point_id")], others)
        equal([row["id"] for row in database.rows("SELECT id FROM memviewd.regressions ORDER BY id")], ["of 6", "of 9"])
