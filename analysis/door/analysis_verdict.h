/* SPDX-License-Identifier: Apache-2.0
 * door/analysis_verdict.h: a part of analysis.h, and included by it: what happened, where it went and what will make it
 * fit.
 *
 * Memory: what is handed in is borrowed; answers are appended to the caller's buf. Errors: those of analysis.h. */
#pragma once

#include "base/buf.h"
#include "base/csv.h"
#include "base/err.h"
#include "exchange/around.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct analysis_subject; /* analysis.h */
struct analysis_use;     /* the same */

/* Whatever is at hand; each may be NULL. */
struct analysis_verdict_parts {
    const struct oom_meaning *failure; /* of the report of a text */
    const struct analysis_subject *module, *trace;
    const struct analysis_use *profiles; /* in the order in which they were taken */
    size_t profile_count;
    struct verdict_around around; /* exchange/around.h */
    const atomic_int *wanted;     /* as of a question */
    /* Rules of whose memory a buffer is (plan/person_rules.h): those of this question, good ones
     * (analysis_own_rules_check), before those of all; each may be NULL. */
    const char *own_category_rules, *category_rules;
};
enum analysis_verdict_format { ANALYSIS_VERDICT_JSON, ANALYSIS_VERDICT_TEXT };
/* May the failure belong to a program that XLA compiled, so that a module or a trace explains it further? */
bool analysis_verdict_is_of_plan(const struct oom_meaning *failure);
/* May it be of a job that ran programs of XLA: its own words, or a kill by the host? */
bool analysis_verdict_may_be_of_xla(const struct oom_meaning *failure);
/* May it be of a program of the host, which asks for all its temporaries in one piece? */
bool analysis_verdict_may_be_of_request(const struct oom_meaning *failure);
/* Was it a request of JAX that failed at run time, so that device profiles beside the text say more of it?
 * `has_program`: one was chosen for it (analysis_oom_choose_module), for the host's memory by what it asks for. */
bool analysis_verdict_is_of_live_arrays(const struct oom_meaning *failure, bool has_program);
/* Which of several allocator snapshots is of a failure (verdict/torch_choice.h): may any be; which of `names` to read,
 * as places in it, into `order` of `count`; and each of these, its `trace`: true where it takes the place of what was
 * taken before. */
bool analysis_snapshots_may(const struct oom_meaning *failure);
size_t analysis_snapshots_order(struct torch_choice *choice, const char *const *names, size_t count, size_t *order);
bool analysis_snapshots_take(struct torch_choice *choice, const char *name, const struct oom_meaning *failure,
                             const struct analysis_subject *trace);
/* Writes the verdict as one row of a table over many jobs: the columns of verdict/row.def (docs/operate/fleet.md),
 * after at most 40 cells of the caller. `parts` NULL: a row with only the caller's cells. */
struct analysis_row_form {
    enum csv_form form;
    const struct csv_cell *lead;
    size_t lead_count;
    const char *configuration; /* of the job, as its label says; NULL: as the program does (plan/configuration.h) */
};
bool analysis_verdict_row(const struct analysis_verdict_parts *parts, const struct analysis_row_form *form,
                          struct buf *out, struct err *err);
/* The names of its columns, as the first line of the CSV, or with their types as CSV_CELLS; of no other form. */
void analysis_verdict_row_heads(const struct analysis_row_form *form, struct buf *out);
/* Appends the verdict to `out`: schema Verdict in docs/openapi.yaml, or lines for a terminal. Errors: limit. */
bool analysis_verdict(const struct analysis_verdict_parts *parts, enum analysis_verdict_format format, struct buf *out,
                      struct err *err);
