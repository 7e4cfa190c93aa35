/* SPDX-License-Identifier: Apache-2.0
 * catalog_none.c: in the place of all other catalog*.c where there is no libpq. */
#include "server/base/version.h"
#include "server/fleet/catalog/catalog.h"
#include "server/fleet/catalog/catalog_needs.h"
#include "server/fleet/catalog/catalog_notices.h"
#include "server/fleet/catalog/catalog_regressions.h"
#include "server/fleet/catalog/catalog_write.h"

struct catalog *catalog_open(const char *url, struct err *err)
{
    (void)url;
    err_set(err, ERR_unsupported, ERR_NO_OFFSET, "%s",
            version_has_fleet ? "this build has no libpq, by which PostgreSQL is reached" : VERSION_FLEETLESS);
    return NULL;
}

void catalog_close(struct catalog *catalog) { (void)catalog; }

const char *catalog_name(const struct catalog *catalog)
{
    (void)catalog;
    return "";
}

bool catalog_query(struct catalog *catalog, const char *sql, const char *const *parameters, size_t parameter_count,
                   struct catalog_answer *answer, struct err *err)
{
    (void)sql;
    (void)parameters;
    (void)parameter_count;
    (void)answer;
    return catalog != NULL || catalog_open("", err) != NULL;
}

/* ---- catalog_write.h ---- */

struct catalog_writer *catalog_write_open(const char *url, struct err *err)
{
    catalog_open(url, err);
    return NULL;
}

void catalog_write_close(struct catalog_writer *writer) { (void)writer; }

const char *catalog_write_name(const struct catalog_writer *writer)
{
    (void)writer;
    return "";
}

const struct facts *catalog_write_facts(struct catalog_writer *writer, const char *const *logdirs, size_t count,
                                        const char *older_than, struct err *err)
{
    (void)writer, (void)logdirs, (void)count, (void)older_than;
    catalog_open("", err);
    return NULL;
}

bool catalog_write_begin(struct catalog_writer *writer, const char *const *logdirs, size_t count, uint64_t shard,
                         uint64_t shard_count, struct err *err)
{
    (void)writer, (void)logdirs, (void)count, (void)shard, (void)shard_count;
    return catalog_open("", err) != NULL;
}

bool catalog_write_is_wanted(void *context, const struct rows_file *file)
{
    (void)file;
    return context != NULL;
}

bool catalog_write_had_rows(void *context, const char *id)
{
    (void)context, (void)id;
    return false;
}

bool catalog_write_take(void *context, const struct rows_file *file)
{
    (void)file;
    return context != NULL;
}

bool catalog_write_end(struct catalog_writer *writer, bool is_whole, struct catalog_write_counts *counts,
                       struct err *err)
{
    (void)writer;
    (void)is_whole;
    (void)counts;
    return catalog_open("", err) != NULL;
}

/* ---- catalog_needs.h ---- */

void catalog_needs_ports(const char *url, void (*port)(void *context, uint16_t number), void *context)
{
    (void)url;
    (void)port;
    (void)context;
}

void catalog_needs_files(const char *url, void (*file)(void *context, const char *path), void *context)
{
    (void)url;
    (void)file;
    (void)context;
}

/* ---- catalog_notices.h ---- */

struct catalog_notices *catalog_notices_open(const char *url, struct err *err)
{
    catalog_open(url, err);
    return NULL;
}

void catalog_notices_close(struct catalog_notices *notices) { (void)notices; }

bool catalog_notices_add(struct catalog_notices *notices, const struct catalog_notices_message *message,
                         struct err *err)
{
    (void)notices, (void)message;
    return catalog_open("", err) != NULL;
}

bool catalog_notices_claim(struct catalog_notices *notices, struct catalog_notice *notice, struct err *err)
{
    (void)notices, (void)notice;
    return catalog_open("", err) != NULL;
}

bool catalog_notices_sent(struct catalog_notices *notices, const char *id, struct err *err)
{
    (void)notices, (void)id;
    return catalog_open("", err) != NULL;
}

bool catalog_notices_failed(struct catalog_notices *notices, const char *id, const char *fault, struct err *err)
{
    (void)notices, (void)id, (void)fault;
    return catalog_open("", err) != NULL;
}

bool catalog_notices_refused(struct catalog_notices *notices, const char *id, const char *fault, struct err *err)
{
    (void)notices, (void)id, (void)fault;
    return catalog_open("", err) != NULL;
}

bool catalog_notices_waiting(struct catalog_notices *notices, uint64_t *count, struct err *err)
{
    (void)notices, (void)count;
    return catalog_open("", err) != NULL;
}

/* ---- catalog_regressions.h ---- */

struct catalog_regressions *catalog_regressions_open(const char *url, struct err *err)
{
    catalog_open(url, err);
    return NULL;
}

void catalog_regressions_close(struct catalog_regressions *regressions) { (void)regressions; }

bool catalog_regressions_settled(struct catalog_regressions *regressions, struct catalog_series_list *out,
                                 struct err *err)
{
    (void)regressions;
    *out = (struct catalog_series_list){.count = 0};
    return catalog_open("", err) != NULL;
}

void catalog_regressions_list_free(struct catalog_series_list *list) { (void)list; }

bool catalog_regressions_lock(struct catalog_regressions *regressions, struct err *err)
{
    (void)regressions;
    return catalog_open("", err) != NULL;
}

bool catalog_regressions_has(struct catalog_regressions *regressions, const char *id, bool *has, struct err *err)
{
    (void)regressions, (void)id;
    *has = false;
    return catalog_open("", err) != NULL;
}

bool catalog_regressions_add(struct catalog_regressions *regressions, const struct catalog_regression *found,
                             const struct buf *notice, bool *is_settled, struct err *err)
{
    (void)regressions, (void)found, (void)notice;
    *is_settled = false;
    return catalog_open("", err) != NULL;
}

bool catalog_regressions_looked(struct catalog_regressions *regressions, const struct catalog_series_list *list,
                                size_t first, size_t count, const struct buf *found, bool is_told, struct err *err)
{
    (void)regressions, (void)list, (void)first, (void)count, (void)found, (void)is_told;
    return catalog_open("", err) != NULL;
}
