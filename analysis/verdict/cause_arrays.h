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
    bool are_gradients;          /* of what a scan stacks: of parameters, one each iteration */
    struct str parameter;        /* of the dense gradients of a table its path; else "" */
};

/* Computed arrays of one size that hold most of what categories say little about: of those the size that holds most;
 * none where they are less than half of the peak. Arguments, results and gradients are none of them. */
struct cause_arrays cause_arrays_equal(const struct verdict_facts *facts);
/* Results of sorts that nothing reads: the positions that a stable sort carries. */
struct cause_arrays cause_arrays_of_sorts(const struct verdict_facts *facts);

/* Says as the cause, which keeps them, that a table's gradients hold most; or, where the category that holds most is
 * vague, per-example gradients, what a scan stacks, or at least two arrays of one size. False: none of these.
 * `is_padded`: padding of what says little would be said otherwise; `bytes`: held by what would be said otherwise. */
bool cause_arrays_make(const struct verdict_facts *facts, bool is_vague, bool is_padded, int64_t bytes);

/* " 10.49 GiB are replay['frame'], copied into the layout {2,1,0} from {0,2,1}, which is read at prog.py:38.": of the
 * largest copy of an argument that is live at the peak; "" where it was not made for its layout. In the arena. */
const char *cause_named_relayout(const struct verdict_facts *facts);
/* " The largest: 4.00 GiB in 2 × f32[4,1024,2048,64], prog.py:28; …": of a category's arrays at the peak; "" where
 * their shapes are not known. In the arena. */
const char *cause_named_largest(const struct verdict_facts *facts, enum category category);
