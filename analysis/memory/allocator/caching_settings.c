/* SPDX-License-Identifier: Apache-2.0 */
#include "memory/allocator/caching_settings.h"

/* Of 1 MiB, with which the first interval begins. */
enum { FIRST_INTERVAL_BITS = 20 };

static uint32_t bits_of(int64_t bytes) { return 63 - (uint32_t)__builtin_clzll((uint64_t)bytes | 1); }

uint32_t caching_settings_interval(int64_t bytes)
{
    uint32_t bits = bits_of(bytes);
    uint32_t interval = bits > FIRST_INTERVAL_BITS ? bits - FIRST_INTERVAL_BITS : 0;
    return interval < CACHING_ROUNDUP_INTERVALS ? interval : CACHING_ROUNDUP_INTERVALS - 1;
}

/* The next of the steps that a power of two is divided into. */
static int64_t next_step(int64_t bytes, uint32_t divisions)
{
    int64_t power = INT64_C(1) << bits_of(bytes);
    if (power == bytes)
        return bytes;
    int64_t step = power >> bits_of(divisions);
    if (step == 0)
        return power << 1;
    return (bytes + step - 1) & ~(step - 1);
}

int64_t caching_settings_round(const struct caching_settings *settings, int64_t bytes)
{
    if (bytes < CACHING_BLOCK_BYTES)
        return CACHING_BLOCK_BYTES;
    uint32_t divisions = settings->roundup[caching_settings_interval(bytes)];
    if (divisions > 1 && bytes > (int64_t)CACHING_BLOCK_BYTES * divisions)
        return next_step(bytes, divisions);
    return (bytes + CACHING_BLOCK_BYTES - 1) / CACHING_BLOCK_BYTES * CACHING_BLOCK_BYTES;
}

int64_t caching_settings_segment_bytes(int64_t bytes)
{
    if (bytes <= CACHING_SMALL_BYTES)
        return CACHING_SMALL_SEGMENT;
    if (bytes < CACHING_OWN_SEGMENT)
        return CACHING_LARGE_SEGMENT;
    return (bytes + CACHING_SMALL_SEGMENT - 1) / CACHING_SMALL_SEGMENT * CACHING_SMALL_SEGMENT;
}
