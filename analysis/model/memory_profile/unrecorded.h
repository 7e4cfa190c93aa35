/* SPDX-License-Identifier: Apache-2.0
 * unrecorded.h: allocations and frees that a trace of torch.profiler lacks, by what is in use after each event.
 *
 * The allocator says what is in use, so where its events do not give that, some of them are missing. A gap of the size
 * of an allocation that is never freed is its free; a gap of the size of a free without allocation is that allocation.
 * No more was there before the first event than it says: frees of more end what was allocated in the trace. So rows of
 * what is live do not add up to more than is in use. */
#pragma once

#include "model/memory_profile/model.h"

/* Call once the pool's columns are complete. */
void memory_profile_unrecorded_settle(struct memory_profile *profile, struct memory_profile_pool *pool,
                                      struct arena *scratch);
