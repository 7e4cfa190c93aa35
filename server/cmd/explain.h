/* SPDX-License-Identifier: Apache-2.0
 * explain.h: the parts of `memviewd explain`: how a log is read and printed. What lies around it: gather/around.h.
 */
#pragma once

#include "analysis/analysis.h"
#include "server/cmd/hosts_told.h"
#include "server/gather/around.h"
#include "server/store/verdict_parts.h"

#include <stdio.h>

/* Reads a file, a pipe or ("-") standard input. NULL and `err` when it cannot be read; free with
 * analysis_subject_free. */
struct analysis_subject *explain_read(const char *path, struct err *err);
/* The same of a file that the scanner found. */
struct analysis_subject *explain_read_file(const struct files_place *place, struct err *err);

/* Prints what a person wants to know of one log to stdout; `name` as the user gave it, "-" is standard input.
 * `answers`: of each failure the verdict as text. */
void explain_text(const char *name, const struct oom_report *report, const struct buf *answers);

/* Prints the JSON of all failures and frees it. False when there was not enough memory for it. */
bool explain_print_json(struct buf *all);

/* Says on standard error what was searched for, when nothing was found. */
void explain_looked_for(void);
