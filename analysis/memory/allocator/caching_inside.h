/* SPDX-License-Identifier: Apache-2.0
 * caching_inside.h: what the files of the caching allocator share. */
#pragma once

#include "memory/allocator/caching.h"

#define CACHING_EXPANDABLE_BYTES (INT64_C(1) << 52) /* addresses of an expandable segment: more than any device has */

struct caching_request {
    uint32_t pool;
    int64_t size_bytes, segment_bytes; /* rounded; what the driver is asked for */
};

static inline struct caching_block *caching_inside_at(const struct caching *caching, uint32_t block)
{
    return caching_blocks_at(&caching->blocks, block);
}
static inline bool caching_inside_is_private(const struct caching_pool *pool)
{
    return pool->id[0] != 0 || pool->id[1] != 0;
}
static inline bool caching_inside_is_whole(const struct caching_block *block)
{
    return block->previous == CACHING_NONE && block->next == CACHING_NONE && !block->is_expandable;
}
static inline bool caching_inside_collects(const struct caching *caching)
{
    return caching->settings.fraction_bytes > 0 && caching->settings.collect_threshold > 0;
}

void caching_inside_level(struct caching_level *level, int64_t bytes);
void caching_inside_log(struct caching *caching, enum caching_step step, uint64_t address, int64_t size_bytes);
/* Into the set of its pool: free ones by size, unmapped ones by address. */
void caching_inside_insert(struct caching *caching, uint32_t block);
void caching_inside_remove(struct caching *caching, uint32_t block);
/* A block between `before` and what is behind it. */
uint32_t caching_inside_append(struct caching *caching, uint32_t before, uint64_t address, int64_t size_bytes);
/* Joins a neighbour that is in the same state; it is in a set, `block` is in none. */
void caching_inside_merge(struct caching *caching, uint32_t block, uint32_t neighbour);
/* May the driver give this much more? */
bool caching_inside_has_room(const struct caching *caching, int64_t size_bytes);

/* Expandable segments: a free block of at least the size, taken out of its set; CACHING_NONE: the driver refused. */
uint32_t caching_expandable_take(struct caching *caching, const struct caching_request *request);
/* Gives back the whole pages of a free block. */
void caching_expandable_unmap(struct caching *caching, uint32_t block);

/* Old segments go back where more than the threshold is reserved. */
void caching_release_collect(struct caching *caching);
/* With a largest size that is split: enough whole blocks of that size go back; false: there are not enough. */
bool caching_release_available(struct caching *caching, const struct caching_request *request);
