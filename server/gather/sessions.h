/* SPDX-License-Identifier: Apache-2.0
 * sessions.h: from folders and file names to what a person opens.
 *
 *   trace  a folder with HOST.xplane.pb[.gz]; those are its hosts. Below
 *          plugins/profile it is what XProf calls a run and has that name.
 *   dump   a folder with module_NNNN.*.hlo.pb of XLA, or with the texts of modules: one module a stem, its
 *          best stage opened (after > oom_intermediate > before), a proto before a text, a text with that of
 *          its buffer assignment.
 *   hlo    a folder with other HLO files, a BufferAssignmentProto beside its module among them; XProf's cache files
 *          count only where there is no trace beside them.
 *   text   a log, or error.txt, that tells of a lack of memory and lies beside no dump
 *          or HLO file; beside one, or near above or below one that it is of (sessions_join.h), it belongs to
 *          that session.
 * A file named by the user is a session of its own, of the kind its bytes tell. */
#pragma once

#include "analysis/analysis.h"
#include "server/gather/snapshot.h"
#include "server/gather/tree.h"

struct sessions_root {
    struct tree *tree;
    enum analysis_kind kind; /* of the only file, when the root is a file */
    struct err refusal;      /* why no part of it can be shown */
};

/* How texts are read without log_texts.h. */
struct sessions_texts {
    const atomic_bool *is_stopping; /* NULL: they are not */
    const struct facts *facts;      /* what is known of them; NULL: nothing */
    struct log_texts_kept *kept;    /* where those with failures are kept; NULL: nowhere */
    bool are_beside;                /* those that lie beside a dump alone */
};

/* A new snapshot with one holder, to be freed with sessions_free when it has none. Texts are read as `log_texts` does,
 * or, without these, at once, as `texts` say; both NULL: logs are left out, and error texts are not read. */
struct snapshot *sessions_build(const struct sessions_root *roots, size_t root_count, uint64_t generation,
                                struct log_texts *log_texts, const struct sessions_texts *texts);
/* The same of files in memory that a reader uploaded; texts are read now, until `is_stopping`. `id` names the first
 * session, "ID-1" the second. */
struct snapshot *sessions_build_uploaded(struct tree *tree, const char *id, const atomic_bool *is_stopping);
void sessions_free(struct snapshot *snapshot);
