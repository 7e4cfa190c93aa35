/* SPDX-License-Identifier: Apache-2.0
 * replay_curve.h: what a replay holds over the time of its recording, for a picture: in each of equal parts of the time
 * the highest. */
#pragma once

#include "memory/allocator/caching.h"

struct arena;

struct replay_curve {
    int64_t from_ps, to_ps;
    uint32_t width; /* parts of [from_ps, to_ps], at least 1 */
    uint32_t count; /* of them, up to the one where the job ends: width if it ends as recorded */
    /* Arrays of `width` items, of which the first `count` are set. In bytes. */
    int64_t *reserved_bytes;  /* segments by the rules */
    int64_t *allocated_bytes; /* blocks, as torch.cuda.max_memory_allocated counts */
};

/* Arrays of `arena`; width is at least 1, from_ps at most to_ps. */
void replay_curve_begin(struct replay_curve *curve, int64_t from_ps, int64_t to_ps, uint32_t width,
                        struct arena *arena);
/* What is held from `time_ps` on; times ascend. */
void replay_curve_add(struct replay_curve *curve, int64_t time_ps, const struct caching *caching);
/* What was held last is held to the end; unless the job ended. */
void replay_curve_end(struct replay_curve *curve);
