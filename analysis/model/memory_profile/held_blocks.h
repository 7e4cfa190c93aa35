/* SPDX-License-Identifier: Apache-2.0
 * held_blocks.h: the blocks that were not free at a moment, by address; part of held.h. */
#pragma once

#include "base/map.h"
#include "model/memory_profile/held.h"

/* Is a block of the snapshot one of the pool's device that is not free at the end? */
bool memory_profile_held_blocks_is_end(const struct memory_profile_pool *pool, const struct torch_block *block);
/* All of them: numbers of the snapshot's blocks, by their addresses; the first of several at one address. */
void memory_profile_held_blocks_ends(const struct memory_profile_pool *pool, struct arena *arena, struct map *out);
/* Those that no event allocates, for pool->torch.kept. */
const uint32_t *memory_profile_held_blocks_kept(const struct memory_profile_pool *pool, struct arena *arena,
                                                uint32_t *count);
/* Sets out->blocks and out->block_count; their segments are not set. */
void memory_profile_held_blocks_find(const struct memory_profile_pool *pool, const struct memory_profile_moment *moment,
                                     struct arena *arena, struct memory_profile_held *out);
