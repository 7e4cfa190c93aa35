/* SPDX-License-Identifier: Apache-2.0
 * live.h: what is live in a pool at a moment, grouped, with named remainders
 * so that all of it adds up to the curve. */
#pragma once

#include "model/memory_profile/model.h"

enum memory_profile_live_field {
    PROFILE_LIVE_OP,
    PROFILE_LIVE_STEP,
    PROFILE_LIVE_REGION,
    PROFILE_LIVE_DTYPE,
    PROFILE_LIVE_SHAPE,
    PROFILE_LIVE_PROGRAM,
    PROFILE_LIVE_ROLE,     /* and how sure it is */
    PROFILE_LIVE_CATEGORY, /* of a snapshot, and how sure it is */
    PROFILE_LIVE_THREAD,
    PROFILE_LIVE_EVENT, /* each allocation alone */
    PROFILE_LIVE_FIELDS
};

struct memory_profile_live_group {
    uint32_t event; /* one of its allocations: the group's fields are those of this event; PROFILE_NONE: of `kept` */
    uint32_t kept;  /* one of the snapshot's blocks that were there before the recording, and are at its end */
    uint32_t count, born_count, died_count;
    bool has_requested; /* all of them told it */
    bool is_mixed;      /* not all of them are equally sure to be what they are */
    int64_t bytes, requested_bytes, born_bytes, died_bytes;
};

/* Between two moments, as counts of events. */
struct memory_profile_live_between {
    bool is_asked;
    uint32_t a, b; /* a ≤ b */
    int64_t born_bytes, died_bytes;
    uint32_t born_count, died_count; /* died: what was there before the window included */
};

struct memory_profile_live {
    const struct memory_profile_pool *pool;
    uint32_t count;  /* events that have happened */
    unsigned fields; /* bit f: grouped by field f */
    struct memory_profile_live_between between;
    struct chunks groups; /* struct memory_profile_live_group, by first birth */
    int64_t rows_bytes;
    int64_t kept_bytes; /* of these, of blocks that were there before the recording, and are at its end */
    /* remainders; with the rows they make stack + heap */
    int64_t stack_bytes, before_freed_bytes, before_bytes, unaccounted_bytes;
    uint32_t before_freed_count;
};

/* Fills the rest of `live`; pool, count, fields and between are set. */
void memory_profile_live_make(struct memory_profile_live *live, struct arena *arena);
