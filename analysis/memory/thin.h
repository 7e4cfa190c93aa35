/* SPDX-License-Identifier: Apache-2.0
 * thin.h: a curve of many steps as one of few points, nothing of note lost.
 *
 * The range is cut into columns; of each, the first, smallest, largest and last
 * value are kept (those that differ), in order of their steps. So minimum,
 * maximum and every peak that stands out at this width stay, at their own steps.
 * Source: the min-max downsampling that oscilloscopes use. */
#pragma once

#include "base/arena.h"

#include <stdint.h>

/* Value of a curve at a step. */
typedef int64_t thin_value(const void *curve, uint32_t step);

/* Steps to draw of [from, to), at most 4 a column, ascending: all of them if
 * they fit. *count tells how many. */
uint32_t *thin_steps(thin_value *value, const void *curve, uint32_t from, uint32_t to, uint32_t columns,
                     struct arena *arena, uint32_t *count);

/* Local peaks in [0, count): steps whose value is larger than the valley on either
 * side by at least `min` — the largest first, at most `max`. A flat top gives its first step. */
uint32_t *thin_peaks(thin_value *value, const void *curve, uint32_t count, int64_t min, uint32_t max,
                     struct arena *arena, uint32_t *peak_count);
