/* SPDX-License-Identifier: Apache-2.0
 * growth.h: what became of each kind of allocation from step to step, for views that draw it. */
#pragma once

#include "tool/memory_profile/views.h"

/* "steady" … "grows", worst last; NULL past them. */
const char *memory_profile_growth_word(uint8_t verdict);
/* The verdict of each `what` of the trace, in the request's arena; UINT8_MAX of those that the pool has not. NULL where
 * the trace tells of fewer than two steps or launches. */
const uint8_t *memory_profile_growth_verdicts(const struct tool_request *request,
                                              const struct memory_profile_pool *pool);

/* What grows most. */
struct memory_profile_growth_most {
    uint32_t event;                    /* one of its allocations */
    int64_t slope_bytes, change_bytes; /* a boundary; from the first to the last */
    uint32_t grown_count, interval_count;
    const char *boundary; /* "step", "launch"; static */
};
/* Of the kinds of allocation that grow (verdict "grows") by at least `min_bytes` in all, that with the steepest slope; false when none
 * does. `request` has an arena alone. */
bool memory_profile_growth_find_most(const struct tool_request *request, const struct memory_profile_pool *pool,
                                     int64_t min_bytes, struct memory_profile_growth_most *out);
