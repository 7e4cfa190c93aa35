/* SPDX-License-Identifier: Apache-2.0
 * pattern.h: ways in which memory is spent that have a name: logits, attention scores, results that were not
 * donated. */
#pragma once

#include "plan/plan.h"

enum pattern_kind {
#define PATTERN(constant, name, words, rule, gone) PATTERN_##constant,
#include "plan/pattern.def"
#undef PATTERN
    PATTERN_COUNT
};

struct plan_pattern {
    uint8_t kind;              /* enum pattern_kind */
    int64_t bytes;             /* live at the peak; of padding, the padding alone */
    uint32_t *rows, row_count; /* of the space, largest first */
    const char *sentence;      /* in the user's words, with figures */
};

/* "attention_scores"; static storage, like the texts below. */
const char *pattern_name(enum pattern_kind kind);
/* "attention scores": in a sentence. */
const char *pattern_words(enum pattern_kind kind);
const char *pattern_rule(enum pattern_kind kind);
const char *pattern_gone(enum pattern_kind kind);

/* What is to be known of the patterns of a space: that there are none, and what was looked for, or what their bytes are
 * not. In the arena, or static. */
const char *pattern_remark(const struct plan *plan, const struct plan_space *space, struct arena *arena);

/* Fills space->patterns of each space, most bytes first: what holds at least 1 % of the peak. The choices are there.
 * What only the search needs lies in `scratch`. Cost: linear in instructions and rows. */
void pattern_find_all(struct plan *plan, struct value_walk *walk, struct arena *arena, struct arena *scratch);
