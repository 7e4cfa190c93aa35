/* SPDX-License-Identifier: Apache-2.0 */
#include "base/sort.h"

#include <stdlib.h>

void sort_items(void *items, size_t count, size_t size, sort_order *order, void *context)
{
    qsort_r(items, count, size, order, context);
}
