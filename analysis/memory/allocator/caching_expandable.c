/* SPDX-License-Identifier: Apache-2.0
 * caching_expandable.c: segments that grow by whole pages where addresses are left, and give back whole pages. */
#include "memory/allocator/caching_inside.h"

static int64_t page_of(const struct caching *caching, uint32_t pool)
{
    return caching->pools[pool].is_small ? CACHING_SMALL_SEGMENT : CACHING_LARGE_SEGMENT;
}

/* Do the free and unmapped blocks from here on hold `size_bytes` together? */
static bool has_addresses(const struct caching *caching, uint32_t at, int64_t size_bytes)
{
    int64_t bytes = 0;
    uint64_t steps = 1;
    for (; bytes < size_bytes && at != CACHING_NONE && !caching_inside_at(caching, at)->is_used; steps++) {
        bytes += caching_inside_at(caching, at)->size_bytes;
        at = caching_inside_at(caching, at)->next;
    }
    arena_work(caching->arena, steps);
    return bytes >= size_bytes;
}

/* The lowest free or unmapped block from which on there are addresses enough; a new segment where there is none. */
static uint32_t candidate_find(struct caching *caching, const struct caching_request *request)
{
    const uint32_t root = caching->pools[request->pool].unmapped;
    for (uint32_t at = caching_blocks_from(&caching->blocks, root, 0, 0); at != CACHING_NONE;
         at = caching_blocks_after(&caching->blocks, root, at)) {
        uint32_t previous = caching_inside_at(caching, at)->previous;
        bool is_free_before = previous != CACHING_NONE && !caching_inside_at(caching, previous)->is_used;
        uint32_t from = is_free_before ? previous : at;
        if (has_addresses(caching, from, request->size_bytes))
            return from;
    }
    uint32_t at = caching_blocks_new(&caching->blocks);
    struct caching_block *block = caching_inside_at(caching, at);
    block->pool = request->pool;
    block->size_bytes = CACHING_EXPANDABLE_BYTES;
    block->address = block->base = caching->place(caching->context, 0, true);
    block->is_expandable = true;
    block->is_mapped = false;
    caching_inside_insert(caching, at);
    return at;
}

/* Pages for the first `size_bytes` of an unmapped block; false: the driver refuses. */
static bool map(struct caching *caching, uint32_t at, int64_t size_bytes)
{
    int64_t page = page_of(caching, caching_inside_at(caching, at)->pool),
            whole = caching_inside_at(caching, at)->size_bytes, mapped = (size_bytes + page - 1) / page * page;
    mapped = mapped < whole ? mapped : whole;
    if (!caching_inside_has_room(caching, mapped))
        return false;
    uint64_t address = caching_inside_at(caching, at)->address;
    caching_inside_remove(caching, at);
    caching_inside_at(caching, at)->is_mapped = true;
    if (mapped < whole) {
        uint32_t rest = caching_inside_append(caching, at, address + (uint64_t)mapped, whole - mapped);
        caching_inside_at(caching, rest)->is_mapped = false;
        caching_inside_insert(caching, rest);
        caching_inside_at(caching, at)->size_bytes = mapped;
    }
    caching_inside_merge(caching, at, caching_inside_at(caching, at)->previous);
    caching_inside_merge(caching, at, caching_inside_at(caching, at)->next);
    caching_inside_insert(caching, at);
    caching_inside_log(caching, CACHING_SEGMENT_MAP, address, mapped);
    return true;
}

uint32_t caching_expandable_take(struct caching *caching, const struct caching_request *request)
{
    uint32_t at = candidate_find(caching, request);
    const int64_t size = request->size_bytes;
    if (!caching_inside_at(caching, at)->is_mapped) {
        int64_t bytes = caching_inside_at(caching, at)->size_bytes;
        if (!map(caching, at, bytes < size ? bytes : size))
            return CACHING_NONE;
    }
    while (caching_inside_at(caching, at)->size_bytes < size) {
        uint32_t next = caching_inside_at(caching, at)->next;
        int64_t rest = size - caching_inside_at(caching, at)->size_bytes,
                bytes = caching_inside_at(caching, next)->size_bytes;
        if (!map(caching, next, bytes < rest ? bytes : rest))
            return CACHING_NONE;
        at = next; /* which took in what was before it */
    }
    caching_inside_remove(caching, at);
    return at;
}

void caching_expandable_unmap(struct caching *caching, uint32_t at)
{
    const struct caching_block block = *caching_inside_at(caching, at);
    const uint64_t page = (uint64_t)page_of(caching, block.pool), from = block.address - block.base,
                   to = from + (uint64_t)block.size_bytes, first = (from + page - 1) / page * page,
                   last = to / page * page;
    if (first >= last)
        return;
    caching_inside_remove(caching, at);
    if (last < to) {
        uint32_t behind = caching_inside_append(caching, at, block.base + last, (int64_t)(to - last));
        caching_inside_insert(caching, behind);
    }
    if (first > from) { /* what stays keeps the block's number, the pages get a new one */
        caching_inside_at(caching, at)->size_bytes = (int64_t)(first - from);
        uint32_t pages = caching_inside_append(caching, at, block.base + first, (int64_t)(last - first));
        caching_inside_insert(caching, at);
        at = pages;
    }
    caching_inside_at(caching, at)->size_bytes = (int64_t)(last - first);
    caching_inside_at(caching, at)->is_mapped = false;
    caching_inside_merge(caching, at, caching_inside_at(caching, at)->previous);
    caching_inside_merge(caching, at, caching_inside_at(caching, at)->next);
    caching_inside_insert(caching, at);
    caching_inside_log(caching, CACHING_SEGMENT_UNMAP, block.base + first, (int64_t)(last - first));
}
