/* SPDX-License-Identifier: Apache-2.0
 * address_blocks.c: see address_blocks.h. */
#include "tool/memory_profile/address_blocks.h"

#include <stdlib.h>

static int by_address(const void *left, const void *right)
{
    const struct memory_profile_block *a = left, *b = right;
    return ORDER(a->address, b->address) ?: ORDER(a->event, b->event);
}

static bool is_there(const struct memory_profile_pool *pool, uint32_t moment_count, uint32_t at)
{
    const struct memory_profile *profile = pool->profile;
    uint32_t event = pool->first + at, partner = profile->partner[event];
    if (memory_profile_is_free(profile, event)) /* of what was there before */
        return partner == PROFILE_NONE && at >= moment_count;
    return at < moment_count && (partner == PROFILE_NONE || partner - pool->first >= moment_count);
}

void memory_profile_address_blocks_find(const struct memory_profile_pool *pool,
                                        const struct memory_profile_moment *moment, struct arena *arena,
                                        struct memory_profile_address_blocks *out)
{
    const struct memory_profile *profile = pool->profile;
    uint32_t count = 0;
    *out = (struct memory_profile_address_blocks){.first = UINT64_MAX};
    for (uint32_t at = 0; at < pool->count; at++) {
        uint32_t event = pool->first + at;
        if ((profile->flags[event] & MEMORY_HAS_ADDRESS) == 0)
            continue;
        uint64_t address = profile->address[event], end = address + (uint64_t)profile->size_bytes[event];
        out->first = address < out->first ? address : out->first;
        out->last = end >= address && end > out->last ? end : out->last;
        count += is_there(pool, moment->count, at);
    }
    out->items = arena_array(arena, struct memory_profile_block, (size_t)count + 1);
    for (uint32_t at = 0; at < pool->count; at++) {
        uint32_t event = pool->first + at;
        if ((profile->flags[event] & MEMORY_HAS_ADDRESS) == 0 || !is_there(pool, moment->count, at))
            continue;
        out->items[out->count++] =
            (struct memory_profile_block){profile->address[event], (uint64_t)profile->size_bytes[event], event};
        out->known_bytes += (uint64_t)profile->size_bytes[event];
    }
    qsort(out->items, out->count, sizeof(*out->items), by_address);
    uint32_t state = pool->first + (moment->count > 0 ? moment->count - 1 : 0);
    int64_t heap = moment->count > 0 ? profile->heap_bytes[state] : pool->base_bytes;
    out->unknown_bytes = heap > (int64_t)out->known_bytes ? heap - (int64_t)out->known_bytes : 0;
}
