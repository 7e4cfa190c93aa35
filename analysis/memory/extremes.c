/* SPDX-License-Identifier: Apache-2.0 */
#include "memory/extremes.h"

static void extremes_walk(const struct extremes *extremes, uint32_t from, uint32_t to, uint32_t *min_at,
                          uint32_t *max_at)
{
    int64_t min = extremes->value(extremes->curve, *min_at), max = extremes->value(extremes->curve, *max_at);
    for (uint32_t i = from; i < to; i++) {
        int64_t value = extremes->value(extremes->curve, i);
        if (value < min) {
            min = value;
            *min_at = i;
        }
        if (value > max) {
            max = value;
            *max_at = i;
        }
    }
}

/* What a value costs to get, in bytes of a column. */
enum { VALUE_BYTES = 32 };

static void slice_build(void *task, size_t slice, size_t first, size_t end)
{
    struct extremes *extremes = task;
    (void)slice;
    for (size_t i = first; i < end; i++) {
        uint32_t from = (uint32_t)i * EXTREMES_BLOCK;
        extremes->min_at[i] = extremes->max_at[i] = from;
        extremes_walk(extremes, from, from + EXTREMES_BLOCK, &extremes->min_at[i], &extremes->max_at[i]);
    }
}

void extremes_build(struct extremes *extremes, thin_value *value, const void *curve, uint32_t count,
                    const struct workers *workers, struct arena *arena)
{
    size_t blocks = (size_t)count / EXTREMES_BLOCK + 1;
    *extremes = (struct extremes){value, curve, count, arena_array(arena, uint32_t, blocks),
                                  arena_array(arena, uint32_t, blocks)};
    workers_range(workers, count / EXTREMES_BLOCK, EXTREMES_BLOCK * VALUE_BYTES, slice_build, extremes);
}

void extremes_of(const struct extremes *extremes, uint32_t from, uint32_t to, uint32_t *min_at, uint32_t *max_at)
{
    uint32_t first = from / EXTREMES_BLOCK + 1, end = to / EXTREMES_BLOCK;
    *min_at = *max_at = from;
    if (first >= end) {
        extremes_walk(extremes, from, to, min_at, max_at);
        return;
    }
    extremes_walk(extremes, from, first * EXTREMES_BLOCK, min_at, max_at);
    for (uint32_t i = first; i < end; i++) {
        if (extremes->value(extremes->curve, extremes->min_at[i]) < extremes->value(extremes->curve, *min_at))
            *min_at = extremes->min_at[i];
        if (extremes->value(extremes->curve, extremes->max_at[i]) > extremes->value(extremes->curve, *max_at))
            *max_at = extremes->max_at[i];
    }
    extremes_walk(extremes, end * EXTREMES_BLOCK, to, min_at, max_at);
}
