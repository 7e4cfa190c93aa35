/* SPDX-License-Identifier: Apache-2.0
 * trace_pairs.h: which producers of a trace belong to which consumers: those of one pair of type and id.
 *
 * Memory: the arena. Source: the stats _pt, _p, _ct and _c of events. */
#pragma once

#include "base/arena.h"

struct trace_link { /* one side of a pair */
    uint64_t type, id;
    uint32_t node;
};

/* A pair that has both sides: ranges of trace_pairs.producers and .consumers. */
struct trace_hub {
    uint32_t producer_first, producer_end, consumer_first, consumer_end;
};

struct trace_pairs {
    uint32_t *producers, *consumers; /* nodes, hub by hub */
    struct trace_hub *hubs;          /* in the order of their first consumers */
    size_t hub_count;
};

/* Less than 2^32 links on each side. Linear: what it needs meanwhile is taken from `work`, and released. */
void trace_pairs_make(const struct trace_link *producers, size_t producer_count, const struct trace_link *consumers,
                      size_t consumer_count, struct arena *arena, struct arena *work, struct trace_pairs *out);
