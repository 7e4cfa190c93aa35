/* SPDX-License-Identifier: Apache-2.0
 * regions_loops.h: layers that run inside of a scan's rounds: an LSTM's cells in each step of time.
 *
 * In:     regions of a program.
 * Out:    what runs several layers in each round, going forward or backward but not both, is in no region: the scan's
 *         body is what a checkpoint goes around, and what it keeps is what the scan carries (checkpoint_stacks.c). A
 *         loop that does both in each round, as one over microbatches does, has its layers inside.
 * Memory: the arena; about 10 bytes a computation.
 * Cost:   two passes over the instructions. */
#pragma once

#include "whatif/regions.h"

/* False: there are no such layers, and `out` is not written. `of` is not changed. */
bool regions_loops_clear(const struct graph *graph, const struct regions *of, struct arena *arena, struct regions *out);
