# SPDX-License-Identifier: Apache-2.0
"""Three weeks of five jobs whose truth is known, as rows of the catalog: a commit a day, on four hosts.

leaky loses a donation with the commit LOST; odd has a host ODD_HOST that needs more; creeping grows by DAILY a day;
failing ran out of memory once; calm does nothing of it.
"""

GIB = 1 << 30
CAPACITY = 16 * GIB
DAYS, LOST, ODD_HOST, DAILY = 21, "c12", "host2", GIB // 4


def needed(job, day, host):
    """bytes, with a noise of some KiB that is always the same"""
    base = 8 * GIB + (day * 7919 + host * 104729) % 8192
    if job == "leaky" and day >= int(LOST[1:]):
        return base + 3 * GIB
    if job == "odd" and f"host{host}" == ODD_HOST:
        return base + GIB
    return base + day * DAILY if job == "creeping" else base


def row(job, day, host, kind="module"):
    total, lost = needed(job, day, host), 3 * GIB if job == "leaky" and day >= int(LOST[1:]) else 0
    age = f"now() - interval '{DAYS - day} days' + interval '{host} minutes'"
    values = {
        "schema_version": "1",
        "id": f"'{job}-{day}-{host}-{kind}'",
        "file_id": f"'{job}-{day}-{host}'",
        "logdir": "'/profiles'",
        "file": f"'{job}/c{day}/host{host}.xplane.pb'",
        "modified_at": age,
        "job": f"'{job}'",
        "commit": f"'c{day}'",
        "user_name": f"'user of {job}'",
        "labels": "'{}'",
        "kind": f"'{kind}'",
        "host": f"'host{host}'",
        "module": "'jit_train_step'",
        "verdict": "'Needs so much.'",
        "memory_space": "'HBM'",
        "needed_bytes": str(total),
        "capacity_bytes": str(CAPACITY),
        "peak_bytes": str(total * 9 // 10),
        "fits": "'yes'",
        "category_parameter_bytes": str(total // 4),
        "category_saved_activation_bytes": str(total // 2),
        "category_output_bytes": "0",
        "pattern_no_donation_bytes": str(lost),
        "pattern_donation_unused_bytes": "0",
        "advice": "'donate it'",
        "advice_saves_bytes": str(lost),
    }
    return f"INSERT INTO memviewd.rows ({', '.join(values)}) VALUES ({', '.join(values.values())});"


def plant(database):
    rows = [
        (job, day, host, "module")
        for job in ("calm", "leaky", "odd", "creeping", "failing")
        for day in range(DAYS)
        for host in range(4)
    ]
    rows.append(("failing", 15, 1, "failure"))
    files = (
        f"INSERT INTO memviewd.files (file_id, logdir, file, state, row_count) VALUES ('{job}-{day}-{host}', "
        f"'/profiles', 'x', '', 1);"
        for job, day, host, kind in rows
        if kind == "module"
    )
    database.execute(
        "\n".join(
            [
                "BEGIN;",
                *files,
                *(row(*one) for one in rows),
                "SELECT memviewd.points_refresh(array(SELECT DISTINCT point_id FROM memviewd.rows)); COMMIT; ANALYZE;",
            ]
        )
    )
