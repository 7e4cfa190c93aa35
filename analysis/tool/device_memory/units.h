/* SPDX-License-Identifier: Apache-2.0
 * units.h: units that can be told in each other, as pprof knows them: sizes by 1024 (B, kB, MB … PB, also spelled
 * out), times (ns, us, ms, s, hr). Letters of either case and a plural "s" mean the same. */
#ifndef ANALYSIS_TOOL_DEVICE_MEMORY_UNITS_H
#define ANALYSIS_TOOL_DEVICE_MEMORY_UNITS_H

#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

/* Is a value in one unit a value in the other? Equal texts always are. */
bool units_are_alike(struct str a, struct str b);
/* How many of the smallest unit of its kind one is; 1 for a unit of no known kind. */
int64_t units_factor(struct str unit);

#endif
