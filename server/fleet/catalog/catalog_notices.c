/* SPDX-License-Identifier: Apache-2.0 */
#include "server/fleet/catalog/catalog_notices.h"

#include "server/base/memory.h"
#include "server/fleet/catalog/catalog_connection.h"
#include "server/fleet/catalog/catalog_schema.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct catalog_notices {
    char *url;
    struct catalog_connection *connection; /* NULL: none yet, or lost */
};

struct catalog_notices *catalog_notices_open(const char *url, struct err *err)
{
    char *name = NULL;
    bool is_good = catalog_connection_check(url, &name, err);
    free(name);
    if (!is_good)
        return NULL;
    struct catalog_notices *notices = memory_new(sizeof(*notices));
    notices->url = memory_text(url);
    return notices;
}

void catalog_notices_close(struct catalog_notices *notices)
{
    if (!notices)
        return;
    catalog_connection_close(notices->connection);
    free(notices->url);
    free(notices);
}

/* ---- asking ---- */

struct statement {
    const char *sql;
    const char *const *parameters;
    size_t count;
    catalog_take *take;
    void *context;
};

static bool connect_to(struct catalog_notices *notices, struct err *err)
{
    catalog_connection_close(notices->connection);
    notices->connection = catalog_connection_open(notices->url, false, err);
    if (notices->connection && catalog_schema_check(notices->connection, err))
        return true;
    catalog_connection_close(notices->connection);
    notices->connection = NULL;
    return false;
}

static bool ask_once(struct catalog_notices *notices, const struct statement *statement, struct err *err)
{
    return catalog_connection_query(notices->connection, statement->sql, statement->parameters, statement->count,
                                    statement->take, statement->context, err);
}

/* Each statement may be repeated: the connection may have been lost long ago, or after it was carried out. */
static bool catalog_notices_ask(struct catalog_notices *notices, const struct statement *statement, struct err *err)
{
    struct err lost = ERR_INIT;
    if (notices->connection && ask_once(notices, statement, &lost))
        return true;
    if (notices->connection && !catalog_connection_is_lost(notices->connection)) {
        *err = lost;
        return false;
    }
    return connect_to(notices, err) && ask_once(notices, statement, err);
}

/* ---- what is asked ---- */

static char *catalog_notices_text(const struct buf *buf)
{
    return buf ? memory_format("%.*s", (int)buf->length, buf->length > 0 ? buf->data : "") : NULL;
}

/* One that is claimed has a later not_before, and keeps it. */
bool catalog_notices_add(struct catalog_notices *notices, const struct catalog_notices_message *message,
                         struct err *err)
{
    static const char sql[] =
        "WITH wanted AS (SELECT 1 WHERE NOT ($4::boolean AND EXISTS (SELECT 1 FROM memviewd.rows WHERE id = $5))), "
        "host AS (INSERT INTO memviewd.notice_hosts (notice_id, row_id, host) SELECT $1, $5, $6 FROM wanted WHERE $5 "
        "IS NOT NULL ON CONFLICT DO NOTHING) INSERT INTO memviewd.notices AS n (id, kind, body, not_before) SELECT $1, "
        "$2, $3, now() + interval '1 second' * $7::bigint FROM wanted ON CONFLICT (id) DO UPDATE SET not_before = "
        "greatest(n.not_before, least(n.made_at + interval '1 second' * $8::bigint, excluded.not_before)) WHERE "
        "n.sent_at IS NULL AND n.tries = 0 AND $5 IS NOT NULL";
    char settle[16], settle_max[16], *body = catalog_notices_text(message->body);
    char *host = catalog_notices_text(message->host);
    const char *const parameters[] = {message->id,     message->kind, body,   message->is_for_new ? "t" : "f",
                                      message->row_id, host,          settle, settle_max};
    snprintf(settle, sizeof(settle), "%d", message->row_id ? CATALOG_NOTICES_SETTLE_S : 0);
    snprintf(settle_max, sizeof(settle_max), "%d", CATALOG_NOTICES_SETTLE_MAX_S);
    const struct statement statement = {sql, parameters, sizeof(parameters) / sizeof(parameters[0]), NULL, NULL};
    bool is_good = catalog_notices_ask(notices, &statement, err);
    free(body);
    free(host);
    return is_good;
}

