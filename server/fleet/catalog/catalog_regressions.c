/* SPDX-License-Identifier: Apache-2.0 */
#include "server/fleet/catalog/catalog_regressions.h"

#include "server/fleet/catalog/catalog_connection.h"
#include "server/fleet/catalog/catalog_schema.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBER_SIZE = 24, NUMBERS = 4 };

struct catalog_regressions {
    struct catalog_connection *connection;
};

struct catalog_regressions *catalog_regressions_open(const char *url, struct err *err)
{
    struct catalog_regressions *regressions = memory_new(sizeof(*regressions));
    regressions->connection = catalog_connection_open(url, false, err);
    if (regressions->connection && catalog_schema_check(regressions->connection, err))
        return regressions;
    catalog_regressions_close(regressions);
    return NULL;
}

void catalog_regressions_close(struct catalog_regressions *regressions)
{
    if (!regressions)
        return;
    catalog_connection_close(regressions->connection);
    free(regressions);
}

static bool catalog_regressions_ask(struct catalog_regressions *regressions, const char *sql,
                                    const char *const *parameters, size_t count, struct err *err)
{
    return catalog_connection_query(regressions->connection, sql, parameters, count, NULL, NULL, err);
}

/* ---- series ---- */

static const char *catalog_regressions_kept(struct catalog_series_list *list, const char *text)
{
    return text ? memory_pool_text(&list->pool, text, strlen(text)) : NULL;
}

/* A row of series_id, job, module, kind, memory_space, was_before, the last settled_at of all rows, configuration. */
static bool series_take(void *context, const struct catalog_row *row, struct err *err)
{
    struct catalog_series_list *list = context;
    const char *const *cells = row->cells;
    (void)err;
    if (!cells || row->count != 8 || !cells[0] || !cells[1] || !cells[5] || !cells[6])
        return true;
    list->items = memory_grow(list->items, &list->capacity, list->count + 1, sizeof(*list->items));
    list->items[list->count++] = (struct catalog_series){.id = catalog_regressions_kept(list, cells[0]),
                                                         .job = catalog_regressions_kept(list, cells[1]),
                                                         .module = catalog_regressions_kept(list, cells[2]),
                                                         .kind = catalog_regressions_kept(list, cells[3]),
                                                         .memory_space = catalog_regressions_kept(list, cells[4]),
                                                         .configuration = catalog_regressions_kept(list, cells[7]),
                                                         .was_before = cells[5][0] == 't'};
    snprintf(list->settled_at, sizeof(list->settled_at), "%s", cells[6]);
    return true;
}

bool catalog_regressions_settled(struct catalog_regressions *regressions, struct catalog_series_list *out,
                                 struct err *err)
{
    static const char sql[] =
        "SELECT series_id, job, module, kind, memory_space, was_before, max(settled_at) OVER (), configuration "
        "FROM memviewd.settled_series ORDER BY job, series_id";
    *out = (struct catalog_series_list){.count = 0};
    return catalog_connection_query(regressions->connection, sql, NULL, 0, series_take, out, err);
}

void catalog_regressions_list_free(struct catalog_series_list *list)
{
    memory_pool_free(&list->pool);
    free(list->items);
    *list = (struct catalog_series_list){.count = 0};
}

/* "memviewr": that of no other lock of ours. */
bool catalog_regressions_lock(struct catalog_regressions *regressions, struct err *err)
{
    return catalog_regressions_ask(regressions, "SELECT pg_advisory_lock(x'6d656d7669657772'::bigint)", NULL, 0, err);
}

/* "{ID,ID}" of the series that are not open, and where `but_cut` not cut. */
static void ids_write(const struct catalog_series_list *list, size_t first, size_t count, bool but_cut, struct buf *ids)
{
    buf_text(ids, "{");
    for (size_t at = first; at < first + count; at++) {
        if (!list->items[at].is_open && !(but_cut && list->items[at].is_cut))
            buf_format(ids, "%s%s", ids->length == 1 ? "" : ",", list->items[at].id);
    }
    buf_text(ids, "}");
    buf_char(ids, '\0');
}

/* Before the series count as looked at: one that is killed between leaves them to be looked at again. */
static bool gone_mark(struct catalog_regressions *regressions, const struct catalog_series_list *list, size_t first,
                      size_t count, const struct buf *found, bool is_told, struct err *err)
{
    static const char sql[] =
        "WITH changed AS (UPDATE memviewd.regressions SET gone_at = CASE WHEN gone_at IS NULL THEN now() END WHERE job "
        "= $1 AND memviewd.series_id(job, module, kind, memory_space, configuration) = ANY ($2::text[]) AND "
        "(gone_at IS NOT NULL) = (id = ANY ($3::text[])) RETURNING id, gone_at, "
        "left(encode(sha256(convert_to('regression_gone ' || id, 'UTF8')), 'hex'), 32) AS notice_id) "
        "INSERT INTO memviewd.notices (id, kind, body) SELECT c.notice_id, 'regression_gone', (n.body::jsonb || "
        "jsonb_build_object('id', c.notice_id, 'kind', 'regression_gone', 'regression_id', c.id, 'gone_at', "
        "to_char(c.gone_at AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"')))::text FROM changed AS c JOIN "
        "memviewd.notices AS n ON n.id = c.id AND n.sent_at IS NOT NULL WHERE c.gone_at IS NOT NULL AND $4::boolean "
        "ON CONFLICT (id) DO NOTHING";
    struct buf ids = BUF_INIT, found_ids = BUF_INIT;
    ids_write(list, first, count, true, &ids);
    buf_format(&found_ids, "{%.*s}", (int)found->length, found->length > 0 ? found->data : "");
    buf_char(&found_ids, '\0');
    bool is_good =
        buf_is_whole(&ids, "the list of series", err) && buf_is_whole(&found_ids, "the list of regressions", err);
    const char *const parameters[] = {list->items[first].job, ids.data, found_ids.data, is_told ? "t" : "f"};
    is_good = is_good && catalog_regressions_ask(regressions, sql, parameters, 4, err);
    buf_free(&ids);
    buf_free(&found_ids);
    return is_good;
}

