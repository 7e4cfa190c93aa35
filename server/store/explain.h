/* SPDX-License-Identifier: Apache-2.0
 * explain.h: how `memviewd explain`, and the daemon, write what was found in a log.
 *
 * The figures come from the core as JSON, the same that --json prints. */
#ifndef SERVER_STORE_EXPLAIN_H
#define SERVER_STORE_EXPLAIN_H

#include "analysis/analysis.h"

#include <cjson/cJSON.h>

/* A log that was read. */
struct explain_log {
    const char *name; /* as the user named it; "-" is standard input */
    struct analysis_explanation explanation;
    const cJSON *failures; /* the array */
};

/* Reads a file, a pipe or ("-") standard input. The answer is in `out`. */
bool explain_read(const char *path, struct buf *out, struct analysis_explanation *explanation, struct err *err);

/* Prints what a person wants to know of one log to stdout. */
void explain_text(const struct explain_log *log);

/* What to run next to see which buffers they are, for this kind of failure; static lines, ends with NULL. */
const char *const *explain_next_steps(const cJSON *failure);

/* Appends what the daemon answers about a text, as members of an object and a NUL: "size_bytes", "encoding",
 * "failures", "left_out_count", "next_steps" (for each failure), "report_line_count", "usage", "lines" (null
 * when there are failures), "looked_for". */
bool explain_answer(const struct source *source, struct buf *out, struct err *err);

#endif
