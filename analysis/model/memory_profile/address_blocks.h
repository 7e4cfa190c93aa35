/* SPDX-License-Identifier: Apache-2.0
 * address_blocks.h: what lies where in a pool at a moment: every allocation whose address is known, by address.
 *
 * In a trace what was there before and is never freed has no address. A snapshot tells the segments: then these and
 * their blocks are what there is, and what lies between segments are walls. Memory: the arena. Cost: two passes over
 * the pool's events, and sorting what is live. */
#pragma once

#include "model/memory_profile/held.h"

/* Or a wall: no block, but what lies before, between and behind segments; no hole goes through it, and it may be
 * empty. */
struct memory_profile_block {
    uint64_t address, size;
    uint32_t event;  /* that allocated it, or frees it later, of what was there before; PROFILE_NONE: no event does */
    uint32_t kept;   /* for a block without an event: its number among the snapshot's blocks */
    bool is_pending; /* freed, but a stream still uses it */
    bool is_wall;
};

struct memory_profile_address_blocks {
    struct memory_profile_block *items; /* by address, those that are there at the moment */
    uint32_t count;
    uint64_t first, last; /* addresses of the whole trace; first > last: none is known */
    uint64_t known_bytes;
    int64_t unknown_bytes; /* in use at addresses that are not told */
};

/* A block of a segment, no longer than the segment, which ends at `end`. */
struct memory_profile_block memory_profile_address_blocks_of_held(const struct memory_profile_held_block *held,
                                                                  uint64_t end);
/* Was it allocated before the trace began? */
bool memory_profile_address_blocks_is_before(const struct memory_profile *profile,
                                             const struct memory_profile_block *block);

/* The blocks of a snapshot's segments into which `failure` could have been put; NULL: of all its segments. */
void memory_profile_address_blocks_find(const struct memory_profile_pool *pool,
                                        const struct memory_profile_moment *moment,
                                        const struct memory_profile_failure *failure, struct arena *arena,
                                        struct memory_profile_address_blocks *out);
