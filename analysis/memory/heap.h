/* SPDX-License-Identifier: Apache-2.0
 * heap.h: replays the heap simulator's trace: who held memory from when to when.
 *
 * In:     events over buffers, which are indices into two arrays of sizes.
 * Out:    the curve, its peak, and holds: intervals in which a buffer's memory
 *         was taken. At every step the sizes of the holds that are open add up
 *         to the curve.
 * Units:  bytes; a step is the index of an event. series[i] is the size before
 *         event i, so series[i + 1] is what is live during step i.
 * Memory: the arena. Cost: one pass; O(log n) an event, amortized, however long chains of
 *         sharing are, while each buffer shares with one other. One that shares with another
 *         later costs the length of its chain. Each link is charged to the arena's work.
 * Source: rules of XLA's heap simulator trace (hlo.proto, HeapSimulatorTrace) as
 *         XProf 2.24.2 replays them:
 *         ALLOC takes the buffer's size; SHARE_WITH adds a user to the memory at
 *         the end of the canonical buffer's chain, and takes it again if it had
 *         been given back; FREE removes a user and gives it back with the last. */
#pragma once

#include "base/arena.h"

#include <stdint.h>

#define HEAP_NONE UINT32_MAX

enum heap_kind { HEAP_ALLOC, HEAP_FREE, HEAP_SHARE, HEAP_UNKNOWN_KIND };

struct heap_event {
    enum heap_kind kind;
    uint32_t buffer_at;    /* HEAP_NONE: not known; the step passes without effect */
    uint32_t canonical_at; /* of HEAP_SHARE */
};

struct heap_hold {
    uint32_t buffer_at; /* whose instruction represents it: the sharer, if the memory was re-used */
    uint32_t root_at;   /* whose size is taken */
    uint32_t born;      /* step that takes the memory */
    uint32_t dies;      /* step that gives it back; event_count if none does */
};

/* First and last step of a buffer of its own, as XProf reports spans. */
struct heap_span {
    uint32_t buffer_at, start, limit;
};

enum heap_failure {
    HEAP_FINE,
    HEAP_FREED_TOO_OFTEN, /* a FREE of memory that is not held */
    HEAP_NEGATIVE,        /* more given back than taken */
    HEAP_BAD_KIND,        /* an event kind that is not known */
    HEAP_BAD_SHARING,     /* buffers that share in a circle: the event that would close it */
    HEAP_TOO_LARGE,       /* one buffer allocated so often that the sum passes SUM_MAX_BYTES_TOGETHER */
};

struct heap {
    uint32_t event_count;
    int64_t *series, *unpadded_series; /* event_count + 1 values */
    bool has_peak;                     /* false when nothing was ever taken */
    uint32_t peak_at;                  /* step of the first largest value */
    int64_t peak_bytes, peak_unpadded_bytes;
    struct heap_hold *holds; /* by birth */
    uint32_t hold_count;
    struct heap_span *spans; /* by first appearance */
    uint32_t span_count;
    uint32_t unknown_count; /* events without a known buffer */
    uint32_t unfreed_count; /* holds that the trace does not end */
    enum heap_failure failure;
    uint32_t failure_at; /* step */
};

/* `bytes` and `unpadded_bytes` have `buffer_count` entries. After a failure the
 * steps before it are valid and the rest of the series repeats the last value. */
void heap_replay(const struct heap_event *events, uint32_t event_count, const int64_t *bytes,
                 const int64_t *unpadded_bytes, uint32_t buffer_count, struct arena *arena, struct heap *out);
