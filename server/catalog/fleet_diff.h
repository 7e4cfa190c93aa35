/* SPDX-License-Identifier: Apache-2.0
 * fleet_diff.h: what `memviewd diff` says first of two programs below the folders that are looked at. */
#pragma once

#include "server/catalog/fleet_record.h"
#include "server/disk/snapshot.h"
#include "server/store/store.h"

/* `before`, `after`: of one series; their programs are found by their references. The sentence; free(). NULL: err says why
 * nothing is known. Reads both files, once. */
char *fleet_diff_sentence(struct store *store, const struct snapshot *snapshot, const struct fleet_record *before,
                          const struct fleet_record *after, struct err *err);
