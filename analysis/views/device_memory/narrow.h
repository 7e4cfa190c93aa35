/* SPDX-License-Identifier: Apache-2.0
 * narrow.h: filters on frames; of model.c alone. */
#pragma once

#include "views/device_memory/model.h"

/* Fills steps and samples of `model` from its profile: what the chips leave.
 * `keep`: which sets of labels stay (NULL: all). */
void narrow(struct model *model, const bool *keep);

/* What a profile itself asks to be left out of its stacks: drop_frames and keep_frames (profile.proto) name functions
 * as a whole; from the outermost dropped one on, the callees of a stack go and their caller holds what they held.
 * Frames before the first that stays are left alone, as in pprof. `pprof` itself when there is nothing to drop or the
 * expressions are broken; else one that shares all but stacks and locations with it. */
const struct pprof *narrow_pruned(const struct pprof *pprof, struct arena *arena);
