/* SPDX-License-Identifier: Apache-2.0
 * snapshots.h: a pool's events in the order and with the steps that XProf gives them.
 *
 * Times are offsets without the start of their line. Nearly always that order is the pool's own, and nothing is kept
 * beside it: lists are made only where lines start at different times, addresses are missing or taken twice, or some
 * events are outside of all steps. Memory: the arena. */
#pragma once

#include "model/memory_profile/model.h"

struct memory_profile_snapshots {
    struct arena *arena;
    const struct memory_profile *profile;
    const struct memory_profile_pool *pool;
    uint32_t count;
    /* of each place; NULL where the pool says the same */
    uint32_t *event;
    int64_t *step;
    uint32_t *told_by;
};

/* XProf does not read events whose figures are in their names. */
bool memory_profile_snapshots_is_seen(const struct memory_profile *profile, uint32_t event);
/* What can be read from the pool as it is; kept in pool->likeness, which memory_profile_snapshots_make asks. */
struct memory_profile_likeness memory_profile_snapshots_likeness(const struct memory_profile_pool *pool);
/* Fills in what follows `pool`. */
void memory_profile_snapshots_make(struct memory_profile_snapshots *snapshots);
static inline uint32_t memory_profile_snapshots_event(const struct memory_profile_snapshots *snapshots, uint32_t place)
{
    return snapshots->event != NULL ? snapshots->event[place] : snapshots->pool->first + place;
}
/* The first place of [from, to), which is not empty, where most is in use. */
uint32_t memory_profile_snapshots_largest(const struct memory_profile_snapshots *snapshots, uint32_t from, uint32_t to);
/* The last place where `in_use_bytes` are in use; PROFILE_NONE if there is none. */
uint32_t memory_profile_snapshots_last(const struct memory_profile_snapshots *snapshots, int64_t in_use_bytes);
/* In ps from the start of its line; never less than that of the place before. */
int64_t memory_profile_snapshots_offset(const struct memory_profile_snapshots *snapshots, uint32_t place);
int64_t memory_profile_snapshots_event_offset(const struct memory_profile *profile, uint32_t event);
/* An event outside of all steps has the last one's number plus 1. */
int64_t memory_profile_snapshots_step(const struct memory_profile_snapshots *snapshots, uint32_t place);
/* The event whose op, region, type and shape are shown: a free's allocation, else itself. */
uint32_t memory_profile_snapshots_told_by(const struct memory_profile_snapshots *snapshots, uint32_t place);
