/* SPDX-License-Identifier: Apache-2.0
 * order.h: from the order of the file to the order of pool and time. */
#pragma once

#include "model/memory_profile/model.h"

/* What XProf takes while it reads. */
struct memory_profile_xprof_peak {
    uint32_t at;            /* place of the last largest in the order of the file */
    int64_t lifetime_bytes; /* the last peak told */
};

struct memory_profile_order {
    uint32_t pool_count;
    uint32_t *pool_of; /* of each of the file's pools: names that are equal are one pool */
    uint32_t *first;   /* of each pool its first event, and the end */
    uint32_t *file_at; /* of each event its place in the file; NULL when that is its own */
    struct memory_profile_xprof_peak *peaks;
};

/* Offsets become times, and every column goes into the profile in its final order; those of `events` are released, or
 * have become its own. profile->partner is there, and holds nothing yet. What `order` holds is in `scratch`. */
void memory_profile_order_make(struct memory_profile *profile, struct memory_events *events,
                               const struct workers *workers, struct arena *arena, struct arena *scratch,
                               struct memory_profile_order *order);
