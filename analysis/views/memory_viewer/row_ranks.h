/* SPDX-License-Identifier: Apache-2.0
 * row_ranks.h: where a buffer is among all that are alive at a step, in the three orders of
 * the strips. */
#pragma once

#include "plan/plan.h"
#include "views/tool.h"

struct row_ranks {
    uint32_t program, size, padding; /* from 0; PLAN_NONE: not alive at the step, or without padding */
};

/* Fills `out` for `count` of the space's rows. One pass over the rows, whatever the count. */
void row_ranks_find(const struct plan_space *space, uint32_t step, const uint32_t *rows, uint32_t count,
                    struct arena *arena, struct row_ranks *out);
