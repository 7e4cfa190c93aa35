/* SPDX-License-Identifier: Apache-2.0
 * replay_walk.c: see replay_walk.h. */
#include "model/memory_profile/replay_walk.h"

/* Where nothing recorded says addresses: below those of GPUs, and above them, far apart. */
#define MADE_ADDRESS (UINT64_C(1) << 57)
#define MADE_EXPANDABLE (UINT64_C(1) << 58)
#define MADE_UPWARDS (UINT64_C(3) << 57)
#define EXPANDABLE_APART (UINT64_C(1) << 53)

/* ---- addresses ---- */

uint64_t replay_walk_address(struct replay_walk *walk, int64_t size_bytes, bool is_expandable)
{
    if (is_expandable)
        return walk->made_expandable += EXPANDABLE_APART;
    if (!walk->is_upwards)
        return walk->made_address -= (uint64_t)size_bytes;
    uint64_t address = walk->made_address;
    walk->made_address += (uint64_t)size_bytes;
    return address;
}

/* Segments of a size are given out in the order in which they were recorded: so what is asked for as it was recorded
 * lies where it lay. */
static uint64_t place_as_made(void *context, int64_t size_bytes, bool is_expandable)
{
    struct replay_walk *walk = context;
    struct map_slot *slot = is_expandable || walk->is_upwards ? NULL : map_at(&walk->same_size, (uint64_t)size_bytes);
    if (slot == NULL || (uint32_t)slot->value == MAP_NONE)
        return replay_walk_address(walk, size_bytes, is_expandable);
    uint32_t at = (uint32_t)slot->value;
    if (walk->next[at] == MAP_NONE)
        map_clear(&walk->same_size, slot);
    else
        slot->value = walk->next[at];
    return walk->ground->pool->torch.events[at].address;
}

static void places_make(struct replay_walk *walk)
{
    const struct memory_profile_torch *torch = &walk->ground->pool->torch;
    map_init(&walk->same_size, walk->arena, 64);
    walk->next = arena_array(walk->arena, uint32_t, (size_t)torch->event_count + 1);
    walk->made_address = MADE_ADDRESS;
    walk->made_expandable = MADE_EXPANDABLE;
    for (uint32_t i = torch->event_count; i-- > 0;) {
        const struct torch_event *event = &torch->events[i];
        if (event->action != TORCH_SEGMENT_ALLOC)
            continue;
        walk->next[i] = map_get(&walk->same_size, (uint64_t)event->size_bytes);
        map_put(&walk->same_size, (uint64_t)event->size_bytes, i, true);
        walk->made_address =
            event->address > 0 && event->address < walk->made_address ? event->address : walk->made_address;
    }
    walk->made_address = walk->is_upwards ? MADE_UPWARDS : walk->made_address;
    walk->caching.place = place_as_made;
    walk->caching.context = walk;
}

/* ---- what was there before ---- */

struct loading {
    struct replay_walk *walk;
    struct caching_loading *expandable; /* of each pool, its segment that grows */
    size_t expandable_capacity;
};

static bool is_small(const struct loading *loading, const struct memory_profile_segment *segment)
{
    if (segment->class != PROFILE_CLASS_UNKNOWN || segment->block_count == 0)
        return segment->class == PROFILE_CLASS_SMALL;
    return loading->walk->ground->held.blocks[segment->first_block].size_bytes <= CACHING_SMALL_BYTES;
}

/* In a large segment no rest of up to 1 MiB is ever free by itself: it is of the block before it. */
static uint64_t end_of(const struct memory_profile_held_block *block, uint64_t next, bool has_rests)
{
    uint64_t end = block->address + block->size_bytes;
    end = end < block->address || end > next ? next : end;
    return has_rests && next - end <= CACHING_SMALL_BYTES ? next : end;
}

