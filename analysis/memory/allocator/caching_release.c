/* SPDX-License-Identifier: Apache-2.0
 * caching_release.c: what goes back to the driver: by age, when a request would not fit, when the program says so. */
#include "memory/allocator/caching_inside.h"

static void segment_release(struct caching *caching, uint32_t at)
{
    const struct caching_block *block = caching_inside_at(caching, at);
    caching_inside_log(caching, CACHING_SEGMENT_FREE, block->address, block->size_bytes);
    caching_inside_remove(caching, at);
    caching_blocks_drop(&caching->blocks, at);
}

/* ---- all ---- */

/* Pages are unmapped when the set has been walked, for that changes it. */
static void pool_release(struct caching *caching, uint32_t pool, struct arena *scratch)
{
    uint32_t *pages = NULL, count = 0;
    size_t capacity = 0;
    uint32_t at = caching_blocks_from(&caching->blocks, caching->pools[pool].free, 0, 0);
    while (at != CACHING_NONE) {
        uint32_t next = caching_blocks_after(&caching->blocks, caching->pools[pool].free, at);
        if (caching_inside_at(caching, at)->is_expandable) {
            pages = arena_grown(scratch, pages, (size_t)count + 1, &capacity, sizeof(*pages));
            pages[count++] = at;
        } else if (caching_inside_is_whole(caching_inside_at(caching, at))) {
            segment_release(caching, at);
        }
        at = next;
    }
    for (uint32_t i = 0; i < count; i++)
        caching_expandable_unmap(caching, pages[i]);
}

void caching_release(struct caching *caching)
{
    struct arena *scratch = arena_child(caching->arena);
    for (int is_small = 0; is_small < 2; is_small++)
        for (uint32_t i = 0; i < caching->pool_count; i++)
            if (caching->pools[i].is_small == is_small && !caching_inside_is_private(&caching->pools[i]))
                pool_release(caching, i, scratch);
    arena_work(caching->arena, caching->pool_count);
    arena_free(scratch);
}

bool caching_release_one(struct caching *caching, uint64_t address, int64_t size_bytes)
{
    for (uint32_t i = 0; i < caching->pool_count; i++) {
        uint32_t at = caching_blocks_from(&caching->blocks, caching->pools[i].free, size_bytes, address);
        const struct caching_block *block = caching_inside_at(caching, at);
        if (at != CACHING_NONE && block->address == address && block->size_bytes == size_bytes &&
            caching_inside_is_whole(block)) {
            segment_release(caching, at);
            return true;
        }
    }
    return false;
}

/* ---- with a largest size that is split ---- */

bool caching_release_available(struct caching *caching, const struct caching_request *request)
{
    const int64_t most = caching->settings.max_split_bytes;
    if (most == 0)
        return false;
    struct caching_blocks *blocks = &caching->blocks;
    uint32_t *root = &caching->pools[request->pool].free;
    const int64_t wanted = request->size_bytes < most ? most : request->size_bytes;
    uint32_t at = caching_blocks_from(blocks, *root, wanted, 0);
    if (at != CACHING_NONE) {
        if (caching_inside_is_whole(caching_inside_at(caching, at)))
            segment_release(caching, at);
        return true;
    }
    int64_t released = 0;
    at = caching_blocks_last(blocks, *root);
    while (at != CACHING_NONE && released < wanted && caching_inside_at(caching, at)->size_bytes >= most) {
        uint32_t before = caching_blocks_before(blocks, *root, at);
        bool is_whole = caching_inside_is_whole(caching_inside_at(caching, at));
        released += is_whole ? caching_inside_at(caching, at)->size_bytes : 0;
        if (is_whole)
            segment_release(caching, at);
        at = before;
    }
    return released >= wanted;
}

/* ---- by age ---- */

struct ages {
    uint64_t sum, count;
    int64_t released_bytes;
};

static bool is_collectable(const struct caching *caching, uint32_t pool)
{
    return !caching->pools[pool].is_small && !caching_inside_is_private(&caching->pools[pool]);
}

/* Those at least as old as the mean go; with `least` below 0 they are only counted. Did any go? */
static bool ages_walk(struct caching *caching, struct ages *ages, double least)
{
    bool has_released = false;
    for (uint32_t pool = 0; pool < caching->pool_count; pool++) {
        uint32_t at = is_collectable(caching, pool)
                          ? caching_blocks_from(&caching->blocks, caching->pools[pool].free, 0, 0)
                          : CACHING_NONE;
        while (at != CACHING_NONE) {
            uint32_t next = caching_blocks_after(&caching->blocks, caching->pools[pool].free, at);
            const struct caching_block *block = caching_inside_at(caching, at);
            uint64_t age = caching->searches - block->searches;
            bool is_whole = caching_inside_is_whole(block);
            if (least < 0 && is_whole) {
                ages->sum += age;
                ages->count++;
            } else if (is_whole && (double)age >= least) {
                has_released = true;
                ages->released_bytes += block->size_bytes;
                ages->sum -= age;
                ages->count--;
                segment_release(caching, at);
            }
            at = next;
        }
    }
    return has_released;
}

void caching_release_collect(struct caching *caching)
{
    const struct caching_settings *settings = &caching->settings;
    const int64_t threshold = (int64_t)(settings->collect_threshold * (double)settings->fraction_bytes);
    const int64_t wanted = caching->reserved.bytes - threshold;
    struct ages ages = {0, 0, 0};
    if (wanted <= 0)
        return;
    ages_walk(caching, &ages, -1);
    bool has_released = true;
    while (has_released && ages.count > 0 && ages.released_bytes < wanted)
        has_released = ages_walk(caching, &ages, (double)ages.sum / (double)ages.count);
}
