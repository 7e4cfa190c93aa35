/* SPDX-License-Identifier: Apache-2.0
 * around.h: what a path of `explain` is, what lies around it, and which session a log belongs to. */
#pragma once

#include "analysis/analysis.h"
#include "server/files/path_kind.h"
#include "server/gather/index.h"

/* Is it named as logs are: .log, .txt, packed or not? */
bool around_is_log_name(const char *name);

/* What a path is; looked at once. */
struct around_input {
    const char *path;        /* "-": standard input */
    enum path_kind place;    /* of standard input PATH_KIND_NONE */
    enum analysis_kind kind; /* by the bytes of a file; a text where it is named as a log, or cannot be read */
    bool is_log;             /* and not a text that the compiler dumped */
    bool is_member_log;      /* the path goes on inside an archive, and is named as logs are */
    bool is_used;            /* of an allocator snapshot: a failure was joined with it */
};
void around_input_look(const char *path, struct around_input *input);

/* What is known of the files around a path: dumps, traces, profiles. */
struct around {
    struct index *index;
    struct snapshot *snapshot; /* NULL: nothing was looked at */
    char *folder;              /* of a single log; else NULL */
    const char *inside;        /* of a log in an archive, which alone is meant: its path there; else NULL */
    bool holds_dump;           /* that folder */
    bool has_given;            /* snapshots that were named are looked at, and no others */
};
/* `input`: a folder, which is looked through; a log, for which the files beside it are, and the folders beside, above
 * and below it that hold a dump, or all of the archive that it is in; or a file of another kind.
 * `given`: allocator snapshots that were named with a log. */
void around_open(struct around *around, const struct around_input *input, struct around_input *const *given,
                 size_t given_count);
void around_close(struct around *around);
/* The session that the log at `path` belongs to, or NULL: then its program is found by name and total. */
const struct snapshot_session *around_session(const struct around *around, const char *path);
/* Where it is without links; NULL when it is gone, or in an archive. free() */
char *around_real(const struct files_place *place);
