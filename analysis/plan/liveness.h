/* SPDX-License-Identifier: Apache-2.0
 * liveness.h: a replay for programs without a heap trace.
 *
 * CPU and some GPU programs carry none. Sizes and offsets are exact there, and
 * from when to when a value lives follows from the schedule (hlo_ranges.h);
 * values of one allocation that lie over each other follow each other, since
 * two cannot hold the same bytes at once. Steps are positions in the schedule. */
#pragma once

#include "plan/plan.h"

/* Fills `out` for the temporary allocations of a space, as heap_replay would.
 * False, and `out` untouched, if the program is not scheduled. */
bool liveness_replay(struct plan *plan, int64_t space, const int64_t *unpadded_bytes, struct arena *arena,
                     struct heap *out);
