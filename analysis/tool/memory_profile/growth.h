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
