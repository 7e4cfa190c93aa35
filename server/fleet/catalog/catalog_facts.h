/* SPDX-License-Identifier: Apache-2.0
 * catalog_facts.h: facts (server/gather/facts.h) in the catalog, over the connection of a writer.
 *
 * What is kept is written in batches by the thread that has the connection. Any thread may ask for facts and keep
 * them. */
#pragma once

#include "server/fleet/catalog/catalog_connection.h"
#include "server/gather/facts.h"

struct catalog_facts;

/* Borrows the connection, whose schema is up to date. */
struct catalog_facts *catalog_facts_new(struct catalog_connection *connection);
void catalog_facts_free(struct catalog_facts *facts);
/* What the catalog has of these folders, but for what a memviewd older than `older_than` ("1.2.0"; NULL: none) noted.
 * */
bool catalog_facts_load(struct catalog_facts *facts, const char *const *logdirs, size_t count, const char *older_than,
                        struct err *err);
/* While only the thread that has the connection keeps facts, they are written as they come. */
void catalog_facts_set_alone(struct catalog_facts *facts, bool is_alone);
/* As long as it lives. */
const struct facts *catalog_facts_of(const struct catalog_facts *facts);
/* Writes what is not written yet. False with `err`. */
bool catalog_facts_flush(struct catalog_facts *facts, struct err *err);
/* Removes facts of files that nobody asked for, noted before `began_at`: after a scan of all. `is_all`: of labels, too,
 * which each part of the work asks for by itself. */
bool catalog_facts_forget(struct catalog_facts *facts, const char *began_at, bool is_all, struct err *err);
