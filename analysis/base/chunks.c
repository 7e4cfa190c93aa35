/* SPDX-License-Identifier: Apache-2.0 */
#include "base/chunks.h"

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