static void replay_walk_load(struct loading *loading, struct caching_loading *of, uint64_t from, uint64_t to,
                             const struct memory_profile_held_block *block)
{
    struct replay_walk *walk = loading->walk;
    const struct caching_block given = {.address = from,
                                        .size_bytes = (int64_t)(to - from),
                                        .requested_bytes = block == NULL ? 0 : (int64_t)block->requested_bytes,
                                        .is_used = block != NULL,
                                        .is_pending = block != NULL && block->is_pending,
                                        .is_mapped = true};
    if (to <= from)
        return;
    uint32_t at = caching_load(&walk->caching, of, &given);
    if (block != NULL)
        map_put(&walk->blocks, block->address, at, true);
}

/* Blocks of damaged files may overlap: what begins within another one is left out. */
static void segment_load(struct loading *loading, const struct memory_profile_segment *segment,
                         struct caching_loading *of)
{
    uint64_t to = segment->address, segment_end = segment->address + segment->size_bytes;
    const bool has_rests = !of->is_expandable && !loading->walk->caching.pools[of->pool].is_small;
    for (uint32_t i = 0; i < segment->block_count; i++) {
        const struct memory_profile_held_block *block = &loading->walk->ground->held.blocks[segment->first_block + i];
        if (block->address < to)
            continue;
        uint64_t next = i + 1 < segment->block_count ? block[1].address : segment_end;
        uint64_t end = end_of(block, next > block->address ? next : segment_end, has_rests);
        replay_walk_load(loading, of, to, block->address, NULL);
        replay_walk_load(loading, of, block->address, end, block);
        to = end;
    }
    replay_walk_load(loading, of, to, segment_end, NULL);
}

/* Pieces of a pool that grow are one segment, with addresses between them that have no memory. */
static void expandable_load(struct loading *loading, const struct memory_profile_segment *segment, uint32_t pool)
{
    struct caching *caching = &loading->walk->caching;
    loading->expandable = arena_grown(loading->walk->arena, loading->expandable, (size_t)pool + 1,
                                      &loading->expandable_capacity, sizeof(*loading->expandable));
    struct caching_loading *of = &loading->expandable[pool];
    of->pool = pool;
    of->is_expandable = true;
    if (of->last != CACHING_NONE) {
        const struct caching_block *last = caching_blocks_at(&caching->blocks, of->last);
        uint64_t end = last->address + (uint64_t)last->size_bytes;
        const struct caching_block gap = {.address = end, .size_bytes = (int64_t)(segment->address - end)};
        if (segment->address > end)
            caching_load(caching, of, &gap);
    }
    segment_load(loading, segment, of);
}

static void segments_load(struct loading *loading)
{
    struct caching *caching = &loading->walk->caching;
    const struct memory_profile_held *held = &loading->walk->ground->held;
    for (uint32_t i = 0; i < held->segment_count; i++) {
        const struct memory_profile_segment *segment = &held->segments[i];
        uint32_t pool = caching_pool(caching, segment->stream, segment->pool_id, is_small(loading, segment));
        if (segment->is_expandable) {
            expandable_load(loading, segment, pool);
            continue;
        }
        struct caching_loading of = {.pool = pool};
        segment_load(loading, segment, &of);
        caching_load_end(caching, &of);
    }
    for (size_t pool = 0; pool < loading->expandable_capacity; pool++)
        caching_load_end(caching, &loading->expandable[pool]);
}

/* ---- events ---- */

static uint32_t request(struct replay_walk *walk, int64_t stream, const int64_t pool_id[2], int64_t bytes)
{
    int64_t size = caching_settings_round(&walk->caching.settings, bytes);
    uint32_t pool = caching_pool(&walk->caching, stream, pool_id, size <= CACHING_SMALL_BYTES);
    return caching_allocate(&walk->caching, pool, bytes);
}

