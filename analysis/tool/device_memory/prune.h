/* SPDX-License-Identifier: Apache-2.0
 * prune.h: what a profile itself asks to be left out of its stacks.
 *
 * drop_frames and keep_frames (profile.proto) name functions as a whole: from the
 * outermost dropped one on, the callees of a stack go and their caller holds what
 * they held. Frames before the first that stays are left alone, as in pprof. */
#ifndef ANALYSIS_TOOL_DEVICE_MEMORY_PRUNE_H
#define ANALYSIS_TOOL_DEVICE_MEMORY_PRUNE_H

#include "input/pprof.h"

/* `pprof` itself when there is nothing to drop or the expressions are broken; else one that
 * shares all but stacks and locations with it. */
const struct pprof *prune(const struct pprof *pprof, struct arena *arena);

#endif
