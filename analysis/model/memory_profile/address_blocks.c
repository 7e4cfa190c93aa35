/* SPDX-License-Identifier: Apache-2.0
 * address_blocks.c: see address_blocks.h. */
#include "model/memory_profile/address_blocks.h"

#include "model/memory_profile/failures.h"

#include <stdlib.h>

static int by_address(const void *left, const void *right)
{
    const struct memory_profile_block *a = left, *b = right;
    return ORDER(a->address, b->address) ?: ORDER(a->event, b->event);
}

bool memory_profile_address_blocks_is_before(const struct memory_profile *profile,
                                             const struct memory_profile_block *block)
{
    return block->event == PROFILE_NONE || memory_profile_is_free(profile, block->event);
}

/* ---- of a snapshot ---- */

struct memory_profile_block memory_profile_address_blocks_of_held(const struct memory_profile_held_block *held,
                                                                  uint64_t end)
{
    uint64_t room = end - held->address;
    return (struct memory_profile_block){held->address,    held->size_bytes < room ? held->size_bytes : room,
                                         held->event,      held->block,
                                         held->is_pending, false};
}

static void wall_add(struct memory_profile_address_blocks *out, uint64_t begin, uint64_t end)
{
    struct memory_profile_block *last = out->count > 0 ? &out->items[out->count - 1] : NULL;
    if (last != NULL && last->is_wall && last->address + last->size == begin)
        last->size = end - last->address;
    else
        out->items[out->count++] = (struct memory_profile_block){
            .address = begin, .size = end - begin, .event = PROFILE_NONE, .kept = PROFILE_NONE, .is_wall = true};
}

static void held_take(const struct memory_profile_held *held, const struct memory_profile_failure *failure,
                      struct arena *arena, struct memory_profile_address_blocks *out)
{
    uint64_t end = held->segments[0].address;
    out->items = arena_array(arena, struct memory_profile_block,
                             (size_t)held->block_count + 2 * (size_t)held->segment_count + 1);
    out->first = end;
    for (uint32_t s = 0; s < held->segment_count; s++) {
        const struct memory_profile_segment *segment = &held->segments[s];
        wall_add(out, end, segment->address);
        end = segment->address + segment->size_bytes;
        out->last = end;
        if (failure != NULL && !memory_profile_failures_is_usable(failure, segment)) {
            wall_add(out, segment->address, end);
            continue;
        }
        for (uint32_t b = 0; b < segment->block_count; b++) {
            const struct memory_profile_held_block *block = &held->blocks[segment->first_block + b];
            out->items[out->count++] = memory_profile_address_blocks_of_held(block, end);
        }
        out->known_bytes += segment->requested_bytes;
    }
    wall_add(out, end, end);
}

/* ---- of a trace ---- */

static void of_trace(const struct memory_profile_pool *pool, const struct memory_profile_moment *moment,
                     struct arena *arena, struct memory_profile_address_blocks *out)
{
    const struct memory_profile *profile = pool->profile;
    uint32_t count = 0;
    for (uint32_t at = 0; at < pool->count; at++) {
        uint32_t event = pool->first + at;
        if ((profile->flags[event] & MEMORY_HAS_ADDRESS) == 0)
            continue;
        uint64_t address = profile->address[event], end = address + (uint64_t)profile->size_bytes[event];
        out->first = address < out->first ? address : out->first;
        out->last = end >= address && end > out->last ? end : out->last;
        count += memory_profile_is_open(pool, event, moment->count);
    }
    out->items = arena_array(arena, struct memory_profile_block, (size_t)count + 1);
    for (uint32_t at = 0; at < pool->count; at++) {
        uint32_t event = pool->first + at;
        if ((profile->flags[event] & MEMORY_HAS_ADDRESS) == 0 || !memory_profile_is_open(pool, event, moment->count))
            continue;
        out->items[out->count++] = (struct memory_profile_block){
            profile->address[event], (uint64_t)profile->size_bytes[event], event, PROFILE_NONE, false, false};
        out->known_bytes += (uint64_t)profile->size_bytes[event];
    }
    qsort(out->items, out->count, sizeof(*out->items), by_address);
}

void memory_profile_address_blocks_find(const struct memory_profile_pool *pool,
                                        const struct memory_profile_moment *moment,
                                        const struct memory_profile_failure *failure, struct arena *arena,
                                        struct memory_profile_address_blocks *out)
{
    const struct memory_profile *profile = pool->profile;
    struct memory_profile_held held = {.segment_count = 0};
    *out = (struct memory_profile_address_blocks){.first = UINT64_MAX};
    if (pool->torch.is_known)
        memory_profile_held_find(pool, moment, arena, &held);
    if (held.segment_count > 0)
        held_take(&held, failure, arena, out);
    else
        of_trace(pool, moment, arena, out);
    uint32_t state = pool->first + (moment->count > 0 ? moment->count - 1 : 0);
    int64_t heap = moment->count > 0 ? profile->heap_bytes[state] : pool->base_bytes;
    int64_t known = (int64_t)(held.segment_count > 0 ? held.requested_bytes : out->known_bytes);
    out->unknown_bytes = heap > known ? heap - known : 0;
}
