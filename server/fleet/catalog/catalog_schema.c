/* SPDX-License-Identifier: Apache-2.0 */
#include "server/fleet/catalog/catalog_schema.h"

#include "base/buf.h"
#include "server/fleet/catalog/schema_files.h"

#include <stdlib.h>

static bool version_take(void *context, const struct catalog_row *row, struct err *err)
{
    (void)err;
    long *version = context;
    if (row->cells && row->count == 1)
        *version = row->cells[0] ? strtol(row->cells[0], NULL, 10) : 0;
    return true;
}

/* 0: there is none. */
static bool version_read(struct catalog_connection *connection, long *version, struct err *err)
{
    static const char is_there[] = "SELECT count(*) FROM pg_tables WHERE schemaname = 'memviewd' AND tablename = "
                                   "'schema_version'";
    *version = 0;
    if (!catalog_connection_query(connection, is_there, NULL, 0, version_take, version, err) || *version == 0)
        return !err_is_set(err);
    return catalog_connection_query(connection, "SELECT max(version) FROM memviewd.schema_version", NULL, 0,
                                    version_take, version, err);
}

static bool is_newer(long version, struct err *err)
{
    if (version <= (long)schema_file_count)
        return false;
    err_set(err, ERR_unsupported, ERR_NO_OFFSET,
            "has version %ld of the schema, and this memviewd knows %zu: a newer one is wanted here", version,
            schema_file_count);
    return true;
}

bool catalog_schema_check(struct catalog_connection *connection, struct err *err)
{
    long version;
    if (!version_read(connection, &version, err) || is_newer(version, err))
        return false;
    if (version == (long)schema_file_count)
        return true;
    if (version == 0)
        return err_set(err, ERR_unsupported, ERR_NO_OFFSET,
                       "has no rows of memviewd yet: memviewd index --catalog makes them");
    return err_set(
        err, ERR_unsupported, ERR_NO_OFFSET,
        "has version %ld of the schema, and this memviewd wants %zu: its memviewd index --catalog brings it there",
        version, schema_file_count);
}

static bool catalog_schema_apply(struct catalog_connection *connection, long version, struct err *err)
{
    struct buf sql = BUF_INIT;
    buf_format(&sql, "INSERT INTO memviewd.schema_version (version) VALUES (%ld)", version);
    buf_char(&sql, '\0');
    bool is_good = catalog_connection_command(connection, schema_files[version - 1].sql, err) &&
                   (!sql.failed ? catalog_connection_command(connection, sql.data, err) : err_exhausted(err));
    buf_free(&sql);
    return is_good;
}

/* The number of the lock is that of no other lock of ours: "memviewd" in ASCII. */
bool catalog_schema_migrate(struct catalog_connection *connection, struct err *err)
{
    long version = 0;
    if (!version_read(connection, &version, err) || is_newer(version, err))
        return false;
    if (version == (long)schema_file_count)
        return true;
    bool is_good = catalog_connection_command(connection,
                                              "BEGIN ISOLATION LEVEL READ COMMITTED; "
                                              "SELECT pg_advisory_xact_lock(x'6d656d7669657764'::bigint)",
                                              err) &&
                   version_read(connection, &version, err) && !is_newer(version, err);
    for (version++; is_good && version <= (long)schema_file_count; version++)
        is_good = catalog_schema_apply(connection, version, err);
    struct err ignored = ERR_INIT;
    if (is_good)
        return catalog_connection_command(connection, "COMMIT", err);
    if (!catalog_connection_is_lost(connection))
        catalog_connection_command(connection, "ROLLBACK", &ignored);
    return false;
}