/* Series that changed since, or were settled since, stay to be examined again. Rows are locked in order, so that of two
 * processes one waits for the other. */
bool catalog_regressions_looked(struct catalog_regressions *regressions, const struct catalog_series_list *list,
                                size_t first, size_t count, const struct buf *found, bool is_told, struct err *err)
{
    static const char sql[] =
        "DELETE FROM memviewd.series_changes WHERE ctid = ANY (ARRAY(SELECT ctid FROM memviewd.series_changes WHERE "
        "series_id = ANY ($1::text[]) AND (settled_at <= $2::timestamptz OR (settled_at IS NULL AND changed_at <= "
        "now() - interval '1 day')) ORDER BY series_id, run_id, logdir FOR UPDATE))";
    struct buf ids = BUF_INIT;
    ids_write(list, first, count, false, &ids);
    bool is_good = buf_is_whole(&ids, "the list of series", err) &&
                   gone_mark(regressions, list, first, count, found, is_told, err);
    const char *const parameters[] = {ids.data, list->settled_at};
    is_good = is_good && catalog_regressions_ask(regressions, sql, parameters, 2, err);
    buf_free(&ids);
    return is_good;
}

/* ---- regressions ---- */

static bool has_take(void *context, const struct catalog_row *row, struct err *err)
{
    (void)err;
    if (row->cells)
        *(bool *)context = true;
    return true;
}

bool catalog_regressions_has(struct catalog_regressions *regressions, const char *id, bool *has, struct err *err)
{
    *has = false;
    return catalog_connection_query(regressions->connection, "SELECT 1 FROM memviewd.regressions WHERE id = $1", &id, 1,
                                    has_take, has, err);
}

static bool settled_take(void *context, const struct catalog_row *row, struct err *err)
{
    (void)err;
    if (row->cells && row->count == 1 && row->cells[0])
        *(bool *)context = row->cells[0][0] == 't';
    return true;
}

/* A change is committed together with its points, so that of points which were read before this statement it sees the
 * change. One that was settled since the series was listed has a later time: the points may have been read before its
 * last part. */
bool catalog_regressions_add(struct catalog_regressions *regressions, const struct catalog_regression *found,
                             const struct buf *notice, bool *is_settled, struct err *err)
{
    static const char sql[] =
        "WITH settled AS (SELECT 1 FROM memviewd.settled_series WHERE series_id = $13 AND settled_at <= "
        "$14::timestamptz), found AS (INSERT INTO memviewd.regressions (id, job, module, kind, memory_space, commit, "
        "commit_before, before_bytes, after_bytes, noise_bytes, threshold_bytes, configuration) SELECT $1, $2, $3, $4, "
        "$5, $6, $7, $8::bigint, $9::bigint, $10::bigint, $11::bigint, $15 WHERE EXISTS (SELECT FROM settled) ON "
        "CONFLICT (id) DO NOTHING RETURNING id), notice AS (INSERT INTO memviewd.notices (id, kind, body) SELECT id, "
        "'regression', $12 FROM found WHERE $12::text IS NOT NULL ON CONFLICT (id) DO NOTHING) SELECT EXISTS (SELECT "
        "FROM settled)";
    const int64_t numbers[NUMBERS] = {found->before_bytes, found->after_bytes, found->noise_bytes,
                                      found->threshold_bytes};
    char texts[NUMBERS][NUMBER_SIZE];
    for (size_t at = 0; at < NUMBERS; at++)
        snprintf(texts[at], NUMBER_SIZE, "%" PRId64, numbers[at]);
    char *body = notice ? memory_format("%.*s", (int)notice->length, notice->data) : NULL;
    const char *const parameters[] = {found->id,
                                      found->job,
                                      found->module,
                                      found->kind,
                                      found->memory_space,
                                      found->commit,
                                      found->commit_before,
                                      texts[0],
                                      texts[1],
                                      texts[2],
                                      texts[3],
                                      body,
                                      found->series_id,
                                      found->settled_at,
                                      found->configuration};
    *is_settled = false;
    bool is_good = catalog_connection_query(regressions->connection, sql, parameters,
                                            sizeof(parameters) / sizeof(parameters[0]), settled_take, is_settled, err);
    free(body);
    return is_good;
}
