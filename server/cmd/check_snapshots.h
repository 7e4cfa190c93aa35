/* SPDX-License-Identifier: Apache-2.0
 * check_snapshots.h: the allocator snapshots of PyTorch below a path against a limit, and against what they took
 * before; a part of cmd_check.c. */
#pragma once

#include "analysis/analysis.h"
#include "server/gather/snapshot.h"
#include "server/store/store.h"

struct check_snapshots {
    struct analysis_check *check;
    struct store *store;
    const char *path; /* below which they lie */
    bool is_folder;
};

bool check_snapshots_are_in(const struct snapshot *snapshot);
/* Decides about each GPU of each snapshot of `found`; `before`: of the baseline, NULL: none. They are matched by name;
 * where each side has one alone, whatever its name is. `count` grows by those that were looked at. False: no room for
 * the report. */
bool check_snapshots_all(const struct check_snapshots *snapshots, const struct snapshot *found,
                         const struct snapshot *before, size_t *count, struct err *err);
