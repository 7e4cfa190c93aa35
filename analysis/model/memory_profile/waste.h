/* SPDX-License-Identifier: Apache-2.0
 * waste.h: the largest free chunk at every moment, and when the largest request of the
 * pool would not have fitted, for any range of events without walking it.
 *
 * BFC tells fragmentation = (free − largest free chunk) / free. Where the pool was
 * reserved whole (JAX's usual), free × (1 − fragmentation) is that chunk. */
#pragma once

#include "model/memory_profile/model.h"

/* Events and ranges are counted from the pool's first. */
struct memory_profile_waste_range {
    uint32_t min_at;    /* first event with the smallest chunk; PROFILE_NONE when none tells it */
    int64_t failing_ps; /* how long the largest request would have failed, up to the last event of the range */
};

/* Sums up blocks of events; nothing for a pool that does not tell what is free. `workers` may be NULL. */
void memory_profile_waste_build(struct memory_profile_pool *pool, const struct workers *workers, struct arena *arena);
/* Of [first, end), which is not empty. */
struct memory_profile_waste_range memory_profile_waste_of(const struct memory_profile_pool *pool, uint32_t first,
                                                          uint32_t end);
/* The first event, counted from the pool's first, with the smallest chunk among those after which the pool's largest
 * request would have failed although as much was free: fragmentation, not shortage. PROFILE_NONE: there is none. */
uint32_t memory_profile_waste_worst(const struct memory_profile_pool *pool);
/* MEMORY_UNKNOWN without both figures. */
int64_t memory_profile_waste_chunk(const struct memory_profile *profile, uint32_t event);
/* Free memory is scarce below this share of in-use and free memory together. It counts as one piece if the largest
 * chunk has at least this share of the free memory. */
enum { WASTE_SCARCE_PERCENT = 50, WASTE_WHOLE_PERCENT = 99 };
/* Is what is free after the event both scarce and in pieces? Only then the largest piece says more than the sum: a
 * request may fail for it. False without both figures. */
bool memory_profile_waste_matters(const struct memory_profile *profile, uint32_t event);
/* What was asked for, else what was allocated. */
int64_t memory_profile_waste_request(const struct memory_profile *profile, uint32_t event);
/* Would the pool's largest request have failed after the event? */
bool memory_profile_waste_fails(const struct memory_profile_pool *pool, uint32_t event);
