/* SPDX-License-Identifier: Apache-2.0
 * level_steps.c: see level_steps.h. */
#include "model/fleet/level_steps.h"

#include "base/sum.h"
#include "model/fleet/robust.h"

/* The difference of two values deviates by √2 times as much as each. */
#define SQUARE_ROOT_OF_2 1.4142135623730951

static int64_t distance(int64_t a, int64_t b) { return a > b ? a - b : b - a; }

/* The noise of the whole sequence, from its changes; with fewer than three changes, a step would be the median. */
static double noise_of_changes(const int64_t *values, size_t count, int64_t *scratch)
{
    for (size_t i = 1; i < count; i++)
        scratch[i - 1] = distance(values[i], values[i - 1]);
    return count < 4 ? 0 : (double)robust_median(scratch, count - 1) * ROBUST_DEVIATIONS_PER_MAD / SQUARE_ROOT_OF_2;
}

int64_t level_steps_threshold(int64_t middle, double noise_bytes)
{
    const double noises = noise_bytes * (double)LEVEL_STEPS_NOISES, least_bytes = (double)LEVEL_STEPS_LEAST_BYTES;
    double least = (double)middle * (double)LEVEL_STEPS_LEAST_PERCENT / 100;
    least = least > least_bytes ? least : least_bytes;
    return sum_of_real(noises > least ? noises : least);
}

/* Are all of them beyond the threshold, on one side? */
static bool stays_away(const int64_t *values, size_t count, int64_t before, int64_t threshold)
{
    for (size_t i = 0; i < count; i++)
        if (distance(values[i], before) <= threshold || (values[i] > before) != (values[0] > before))
            return false;
    return true;
}

/* Is there a step at `at`, in the level that begins at `level_at`? */
static bool step_find(const int64_t *values, size_t count, size_t level_at, double noise, struct level_step *step)
{
    int64_t before[LEVEL_STEPS_BEFORE_MAX], scratch[LEVEL_STEPS_BEFORE_MAX], after[LEVEL_STEPS_AFTER_MAX];
    size_t at = step->at, level_count = at - level_at, left = count - at;
    step->before_count = level_count < LEVEL_STEPS_BEFORE_MAX ? level_count : LEVEL_STEPS_BEFORE_MAX;
    step->after_count = left < LEVEL_STEPS_AFTER_MAX ? left : LEVEL_STEPS_AFTER_MAX;
    memcpy(before, values + at - step->before_count, step->before_count * sizeof(*values));
    memcpy(after, values + at, step->after_count * sizeof(*values));
    step->before_bytes = robust_median(before, step->before_count);
    double noise_before =
        ROBUST_DEVIATIONS_PER_MAD * (double)robust_deviation(before, step->before_count, step->before_bytes, scratch);
    noise = noise_before > noise ? noise_before : noise;
    step->noise_bytes = sum_of_real(noise);
    step->threshold_bytes = level_steps_threshold(step->before_bytes, noise);
    if (!stays_away(after, step->after_count, step->before_bytes, step->threshold_bytes))
        return false;
    step->after_bytes = robust_median(after, step->after_count);
    step->is_lasting =
        step->before_count >= LEVEL_STEPS_LASTING_BEFORE && step->after_count >= LEVEL_STEPS_LASTING_AFTER;
    return true;
}

struct level_step *level_steps_find(const int64_t *values, size_t count, struct arena *arena, size_t *step_count)
{
    struct level_step *steps = arena_array(arena, struct level_step, count + 1);
    int64_t *scratch = arena_array(arena, int64_t, count + 1);
    double noise = noise_of_changes(values, count, scratch);
    size_t level_at = 0;
    *step_count = 0;
    for (size_t at = 1; at < count; at++) {
        struct level_step *step = &steps[*step_count];
        arena_work(arena, LEVEL_STEPS_BEFORE_MAX);
        *step = (struct level_step){.at = at};
        if (!step_find(values, count, level_at, noise, step))
            continue;
        ++*step_count;
        level_at = at;
    }
    return steps;
}
