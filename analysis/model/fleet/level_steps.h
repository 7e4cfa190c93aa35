/* SPDX-License-Identifier: Apache-2.0
 * level_steps.h: where a sequence of figures goes to another level, which its noise does not explain, and stays there.
 *
 * The rule: `before` is the median of the last values of the present level, at most LEVEL_STEPS_BEFORE_MAX. A step
 * is where that value and those after it, LEVEL_STEPS_AFTER_MAX or as many as there are, all lie on one side of
 * `before` and further from it than the threshold. That is the largest of LEVEL_STEPS_LEAST_BYTES,
 * LEVEL_STEPS_LEAST_PERCENT of `before`, and LEVEL_STEPS_NOISES times the noise. The noise is the larger of two robust
 * standard deviations: that of the values before (from their median absolute deviation), and that of the whole sequence
 * (from the median change between neighbours, which steps do not move). A new level begins at a step. So a lone peak is
 * none, and neither is slow growth.
 *
 * The same values in the same order always have the same steps. */
#pragma once

#include "base/arena.h"
#include "exchange/fleet.h"

enum {
    LEVEL_STEPS_BEFORE_MAX = 8,
    LEVEL_STEPS_AFTER_MAX = 3,
    LEVEL_STEPS_NOISES = 4,
    LEVEL_STEPS_LEAST_PERCENT = 1,
    LEVEL_STEPS_LEAST_BYTES = 1 << 20,
    /* Fewer values than these, and it is not known whether it lasts. */
    LEVEL_STEPS_LASTING_BEFORE = 3,
    LEVEL_STEPS_LASTING_AFTER = 2,
};

/* `values` are bytes from 0 to SUM_MAX_BYTES_TOGETHER. The steps, in order, in `arena`; how many in `step_count`. */
struct level_step *level_steps_find(const int64_t *values, size_t count, struct arena *arena, size_t *step_count);
/* What a difference from `middle` has to exceed to be more than noise, for steps and for hosts. */
int64_t level_steps_threshold(int64_t middle, double noise_bytes);
