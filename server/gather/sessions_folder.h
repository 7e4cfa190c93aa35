/* SPDX-License-Identifier: Apache-2.0
 * sessions_folder.h: the sessions that one folder holds. */
#pragma once

#include "analysis/analysis.h"
#include "server/gather/snapshot.h"
#include "server/gather/tree.h"

/* What is passed along while a snapshot is built. */
struct sessions_builder {
    struct snapshot *snapshot;
    struct log_texts *log_texts;    /* NULL: no caller needs texts */
    const char *upload_id;          /* of files that a reader uploaded; else NULL */
    const atomic_bool *is_stopping; /* not NULL: texts are read at once, until it is true… */
    bool are_texts_beside;          /* …of those, the ones that lie beside a dump alone */
    const struct facts *facts;      /* what is known of them already; NULL: nothing */
    struct log_texts_kept *kept;    /* where they are kept; NULL: nowhere */
    size_t session_capacity, run_capacity, problem_capacity;
    size_t root_at; /* which root; its folder is `tree` */
    struct snapshot_root *root;
    const struct tree *tree;
    const char *root_path;                   /* in the snapshot's pool */
    const struct tree_file *archive;         /* the folder is in this archive; NULL: in none */
    const char *archive_path;                /* where it lies, "" if it is the root itself */
    enum analysis_kind lone_kind;            /* of the only file, when the root is a file */
    const struct err *lone_refusal;          /* why it cannot be shown; not set: it is none of our kinds */
    struct snapshot_session *lone_profiles;  /* the session of all roots that are profiles */
    const struct snapshot_file **lone_files; /* its files */
};

/* Adds the sessions, runs and problems of `folder` itself, not of those below it. */
void sessions_folder_add(struct sessions_builder *builder, const struct tree_folder *folder);

/* One more problem of the snapshot. Borrowed: `path`, which lives as long as its pool; `session` may be NULL. */
void sessions_folder_problem(struct sessions_builder *builder, const char *path, const struct snapshot_file *of,
                             const struct err *why, const struct snapshot_session *session);

/* sessions_reason.c: why a file of the tree cannot be shown. */
/* Not set: it can. */
struct err sessions_reason(const struct sessions_builder *builder, const struct tree_file *file);

/* sessions_parts.c: modules of a folder that are texts, or whose buffer assignment is a file of its own: which files
 * belong together. Names alone decide. */
/* The module of `text`, "module_0000.NAME.STAGE.txt", with the text of its buffer assignment where the folder has it;
 * of an assignment whose module is not there, that alone. NULL: it is neither, or its stage's module has it. */
const struct snapshot_file *sessions_parts_of_text(struct sessions_builder *builder, const struct tree_folder *folder,
                                                   const struct snapshot_file *files, size_t at);
/* An HLO file outside of a dump, with the BufferAssignmentProto with its name, or the only one of the folder that
 * has none; itself where there is none. NULL: `at` is such an assignment, and joined to another file. */
const struct snapshot_file *sessions_parts_of_hlo(struct sessions_builder *builder, const struct tree_folder *folder,
                                                  const struct snapshot_file *files, size_t at);

/* sessions_join.c: a log above or below its dump becomes a text of that session. Users keep job.log in the folder of a
 * run, and the dump in a folder below, or the other way round. A log joins a dump or HLO session of its root up to two
 * folders away, up or down, if that is the only one there. If there are several, it joins the one with the module that
 * the log names. A log that names a missing module stays a session of its own. */
/* Sessions from `first` on, all of one root. */
void sessions_join(struct sessions_builder *builder, size_t first);
