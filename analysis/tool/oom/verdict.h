/* SPDX-License-Identifier: Apache-2.0
 * verdict.h: from what a text states to what it means. */
#ifndef ANALYSIS_TOOL_OOM_VERDICT_H
#define ANALYSIS_TOOL_OOM_VERDICT_H

#include "base/arena.h"
#include "tool/oom/model.h"

/* The verdict of each failure, in their order. `found` must live as long. */
const struct oom_verdict *oom_verdicts_make(const struct oom_result *found, struct arena *arena);

/* Its parts, each from those before it. */
void oom_limits_set(struct oom_verdict *verdict, struct arena *arena); /* over by; shortage or fragmentation */
void oom_groups_set(struct oom_verdict *verdict, struct arena *arena); /* equal buffers, what is listed in all */
void oom_bar_set(struct oom_verdict *verdict, struct arena *arena);
void oom_rows_set(struct oom_verdict *verdict, struct arena *arena);
void oom_sentences_set(struct oom_verdict *verdict, struct arena *arena);
void oom_next_steps_set(struct oom_verdict *verdict, struct arena *arena);

/* The figure of a failure, or NULL when the text does not state it. */
const struct oom_figure *oom_figure(const struct oom_failure *failure, enum oom_figure_at at);
const char *oom_figure_key(enum oom_figure_at at);
bool oom_is_form(const struct oom_failure *failure, const char *form);
bool oom_is_compile(const struct oom_failure *failure);
/* "HBM", "VMEM", …; other names as they are; "" when it is not stated. */
const char *oom_space_name(const struct oom_failure *failure, struct arena *arena);
/* Does it print the buffer assignment of a whole GPU program? */
bool oom_has_assignment(const struct oom_failure *failure);
/* What the request is held against: OOM_FIGURE_COUNT when the text gives nothing. */
enum oom_figure_at oom_limit_of(const struct oom_failure *failure);
/* The largest piece that was to be had; OOM_FIGURE_COUNT when the text does not say. */
enum oom_figure_at oom_hole_of(const struct oom_failure *failure);
/* The group of equal buffers that takes most, of all lists; count 0 when none has a size. */
struct oom_group oom_group_largest(const struct oom_failure *failure);

#endif
