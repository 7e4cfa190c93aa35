/* SPDX-License-Identifier: Apache-2.0
 * catalog_connection.h: one connection to the catalog's database, by libpq. For one thread at a time.
 *
 * Waits only as long as it is told, and not when nobody waits for the answer any more. After an error that is not the
 * server's word about a statement the connection is lost. Texts of libpq and of the server are told without the
 * password. */
#pragma once

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct catalog_connection;

/* SQL: of two roots they are the same, or one lies in the other. */
#define CATALOG_CONNECTION_NEAR(a, b)                                                                                  \
    a " = " b " OR starts_with(" a ", rtrim(" b ", '/') || '/') OR starts_with(" b ", rtrim(" a ", '/') || '/')"

/* Does libpq take it for an address? Says so without repeating it, for it may hold a password. `name`: see
 * catalog_name; free(). */
bool catalog_connection_check(const char *url, char **name, struct err *err);

/* `is_reader`: writes nothing, and each statement has a limit of time. Checks nothing of the schema. NULL and `err`. */
struct catalog_connection *catalog_connection_open(const char *url, bool is_reader, struct err *err);
void catalog_connection_close(struct catalog_connection *connection);
bool catalog_connection_is_lost(const struct catalog_connection *connection);

/* One row of an answer; cells NULL: null. */
struct catalog_row {
    size_t count;
    const char *const *heads, *const *cells;
};
/* False, with `err` set, ends the query and loses the connection. Called once without cells, before the rows. */
typedef bool catalog_take(void *context, const struct catalog_row *row, struct err *err);

/* One statement with parameters (NULL: null); `take` NULL: the answer is not needed. */
bool catalog_connection_query(struct catalog_connection *connection, const char *sql, const char *const *parameters,
                              size_t parameter_count, catalog_take *take, void *context, struct err *err);
/* Several statements, without parameters and answers. */
bool catalog_connection_command(struct catalog_connection *connection, const char *sql, struct err *err);
/* COPY … FROM STDIN with these bytes. */
bool catalog_connection_copy(struct catalog_connection *connection, const char *sql, const char *data, size_t size,
                             struct err *err);
