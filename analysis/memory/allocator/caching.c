/* SPDX-License-Identifier: Apache-2.0
 * caching.c: see caching.h. */
#include "memory/allocator/caching_inside.h"

#include <assert.h>

void caching_init(struct caching *caching, struct arena *arena, const struct caching_settings *settings)
{
    *caching = (struct caching){.settings = *settings, .arena = arena};
    caching_blocks_init(&caching->blocks, arena);
    table_init(&caching->pool_keys, arena, 4);
}

uint32_t caching_pool(struct caching *caching, int64_t stream, const int64_t id[2], bool is_small)
{
    const uint64_t key[4] = {(uint64_t)stream, (uint64_t)id[0], (uint64_t)id[1], is_small};
    uint32_t pool = table_number_near(&caching->pool_keys, key, 4, &caching->last_pool);
    if (pool < caching->pool_count)
        return pool;
    caching->pools =
        arena_grown(caching->arena, caching->pools, (size_t)pool + 1, &caching->pool_capacity, sizeof(*caching->pools));
    caching->pools[pool] = (struct caching_pool){.stream = stream, .id = {id[0], id[1]}, .is_small = is_small};
    caching->pool_count = pool + 1;
    return pool;
}

/* ---- inside ---- */

void caching_inside_level(struct caching_level *level, int64_t bytes)
{
    level->bytes += bytes;
    level->peak_bytes = level->bytes > level->peak_bytes ? level->bytes : level->peak_bytes;
}

void caching_inside_log(struct caching *caching, enum caching_step step, uint64_t address, int64_t size_bytes)
{
    const struct caching_change change = {step, address, size_bytes};
    caching_inside_level(&caching->reserved, caching_change_bytes(&change));
    caching->changes = arena_grown(caching->arena, caching->changes, caching->change_count + 1,
                                   &caching->change_capacity, sizeof(*caching->changes));
    caching->changes[caching->change_count++] = change;
}

static uint32_t *set_of(struct caching *caching, const struct caching_block *block)
{
    struct caching_pool *pool = &caching->pools[block->pool];
    return block->is_mapped ? &pool->free : &pool->unmapped;
}

void caching_inside_insert(struct caching *caching, uint32_t block)
{
    struct caching_block *of = caching_inside_at(caching, block);
    of->set_bytes = of->is_mapped ? of->size_bytes : 0;
    of->searches = caching->searches;
    caching_blocks_insert(&caching->blocks, set_of(caching, of), block);
}

void caching_inside_remove(struct caching *caching, uint32_t block)
{
    caching_blocks_remove(&caching->blocks, set_of(caching, caching_inside_at(caching, block)), block);
}

uint32_t caching_inside_append(struct caching *caching, uint32_t before, uint64_t address, int64_t size_bytes)
{
    uint32_t at = caching_blocks_new(&caching->blocks);
    struct caching_block *block = caching_inside_at(caching, at), *left = caching_inside_at(caching, before);
    block->address = address;
    block->size_bytes = size_bytes;
    block->pool = left->pool;
    block->is_expandable = left->is_expandable;
    block->base = left->base;
    block->previous = before;
    block->next = left->next;
    if (left->next != CACHING_NONE)
        caching_inside_at(caching, left->next)->previous = at;
    left->next = at;
    return at;
}

void caching_inside_merge(struct caching *caching, uint32_t at, uint32_t neighbour)
{
    struct caching_block *block = caching_inside_at(caching, at), *other = caching_inside_at(caching, neighbour);
    if (neighbour == CACHING_NONE || other->is_used || other->is_mapped != block->is_mapped)
        return;
    caching_inside_remove(caching, neighbour);
    if (block->previous == neighbour) {
        block->address = other->address;
        block->previous = other->previous;
        if (other->previous != CACHING_NONE)
            caching_inside_at(caching, other->previous)->next = at;
    } else {
        block->next = other->next;
        if (other->next != CACHING_NONE)
            caching_inside_at(caching, other->next)->previous = at;
    }
    block->size_bytes += other->size_bytes;
    caching_blocks_drop(&caching->blocks, neighbour);
}

bool caching_inside_has_room(const struct caching *caching, int64_t size_bytes)
{
    return caching->device_bytes == 0 || caching->reserved.bytes + size_bytes <= caching->device_bytes;
}

/* ---- requests ---- */

/* What the block at the end of an expandable segment could become, for it counts as so large there. */
static int64_t reach_of(const struct caching *caching, uint32_t at)
{
    const struct caching_block *block = caching_inside_at(caching, at), *next = caching_inside_at(caching, block->next);
    return block->size_bytes + (block->next != CACHING_NONE && !next->is_mapped ? next->size_bytes : 0);
}

/* The smallest that is large enough, with expandable segments by what it can become; without them none of such a
 * segment. */
static uint32_t best_of(struct caching *caching, const struct caching_request *request)
{
    const uint32_t root = caching->pools[request->pool].free;
    uint32_t at = caching_blocks_from(&caching->blocks, root, request->size_bytes, 0);
    if (!caching->settings.is_expandable) {
        while (at != CACHING_NONE && caching_inside_at(caching, at)->is_expandable)
            at = caching_blocks_after(&caching->blocks, root, at);
        return at;
    }
    while (at != CACHING_NONE && caching_inside_at(caching, at)->is_expandable) {
        uint32_t next = caching_blocks_after(&caching->blocks, root, at);
        if (next == CACHING_NONE || reach_of(caching, next) >= reach_of(caching, at))
            break;
        at = next;
    }
    return at;
}

