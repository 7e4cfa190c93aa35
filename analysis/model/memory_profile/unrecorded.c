/* SPDX-License-Identifier: Apache-2.0
 * unrecorded.c: see unrecorded.h. An event that is its own partner has none, and is open at no moment. */
#include "model/memory_profile/unrecorded.h"

#include "read/torch/torch_snapshot.h"

/* Where more is missing than this, which is which is not looked for. */
enum { MAX_LOOKED = 64 };

struct settling {
    struct memory_profile *profile;
    struct memory_profile_pool *pool;
    struct arena *scratch;
    uint32_t looked_count;
};

static bool is_lone(const struct settling *settling, uint32_t event, bool is_free)
{
    return memory_profile_is_free(settling->profile, event) == is_free &&
           settling->profile->partner[event] == PROFILE_NONE;
}

/* The latest allocation before `end` that nothing ends, of this size; of any for -1. PROFILE_NONE: there is none. */
static uint32_t lone_allocation(struct settling *settling, uint32_t end, int64_t bytes)
{
    if (settling->looked_count++ >= MAX_LOOKED)
        return PROFILE_NONE;
    arena_work(settling->scratch, (end - settling->pool->first) / 4);
    for (uint32_t at = end; at-- > settling->pool->first;) {
        int64_t size_bytes = settling->profile->size_bytes[at];
        if (is_lone(settling, at, false) && size_bytes > 0 && (bytes < 0 || size_bytes == bytes))
            return at;
    }
    return PROFILE_NONE;
}

static void allocation_end(struct settling *settling, uint32_t allocation, uint32_t end)
{
    settling->profile->partner[allocation] = end;
    settling->pool->pairs.never_freed--;
}

static void free_unclaim(struct settling *settling, uint32_t freed)
{
    settling->profile->partner[freed] = freed;
    settling->pool->pairs.before_window--;
}

/* ---- gaps ---- */

static void gap_settle(struct settling *settling, uint32_t at, int64_t gap)
{
    const struct memory_profile_pool *pool = settling->pool;
    uint32_t allocation = gap < 0 ? lone_allocation(settling, at, -gap) : PROFILE_NONE;
    if (allocation != PROFILE_NONE)
        allocation_end(settling, allocation, at);
    for (uint32_t i = at + 1; gap > 0 && i < pool->first + pool->count; i++) {
        if (!is_lone(settling, i, true) || settling->profile->size_bytes[i] != gap)
            continue;
        free_unclaim(settling, i);
        break;
    }
}

static void gaps_settle(struct settling *settling)
{
    const struct memory_profile_pool *pool = settling->pool;
    const struct memory_profile *profile = settling->profile;
    uint32_t found_count = 0;
    for (uint32_t i = pool->first + 1; i < pool->first + pool->count && found_count < MAX_LOOKED; i++) {
        if ((profile->flags[i] & PROFILE_OFF_CHAIN) == 0)
            continue;
        int64_t change = memory_profile_is_free(profile, i) ? -profile->size_bytes[i] : profile->size_bytes[i];
        gap_settle(settling, i, profile->heap_bytes[i] - profile->heap_bytes[i - 1] - change);
        found_count++;
    }
}

/* ---- what was there before ---- */

static int64_t claims_settle(struct settling *settling)
{
    const struct memory_profile_pool *pool = settling->pool;
    const struct memory_profile *profile = settling->profile;
    int64_t claimed_bytes = 0;
    for (uint32_t i = pool->first; i < pool->first + pool->count; i++)
        claimed_bytes += is_lone(settling, i, true) ? profile->size_bytes[i] : 0;
    for (uint32_t i = pool->first + pool->count; i-- > pool->first && claimed_bytes > pool->base_bytes;) {
        if (!is_lone(settling, i, true) || profile->size_bytes[i] == 0)
            continue;
        uint32_t allocation = lone_allocation(settling, i, profile->size_bytes[i]);
        claimed_bytes -= profile->size_bytes[i];
        free_unclaim(settling, i);
        if (allocation == PROFILE_NONE)
            continue;
        allocation_end(settling, allocation, i);
        settling->profile->partner[i] = allocation;
    }
    return claimed_bytes;
}

/* ---- rows ---- */

/* What is open after each event less what is open before it. */
static int64_t *changes_make(const struct settling *settling)
{
    const struct memory_profile_pool *pool = settling->pool;
    const struct memory_profile *profile = settling->profile;
    int64_t *changes = arena_array(settling->scratch, int64_t, (size_t)pool->count + 1);
    for (uint32_t i = pool->first; i < pool->first + pool->count; i++) {
        uint32_t partner = profile->partner[i];
        bool is_free = memory_profile_is_free(profile, i);
        if (is_free && partner == PROFILE_NONE)
            changes[i - pool->first] -= profile->size_bytes[i];
        if (is_free || partner == i)
            continue;
        changes[i - pool->first] += profile->size_bytes[i];
        if (partner != PROFILE_NONE)
            changes[partner - pool->first] -= profile->size_bytes[i];
    }
    return changes;
}

/* Where rows are more than is in use, some that are never freed were. */
static void rows_settle(struct settling *settling, int64_t claimed_bytes)
{
    const struct memory_profile_pool *pool = settling->pool;
    const struct memory_profile *profile = settling->profile;
    const int64_t *changes = changes_make(settling);
    int64_t open_bytes = claimed_bytes > pool->base_bytes ? claimed_bytes : pool->base_bytes;
    for (uint32_t i = pool->first; i < pool->first + pool->count; i++) {
        open_bytes += changes[i - pool->first];
        while (open_bytes > profile->heap_bytes[i] && settling->looked_count < MAX_LOOKED) {
            uint32_t allocation = lone_allocation(settling, i + 1, open_bytes - profile->heap_bytes[i]);
            allocation = allocation != PROFILE_NONE ? allocation : lone_allocation(settling, i + 1, -1);
            if (allocation == PROFILE_NONE)
                break;
            allocation_end(settling, allocation, i);
            open_bytes -= profile->size_bytes[allocation];
        }
    }
}

void memory_profile_unrecorded_settle(struct memory_profile *profile, struct memory_profile_pool *pool,
                                      struct arena *scratch)
{
    const struct torch_snapshot *snapshot = profile->events.snapshot;
    struct settling settling = {.profile = profile, .pool = pool, .scratch = scratch};
    bool is_whole = pool->break_count == 0 && pool->pairs.before_window == 0;
    if (snapshot == NULL || !snapshot->is_of_profiler || pool->is_unpaired || is_whole)
        return;
    if (pool->base_bytes < 0)
        pool->base_bytes = 0;
    gaps_settle(&settling);
    rows_settle(&settling, claims_settle(&settling));
    arena_free(scratch);
}
