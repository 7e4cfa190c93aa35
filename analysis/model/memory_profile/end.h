/* SPDX-License-Identifier: Apache-2.0
 * end.h: what an allocator snapshot without a history says: what there was at its end, and nothing of how it came
 * there. Units: bytes. */
#pragma once

#include "model/memory_profile/model.h"

/* The sums of a pool's device. in_use + rounding + pending + inactive = reserved, which is what the segments hold. */
struct memory_profile_end {
    int64_t in_use_bytes;   /* asked for, as the rows of what is live have it; these of pending blocks included */
    int64_t active_bytes;   /* of blocks that are in use, as large as they are */
    int64_t pending_bytes;  /* of blocks whose free waits for a stream, as large as they are */
    int64_t inactive_bytes; /* free in segments */
    int64_t reserved_bytes;
    uint32_t block_count, segment_count; /* block_count: active and pending */
};

/* False: the snapshot has a history, or it is a trace. */
bool memory_profile_end_of(const struct memory_profile_pool *pool, struct memory_profile_end *end);
/* Takes the row that represents the end out of the pool's counts: it is no event of the file. */
void memory_profile_end_uncount(struct memory_profile_pool *pool);
/* The finding shown first of such a pool; NULL of any other. */
struct finding *memory_profile_end_finding(const struct memory_profile_pool *pool, struct arena *arena);
