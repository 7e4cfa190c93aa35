/* SPDX-License-Identifier: Apache-2.0
 * waste.c: see waste.h. */
#include "model/memory_profile/waste.h"

enum { BLOCK = 256 };

int64_t memory_profile_waste_chunk(const struct memory_profile *profile, uint32_t event)
{
    int64_t free_bytes = memory_profile_free_bytes(profile, event);
    if (free_bytes == MEMORY_UNKNOWN || (profile->flags[event] & MEMORY_HAS_FRAGMENTATION) == 0)
        return MEMORY_UNKNOWN;
    return free_bytes <= 0 ? 0 : (int64_t)((double)free_bytes * (1 - memory_profile_fragmentation_of(profile, event)));
}

bool memory_profile_waste_matters(const struct memory_profile *profile, uint32_t event)
{
    const int64_t chunk = memory_profile_waste_chunk(profile, event);
    if (chunk == MEMORY_UNKNOWN)
        return false;
    const int64_t free_bytes = memory_profile_free_bytes(profile, event);
    const double whole = (double)free_bytes + (double)memory_profile_in_use_bytes(profile, event);
    return (double)chunk * 100 < (double)free_bytes * WASTE_WHOLE_PERCENT &&
           (double)free_bytes * 100 < whole * WASTE_SCARCE_PERCENT;
}

int64_t memory_profile_waste_request(const struct memory_profile *profile, uint32_t event)
{
    return (profile->flags[event] & MEMORY_HAS_REQUESTED) != 0 ? memory_profile_requested_bytes(profile, event)
                                                               : profile->size_bytes[event];
}

bool memory_profile_waste_fails(const struct memory_profile_pool *pool, uint32_t event)
{
    int64_t chunk = memory_profile_waste_chunk(pool->profile, event);
    return chunk != MEMORY_UNKNOWN && pool->largest_request != PROFILE_NONE && pool->largest_request_bytes > chunk;
}

/* No more than memory_profile_waste_chunk, and near it: without finding out which decimals were recorded. */
static int64_t chunk_at_min(const struct memory_profile *profile, uint32_t event)
{
    const double float_error = 1e-7; /* of a number up to 1 */
    int64_t free_bytes = memory_profile_free_bytes(profile, event);
    if (free_bytes <= 0) /* also when it is not known */
        return INT64_MIN;
    return (int64_t)((double)free_bytes * (1 - (double)profile->fragmentation[event] - float_error)) - 1;
}

/* Event by event; the time of the last one counts up to the next, if `has_next`. */
static void waste_walk(const struct memory_profile_pool *pool, uint32_t first, uint32_t end, bool has_next,
                       struct memory_profile_waste_range *range)
{
    const struct memory_profile *profile = pool->profile;
    int64_t min =
        range->min_at == PROFILE_NONE ? INT64_MAX : memory_profile_waste_chunk(profile, pool->first + range->min_at);
    int64_t request = pool->largest_request == PROFILE_NONE ? -1 : pool->largest_request_bytes;
    for (uint32_t i = first; i < end; i++) {
        uint32_t event = pool->first + i;
        int64_t at_least = chunk_at_min(profile, event);
        if (at_least >= min && at_least >= request)
            continue; /* nearly all: neither the least, nor too small */
        int64_t chunk = memory_profile_waste_chunk(profile, event);
        if (chunk == MEMORY_UNKNOWN)
            continue;
        if (chunk < min) {
            min = chunk;
            range->min_at = i;
        }
        if (request > chunk && (has_next || i + 1 < end))
            range->failing_ps += profile->time_ps[event + 1] - profile->time_ps[event];
    }
}

static void largest_find(struct memory_profile_pool *pool)
{
    const struct memory_profile *profile = pool->profile;
    pool->largest_request = PROFILE_NONE;
    for (uint32_t i = pool->first; i < pool->first + pool->count; i++) {
        int64_t bytes = memory_profile_waste_request(profile, i);
        if (!memory_profile_is_free(profile, i) &&
            (pool->largest_request == PROFILE_NONE || bytes > pool->largest_request_bytes)) {
            pool->largest_request = i;
            pool->largest_request_bytes = bytes;
        }
    }
}

static void slice_build(void *task, size_t slice, size_t first, size_t end)
{
    struct memory_profile_pool *pool = task;
    (void)slice;
    for (size_t i = first; i < end; i++) {
        pool->waste[i].min_at = PROFILE_NONE;
        waste_walk(pool, (uint32_t)i * BLOCK, (uint32_t)(i + 1) * BLOCK, true, &pool->waste[i]);
    }
}

void memory_profile_waste_build(struct memory_profile_pool *pool, const struct workers *workers, struct arena *arena)
{
    largest_find(pool);
    if (!pool->has_free || !pool->has_fragmentation)
        return;
    size_t count = pool->count > 0 ? (pool->count - 1) / BLOCK : 0; /* each with an event behind it */
    pool->waste = arena_array(arena, struct memory_profile_waste_range, count + 1);
    workers_range(workers, count, BLOCK * PROFILE_EVENT_BYTES, slice_build, pool);
}

struct memory_profile_waste_range memory_profile_waste_of(const struct memory_profile_pool *pool, uint32_t first,
                                                          uint32_t end)
{
    struct memory_profile_waste_range range = {PROFILE_NONE, 0};
    uint32_t block = (first + BLOCK - 1) / BLOCK, last = (end - 1) / BLOCK;
    if (pool->waste == NULL)
        return range;
    if (block >= last) {
        waste_walk(pool, first, end, false, &range);
        return range;
    }
    waste_walk(pool, first, block * BLOCK, true, &range);
    for (; block < last; block++) {
        const struct memory_profile_waste_range *whole = &pool->waste[block];
        range.failing_ps += whole->failing_ps;
        bool is_less =
            whole->min_at != PROFILE_NONE &&
            (range.min_at == PROFILE_NONE || memory_profile_waste_chunk(pool->profile, pool->first + whole->min_at) <
                                                 memory_profile_waste_chunk(pool->profile, pool->first + range.min_at));
        range.min_at = is_less ? whole->min_at : range.min_at;
    }
    waste_walk(pool, last * BLOCK, end, false, &range);
    return range;
}

uint32_t memory_profile_waste_worst(const struct memory_profile_pool *pool)
{
    const struct memory_profile *profile = pool->profile;
    uint32_t worst = PROFILE_NONE;
    int64_t least = INT64_MAX;
    if (pool->waste == NULL || pool->largest_request == PROFILE_NONE)
        return worst;
    for (uint32_t i = 0; i < pool->count; i++) {
        bool is_whole = i % BLOCK == 0 && i / BLOCK < (pool->count - 1) / BLOCK;
        if (is_whole && pool->waste[i / BLOCK].failing_ps == 0) {
            i += BLOCK - 1; /* nearly all blocks: nothing would have failed for any time in them */
            continue;
        }
        if (memory_profile_free_bytes(profile, pool->first + i) < pool->largest_request_bytes)
            continue;
        int64_t chunk = memory_profile_waste_chunk(profile, pool->first + i);
        if (chunk == MEMORY_UNKNOWN || chunk >= pool->largest_request_bytes || chunk >= least)
            continue;
        least = chunk;
        worst = i;
    }
    return worst;
}
