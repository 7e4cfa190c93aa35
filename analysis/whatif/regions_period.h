/* SPDX-License-Identifier: Apache-2.0
 * regions_period.h: layers of parameters that stand in one flat list, as Equinox's filter_jit hands them over: [2],
 * [4], [8], [10], [18], …: not each matrix is a layer, but as many as their shapes need to repeat.
 *
 * In:     regions that were recognised by the numbers of a list, one matrix each.
 * Out:    where their shapes repeat with a period of 2 to 16 matrices that are not all alike, at least three times and
 *         over most of the list, the matrices of a period are one region. Others stay as they are.
 * Cost:   16 passes over the parameters. */
#pragma once

#include "whatif/regions_read.h"

/* `of`: by plan->arguments, changed; regions that are part of another stay in `layers`, without a parameter. */
void regions_period_join(const struct plan *plan, struct regions *layers, uint32_t *of, struct arena *arena);
