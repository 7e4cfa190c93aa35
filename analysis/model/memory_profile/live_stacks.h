/* SPDX-License-Identifier: Apache-2.0
 * live_stacks.h: what is live in a pool of an allocator snapshot at a moment, as a profile by call stack.
 *
 * In:     a pool of a snapshot (pool->profile->events.snapshot), and how many of its events have happened.
 * Out:    samples of one stack, size and region: how many blocks, and their bytes as they were asked for; at the end,
 *         where the snapshot tells them, the bytes of the blocks as well. Labels: device (name of the pool), region,
 *         bytes (what each block of the sample asked for). All samples together are the bytes in use at the moment,
 *         exactly. An allocation has the stack of its event, a block that is there at the end and that no event
 *         allocates its own. What else was there before the recording began is one frame of this name, and what the
 *         events do not explain, of a damaged file, another.
 *         Frames that are no Python belong to the mapping LIBRARY_NATIVE_MAPPING.
 * Memory: the arena, and texts of the snapshot. */
#pragma once

#include "model/memory_profile/model.h"
#include "read/pprof/pprof.h"

void memory_profile_live_stacks(const struct memory_profile_pool *pool, uint32_t count, struct arena *arena,
                                struct pprof *out);
