/* SPDX-License-Identifier: Apache-2.0
 * catalog_schema.h: which tables the database has: those of this program, or none yet, or others. */
#pragma once

#include "server/fleet/catalog/catalog_connection.h"

/* Is the schema the one that this program reads? `unsupported` and a sentence where it is older, newer or missing. */
bool catalog_schema_check(struct catalog_connection *connection, struct err *err);
/* Applies the missing migrations, all or none. If several processes call it at the same time, one does the work.
 * `unsupported` if the database has a newer schema. */
bool catalog_schema_migrate(struct catalog_connection *connection, struct err *err);
