/* SPDX-License-Identifier: Apache-2.0 */
#include "verdict/capacity.h"

#include <stddef.h>

bool capacity_counts_before(const struct capacity_said *one, const struct capacity_said *other)
{
    if (one->from != other->from)
        return one->from < other->from;
    return one->from == CAPACITY_TRACE && one->bytes < other->bytes;
}

bool capacity_may_count(enum capacity_from from, const struct capacity_said *found)
{
    return found == NULL || from < found->from || (from == found->from && from == CAPACITY_TRACE);
}

struct capacity_usable capacity_usable_of(int64_t available_bytes, int64_t physical_bytes)
{
    bool is_physical = available_bytes <= 0;
    int64_t bytes = is_physical ? physical_bytes : available_bytes;
    return (struct capacity_usable){bytes > 0 ? bytes : 0, is_physical};
}
