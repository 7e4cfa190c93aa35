/* SPDX-License-Identifier: Apache-2.0 */
#include "memory/allocator/caching_blocks.h"

#include <assert.h>

enum { FIRST_RANDOM = 2463534242 };

void caching_blocks_init(struct caching_blocks *blocks, struct arena *arena)
{
    *blocks = (struct caching_blocks){.arena = arena, .count = 1, .random = FIRST_RANDOM};
    blocks->items = arena_grown(arena, NULL, 64, &blocks->capacity, sizeof(*blocks->items));
}

uint32_t caching_blocks_new(struct caching_blocks *blocks)
{
    uint32_t at = blocks->dropped;
    if (at != CACHING_NONE) {
        blocks->dropped = blocks->items[at].next;
    } else {
        at = blocks->count++;
        blocks->items =
            arena_grown(blocks->arena, blocks->items, (size_t)at + 1, &blocks->capacity, sizeof(*blocks->items));
    }
    blocks->random ^= blocks->random << 13;
    blocks->random ^= blocks->random >> 17;
    blocks->random ^= blocks->random << 5;
    blocks->items[at] = (struct caching_block){.priority = blocks->random, .is_mapped = true};
    return at;
}

void caching_blocks_drop(struct caching_blocks *blocks, uint32_t at)
{
    blocks->items[at].next = blocks->dropped;
    blocks->dropped = at;
}

/* A damaged file may have blocks with equal sizes and addresses: then their number decides. */
static bool is_before(const struct caching_block *items, uint32_t left, uint32_t right)
{
    const struct caching_block *a = &items[left], *b = &items[right];
    if (a->set_bytes != b->set_bytes)
        return a->set_bytes < b->set_bytes;
    return a->address != b->address ? a->address < b->address : left < right;
}

void caching_blocks_insert(struct caching_blocks *blocks, uint32_t *root, uint32_t at)
{
    struct caching_block *items = blocks->items;
    uint32_t *link = root;
    uint64_t steps = 1;
    for (; *link != CACHING_NONE && items[*link].priority >= items[at].priority; steps++)
        link = is_before(items, at, *link) ? &items[*link].left : &items[*link].right;
    uint32_t below = *link, *left = &items[at].left, *right = &items[at].right;
    for (; below != CACHING_NONE; steps++) {
        if (is_before(items, below, at)) {
            *left = below;
            left = &items[below].right;
            below = *left;
        } else {
            *right = below;
            right = &items[below].left;
            below = *right;
        }
    }
    *left = *right = CACHING_NONE;
    *link = at;
    arena_work(blocks->arena, steps);
}

void caching_blocks_remove(struct caching_blocks *blocks, uint32_t *root, uint32_t at)
{
    struct caching_block *items = blocks->items;
    uint32_t *link = root;
    uint64_t steps = 1;
    for (; *link != at; steps++) {
        assert(*link != CACHING_NONE);
        link = is_before(items, at, *link) ? &items[*link].left : &items[*link].right;
    }
    uint32_t left = items[at].left, right = items[at].right;
    for (; left != CACHING_NONE && right != CACHING_NONE; steps++) {
        if (items[left].priority >= items[right].priority) {
            *link = left;
            link = &items[left].right;
            left = *link;
        } else {
            *link = right;
            link = &items[right].left;
            right = *link;
        }
    }
    *link = left != CACHING_NONE ? left : right;
    arena_work(blocks->arena, steps);
}

uint32_t caching_blocks_from(struct caching_blocks *blocks, uint32_t root, int64_t set_bytes, uint64_t address)
{
    const struct caching_block *items = blocks->items;
    uint32_t found = CACHING_NONE;
    uint64_t steps = 1;
    for (uint32_t at = root; at != CACHING_NONE; steps++) {
        bool is_less = items[at].set_bytes != set_bytes ? items[at].set_bytes < set_bytes : items[at].address < address;
        found = is_less ? found : at;
        at = is_less ? items[at].right : items[at].left;
    }
    arena_work(blocks->arena, steps);
    return found;
}

uint32_t caching_blocks_after(struct caching_blocks *blocks, uint32_t root, uint32_t at)
{
    const struct caching_block *items = blocks->items;
    uint32_t found = CACHING_NONE;
    uint64_t steps = 1;
    for (uint32_t below = root; below != CACHING_NONE; steps++) {
        bool is_behind = is_before(items, at, below);
        found = is_behind ? below : found;
        below = is_behind ? items[below].left : items[below].right;
    }
    arena_work(blocks->arena, steps);
    return found;
}

uint32_t caching_blocks_before(struct caching_blocks *blocks, uint32_t root, uint32_t at)
{
    const struct caching_block *items = blocks->items;
    uint32_t found = CACHING_NONE;
    uint64_t steps = 1;
    for (uint32_t below = root; below != CACHING_NONE; steps++) {
        bool is_ahead = is_before(items, below, at);
        found = is_ahead ? below : found;
        below = is_ahead ? items[below].right : items[below].left;
    }
    arena_work(blocks->arena, steps);
    return found;
}

uint32_t caching_blocks_last(struct caching_blocks *blocks, uint32_t root)
{
    uint64_t steps = 1;
    for (; root != CACHING_NONE && blocks->items[root].right != CACHING_NONE; steps++)
        root = blocks->items[root].right;
    arena_work(blocks->arena, steps);
    return root;
}
