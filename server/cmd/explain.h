/* SPDX-License-Identifier: Apache-2.0
 * explain.h: the parts of `memviewd explain`: how a log is read and printed, and what lies around it. */
#pragma once

#include "analysis/analysis.h"
#include "server/cmd/hosts_told.h"
#include "server/cmd/input_path.h"
#include "server/store/verdict_parts.h"

#include <stdio.h>

/* Reads a file, a pipe or ("-") standard input. NULL and `err` when it cannot be read; free with
 * analysis_subject_free. */
struct analysis_subject *explain_read(const char *path, struct err *err);
/* The same of a file that the scanner found. */
struct analysis_subject *explain_read_file(const struct files_place *place, struct err *err);

/* The last part of a path. */
const char *explain_name(const char *path);
/* Is it named as logs are: .log, .txt, packed or not? */
bool explain_is_log_name(const char *name);

/* What a path is; looked at once. */
struct explain_input {
    const char *path;           /* "-": standard input */
    enum input_path_kind place; /* of standard input INPUT_PATH_NONE */
    enum analysis_kind kind;    /* by the bytes of a file; a text where it is named as a log, or cannot be read */
    bool is_log;                /* and not a text that the compiler dumped */
    bool is_member_log;         /* the path goes on inside an archive, and is named as logs are */
    bool is_used;               /* of an allocator snapshot: a failure was joined with it */
};
void explain_input_look(const char *path, struct explain_input *input);

/* Prints what a person wants to know of one log to stdout; `name` as the user gave it, "-" is standard input.
 * `answers`: of each failure the verdict as text. */
void explain_text(const char *name, const struct oom_report *report, const struct buf *answers);

/* Prints the JSON of all failures, and frees it. False when there was no memory for all of it. */
bool explain_print_json(struct buf *all);

/* Tells on standard error what was looked for, where nothing of it was found. */
void explain_looked_for(void);

/* What is known of the files around a path: dumps, traces, profiles. */
struct explain_around {
    struct store *store;
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
void explain_around_open(struct explain_around *around, struct store *store, const struct explain_input *input,
                         struct explain_input *const *given, size_t given_count);
void explain_around_close(struct explain_around *around);
/* The session that the log at `path` belongs to, or NULL: then its program is found by name and total. */
const struct snapshot_session *explain_around_session(const struct explain_around *around, const char *path);
/* Where it is without links; NULL when it is gone, or in an archive. free() */
char *explain_around_real(const struct files_place *place);
