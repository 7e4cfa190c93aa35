/* SPDX-License-Identifier: Apache-2.0
 * each_snapshot.h: asks a view about each GPU of the allocator snapshots of PyTorch below a path, for commands that
 * print of these what they print of programs. */
#pragma once

#include "server/cmd/each_module.h"
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

/* Prints the answers about what it finds below `path`, as items of a list in JSON; then, unless there are snapshots
 * alone, each_module_at does its work on the programs of the name `module` (NULL: all; else no snapshot is asked).
 * `needs_comma` is set where an answer was printed before the programs. The exit status. */
int each_snapshot_and_module(struct each_snapshot *each, const char *path, const char *module, each_module_visit *visit,
                             void *context, bool *needs_comma);
