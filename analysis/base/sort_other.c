/* SPDX-License-Identifier: Apache-2.0 */
#include "base/sort.h"

#include <stdlib.h>

struct sort_other_asked {
    sort_order *order;
    void *context;
};

/* There the context comes first, and must not be NULL. */
static int turned(void *context, const void *left, const void *right)
{
    const struct sort_other_asked *asked = context;
    return asked->order(left, right, asked->context);
}

void sort_items(void *items, size_t count, size_t size, sort_order *order, void *context)
{
    struct sort_other_asked asked = {order, context};
    qsort_r(items, count, size, &asked, turned);
}
