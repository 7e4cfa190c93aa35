/* SPDX-License-Identifier: Apache-2.0
 * evidence.h: what shows a figure of a verdict: rows of the plan, a place in a text, a file; for analysis/verdict
 * alone.
 *
 * What each returns is complete: page, filter, sum over its rows, and what lies between that and the figure. */
#pragma once

#include "verdict/facts.h"

/* The evidence for arrays of a program without a buffer assignment. */
#define EVIDENCE_OF_SHAPES "Elements of the shapes times bytes of their types, without padding."
/* Worked out as `sentence` says; no page shows it. */
struct verdict_evidence evidence_difference(const char *sentence);
/* All rows that are live at the peak; `rest` names what the figure holds besides. */
struct verdict_evidence evidence_live(const struct verdict_facts *facts, int64_t bytes, const char *rest);
/* Rows of a category, of a kind of allocation, of a pattern, of groups, one row. */
struct verdict_evidence evidence_category(const struct verdict_facts *facts, enum category category, int64_t bytes);
struct verdict_evidence evidence_kind(const struct verdict_facts *facts, enum plan_kind kind, int64_t bytes);
struct verdict_evidence evidence_pattern(const struct verdict_facts *facts, const struct plan_pattern *pattern,
                                         int64_t bytes);
struct verdict_evidence evidence_row(const struct verdict_facts *facts, const struct plan_row *row, int64_t bytes);
/* The padding of one row. */
struct verdict_evidence evidence_padding(const struct verdict_facts *facts, const struct plan_row *row);
struct verdict_evidence evidence_group(const struct verdict_facts *facts, const struct verdict_group *group);
/* What the listed groups leave of the peak. */
struct verdict_evidence evidence_other_groups(const struct verdict_facts *facts);
/* The place of a figure in the failure's text, by its member of "ranges"; none where the text has no such figure. */
struct verdict_evidence evidence_text(const struct verdict_facts *facts, const char *key, int64_t bytes);
struct verdict_evidence evidence_capacity(const struct verdict_facts *facts);
struct verdict_evidence evidence_change(const struct verdict_facts *facts, const char *change);
struct verdict_evidence evidence_trace(void);
/* Rows of the last device profile: `filter` of its view "buffers"; NULL: the profiles as a series. */
struct verdict_evidence evidence_profile(const struct verdict_facts *facts, const char *filter, int64_t bytes);

/* Marks the sizes of all sentences whose evidence is known (mentions.c); evidence of all figures is there. */
void mentions_make(const struct verdict_facts *facts);
