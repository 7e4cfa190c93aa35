/* SPDX-License-Identifier: Apache-2.0
 * each_snapshot.h: asks a view about each GPU of the allocator snapshots of PyTorch below a path, for commands that print
 * of these what they print of programs. */
#pragma once

#include "server/cmd/unread_files.h"
#include "server/store/store.h"

struct each_snapshot {
    struct store *store;
    const char *view; /* of memory_profile */
    bool is_json;
    const struct analysis_param *params; /* besides memory and format */
    size_t param_count;
    struct unread_files *unread;
    size_t snapshot_count, answer_count; /* found; pools of them that were printed */
    size_t module_count;                 /* programs below the path: they are the command's own part */
};

/* Prints what it finds below `path`, as items of a list in JSON. */
void each_snapshot_print(struct each_snapshot *each, const char *path);
