/* SPDX-License-Identifier: Apache-2.0
 * flops.h: floating-point operations of the dots and convolutions of a program.
 *
 * In:     a program's graph and the dimensions of its arrays.
 * Out:    2 × elements of the result × what is summed up for each, times how often the loops around it run.
 * Limits: how often a loop runs is known by what it goes through one by one; a loop that does so with nothing counts
 * once. Memory: the arena; 8 bytes a computation. */
#pragma once

#include "whatif/dimensions.h"

struct flops {
    const struct dimensions *dimensions;
    struct arena *arena; /* its work pays for windows that are counted out */
    double *runs;        /* by computation: how often it runs */
};

void flops_build(const struct dimensions *dimensions, struct arena *arena, struct flops *out);
/* The flops of one instruction, all its runs together; 0 if it is no dot and no convolution. */
double flops_of(const struct flops *flops, uint32_t at);
