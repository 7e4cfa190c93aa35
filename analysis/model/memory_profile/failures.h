/* SPDX-License-Identifier: Apache-2.0
 * failures.h: requests of a snapshot that failed for lack of memory, and what was free when they did.
 *
 * What a request meets is what is left after PyTorch gave back all segments that are wholly free: it tries that first.
 * Cost: a pass over the pool's events for each that is looked into; the latest ones are. */
#pragma once

#include "model/memory_profile/held.h"

/* Sets `torch`, `failures` and `failure_count` of all pools. Nothing in a trace. */
void memory_profile_failures_make(struct memory_profile *profile, struct arena *arena);
/* The word of its kind: "fragmentation", … */
const char *memory_profile_failures_kind(const struct memory_profile_failure *failure);
/* Is so little of the segments free that pieces are not what fills them: less than a twentieth? */
bool memory_profile_failures_is_full(const struct memory_profile_failure *failure);
/* Could it have been put into this segment? */
bool memory_profile_failures_is_usable(const struct memory_profile_failure *failure,
                                       const struct memory_profile_segment *segment);
/* When it failed, after what went before it at that time. */
struct memory_profile_moment memory_profile_failures_moment(const struct memory_profile_failure *failure);
/* The latest one at a time; NULL: none failed then. */
const struct memory_profile_failure *memory_profile_failures_at(const struct memory_profile_pool *pool,
                                                                int64_t time_ps);
/* What it asked for and what it met, as a clause: beside a picture that shows the rest. */
struct finding *memory_profile_failures_met(const struct memory_profile_failure *failure, struct arena *arena);
/* The finding about failure `at`, for users. */
struct finding *memory_profile_failures_finding(const struct memory_profile_pool *pool, uint32_t at,
                                                struct arena *arena);
