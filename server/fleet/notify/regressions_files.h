/* SPDX-License-Identifier: Apache-2.0
 * regressions_files.h: regressions in the folders that a daemon watches itself, without a catalog: of the rows that its
 * page Fleet is made of (fleet_files.h), which are read for this in the background.
 *
 * What is found when all files were read for the first time becomes known and is not told. For one thread. */
#pragma once

#include "server/fleet/catalog/fleet_files.h"
#include "server/fleet/notify/outbox.h"

struct regressions_files;

/* Both arguments must outlive it. */
struct regressions_files *regressions_files_new(struct fleet_files *files, struct store *store);
void regressions_files_free(struct regressions_files *regressions); /* NULL is none */

/* Reads on for about a second. Once the whole snapshot is read, notices of the new regressions go to the outbox, and
 * *is_over is set. False: see err (limit: there are too many files; stopped). */
bool regressions_files_look(struct regressions_files *regressions, const struct snapshot *snapshot,
                            struct outbox *outbox, bool *is_over, struct err *err);
