/* SPDX-License-Identifier: Apache-2.0
 * recompute.h: the work that layers cost once more when jax.checkpoint computes their values again.
 *
 * In:     a program's graph, its layers, which of them are chosen.
 * Out:    floating-point operations of the dots and convolutions going forward whose results, or what is made of them
 * in the same layer, the backward pass of that layer reads; and those of the whole program. */
#pragma once

#include "whatif/flops.h"
#include "whatif/regions.h"

struct recompute {
    double all, again;
    bool *is_needed; /* by instruction: going forward, and computed again */
};

/* By instruction, for the program before any change (flops.h); found once for all its variants. */
const double *recompute_flops(const struct variant *variant);
/* `is_chosen`: by region; `with_loops`: the bodies of loops going forward, too. */
void recompute_count(const struct variant *variant, const struct regions *regions, const bool *is_chosen,
                     bool with_loops, struct recompute *out);
