/* SPDX-License-Identifier: Apache-2.0
 * sessions_folder.h: the sessions that one folder holds. */
#pragma once

#include "analysis/analysis.h"
#include "server/disk/snapshot.h"
#include "server/disk/tree.h"

/* What is passed along while a snapshot is built. */
struct sessions_builder {
    struct snapshot *snapshot;
    struct verdicts *verdicts;      /* NULL: nobody wants to know */
    const char *upload_id;          /* of files that a reader uploaded; else NULL */
    const atomic_bool *is_stopping; /* not NULL: texts are read at once, until it is true */
    size_t session_capacity, run_capacity, problem_capacity;
    size_t root_at; /* which root; its folder is `tree` */
    struct snapshot_root *root;
    const struct tree *tree;
    const char *root_path;                   /* in the snapshot's pool */
    enum analysis_kind lone_kind;            /* of the only file, when the root is a file */
    const char *lone_reason;                 /* why nothing can be shown of it; NULL: it is none of our kinds */
    struct snapshot_session *lone_profiles;  /* the session of all roots that are profiles */
    const struct snapshot_file **lone_files; /* its files */
};

/* Adds the sessions, runs and problems of `folder` itself, not of those below it. */
void sessions_folder_add(struct sessions_builder *builder, const struct tree_folder *folder);

/* One more problem of the snapshot. Borrowed texts, which live as long as its pool; `session` may be NULL. */
void sessions_folder_problem(struct sessions_builder *builder, const char *path, const struct snapshot_file *of,
                             enum err_code code, const char *reason, const struct snapshot_session *session);
