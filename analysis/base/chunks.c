/* SPDX-License-Identifier: Apache-2.0
 * chunks.c: see chunks.h. */
#include "base/chunks.h"

void chunks_init(struct chunks *chunks, struct arena *arena, size_t width)
{
    *chunks = (struct chunks){.arena = arena, .width = width};
}

void chunks_grow(struct chunks *chunks)
{
    if (chunks->block_count == chunks->capacity) {
        size_t capacity = chunks->capacity == 0 ? 8 : chunks->capacity * 2;
        char **blocks = arena_array(chunks->arena, char *, capacity);
        if (chunks->block_count > 0)
            memcpy(blocks, chunks->blocks, chunks->block_count * sizeof *blocks);
        chunks->blocks = blocks;
        chunks->capacity = capacity;
    }
    chunks->blocks[chunks->block_count++] = arena_raw(chunks->arena, chunks->width << CHUNKS_BITS);
}
