/* SPDX-License-Identifier: Apache-2.0
 * cause_arrays.h: of a plan whose categories say little, the arrays that are the cause; for cause*.c and advice*.c.
 *
 * In:   the rows of the space that are live at the peak, and the program's graph.
 * Out:  which of them belong together, and what they are.
 * Cost: linear in rows and instructions, but for one sort of the rows. */
#pragma once

#include "verdict/facts.h"

struct cause_arrays {
    uint32_t *rows; /* of the space; in the facts' arena */
    uint32_t count;
    int64_t bytes;               /* of all, live at the peak */
    const struct plan_row *said; /* the one that is named; NULL: there are none */
    int64_t slices;              /* along the first dimension: iterations, examples, parts; 0: not known */
    struct str parameter;        /* of the dense gradients of a table its path; else "" */
};

/* Computed arrays of one size that hold most of what categories say little about: of those the size that holds most;
 * none where they are less than half of the peak. Arguments, results and gradients are none of them. */
struct cause_arrays cause_arrays_equal(const struct verdict_facts *facts);
/* The largest array that a loop writes a slice of in each iteration and does not read; it began empty. None with a
 * backward pass that reads it. */
struct cause_arrays cause_arrays_stacked(const struct verdict_facts *facts);
/* Gradients with one more dimension in front than the parameter that they are of: of at least half of the elements of
 * all parameters, and a quarter of the peak. */
struct cause_arrays cause_arrays_of_examples(const struct verdict_facts *facts);
/* Gradients of the parameter that a scatter of the backward pass makes whole: at least a quarter of the peak. */
struct cause_arrays cause_arrays_of_table(const struct verdict_facts *facts);
/* Results of sorts that nothing reads: the positions that a stable sort carries. */
struct cause_arrays cause_arrays_of_sorts(const struct verdict_facts *facts);

/* Says one of these as the cause; false: none of them is. `bytes`: held by what would be said otherwise. */
bool cause_arrays_make(const struct verdict_facts *facts, bool is_vague, int64_t bytes);