static bool notice_take(void *context, const struct catalog_row *row, struct err *err)
{
    (void)err;
    struct catalog_notice *notice = context;
    if (!row->cells || row->count != 3)
        return true;
    notice->id.length = notice->body.length = notice->hosts.length = 0;
    buf_text(&notice->id, row->cells[0]);
    buf_char(&notice->id, '\0');
    buf_text(&notice->body, row->cells[1]);
    if (row->cells[2])
        buf_text(&notice->hosts, row->cells[2]);
    return true;
}

bool catalog_notices_claim(struct catalog_notices *notices, struct catalog_notice *notice, struct err *err)
{
    char lease[16];
    const char *const parameters[] = {lease};
    const struct statement statement = {
        "UPDATE memviewd.notices SET not_before = now() + $1::bigint * interval '1 second' WHERE id = (SELECT id FROM "
        "memviewd.notices WHERE sent_at IS NULL AND not_before <= now() ORDER BY not_before LIMIT 1 FOR UPDATE SKIP "
        "LOCKED) RETURNING id, body, (SELECT '[' || string_agg(host, ',' ORDER BY host) || ']' FROM "
        "memviewd.notice_hosts AS h WHERE h.notice_id = notices.id)",
        parameters, 1, notice_take, notice};
    *notice = (struct catalog_notice){BUF_INIT, BUF_INIT, BUF_INIT};
    snprintf(lease, sizeof(lease), "%d", CATALOG_NOTICES_LEASE_S);
    return catalog_notices_ask(notices, &statement, err) && buf_is_whole(&notice->id, "the notice", err) &&
           buf_is_whole(&notice->body, "the notice", err) && buf_is_whole(&notice->hosts, "the notice", err);
}

bool catalog_notices_sent(struct catalog_notices *notices, const char *id, struct err *err)
{
    const struct statement statement = {"UPDATE memviewd.notices SET sent_at = now(), fault = NULL WHERE id = $1", &id,
                                        1, NULL, NULL};
    return catalog_notices_ask(notices, &statement, err);
}

bool catalog_notices_failed(struct catalog_notices *notices, const char *id, const char *fault, struct err *err)
{
    char pause[16];
    const char *const parameters[] = {id, fault, pause};
    const struct statement statement = {
        "UPDATE memviewd.notices SET tries = tries + 1, fault = $2, not_before = now() + interval '1 second' * "
        "least($3::bigint, 2 ^ least(tries + 1, 16)) WHERE id = $1 AND sent_at IS NULL",
        parameters, 3, NULL, NULL};
    snprintf(pause, sizeof(pause), "%d", CATALOG_NOTICES_PAUSE_MAX_S);
    return catalog_notices_ask(notices, &statement, err);
}

bool catalog_notices_refused(struct catalog_notices *notices, const char *id, const char *fault, struct err *err)
{
    const char *const parameters[] = {id, fault};
    const struct statement statement = {"UPDATE memviewd.notices SET tries = tries + 1, fault = $2, not_before = "
                                        "'infinity' WHERE id = $1 AND sent_at IS NULL",
                                        parameters, 2, NULL, NULL};
    return catalog_notices_ask(notices, &statement, err);
}

static bool count_take(void *context, const struct catalog_row *row, struct err *err)
{
    (void)err;
    if (row->cells && row->count == 1)
        *(uint64_t *)context = strtoull(row->cells[0] ? row->cells[0] : "0", NULL, 10);
    return true;
}

bool catalog_notices_waiting(struct catalog_notices *notices, uint64_t *count, struct err *err)
{
    *count = 0;
    const struct statement statement = {"SELECT count(*) FROM memviewd.notices WHERE sent_at IS NULL AND "
                                        "not_before < 'infinity'",
                                        NULL, 0, count_take, count};
    return catalog_notices_ask(notices, &statement, err);
}
