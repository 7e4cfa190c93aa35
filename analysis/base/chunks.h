/* SPDX-License-Identifier: Apache-2.0
 * chunks.h: a column of equal items that grows without being moved.
 *
 * It may have an arena of its own, so that it can be released alone. Where items are wanted in one piece:
 * base/column.h. */
#pragma once

#include "base/arena.h"

/* A block of eight-byte items is half a MiB: large enough to go back to the system when it is freed. */
enum { CHUNKS_BITS = 16, CHUNKS_ITEMS = 1 << CHUNKS_BITS };

struct chunks {
    struct arena *arena;
    char **blocks;
    size_t block_count, capacity; /* of blocks */
    size_t count, width;          /* items; bytes of one */
};

void chunks_init(struct chunks *chunks, struct arena *arena, size_t width);
/* One more block; chunks_add asks for it. */
void chunks_grow(struct chunks *chunks);

/* Room for one more item, not zeroed. */
static inline void *chunks_add(struct chunks *chunks)
{
    if (chunks->count == chunks->block_count << CHUNKS_BITS)
        chunks_grow(chunks);
    size_t at = chunks->count++;
    return chunks->blocks[at >> CHUNKS_BITS] + (at & (CHUNKS_ITEMS - 1)) * chunks->width;
}

static inline void *chunks_at(const struct chunks *chunks, size_t at)
{
    return chunks->blocks[at >> CHUNKS_BITS] + (at & (CHUNKS_ITEMS - 1)) * chunks->width;
}

/* All items as one array in `arena`, with a zeroed one behind them. */
void *chunks_copy(const struct chunks *chunks, struct arena *arena) __attribute__((returns_nonnull));

#define CHUNKS_ADD(chunks, type, item) (*(type *)chunks_add(chunks) = (type)(item))
#define CHUNKS_AT(chunks, type, at) (*(type *)chunks_at((chunks), (at)))
