/* SPDX-License-Identifier: Apache-2.0
 * select.h: the first of many in an order, without sorting the others. */
#pragma once

#include "base/arena.h"
#include "base/sort.h"

enum { SELECT_SIZE_MAX = 128 };

typedef sort_order select_order;

/* Afterwards the `need` least of `count` items of `size` bytes (at most SELECT_SIZE_MAX) are the first, in any
 * order; no two are equal. What it does is charged to `arena`. */
void select_smallest(struct arena *arena, void *items, uint32_t count, size_t size, uint32_t need, select_order *order,
                     void *context);

/* Comparisons that sorting so many items takes, about: what a caller of qsort charges. */
uint64_t select_work(uint32_t count);
