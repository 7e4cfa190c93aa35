/* SPDX-License-Identifier: Apache-2.0
 * caching_blocks.h: blocks of the caching allocator, and sets of them by size, then address.
 *
 * A set is a tree whose shape hangs on numbers that the blocks drew (a treap): whatever the file says, a search takes
 * as many steps as the logarithm of the blocks; each is charged to the arena's work.
 * Memory: the arena's; a block that is dropped is used again. Numbers stay, pointers move when blocks are added. */
#pragma once

#include "base/arena.h"

#define CACHING_NONE 0 /* of the number of a block: there is none */

struct caching_block {
    uint64_t address;
    int64_t size_bytes, requested_bytes;
    int64_t set_bytes;       /* its key in a set: its size, or 0 where addresses alone count */
    uint32_t previous, next; /* neighbours in its segment */
    uint32_t left, right, priority;
    uint32_t pool;
    uint64_t base;     /* of an expandable segment: where its addresses begin */
    uint64_t searches; /* that there had been when it became free */
    bool is_used, is_pending, is_mapped, is_expandable;
};

struct caching_blocks {
    struct arena *arena;
    struct caching_block *items; /* the first one is none */
    size_t capacity;
    uint32_t count, dropped, random;
};

void caching_blocks_init(struct caching_blocks *blocks, struct arena *arena);
/* A blank one. */
uint32_t caching_blocks_new(struct caching_blocks *blocks);
void caching_blocks_drop(struct caching_blocks *blocks, uint32_t at);

static inline struct caching_block *caching_blocks_at(const struct caching_blocks *blocks, uint32_t at)
{
    return &blocks->items[at];
}

/* Into the set of `*root`, by set_bytes and address. */
void caching_blocks_insert(struct caching_blocks *blocks, uint32_t *root, uint32_t at);
void caching_blocks_remove(struct caching_blocks *blocks, uint32_t *root, uint32_t at);
/* The first of a set that is not before (set_bytes, address); CACHING_NONE: all are. */
uint32_t caching_blocks_from(struct caching_blocks *blocks, uint32_t root, int64_t set_bytes, uint64_t address);
/* The one behind `at` in its set, the one before it. */
uint32_t caching_blocks_after(struct caching_blocks *blocks, uint32_t root, uint32_t at);
uint32_t caching_blocks_before(struct caching_blocks *blocks, uint32_t root, uint32_t at);
/* The last of a set. */
uint32_t caching_blocks_last(struct caching_blocks *blocks, uint32_t root);
