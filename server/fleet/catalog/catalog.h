/* SPDX-License-Identifier: Apache-2.0
 * catalog.h: rows of many jobs (rows.h) in PostgreSQL, to be asked: by the daemon's pages and by commands.
 *
 * The database is reached by libpq when something is asked for the first time, again after it was lost, by at most
 * CATALOG_CONNECTIONS at a time. Nothing can be written by these connections. What is there:
 * server/fleet/catalog/schema. Optional: a build without libpq has catalog_none.c, where opening says so.
 * Threads: any number. A query ends early when nobody waits for it any more (wanted.h), and after CATALOG_QUERY_MS.
 * Errors:  `argument` (no address of a database), `unsupported` (a build without libpq; a schema that is not this
 *          program's), `io` (not reached, refused, lost), `limit` (took too long, answers with too much), `internal`
 *          (SQL that the server does not take), `stopped`. The password is in none of them. */
#pragma once

#include "base/buf.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

enum { CATALOG_CONNECTIONS = 4, CATALOG_QUERY_MS = 10000, CATALOG_ANSWER_BYTES = 64 << 20 };

struct catalog;

/* `url`: postgresql://USER@HOST:PORT/DATABASE, or "key=value …", as libpq takes it, which also knows PGPASSWORD and
 * ~/.pgpass. It is copied. Connects to nothing yet. NULL and `err` where that is no address. */
struct catalog *catalog_open(const char *url, struct err *err);
/* When nothing is asked any more. NULL is none. */
void catalog_close(struct catalog *catalog);
/* "database profiles at db.example:5432": without user and password. */
const char *catalog_name(const struct catalog *catalog);

/* Rows of cells, all of them texts: numbers in digits, times as "2026-11-26 17:00:00.123456+00". */
struct catalog_answer {
    size_t row_count, column_count;
    struct buf texts, places; /* of the heads and then of each cell, see catalog_cell */
};

/* One statement, whose $1, $2, … are `parameters` (NULL: null). Names are looked for in the schema memviewd first.
 * `answer` is empty before, and after an error; catalog_answer_free. */
bool catalog_query(struct catalog *catalog, const char *sql, const char *const *parameters, size_t parameter_count,
                   struct catalog_answer *answer, struct err *err);
/* NUL-terminated UTF-8, or NULL: null. As long as the answer. */
const char *catalog_cell(const struct catalog_answer *answer, size_t row, size_t column);
const char *catalog_head(const struct catalog_answer *answer, size_t column);
void catalog_answer_free(struct catalog_answer *answer);
