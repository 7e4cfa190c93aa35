/* SPDX-License-Identifier: Apache-2.0
 * catalog_runs.h: which processes write to the catalog, and which have finished (memviewd.index_runs): by that the
 * catalog knows when all parts of a work have been done, and which series can be looked at. A part of
 * catalog_write.h. */
#pragma once

#include "server/fleet/catalog/catalog_connection.h"

enum { CATALOG_RUNS_ID_SIZE = 24 };

struct catalog_run {
    const char *const *logdirs; /* in any order */
    size_t logdir_count;
    uint64_t shard, shard_count;
    const char *began_at; /* by the server's clock, before any file was listed */
};

/* Its number, in digits, goes to `id`. Runs that began more than 30 days ago are removed, with the changes that they
 * made. */
bool catalog_runs_begin(struct catalog_connection *connection, const struct catalog_run *run,
                        char id[CATALOG_RUNS_ID_SIZE], struct err *err);
/* In the transaction that wrote the points which pg_temp.touched names: their series changed. */
bool catalog_runs_changed(struct catalog_connection *connection, const char *id, struct err *err);
/* All files of the run are in the catalog. */
bool catalog_runs_finish(struct catalog_connection *connection, const char *id, struct err *err);
