/* SPDX-License-Identifier: Apache-2.0
 * lost.h: what a program did with less memory before: arguments that gave theirs to results, values that stayed inside
 * of fusions.
 *
 * Memory: the arena. Cost: one pass over the arguments, and one over the instructions of the program before. */
#pragma once

#include "model/compare/model.h"

struct lost_donation {
    uint64_t count; /* arguments that are aliased before and not now; by their path, else by number and size */
    int64_t bytes;
    struct str largest; /* its path, or "argument 3" */
    const char *call;   /* the line of JAX that donates them; where paths are not recorded without numbers */
};
void lost_donation_find(const struct plan *plan, const struct plan *before, struct arena *arena,
                        struct lost_donation *out);

struct lost_fusion {
    uint64_t count; /* buffers that only B has at its peak, and that A computes inside of fusions and never stores */
    int64_t bytes;
    const struct compare_group *largest;
};
/* A value is known by its op name; one that A stores anywhere under that name is not lost. */
void lost_fusion_find(const struct compare *compare, struct arena *arena, struct lost_fusion *out);
