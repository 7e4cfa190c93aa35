/* SPDX-License-Identifier: Apache-2.0
 * rows_schema.h: the columns of `memviewd index` as other programs declare a table (docs/operate/fleet.md).
 *
 * All forms are written from rows_columns.h, and name the version of the columns (ROWS_SCHEMA). */
#pragma once

#include "base/buf.h"

#include <stdbool.h>

/* Appends the schema. `name`: "arrow", "bigquery", "clickhouse", "json" or "postgresql". False: there is no such form.
 * */
bool rows_schema_write(const char *name, struct buf *out);
/* "arrow, bigquery, clickhouse, json or postgresql" */
const char *rows_schema_names(void);
