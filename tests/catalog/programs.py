# SPDX-License-Identifier: Apache-2.0
"""One row a program: 256 hosts with twelve modules each, of which three are odd for three reasons."""

import json

import fleet_story
import inputs
import queries
import writing
from harness import equal

GIB, HOSTS, MODULES = 1 << 30, 256, 12
ODD = {
    ("jit_m3", 7): ("another program", GIB),
    ("jit_m3", 200): ("another plan", -GIB),
    ("jit_m5", 31): ("another limit", 0),
}


def plant(database, hosts=HOSTS):
    """a session of the pod, written as rows are"""
    lines = ["BEGIN;"]
    for host in range(hosts):
        lines.append(
            f"INSERT INTO memviewd.files (file_id, logdir, file, state, row_count) VALUES ('f{host}', '/profiles', "
            f"'pod/host{host}.xplane.pb', '', {MODULES});"
        )
        for module in range(MODULES):
            reason, off = ODD.get((f"jit_m{module}", host), ("", 0))
            values = {
                "schema_version": 3,
                "id": f"'{host}-{module}'",
                "file_id": f"'f{host}'",
                "logdir": "'/profiles'",
                "file": f"'pod/host{host}.xplane.pb'",
                "modified_at": "now()",
                "job": "'pod'",
                "commit": "'c1'",
                "labels": "'{}'",
                "kind": "'module'",
                "session": "'run'",
                "host": f"'host{host}'",
                "module": f"'jit_m{module}'",
                "program_id": f"'{10 + module + 100 * (reason == 'another program')}'",
                "verdict": "'Needs so much.'",
                "memory_space": "'HBM'",
                "needed_bytes": (2 + module) * GIB + off,
                "capacity_bytes": (15 if reason == "another limit" else 16) * GIB,
                "peak_bytes": GIB,
            }
            lines.append(
                f"INSERT INTO memviewd.rows ({', '.join(values)}) VALUES ({', '.join(map(str, values.values()))});"
            )
    database.execute(
        "\n".join(
            [
                *lines,
                "SELECT memviewd.points_refresh(array(SELECT DISTINCT point_id FROM memviewd.rows)); COMMIT; ANALYZE;",
            ]
        )
    )


def test_a_pod_is_one_row_a_program_and_its_odd_hosts_have_true_reasons(t, database):
    database.apply_schema()
    plant(database)
    rows = {row["module"]: row for row in queries.ask(database, "programs")}
    equal(len(rows), MODULES)
    for module, row in rows.items():
        base = (2 + int(module[5:])) * GIB
        odd = {one["host"]: (one["reason"], one["off_bytes"]) for one in json.loads(row["odd_hosts"])}
        equal(odd, {f"host{host}": told for (of, host), told in ODD.items() if of == module}, module)
        offs = [off for _, off in odd.values()]
        equal(
            [
                int(row[name])
                for name in (
                    "host_count",
                    "odd_host_count",
                    "needed_min_bytes",
                    "needed_median_bytes",
                    "needed_max_bytes",
                    "capacity_bytes",
                )
            ],
            [HOSTS, len(odd), base + min([0, *offs]), base, base + max([0, *offs]), 16 * GIB],
            module,
        )
    # The page names those that need more or less; a limit is none of its figures.
    shown = t.serve(f"--catalog={database.url}").get_json("/api/v1/fleet/hosts")["data"]["rows"]
    equal(
        {(row["module"], row["host"]) for row in shown},
        {(of, f"host{host}") for (of, host), (_, off) in ODD.items() if off},
    )


def test_rows_of_memviewd_are_programs(t, database):
    for host in range(5):
        hlo = fleet_story.program("jit_train", (3 if host == 3 else 2) * GIB)
        t.write(
            f"exp/run/plugins/profile/a/host{host}.xplane.pb",
            inputs.xspace({("jit_train", 5): hlo, ("jit_eval", 6): inputs.hlo_proto("jit_eval", 4)}),
        )
    writing.index(t, database, t.folder())
    rows = {row["module"]: row for row in queries.ask(database, "programs")}
    equal(
        {module: (row["job"], row["host_count"], row["odd_host_count"]) for module, row in rows.items()},
        {"jit_train": ("exp", "5", "1"), "jit_eval": ("exp", "5", "0")},
    )
    (odd,) = json.loads(rows["jit_train"]["odd_hosts"])
    equal((odd["host"], odd["reason"]), ("host3", "another plan"))


def test_of_two_hosts_that_differ_both_are_named(t, database):
    database.apply_schema()
    plant(database, 2)
    database.execute(
        "UPDATE memviewd.rows SET needed_bytes = needed_bytes * 2 WHERE host = 'host1' AND module = 'jit_m1'"
    )
    rows = {row["module"]: row for row in queries.ask(database, "programs")}
    equal([one["host"] for one in json.loads(rows["jit_m1"]["odd_hosts"])], ["host0", "host1"])
    equal(sum(int(row["odd_host_count"]) for row in rows.values()), 2)


def test_what_no_majority_has_is_no_reason(t, database):
    """two limits of two hosts, a limit that is not known, and another program that needs as much"""
    database.apply_schema()
    plant(database, 4)
    database.execute(
        "UPDATE memviewd.rows SET capacity_bytes = 8 * 1073741824::bigint WHERE host IN ('host2', 'host3') AND module "
        "= 'jit_m1';"
        "UPDATE memviewd.rows SET capacity_bytes = NULL WHERE host = 'host0' AND module = 'jit_m2';"
        "UPDATE memviewd.rows SET program_id = '99' WHERE host = 'host1' AND module = 'jit_m4'"
    )
    odd = {
        row["module"]: [(one["host"], one["reason"]) for one in json.loads(row["odd_hosts"])]
        for row in queries.ask(database, "programs")
    }
    equal({module: hosts for module, hosts in odd.items() if hosts}, {"jit_m4": [("host1", "another program")]})
