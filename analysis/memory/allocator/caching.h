/* SPDX-License-Identifier: Apache-2.0
 * caching.h: PyTorch's caching allocator of one device: the same requests and frees give the same segments.
 *
 * Small and large requests have pools of their own, and so have streams and private pools. A request takes the smallest
 * free block that is large enough, of equals the one at the lowest address, and leaves what remains of it; else the
 * driver is asked for a segment. Free neighbours become one. When the driver refuses, whole free segments go back, and
 * it is asked again.
 * Units:  bytes. Sizes up to 2^48, addresses up to 2^60; who calls sees to that.
 * Memory: the arena's; each step is charged to its work.
 * Not here: addresses are the driver's own, so `place` has to say them; when a stream is done with a block is the
 *         device's own, so who calls says when a free is completed.
 * Source: c10/cuda/CUDACachingAllocator.cpp of PyTorch 2.0 to 2.11. */
#pragma once

#include "base/table.h"
#include "memory/allocator/caching_blocks.h"
#include "memory/allocator/caching_settings.h"

enum caching_step { CACHING_SEGMENT_ALLOC, CACHING_SEGMENT_FREE, CACHING_SEGMENT_MAP, CACHING_SEGMENT_UNMAP };

/* What was asked of the driver. */
struct caching_change {
    enum caching_step step;
    uint64_t address;
    int64_t size_bytes;
};

/* By how much the device memory that the process holds changes: below 0 if it went back. */
static inline int64_t caching_change_bytes(const struct caching_change *change)
{
    bool is_more = change->step == CACHING_SEGMENT_ALLOC || change->step == CACHING_SEGMENT_MAP;
    return is_more ? change->size_bytes : -change->size_bytes;
}

struct caching_pool {
    int64_t stream, id[2]; /* id: of a private pool; 0, 0: the default one */
    bool is_small;
    uint32_t free, unmapped; /* sets of blocks: by size and address; by address */
};

struct caching_level {
    int64_t bytes, peak_bytes;
};

/* Where the driver puts a segment of so many bytes; an expandable one has no size. */
typedef uint64_t caching_place(void *context, int64_t size_bytes, bool is_expandable);

struct caching {
    struct caching_settings settings;
    int64_t device_bytes; /* more than this the driver does not give; 0: it always gives */
    struct arena *arena;
    struct caching_blocks blocks;
    struct table pool_keys;
    struct caching_pool *pools;
    size_t pool_capacity;
    uint32_t pool_count, last_pool;
    uint64_t searches; /* of large requests in default pools, where segments are collected by age */
    /* allocated: sizes of blocks until their free is asked for (torch.cuda.max_memory_allocated);
     * requested: what was asked for, until the free is completed */
    struct caching_level allocated, requested, reserved;
    struct caching_change *changes; /* since who calls set the count to 0 */
    size_t change_count, change_capacity;
    caching_place *place;
    void *context;
};

void caching_init(struct caching *caching, struct arena *arena, const struct caching_settings *settings);
uint32_t caching_pool(struct caching *caching, int64_t stream, const int64_t id[2], bool is_small);

/* The block that a request gets; CACHING_NONE: it fails. `pool` as caching_pool says it for the rounded size. */
uint32_t caching_allocate(struct caching *caching, uint32_t pool, int64_t requested_bytes);
/* Its free is asked for; other streams may still use it. */
void caching_ask_free(struct caching *caching, uint32_t block);
/* Nobody uses it any more. */
void caching_free(struct caching *caching, uint32_t block);

/* Whole free segments go back to the driver, as torch.cuda.empty_cache() does; those of private pools stay. */
void caching_release(struct caching *caching);
/* One segment that is wholly free goes back; false: there is none such. */
bool caching_release_one(struct caching *caching, uint64_t address, int64_t size_bytes);

/* ---- a state to begin with: segments, each with its blocks from the lowest address on ---- */

struct caching_loading {
    uint32_t pool, last; /* last: block of the segment, CACHING_NONE at first */
    bool is_expandable;
};

/* Adds what lies behind the last block; the number of the block. Free neighbours may follow each other. */
uint32_t caching_load(struct caching *caching, struct caching_loading *loading, const struct caching_block *block);
/* The segment is whole. */
void caching_load_end(struct caching *caching, struct caching_loading *loading);
