/* SPDX-License-Identifier: Apache-2.0
 * held.h: what PyTorch held of a device at a moment, and what lay in it, from an allocator snapshot.
 *
 * In:     segments and blocks at the snapshot's end; what was allocated, freed, mapped and given back before it.
 * Out:    the segments of the moment by address, and the blocks in them. The end is counted back: of each address the
 *         first event behind the moment says what was there, else the end does.
 * Units:  bytes. A block that is there at the end has the size that the snapshot tells; any other one what was asked
 *         for, in whole 512 bytes, as the allocator rounds: in a large segment it may have had up to 1 MiB more, where
 *         the rest was too small to be split off.
 * Cost:   a pass over the pool's events, and sorting what is there.
 * Memory: the arena. */
#pragma once

#include "model/memory_profile/moment.h"
#include "read/torch/torch_snapshot.h"

/* A segment serves small requests (up to 1 MiB) or large ones. */
enum memory_profile_class { PROFILE_CLASS_UNKNOWN, PROFILE_CLASS_SMALL, PROFILE_CLASS_LARGE };

struct memory_profile_segment {
    uint64_t address, size_bytes;
    uint64_t used_bytes;    /* of its blocks, as they are rounded */
    uint64_t pending_bytes; /* part of them: their free waits for a stream */
    uint64_t requested_bytes;
    uint64_t largest_hole_bytes, largest_hole_address; /* 0, 0: it is full */
    int64_t stream;
    int64_t pool_id[2];   /* 0, 0: the default pool, or not told */
    uint32_t number;      /* of the snapshot's segments; PROFILE_NONE: it is given back before the end */
    uint32_t first_block; /* of `blocks` */
    uint32_t block_count, hole_count;
    enum memory_profile_class class;
    bool is_expandable;
};

struct memory_profile_held_block {
    uint64_t address, size_bytes, requested_bytes;
    uint32_t event;   /* that allocated it, or frees it later, of what was there before; PROFILE_NONE: no event does */
    uint32_t block;   /* of the snapshot's blocks; PROFILE_NONE: it is freed before the end */
    uint32_t segment; /* PROFILE_NONE: in none that is known */
    bool is_pending;  /* its free was requested, and waits for a stream */
};

struct memory_profile_held {
    struct memory_profile_segment *segments;  /* by address */
    struct memory_profile_held_block *blocks; /* by address */
    uint32_t segment_count, block_count;
    uint64_t reserved_bytes, used_bytes, requested_bytes, pending_bytes; /* sums over the segments */
    uint64_t outside_bytes;                                              /* of blocks in no segment */
};

/* `pool` is of a snapshot. */
void memory_profile_held_find(const struct memory_profile_pool *pool, const struct memory_profile_moment *moment,
                              struct arena *arena, struct memory_profile_held *out);
