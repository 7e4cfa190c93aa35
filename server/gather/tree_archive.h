/* SPDX-License-Identifier: Apache-2.0
 * tree_archive.h: the files in a zip or tar archive as a folder of the tree: those that a folder on disk would show.
 * Nothing is unpacked. */
#pragma once

#include "base/err.h"
#include "server/gather/tree.h"

/* More that must be opened to know what they are, as snapshots, make an archive none that is looked into. */
enum { TREE_ARCHIVE_MAX = 1024 };
/* In a tar file that is packed as a whole, each file is reached only by inflating those before it. At most this much is
 * inflated to read all files that it shows. */
#define TREE_ARCHIVE_REACH_BYTES ((uint64_t)64 << 30)

/* A member that could be shown by its name, and cannot be read. */
struct tree_archive_refusal {
    char *path; /* as a file below the root: "runs/job.zip/../rank0.pickle" */
    struct err why;
};

struct tree_archive {
    struct tree_folder *top; /* its path is that of the archive */
    struct files_member *members;
    size_t member_count, refusal_count;
    struct tree_archive_refusal *refusals;
    size_t shown_count; /* members that can be shown; of snapshots and profiles those that are what their name says */
    size_t text_count;  /* beside them: logs, which are shown where they tell of a failure */
    struct err why;     /* set: why the archive as a whole is not looked into, or has nothing to show */
};

/* Where an archive is in the tree. */
struct tree_archive_at {
    const char *path;   /* of the folder that it becomes */
    unsigned depth;     /* of the same */
    const char *inside; /* the file or folder in the archive to show; NULL: all */
};

/* What the open archive `opened`, whose place is `place`, holds. Snapshots and profiles were looked into. NULL where it
 * is no archive, or a zip of one file; of those `at->inside` names a file of, one is enough. */
struct tree_archive *tree_archive_read(const struct file *opened, const struct files_place *place,
                                       const struct tree_archive_at *at);
void tree_archive_free(struct tree_archive *archive);
