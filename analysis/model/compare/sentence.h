/* SPDX-License-Identifier: Apache-2.0
 * sentence.h: what the comparison of two programs comes to, in one or two sentences; and pieces of it for tables.
 *
 * Its own words for every face: pages, command line and Markdown print it as it is. */
#pragma once

#include "model/compare/alignment.h"
#include "plan/describe.h"

/* Where the peak of one side is. */
struct sentence_peak {
    struct str scope, instruction; /* as a person calls it; scope empty: not known. In the arena, of the plan */
    int64_t position;              /* in the schedule; −1: not known */
};
struct sentence_peaks {
    struct sentence_peak sides[COMPARE_SIDE_COUNT];
    bool is_known;  /* both sides are looked at at their peak */
    bool has_moved; /* to another scope that is not at the same place of the program */
};

/* `alignment`: by scope. */
struct sentence_peaks sentence_peaks_find(const struct compare *compare, const struct alignment *alignment);
/* Appends it. */
void sentence_write(const struct compare *compare, const struct sentence_peaks *peaks, struct buf *out);
/* Appends "24 × bf16[8,2048] → bf16[4,2048] saved in layer_{i}/mlp": the buffers of a group. */
void sentence_group(const struct compare *compare, const struct compare_group *group, struct buf *out);
/* Where its first buffer was made. */
struct describe_source sentence_group_source(const struct compare *compare, const struct compare_group *group);
/* The same of the group that changed most in the direction of `change`. */
struct describe_source sentence_source(const struct compare *compare, int64_t change);
/* Appends "+3.00 GiB", "−96.0 KiB", "0 B". */
void sentence_change(int64_t delta_bytes, struct buf *out);
