/* SPDX-License-Identifier: Apache-2.0
 * whatif_snapshot.h: for `memviewd whatif`: what other settings would have made of allocator snapshots of PyTorch. */
#pragma once

#include "server/cmd/options.h"
#include "server/cmd/unread_files.h"
#include "server/store/store.h"

struct whatif_snapshot {
    struct store *store;
    const struct options *options;
    const struct analysis_param *params; /* the changes, and what the device has */
    size_t param_count;
    struct unread_files *unread;
    size_t snapshot_count, answer_count; /* found; pools of them that were printed */
    size_t module_count;                 /* programs below the path: they are another command's part */
};

/* Prints what it finds below `path`, as items of a list in JSON. */
void whatif_snapshot_print(struct whatif_snapshot *whatif, const char *path);
