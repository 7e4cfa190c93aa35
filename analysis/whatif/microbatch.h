/* SPDX-License-Identifier: Apache-2.0
 * microbatch.h: what a program that sums gradients in a loop of its own has at once of its batch. Fewer rows of the
 * batch are fewer trips; only a smaller microbatch takes less memory.
 *
 * In:   a program whose batch is cut into steps × size, by the function or by whoever calls it; a loop, itself no part
 *       of a pass, whose body has a forward and a backward pass.
 * Cost: a pass over instructions and relations. */
#pragma once

#include "whatif/change.h"

struct microbatch {
    uint32_t steps_at, size_at; /* dimensions: the trips of the loop, the rows of one of them */
    int64_t steps, size;        /* now */
    int64_t parts;              /* devices that share the rows of one trip */
};

/* For a CHANGE_BATCH that names no dimension, with the first of its change_targets: the microbatch before and after the
 * change. False: the change is one of the batch itself. */
bool microbatch_of_change(const struct variant *variant, const struct change *change,
                          const struct change_target *target, struct microbatch *before, struct microbatch *after);
/* The rows of one trip on all devices, as the user's code has them. */
int64_t microbatch_size_of_all(const struct microbatch *microbatch);
