/* SPDX-License-Identifier: Apache-2.0
 * thin.c: see thin.h. */
#include "views/memory_profile/thin.h"

uint32_t *memory_profile_thin(const struct memory_profile_pool *pool, const struct memory_profile_window *window,
                              uint32_t width, struct arena *arena, uint32_t *count)
{
    uint32_t range = window->end - window->first;
    uint32_t *at = arena_raw(arena, ((size_t)(range < width * 4 ? range : width * 4) + 1) * sizeof(*at));
    double span = (double)window->to_ps - (double)window->from_ps;
    *count = 0;
    if (range <= width * 4) {
        for (uint32_t i = 0; i < range; i++)
            at[(*count)++] = window->first + i;
        return at;
    }
    for (uint32_t column = 0, first = window->first; column < width; column++) {
        int64_t to_ps = window->from_ps + (int64_t)(span * (column + 1) / width);
        uint32_t end = column + 1 == width ? window->end : memory_profile_after(pool, to_ps), min_at, max_at;
        end = end < window->end ? end : window->end;
        if (end <= first)
            continue;
        extremes_of(&pool->extremes, first, end, &min_at, &max_at);
        uint32_t kept[4] = {first, min_at < max_at ? min_at : max_at, min_at < max_at ? max_at : min_at, end - 1};
        for (int i = 0; i < 4; i++)
            if (*count == 0 || kept[i] > at[*count - 1])
                at[(*count)++] = kept[i];
        first = end;
    }
    return at;
}
