/* SPDX-License-Identifier: Apache-2.0
 * extremes.c: see extremes.h. */
#include "memory/extremes.h"

static void walk(const struct extremes *extremes, uint32_t from, uint32_t to, uint32_t *least_at, uint32_t *most_at)
{
    int64_t least = extremes->value(extremes->curve, *least_at), most = extremes->value(extremes->curve, *most_at);
    for (uint32_t i = from; i < to; i++) {
        int64_t value = extremes->value(extremes->curve, i);
        if (value < least) {
            least = value;
            *least_at = i;
        }
        if (value > most) {
            most = value;
            *most_at = i;
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
        extremes->least_at[i] = extremes->most_at[i] = from;
        walk(extremes, from, from + EXTREMES_BLOCK, &extremes->least_at[i], &extremes->most_at[i]);
    }
}

void extremes_build(struct extremes *extremes, thin_value *value, const void *curve, uint32_t count,
                    const struct hands *hands, struct arena *arena)
{
    size_t blocks = (size_t)count / EXTREMES_BLOCK + 1;
    *extremes = (struct extremes){value, curve, count, arena_array(arena, uint32_t, blocks),
                                  arena_array(arena, uint32_t, blocks)};
    hands_range(hands, count / EXTREMES_BLOCK, EXTREMES_BLOCK * VALUE_BYTES, slice_build, extremes);
}

void extremes_of(const struct extremes *extremes, uint32_t from, uint32_t to, uint32_t *least_at, uint32_t *most_at)
{
    uint32_t first = from / EXTREMES_BLOCK + 1, end = to / EXTREMES_BLOCK;
    *least_at = *most_at = from;
    if (first >= end) {
        walk(extremes, from, to, least_at, most_at);
        return;
    }
    walk(extremes, from, first * EXTREMES_BLOCK, least_at, most_at);
    for (uint32_t i = first; i < end; i++) {
        if (extremes->value(extremes->curve, extremes->least_at[i]) < extremes->value(extremes->curve, *least_at))
            *least_at = extremes->least_at[i];
        if (extremes->value(extremes->curve, extremes->most_at[i]) > extremes->value(extremes->curve, *most_at))
            *most_at = extremes->most_at[i];
    }
    walk(extremes, end * EXTREMES_BLOCK, to, least_at, most_at);
}
