/* SPDX-License-Identifier: Apache-2.0
 * xprof_sort.h: the order in which XProf lists buffers of equal size.
 *
 * XProf sorts its peak buffers by size with C++'s std::sort, which does not
 * keep equal ones in place; what it does with them follows from libstdc++'s
 * introsort (median of three, 16 as the limit of insertion sort). Clients see
 * that order, so it is followed here; 169 recorded answers hold it. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Sorts `items`, which are indices into `sizes`, by size, largest first. */
void xprof_sort(uint32_t *items, size_t count, const int64_t *sizes);
