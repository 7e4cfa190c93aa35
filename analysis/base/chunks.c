/* SPDX-License-Identifier: Apache-2.0 */
#include "base/chunks.h"

#include <string.h>

void chunks_init(struct chunks *chunks, struct arena *arena, size_t width)
{
    *chunks = (struct chunks){.arena = arena, .width = width};
}

void chunks_grow(struct chunks *chunks)
{
    chunks->blocks =
        arena_grown(chunks->arena, chunks->blocks, chunks->block_count + 1, &chunks->capacity, sizeof(*chunks->blocks));
    chunks->blocks[chunks->block_count++] = arena_raw(chunks->arena, chunks->width << CHUNKS_BITS);
}

void *chunks_copy(const struct chunks *chunks, struct arena *arena)
{
    char *items = arena_alloc(arena, chunks->count + 1, chunks->width);
    for (size_t at = 0; at < chunks->count; at += CHUNKS_ITEMS) {
        size_t left = chunks->count - at, part = left < CHUNKS_ITEMS ? left : CHUNKS_ITEMS;
        memcpy(items + at * chunks->width, chunks->blocks[at >> CHUNKS_BITS], part * chunks->width);
    }
    return items;
}