uint32_t replay_walk_request(struct replay_walk *walk, uint32_t at)
{
    const struct memory_profile *profile = walk->ground->pool->profile;
    uint32_t event = walk->ground->pool->first + at;
    return replay_walk_request_as(walk, at, profile->address[event], profile->size_bytes[event]);
}

uint32_t replay_walk_request_as(struct replay_walk *walk, uint32_t at, uint64_t address, int64_t bytes)
{
    const struct replay_ground *ground = walk->ground;
    const struct replay_stream *of = replay_streams_of(&ground->streams, at);
    if ((ground->pool->profile->flags[ground->pool->first + at] & MEMORY_HAS_ADDRESS) == 0)
        return CACHING_NONE;
    replay_walk_free(walk, address); /* its free was not recorded */
    uint32_t block = bytes == 0 ? CACHING_NONE : request(walk, of->stream, of->pool_id, bytes);
    if (block != CACHING_NONE)
        map_put(&walk->blocks, address, block, true);
    return block;
}

void replay_walk_free(struct replay_walk *walk, uint64_t address)
{
    struct map_slot *slot = map_at(&walk->blocks, address);
    if ((uint32_t)slot->value == MAP_NONE)
        return;
    caching_free(&walk->caching, (uint32_t)slot->value);
    map_clear(&walk->blocks, slot);
}

void replay_walk_ask_free(struct replay_walk *walk, uint64_t address)
{
    uint32_t block = map_get(&walk->blocks, address);
    if (block != MAP_NONE)
        caching_ask_free(&walk->caching, block);
}

uint32_t replay_walk_try(struct replay_walk *walk, const struct torch_event *event, int64_t bytes)
{
    const int64_t none[2] = {0, 0};
    const struct caching_level allocated = walk->caching.allocated, requested = walk->caching.requested;
    uint32_t block = request(walk, event->stream, none, bytes);
    if (block != CACHING_NONE)
        caching_free(&walk->caching, block);
    walk->caching.allocated = allocated; /* it failed: what was in use is what was recorded */
    walk->caching.requested = requested;
    return block;
}

/* ---- begin ---- */

void replay_walk_ground(const struct memory_profile_pool *pool, struct arena *arena, struct replay_ground *out)
{
    const struct memory_profile_moment before = {.count = 0};
    out->pool = pool;
    memory_profile_held_find(pool, &before, arena, &out->held);
    replay_streams_find(pool, &out->held, arena, &out->streams);
    replay_driver_find(&pool->torch, (int64_t)out->held.reserved_bytes, &out->driver);
}

/* What was there before, as new requests in the order of their addresses. */
static void blocks_place(struct replay_walk *walk)
{
    const struct memory_profile_held *held = &walk->ground->held;
    for (uint32_t i = 0; i < held->block_count; i++) {
        const struct memory_profile_held_block *block = &held->blocks[i];
        int64_t bytes = walk->held_bytes == NULL ? (int64_t)block->requested_bytes : walk->held_bytes[i];
        if (block->segment == PROFILE_NONE || bytes == 0 || map_get(&walk->blocks, block->address) != MAP_NONE)
            continue;
        const struct memory_profile_segment *segment = &held->segments[block->segment];
        uint32_t at = request(walk, segment->stream, segment->pool_id, bytes);
        if (at != CACHING_NONE)
            map_put(&walk->blocks, block->address, at, true);
    }
    walk->caching.change_count = 0;
}

void replay_walk_begin(struct replay_walk *walk, const struct replay_ground *ground,
                       const struct caching_settings *settings, struct replay_start start, struct arena *arena)
{
    *walk = (struct replay_walk){
        .ground = ground, .arena = arena, .is_upwards = start.is_upwards, .held_bytes = start.held_bytes};
    caching_init(&walk->caching, arena, settings);
    map_init(&walk->blocks, arena, 512);
    places_make(walk);
    if (start.is_placed_again) {
        blocks_place(walk);
        return;
    }
    struct loading loading = {.walk = walk};
    segments_load(&loading);
}
