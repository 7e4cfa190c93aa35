/* SPDX-License-Identifier: Apache-2.0
 * caching_settings.h: what decides how PyTorch's caching allocator places requests, and how it rounds sizes.
 *
 * Units:  bytes.
 * Source: c10/cuda/CUDACachingAllocator.cpp and CUDAAllocatorConfig.cpp of PyTorch 2.0 to 2.11; ROCm and XPU have the
 *         same rules. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum {
    CACHING_BLOCK_BYTES = 512,        /* sizes are whole multiples of this */
    CACHING_SMALL_BYTES = 1 << 20,    /* the largest request that is small */
    CACHING_SMALL_SEGMENT = 2 << 20,  /* what small requests share, and the grain of larger segments */
    CACHING_LARGE_SEGMENT = 20 << 20, /* what large requests below CACHING_OWN_SEGMENT share */
    CACHING_OWN_SEGMENT = 10 << 20,   /* requests from here on have segments of their own size */
    CACHING_ROUNDUP_INTERVALS = 16,   /* below 2 MiB, below 4 MiB, … */
};

struct caching_settings {
    bool is_expandable;
    int64_t max_split_bytes;                     /* blocks of at least this size are never split; 0: all are */
    double collect_threshold;                    /* of fraction_bytes; 0: nothing is collected */
    int64_t fraction_bytes;                      /* all that the process may take of the device; 0: all there is */
    uint32_t roundup[CACHING_ROUNDUP_INTERVALS]; /* steps between powers of two, by the size; 0 or 1: none */
};

/* What a request of `bytes` (up to 2^60) takes of a block. */
int64_t caching_settings_round(const struct caching_settings *settings, int64_t bytes);
/* The segment that is asked of the driver for a request of rounded `bytes`. */
int64_t caching_settings_segment_bytes(int64_t bytes);
/* Which of `roundup` a size is rounded by. */
uint32_t caching_settings_interval(int64_t bytes);
