/* SPDX-License-Identifier: Apache-2.0
 * tree_list.h: listing one folder of a tree and keeping what is already known of it. */
#pragma once

#include "server/gather/tree.h"

struct tree_folder *tree_list_folder_new(const char *path, unsigned depth);
/* The folder and all below it. */
void tree_list_folder_free(struct tree_folder *folder);
/* Forgets what is in the folder. */
void tree_list_clear(struct tree_folder *folder);

struct tree_list_limits {
    const struct tree *tree;
    bool takes_folders;      /* folders in it become part of the tree */
    bool takes_folder_links; /* links to folders too, when they lead to below the root */
};

/* Reads the names in the folder open as `descriptor` (left open). Files and
 * folders known before keep their state. True when a name came or went. `fault` gets 0, or the errno that says why the
 * folder could not be read to its end: then nothing of it changes. */
bool tree_list(struct tree_folder *folder, int descriptor, const struct tree_list_limits *limits, int *fault);

/* Adds a file of a tree in memory, and the folders on its way. */
struct tree_file *tree_list_add_memory(struct tree_folder *top, const char *path, const unsigned char *bytes,
                                       size_t byte_count);
