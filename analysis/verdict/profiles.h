/* SPDX-License-Identifier: Apache-2.0
 * profiles.h: what device profiles say: live arrays, loaded programs, and whether the arrays grow from one to the next. */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "tool/device_memory/profile_set.h"

struct profiles_sums {
    int64_t array_bytes, program_bytes;
    bool is_known; /* a profile without sizes tells nothing */
};
/* Of one profile; of none (NULL) nothing is known. */
struct profiles_sums profiles_sums_of(const struct pprof *pprof);

struct profiles_growth {
    bool grows;        /* over three profiles and more, by the rule of the view series */
    int64_t bytes;     /* last - first, of all live arrays */
    const char *place; /* where most of that was allocated: "anotherfunc leak.py:14"; NULL: not told */
    int64_t place_bytes;
    const char *first_name, *last_name; /* of the profiles */
};
/* Profiles are in the order in which they were taken; texts in the arena. `scratch` holds one text at a time. */
struct profiles_growth profiles_growth_of(const struct profile_set *set, struct buf *scratch, struct arena *arena);
/* The last one that could be read and is no base; NULL. */
const struct pprof *profiles_last(const struct profile_set *set);
