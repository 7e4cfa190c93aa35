/* SPDX-License-Identifier: Apache-2.0
 * steps_kept.h: the line of code of which each step keeps something: a list that tensors are appended to, a cache
 * without a bound. No profiler has to mark the steps: they are forward passes.
 *
 * Of a training a step begins where one pass forward does, as the categories of allocations show. Where no backward
 * pass was recorded it begins where the outermost module asks for the memory that it asks for least often, five times
 * or more, as nearly all stacks of modules do: of one pass, whose layers take turns, some are there once.
 * Time: each event twice. Memory: the arena. */
#pragma once

#include "model/memory_profile/model.h"

struct memory_profile_kept {
    struct str words;       /* "train.py:31 log_metrics" */
    enum category category; /* that of most of the bytes */
    int64_t bytes;          /* without what the last two steps made */
    uint64_t count;         /* blocks */
    uint32_t step_count;    /* steps that it is of, of `steps_since` since the first of them */
    uint32_t steps_since;
    int64_t first_time_ps; /* of the oldest */
};

/* Finds the line that keeps most after the pool's first `count` events. Lines count if at least half of the steps, and
 * at least four, keep something from them, starting in the first third of the steps. Parameters, gradients and
 * optimizer state count for no line, because they stay on purpose. False: no line holds a tenth of what is in use. */
bool memory_profile_steps_kept_find(const struct memory_profile_pool *pool, uint32_t count, struct arena *arena,
                                    struct memory_profile_kept *out);
