/* SPDX-License-Identifier: Apache-2.0 */
#include "server/fleet/catalog/catalog_runs.h"

#include "base/json.h"

#include <inttypes.h>
#include <stdio.h>

/* The paths as a JSON array: whatever is in them, it is not taken for another path. */
static bool logdirs_write(const struct catalog_run *run, struct buf *out, struct err *err)
{
    struct json json = JSON_INIT(out);
    json_array_begin(&json);
    for (size_t at = 0; at < run->logdir_count; at++)
        json_text(&json, run->logdirs[at]);
    json_array_end(&json);
    buf_char(out, '\0');
    return buf_is_whole(out, "the list of folders", err);
}

static bool id_take(void *context, const struct catalog_row *row, struct err *err)
{
    (void)err;
    if (row->cells && row->count == 1 && row->cells[0])
        snprintf(context, CATALOG_RUNS_ID_SIZE, "%s", row->cells[0]);
    return true;
}

/* Two statements: no row of series_changes is held while index_runs is waited for, which index_run_finish locks first.
 * Locked in the order of all that write to series_changes. */
static bool old_remove(struct catalog_connection *connection, struct err *err)
{
    static const char changes[] =
        "DELETE FROM memviewd.series_changes WHERE ctid = ANY (ARRAY(SELECT ctid FROM memviewd.series_changes WHERE "
        "run_id IN (SELECT run_id FROM memviewd.index_runs WHERE began_at < now() - interval '30 days') ORDER BY "
        "series_id, run_id, logdir FOR UPDATE))";
    static const char runs[] =
        "DELETE FROM memviewd.index_runs WHERE run_id IN (SELECT run_id FROM memviewd.index_runs WHERE began_at < "
        "now() - interval '30 days' FOR UPDATE SKIP LOCKED)";
    return catalog_connection_query(connection, changes, NULL, 0, NULL, NULL, err) &&
           catalog_connection_query(connection, runs, NULL, 0, NULL, NULL, err);
}

bool catalog_runs_begin(struct catalog_connection *connection, const struct catalog_run *run,
                        char id[CATALOG_RUNS_ID_SIZE], struct err *err)
{
    static const char sql[] =
        "INSERT INTO memviewd.index_runs (logdirs, shard, shard_count, began_at) SELECT ARRAY(SELECT DISTINCT path "
        "COLLATE \"C\" FROM jsonb_array_elements_text($1::jsonb) AS path ORDER BY 1), $2::bigint, $3::bigint, "
        "$4::timestamptz RETURNING run_id";
    struct buf logdirs = BUF_INIT;
    char shard[CATALOG_RUNS_ID_SIZE], shard_count[CATALOG_RUNS_ID_SIZE];
    snprintf(shard, sizeof(shard), "%" PRIu64, run->shard);
    snprintf(shard_count, sizeof(shard_count), "%" PRIu64, run->shard_count);
    bool is_good = old_remove(connection, err) && logdirs_write(run, &logdirs, err);
    const char *const parameters[] = {logdirs.data, shard, shard_count, run->began_at};
    is_good = is_good && catalog_connection_query(connection, sql, parameters, 4, id_take, id, err);
    buf_free(&logdirs);
    return is_good;
}

/* In the order in which index_run_finish locks these rows, so that one waits for the other, and not each. */
bool catalog_runs_changed(struct catalog_connection *connection, const char *id, struct err *err)
{
    static const char sql[] =
        "INSERT INTO memviewd.series_changes (series_id, job, module, kind, memory_space, configuration, logdir, "
        "run_id, changed_at) "
        "SELECT series_id, job, module, kind, memory_space, configuration, logdir, $1::bigint, clock_timestamp() FROM "
        "(SELECT DISTINCT memviewd.series_id(job, module, kind, memory_space, configuration) AS series_id, job, "
        "module, kind, memory_space, configuration, logdir FROM "
        "pg_temp.touched WHERE job IS NOT NULL) AS series ORDER BY series_id COLLATE \"C\", logdir COLLATE "
        "\"C\" ON CONFLICT (series_id, run_id, logdir) DO UPDATE SET changed_at = EXCLUDED.changed_at, settled_at = "
        "NULL";
    return catalog_connection_query(connection, sql, &id, 1, NULL, NULL, err);
}

bool catalog_runs_finish(struct catalog_connection *connection, const char *id, struct err *err)
{
    return catalog_connection_query(connection, "SELECT memviewd.index_run_finish($1::bigint)", &id, 1, NULL, NULL,
                                    err);
}
