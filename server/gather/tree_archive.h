/* SPDX-License-Identifier: Apache-2.0
 * tree_archive.h: the files in a zip archive as a folder of the tree. Only those that may be allocator snapshots of
 * PyTorch are in it; nothing is unpacked. */
#pragma once

#include "base/err.h"
#include "server/gather/tree.h"

/* More of them make an archive none that is looked into: each is opened. */
enum { TREE_ARCHIVE_MAX = 1024 };

/* A member that could be a snapshot by its name, and cannot be read. */
struct tree_archive_refusal {
    char *path; /* as a file below the root: "runs/job.zip/../rank0.pickle" */
    struct err why;
};

struct tree_archive {
    struct tree_folder *top; /* its path is that of the archive */
    struct files_member *members;
    size_t member_count, refusal_count;
    size_t other_count; /* files of other kinds */
    struct tree_archive_refusal *refusals;
    size_t snapshot_count; /* members that are what their name says */
    struct err why;        /* set: why the archive as a whole is not looked into */
};

/* Of the open archive `opened`, whose place is `at`: what it holds, `path` and `depth` being those of the folder that
 * it becomes. Each member was looked into. NULL where it is no archive of several files. */
struct tree_archive *tree_archive_read(const struct file *opened, const struct files_place *at, const char *path,
                                       unsigned depth);
void tree_archive_free(struct tree_archive *archive);
