/* SPDX-License-Identifier: Apache-2.0
 * address_blocks.h: what lies where in a pool at a moment: every allocation whose address is told, by address.
 *
 * What was there before the trace and is never freed has no address. Memory: the arena. Cost: two passes over the pool's
 * events, and sorting what is live. */
#pragma once

#include "tool/memory_profile/views.h"

struct memory_profile_block {
    uint64_t address, size;
    uint32_t event; /* that allocated it, or frees it later, of what was there before */
};

struct memory_profile_address_blocks {
    struct memory_profile_block *items; /* by address, those that are there at the moment */
    uint32_t count;
    uint64_t first, last; /* addresses of the whole trace; first > last: none is told */
    uint64_t known_bytes;
    int64_t unknown_bytes; /* in use at addresses that are not told */
};

void memory_profile_address_blocks_find(const struct memory_profile_pool *pool,
                                        const struct memory_profile_moment *moment, struct arena *arena,
                                        struct memory_profile_address_blocks *out);
