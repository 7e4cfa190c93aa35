/* SPDX-License-Identifier: Apache-2.0
 * extremes.h: smallest and largest value of any range of a long curve, without walking it.
 *
 * Each block of EXTREMES_BLOCK values remembers where its first smallest and first
 * largest value are; a range is a few blocks and two ends. Memory: the arena. */
#pragma once

#include "base/workers.h"
#include "memory/thin.h"

enum { EXTREMES_BLOCK = 256 };

struct extremes {
    thin_value *value;
    const void *curve;
    uint32_t count;
    uint32_t *min_at, *max_at; /* of each block */
};

/* `workers` may be NULL; else `value` is called by several threads at once. */
void extremes_build(struct extremes *extremes, thin_value *value, const void *curve, uint32_t count,
                    const struct workers *workers, struct arena *arena);
/* First smallest and first largest of [from, to), which is not empty. */
void extremes_of(const struct extremes *extremes, uint32_t from, uint32_t to, uint32_t *min_at, uint32_t *max_at);
