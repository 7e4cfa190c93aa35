/* SPDX-License-Identifier: Apache-2.0
 * equal.h: when two texts tell of the same failure. */
#pragma once

#include "read/oom/oom.h"

/* Same family and form, and nothing that both state differs: each device prints
 * its own copy, and a copy may be cut. */
bool oom_equal_failures(const struct oom_failure *a, const struct oom_failure *b);

/* Do a driver's or allocator's line and a failure ask for the same? `rounded` is what an
 * allocator made of the request, or 0. */
bool oom_equal_requests(const struct oom_failure *a, uint64_t a_rounded, const struct oom_failure *b,
                        uint64_t b_rounded);

/* How many things a failure states. */
size_t oom_equal_richness(const struct oom_failure *failure);
