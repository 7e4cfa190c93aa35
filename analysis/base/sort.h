/* SPDX-License-Identifier: Apache-2.0
 * sort.h: sorting in an order that looks something up. C libraries disagree on how qsort_r takes the order and its
 * context: sort.c is for those of Linux, sort_other.c for the one of macOS. */
#pragma once

#include <stddef.h>

typedef int sort_order(const void *left, const void *right, void *context);

void sort_items(void *items, size_t count, size_t size, sort_order *order, void *context);
