/* SPDX-License-Identifier: Apache-2.0
 * fleet_diff.h: what `memviewd diff` says first of two programs that this daemon has. */
#pragma once

#include "server/disk/snapshot.h"
#include "server/store/store.h"

/* `before`, `after`: "SESSION/HOST/MODULE" (fleet_record.h), or NULL. The sentence; free(). NULL: err says why nothing is
 * known. Reads both files, once. */
char *fleet_diff_sentence(struct store *store, const struct snapshot *snapshot, const char *before, const char *after,
                          struct err *err);
