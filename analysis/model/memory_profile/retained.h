/* SPDX-License-Identifier: Apache-2.0
 * retained.h: saved activations that outlived backward passes which came after them. A backward pass frees what was
 * saved for it, so what stays is held by the program: a running loss, a list of outputs, retain_graph=True. Outputs
 * that are kept without their graphs look the same.
 *
 * Passes are distinguished by the backward passes between them, which the categories of allocations show
 * (categories.h). Of a pipeline, which holds several passes on purpose, nothing is said. Time: each event of the pool
 * once. */
#pragma once

#include "model/memory_profile/model.h"
#include "model/memory_profile/passes.h"

struct memory_profile_retained {
    int64_t bytes;           /* of them; without those of the pass at work and of the one before it */
    uint64_t count;          /* blocks */
    uint32_t backward_count; /* backward passes since the oldest of them */
};

/* After the pool's first `count` events. False, and nothing in `out`: there are none, or too few to be what fills the
 * memory (half of all saved activations and a tenth of what is in use, of three passes and from the beginning on). */
bool memory_profile_retained_find(const struct memory_profile_pool *pool, uint32_t count, struct arena *arena,
                                  struct memory_profile_retained *out);
/* Which way a pass goes that asks for memory of a category. */
enum passes_course memory_profile_retained_course(struct category_choice choice);
