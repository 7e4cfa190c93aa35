/* SPDX-License-Identifier: Apache-2.0 */
#include "memory/thin.h"

#include "base/select.h"
#include "base/sort.h"

#include <stdlib.h>

static void column(thin_value *value, const void *curve, uint32_t from, uint32_t to, uint32_t *steps, uint32_t *count)
{
    uint32_t min_at = from, max_at = from;
    int64_t min = value(curve, from), max = min;
    for (uint32_t step = from + 1; step < to; step++) {
        int64_t now = value(curve, step);
        if (now < min) {
            min = now;
            min_at = step;
        }
        if (now > max) {
            max = now;
            max_at = step;
        }
    }
    uint32_t kept[4] = {from, min_at < max_at ? min_at : max_at, min_at < max_at ? max_at : min_at, to - 1};
    for (int i = 0; i < 4; i++)
        if (*count == 0 || kept[i] > steps[*count - 1])
            steps[(*count)++] = kept[i];
}

uint32_t *thin_steps(thin_value *value, const void *curve, uint32_t from, uint32_t to, uint32_t columns,
                     struct arena *arena, uint32_t *count)
{
    uint32_t range = to > from ? to - from : 0;
    *count = 0;
    if (columns == 0)
        columns = 1;
    if (range <= (uint64_t)columns * 4) { /* all of them fit */
        uint32_t *steps = arena_array(arena, uint32_t, (size_t)range + 1);
        for (uint32_t i = 0; i < range; i++)
            steps[(*count)++] = from + i;
        return steps;
    }
    uint32_t *steps = arena_array(arena, uint32_t, (size_t)columns * 4);
    for (uint32_t i = 0; i < columns; i++) {
        uint32_t begin = from + (uint32_t)((uint64_t)range * i / columns);
        uint32_t end = from + (uint32_t)((uint64_t)range * (i + 1) / columns);
        column(value, curve, begin, end, steps, count);
    }
    return steps;
}

struct peak {
    uint32_t step;
    int64_t value;
};

static int larger_first(const void *left, const void *right, void *context)
{
    (void)context;
    const struct peak *a = left, *b = right;
    return ORDER(b->value, a->value) ?: ORDER(a->step, b->step);
}

/* The largest so far, and as many that came after; the smaller half of a full list goes. */
struct peaks {
    struct peak *items;
    uint32_t count, max;
    struct arena *arena;
};

static void peak_add(struct peaks *peaks, uint32_t step, int64_t value)
{
    if (peaks->count == peaks->max * 2) {
        select_smallest(peaks->arena, peaks->items, peaks->count, sizeof(*peaks->items), peaks->max, larger_first,
                        NULL);
        peaks->count = peaks->max;
    }
    peaks->items[peaks->count++] = (struct peak){step, value};
}

/* One walk: climb to a top, and count it once the curve has fallen by `min`
 * below it; then look for the valley the same way. */
uint32_t *thin_peaks(thin_value *value, const void *curve, uint32_t count, int64_t min, uint32_t max,
                     struct arena *arena, uint32_t *peak_count)
{
    struct peaks peaks = {arena_array(arena, struct peak, (size_t)max * 2 + 2), 0, max + 1, arena};
    uint32_t top_at = 0;
    int64_t top = 0, valley = 0;
    bool is_climbing = true;
    if (min < 1)
        min = 1;
    for (uint32_t step = 0; step < count; step++) {
        int64_t now = value(curve, step);
        if (step == 0 || (is_climbing && now > top)) {
            top = now;
            top_at = step;
        } else if (is_climbing && top - now >= min) {
            peak_add(&peaks, top_at, top);
            is_climbing = false;
            valley = now;
        } else if (!is_climbing && now < valley) {
            valley = now;
        } else if (!is_climbing && now - valley >= min) {
            is_climbing = true;
            top = now;
            top_at = step;
        }
    }
    if (is_climbing && count > 0)
        peak_add(&peaks, top_at, top);
    sort_items(peaks.items, peaks.count, sizeof(*peaks.items), larger_first, NULL);
    *peak_count = peaks.count < max ? peaks.count : max;
    uint32_t *steps = arena_array(arena, uint32_t, (size_t)*peak_count + 1);
    for (uint32_t i = 0; i < *peak_count; i++)
        steps[i] = peaks.items[i].step;
    return steps;
}