/* A free block, taken out of its set. */
static uint32_t free_take(struct caching *caching, const struct caching_request *request)
{
    const int64_t most = caching->settings.max_split_bytes;
    const struct caching_pool *pool = &caching->pools[request->pool];
    caching->searches += caching_inside_collects(caching) && !pool->is_small && !caching_inside_is_private(pool);
    uint32_t at = best_of(caching, request);
    if (at == CACHING_NONE)
        return at;
    int64_t size = caching_inside_at(caching, at)->size_bytes;
    bool is_oversize = most > 0 && request->size_bytes < most && size >= most,
         is_far_larger = most > 0 && request->size_bytes >= most && size >= request->size_bytes + CACHING_LARGE_SEGMENT;
    if (is_oversize || is_far_larger)
        return CACHING_NONE;
    caching_inside_remove(caching, at);
    return at;
}

static uint32_t segment_new(struct caching *caching, const struct caching_request *request)
{
    int64_t fraction = caching->settings.fraction_bytes;
    if (fraction > 0 && caching->reserved.bytes + request->segment_bytes > fraction)
        return CACHING_NONE;
    if (caching->settings.is_expandable)
        return caching_expandable_take(caching, request);
    if (!caching_inside_has_room(caching, request->segment_bytes))
        return CACHING_NONE;
    uint32_t at = caching_blocks_new(&caching->blocks);
    struct caching_block *block = caching_inside_at(caching, at);
    block->pool = request->pool;
    block->size_bytes = request->segment_bytes;
    block->address = caching->place(caching->context, request->segment_bytes, false);
    caching_inside_log(caching, CACHING_SEGMENT_ALLOC, block->address, block->size_bytes);
    return at;
}

static uint32_t block_find(struct caching *caching, const struct caching_request *request)
{
    uint32_t at = free_take(caching, request);
    if (at != CACHING_NONE)
        return at;
    if (caching_inside_collects(caching))
        caching_release_collect(caching);
    at = segment_new(caching, request);
    if (at == CACHING_NONE && caching_release_available(caching, request))
        at = segment_new(caching, request);
    if (at != CACHING_NONE)
        return at;
    caching_release(caching);
    return segment_new(caching, request);
}

static bool is_split(const struct caching *caching, const struct caching_request *request, int64_t rest)
{
    if (caching->pools[request->pool].is_small || caching->settings.is_expandable)
        return rest >= CACHING_BLOCK_BYTES;
    int64_t most = caching->settings.max_split_bytes;
    return (most == 0 || request->size_bytes < most) && rest > CACHING_SMALL_BYTES;
}

uint32_t caching_allocate(struct caching *caching, uint32_t pool, int64_t requested_bytes)
{
    int64_t size = caching_settings_round(&caching->settings, requested_bytes);
    const struct caching_request request = {pool, size, caching_settings_segment_bytes(size)};
    uint32_t at = block_find(caching, &request);
    if (at == CACHING_NONE)
        return at;
    int64_t rest = caching_inside_at(caching, at)->size_bytes - size;
    if (is_split(caching, &request, rest)) {
        uint32_t behind =
            caching_inside_append(caching, at, caching_inside_at(caching, at)->address + (uint64_t)size, rest);
        caching_inside_at(caching, at)->size_bytes = size;
        caching_inside_insert(caching, behind);
    }
    struct caching_block *block = caching_inside_at(caching, at);
    block->is_used = true;
    block->is_pending = false;
    block->requested_bytes = requested_bytes;
    caching_inside_level(&caching->allocated, block->size_bytes);
    caching_inside_level(&caching->requested, requested_bytes);
    return at;
}

void caching_ask_free(struct caching *caching, uint32_t at)
{
    struct caching_block *block = caching_inside_at(caching, at);
    if (block->is_pending)
        return;
    block->is_pending = true;
    caching_inside_level(&caching->allocated, -block->size_bytes);
}

void caching_free(struct caching *caching, uint32_t at)
{
    caching_ask_free(caching, at);
    struct caching_block *block = caching_inside_at(caching, at);
    assert(block->is_used);
    caching_inside_level(&caching->requested, -block->requested_bytes);
    block->is_used = block->is_pending = false;
    caching_inside_merge(caching, at, block->previous);
    caching_inside_merge(caching, at, block->next);
    caching_inside_insert(caching, at);
}

/* ---- a state to begin with ---- */

uint32_t caching_load(struct caching *caching, struct caching_loading *loading, const struct caching_block *given)
{
    uint32_t at = loading->last == CACHING_NONE
                      ? caching_blocks_new(&caching->blocks)
                      : caching_inside_append(caching, loading->last, given->address, given->size_bytes);
    struct caching_block *block = caching_inside_at(caching, at);
    block->address = given->address;
    block->size_bytes = given->size_bytes;
    block->requested_bytes = given->requested_bytes;
    block->is_used = given->is_used;
    block->is_pending = given->is_pending;
    block->is_mapped = given->is_mapped;
    block->pool = loading->pool;
    block->is_expandable = loading->is_expandable;
    block->base = loading->last == CACHING_NONE ? given->address : caching_inside_at(caching, loading->last)->base;
    loading->last = at;
    if (block->is_mapped)
        caching_inside_level(&caching->reserved, block->size_bytes);
    if (block->is_used) {
        caching_inside_level(&caching->allocated, block->is_pending ? 0 : block->size_bytes);
        caching_inside_level(&caching->requested, block->requested_bytes);
        return at;
    }
    caching_inside_merge(caching, at, block->previous);
    caching_inside_insert(caching, at);
    return at;
}

void caching_load_end(struct caching *caching, struct caching_loading *loading)
{
    if (!loading->is_expandable || loading->last == CACHING_NONE)
        return;
    const struct caching_block *last = caching_inside_at(caching, loading->last);
    const struct caching_block rest = {.address = last->address + (uint64_t)last->size_bytes,
                                       .size_bytes = CACHING_EXPANDABLE_BYTES};
    caching_load(caching, loading, &rest);
}
