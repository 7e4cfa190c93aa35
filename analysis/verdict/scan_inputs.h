/* SPDX-License-Identifier: Apache-2.0
 * scan_inputs.h: what is gathered, or computed element by element, for all rounds of a loop before it begins, although
 * each round reads a part of its own: a shuffled epoch, batches drawn for many updates, one-hot rows of a sequence.
 *
 * In:   a plan with a graph, and one of its spaces.
 * Out:  the rows that need not be whole, and those that they are made of, which then have to stay for the loop.
 *       What a backward pass reads, or is made by one, is none: a loop that gathers it has to gather its gradient too.
 * Cost: linear in the rows and in the program; walks along values are bounded. */
#pragma once

#include "plan/plan.h"
#include "whatif/variant.h"

struct scan_inputs {
    uint32_t *rows, count; /* of the space: the largest first; none: 0 */
    uint32_t *sources, source_count;
    uint32_t *repeated, repeated_count; /* sources that are the same as one of `sources`: one copy is enough then */
    int64_t bytes;                      /* of `rows` what is live at the peak */
    int64_t parts;                      /* that the loop takes in its rounds */
    bool is_gathered;                   /* else computed */
    const struct plan_row *said;
    struct str argument; /* what it is gathered from, as JAX names it; empty: it is no argument */
};

struct scan_inputs scan_inputs_find(const struct plan *plan, const struct plan_space *space, struct arena *arena);
/* The same program with one part of them at a time; its sums. */
void scan_inputs_measure(const struct scan_inputs *inputs, const struct variant *start, struct arena *tried,
                         struct variant_sums *out);
