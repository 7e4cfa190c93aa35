/* SPDX-License-Identifier: Apache-2.0
 * replay_walk.h: the recorded requests and frees on their way into the allocator's rules; for replay.c. */
#pragma once

#include "memory/allocator/caching.h"
#include "model/memory_profile/replay_driver.h"
#include "model/memory_profile/replay_streams.h"

/* What all walks through a recording begin with. */
struct replay_ground {
    const struct memory_profile_pool *pool;
    struct memory_profile_held held; /* before the first event */
    struct replay_streams streams;
    struct replay_driver driver;
};

struct replay_walk {
    const struct replay_ground *ground;
    struct arena *arena;
    struct caching caching;
    struct map blocks;    /* by the address that was recorded */
    uint32_t torch_at;    /* of pool->torch.events, that have happened */
    struct map same_size; /* segments that were recorded, by size: the next one to give out, of `next` */
    uint32_t *next;
    uint64_t made_address, made_expandable;
    const int64_t *held_bytes; /* as below */
    bool is_upwards;           /* new segments lie above all others, not below; and not where others were recorded */
};

/* How the walk begins. */
struct replay_start {
    bool is_placed_again; /* blocks of before lie where the settings put them, as if they had been on from the start;
                             else where they were recorded */
    bool is_upwards;      /* as above */
    const int64_t *held_bytes; /* of blocks that are placed again: what is asked for; NULL: as they are */
};
void replay_walk_ground(const struct memory_profile_pool *pool, struct arena *arena, struct replay_ground *out);
/* With what was there before the first event. */
void replay_walk_begin(struct replay_walk *walk, const struct replay_ground *ground,
                       const struct caching_settings *settings, struct replay_start start, struct arena *arena);
/* The block of an allocation, event `at` of the pool; CACHING_NONE: there is no room, or it tells no address. */
uint32_t replay_walk_request(struct replay_walk *walk, uint32_t at);
/* The same of another size, found again at another address. 0 bytes: nothing is asked for. */
uint32_t replay_walk_request_as(struct replay_walk *walk, uint32_t at, uint64_t address, int64_t bytes);
void replay_walk_free(struct replay_walk *walk, uint64_t address);
void replay_walk_ask_free(struct replay_walk *walk, uint64_t address);
/* Would a request that failed get `bytes`? They are given back at once; CACHING_NONE: no. */
uint32_t replay_walk_try(struct replay_walk *walk, const struct torch_event *event, int64_t bytes);
/* An address that nothing recorded. */
uint64_t replay_walk_address(struct replay_walk *walk, int64_t size_bytes, bool is_expandable);
