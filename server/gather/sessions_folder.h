/* SPDX-License-Identifier: Apache-2.0
 * sessions_folder.h: the sessions that one folder holds. */
#pragma once

#include "analysis/analysis.h"
#include "server/gather/snapshot.h"
#include "server/gather/tree.h"

/* What is passed along while a snapshot is built. */
struct sessions_builder {
    struct snapshot *snapshot;
    struct log_texts *log_texts;    /* NULL: nobody wants to know */
    const char *upload_id;          /* of files that a reader uploaded; else NULL */
    const atomic_bool *is_stopping; /* not NULL: texts are read at once, until it is true… */
    bool are_texts_beside;          /* …of those, the ones that lie beside a dump alone */
    const struct facts *facts;      /* what is known of them already; NULL: nothing */
    size_t session_capacity, run_capacity, problem_capacity;
    size_t root_at; /* which root; its folder is `tree` */
    struct snapshot_root *root;
    const struct tree *tree;
    const char *root_path;                   /* in the snapshot's pool */
    const struct tree_file *archive;         /* the folder is in this archive; NULL: in none */
    const char *archive_path;                /* where it lies, "" if it is the root itself */
    enum analysis_kind lone_kind;            /* of the only file, when the root is a file */
    const struct err *lone_refusal;          /* why nothing can be shown of it; not set: it is none of our kinds */
    struct snapshot_session *lone_profiles;  /* the session of all roots that are profiles */
    const struct snapshot_file **lone_files; /* its files */
};

/* Adds the sessions, runs and problems of `folder` itself, not of those below it. */
void sessions_folder_add(struct sessions_builder *builder, const struct tree_folder *folder);

/* One more problem of the snapshot. Borrowed: `path`, which lives as long as its pool; `session` may be NULL. */
void sessions_folder_problem(struct sessions_builder *builder, const char *path, const struct snapshot_file *of,
                             const struct err *why, const struct snapshot_session *session);
