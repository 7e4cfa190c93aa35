/* SPDX-License-Identifier: Apache-2.0
 * analysis_answer.h: asks a view of a tool about a module, about profiles or about a trace, and wraps what it says. */
#ifndef ANALYSIS_ANALYSIS_ANSWER_H
#define ANALYSIS_ANALYSIS_ANSWER_H

#include "analysis.h"

struct plan;
struct profile_set;
struct memory_profile;

struct analysis_question {
    const char *tool, *view;
    const struct analysis_param *params;
    size_t param_count;
    const struct plan *plan; /* one of these three */
    const struct profile_set *profiles;
    const struct memory_profile *trace;
};

/* Puts {"tool", "view", "params", "data", "notes"} into `out`, or what a bare view or format sends. */
bool analysis_answer_write(const struct analysis_question *question, struct buf *out, struct err *err);

#endif
