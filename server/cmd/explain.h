/* SPDX-License-Identifier: Apache-2.0
 * explain.h: the parts of `memviewd explain`: how a log is read and printed, and what lies around it. */
#pragma once

#include "analysis/analysis.h"
#include "server/store/verdict_parts.h"

#include <stdio.h>

/* Reads a file, a pipe or ("-") standard input. NULL and `err` when it cannot be read; free with
 * analysis_subject_free. */
struct analysis_subject *explain_read(const char *path, struct err *err);

/* The last part of a path. */
const char *explain_name(const char *path);
/* Is it named as logs are: .log, .txt, packed or not? */
bool explain_is_log_name(const char *name);
/* What the bytes of a file tell; a text where it is named as a log, is no file, or cannot be read. */
enum analysis_kind explain_kind_of(const char *path);
/* Is it a log, and not a text that the compiler dumped? */
bool explain_is_log(const char *path);

/* Prints what a person wants to know of one log to stdout; `name` as the user gave it, "-" is standard input.
 * `answers`: of each failure the verdict as text. */
void explain_text(const char *name, const struct oom_report *report, const struct buf *answers);

/* What is known of the files around a path: dumps, traces, profiles. */
struct explain_around {
    struct store *store;
    struct index *index;
    struct snapshot *snapshot; /* NULL: nothing was looked at */
    char *folder;              /* of a single log; else NULL */
    bool holds_dump;           /* that folder */
    bool has_given;            /* snapshots that were named are looked at, and no others */
};
/* `path`: a folder, which is looked through; a log, for which the files beside it are, and the folders beside, above
 * and below it that hold a dump; or a file of another kind. `given`: allocator snapshots that were named with a log. */
void explain_around_open(struct explain_around *around, struct store *store, const char *path, bool is_log,
                         const char *const *given, size_t given_count);
void explain_around_close(struct explain_around *around);
