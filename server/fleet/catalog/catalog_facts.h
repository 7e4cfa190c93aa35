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
/* Loads the catalog's facts about these folders, without those that a memviewd older than `older_than` ("1.2.0"; NULL:
 * none) wrote. */
bool catalog_facts_load(struct catalog_facts *facts, const char *const *logdirs, size_t count, const char *older_than,
                        struct err *err);
/* While only the thread that has the connection keeps facts, they are written as they come. */
void catalog_facts_set_alone(struct catalog_facts *facts, bool is_alone);
/* As long as it lives. */
const struct facts *catalog_facts_of(const struct catalog_facts *facts);
/* Writes what is not written yet. False with `err`. */
bool catalog_facts_flush(struct catalog_facts *facts, struct err *err);
/* After a scan of everything: removes facts of files that were written before `began_at` and that the scan did not use.
 * `is_all`: also removes labels, for which each part of the work asks by itself. */
bool catalog_facts_forget(struct catalog_facts *facts, const char *began_at, bool is_all, struct err *err);
