/* SPDX-License-Identifier: Apache-2.0
 * held_blocks.c: see held_blocks.h. */
#include "model/memory_profile/held_blocks.h"

#include "memory/allocator/caching_settings.h"

#include <stdlib.h>

struct finding_blocks {
    const struct memory_profile_pool *pool;
    const struct torch_snapshot *snapshot;
    struct map ends;  /* memory_profile_held_blocks_ends */
    struct map asked; /* addresses whose free was requested before the moment: events that had happened by then */
    struct map ever;  /* the same of the whole trace */
    struct chunks blocks;
};

static int by_address(const void *left, const void *right)
{
    const struct memory_profile_held_block *a = left, *b = right;
    return ORDER(a->address, b->address) ?: ORDER(a->event, b->event);
}

bool memory_profile_held_blocks_is_end(const struct memory_profile_pool *pool, const struct torch_block *block)
{
    const struct torch_snapshot *snapshot = pool->profile->events.snapshot;
    return block->state != TORCH_INACTIVE && block->segment < snapshot->segment_count &&
           snapshot->segments[block->segment].device == pool->device;
}

void memory_profile_held_blocks_ends(const struct memory_profile_pool *pool, struct arena *arena, struct map *out)
{
    const struct torch_snapshot *snapshot = pool->profile->events.snapshot;
    map_init(out, arena, 64);
    arena_work(arena, snapshot->block_count);
    for (uint32_t i = 0; i < snapshot->block_count; i++)
        if (memory_profile_held_blocks_is_end(pool, &snapshot->blocks[i]))
            map_put(out, snapshot->blocks[i].address, i, false);
}

static void asked_find(struct finding_blocks *finding, uint32_t rare_count, struct arena *arena)
{
    const struct memory_profile_torch *torch = &finding->pool->torch;
    map_init(&finding->asked, arena, 64);
    map_init(&finding->ever, arena, 64);
    for (uint32_t i = 0; i < torch->event_count; i++) {
        if (torch->events[i].action != TORCH_FREE_REQUESTED)
            continue;
        map_put(&finding->ever, torch->events[i].address, torch->events[i].event_at, true);
        if (i < rare_count)
            map_put(&finding->asked, torch->events[i].address, torch->events[i].event_at, true);
    }
}

/* `at`: how many events had happened when the block came to be. */
static bool is_asked(const struct finding_blocks *finding, uint64_t address, uint32_t at)
{
    uint32_t asked_at = map_get(&finding->asked, address);
    return asked_at != MAP_NONE && asked_at >= at;
}

static uint64_t held_blocks_rounded(int64_t bytes)
{
    const struct caching_settings usual = {.is_expandable = false};
    return (uint64_t)caching_settings_round(&usual, bytes);
}

/* An allocation, or a free of what was there before. `end`: the snapshot's block that it became; MAP_NONE. */
static void block_add(struct finding_blocks *finding, uint32_t event, uint32_t end, uint32_t born_at)
{
    const struct memory_profile *profile = finding->pool->profile;
    struct memory_profile_held_block block = {
        .address = profile->address[event],
        .requested_bytes = (uint64_t)profile->size_bytes[event],
        .size_bytes = held_blocks_rounded(profile->size_bytes[event]),
        .event = event,
        .block = end == MAP_NONE ? PROFILE_NONE : end,
        .segment = PROFILE_NONE,
        .is_pending = is_asked(finding, profile->address[event], born_at),
    };
    if (end != MAP_NONE)
        block.size_bytes = (uint64_t)finding->snapshot->blocks[end].size_bytes;
    CHUNKS_ADD(&finding->blocks, struct memory_profile_held_block, block);
}

static void of_events(struct finding_blocks *finding, const struct memory_profile_moment *moment)
{
    const struct memory_profile_pool *pool = finding->pool;
    const struct memory_profile *profile = pool->profile;
    for (uint32_t at = 0; at < pool->count; at++) {
        uint32_t event = pool->first + at;
        if (!memory_profile_is_open(pool, event, moment->count))
            continue;
        bool is_free = memory_profile_is_free(profile, event);
        bool is_to_end = !is_free && profile->partner[event] == PROFILE_NONE;
        uint32_t end = is_to_end ? map_get(&finding->ends, profile->address[event]) : MAP_NONE;
        block_add(finding, event, end, is_free ? 0 : at + 1);
    }
}

static void of_end(struct finding_blocks *finding)
{
    const struct memory_profile_torch *torch = &finding->pool->torch;
    for (uint32_t i = 0; i < torch->kept_count; i++) {
        const struct torch_block *block = &finding->snapshot->blocks[torch->kept[i]];
        bool is_pending = is_asked(finding, block->address, 0);
        if (block->state == TORCH_PENDING_FREE && !is_pending)
            is_pending = map_get(&finding->ever, block->address) == MAP_NONE; /* before the recording began */
        CHUNKS_ADD(&finding->blocks, struct memory_profile_held_block,
                   ((struct memory_profile_held_block){block->address, (uint64_t)block->size_bytes,
                                                       (uint64_t)block->requested_bytes, PROFILE_NONE, torch->kept[i],
                                                       PROFILE_NONE, is_pending}));
    }
}

void memory_profile_held_blocks_find(const struct memory_profile_pool *pool, const struct memory_profile_moment *moment,
                                     struct arena *arena, struct memory_profile_held *out)
{
    struct finding_blocks finding = {.pool = pool, .snapshot = pool->profile->events.snapshot};
    chunks_init(&finding.blocks, arena, sizeof(struct memory_profile_held_block));
    memory_profile_held_blocks_ends(pool, arena, &finding.ends);
    asked_find(&finding, moment->rare_count, arena);
    of_events(&finding, moment);
    of_end(&finding);
    out->block_count = (uint32_t)finding.blocks.count;
    out->blocks = chunks_copy(&finding.blocks, arena);
    qsort(out->blocks, out->block_count, sizeof(*out->blocks), by_address);
}

const uint32_t *memory_profile_held_blocks_kept(const struct memory_profile_pool *pool, struct arena *arena,
                                                uint32_t *count)
{
    const struct memory_profile *profile = pool->profile;
    const struct torch_snapshot *snapshot = profile->events.snapshot;
    struct arena *scratch = arena_child(arena);
    struct chunks kept;
    struct map ends;
    memory_profile_held_blocks_ends(pool, scratch, &ends);
    bool *is_told = arena_array(scratch, bool, (size_t)snapshot->block_count + 1);
    for (uint32_t event = pool->first; event < pool->first + pool->count && ends.count > 0; event++) {
        bool is_open = !memory_profile_is_free(profile, event) && profile->partner[event] == PROFILE_NONE;
        uint32_t end = is_open ? map_get(&ends, profile->address[event]) : MAP_NONE;
        if (end != MAP_NONE)
            is_told[end] = true;
    }
    chunks_init(&kept, scratch, sizeof(uint32_t));
    for (uint32_t i = 0; i < snapshot->block_count; i++)
        if (!is_told[i] && map_get(&ends, snapshot->blocks[i].address) == i)
            CHUNKS_ADD(&kept, uint32_t, i);
    *count = (uint32_t)kept.count;
    const uint32_t *copy = chunks_copy(&kept, arena);
    arena_free(scratch);
    return copy;
}
