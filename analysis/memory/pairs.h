/* SPDX-License-Identifier: Apache-2.0
 * pairs.h: which event ends which allocation, by address.
 *
 * In:     events in the order of time: allocation or deallocation, and an address.
 * Out:    for an allocation the event that ends it (its deallocation, or a later
 *         allocation at the same address, whose free was not recorded), for a
 *         deallocation its allocation; PAIRS_NONE where there is none.
 * Memory: `scratch` for the table of open addresses, 32 to 64 bytes for
 *         each allocation that is open at the same time, and what it grew out of. */
#pragma once

#include "base/arena.h"

#include <stdint.h>

#define PAIRS_NONE UINT32_MAX

struct pairs_counts {
    uint32_t never_freed;   /* allocations without an end */
    uint32_t before_window; /* deallocations without allocation */
    uint32_t replaced;      /* allocations that another one at their address ends */
    uint32_t max_open;      /* allocations open at the same time */
};

struct pairs {
    uint32_t *partner; /* filled in */
    const uint64_t *address;
    const uint8_t *flags;
    uint8_t freed_flag, address_flag;
    uint32_t first, end; /* events of one pool */
};

void pairs_make(const struct pairs *pairs, struct arena *scratch, struct pairs_counts *counts);
