/* SPDX-License-Identifier: Apache-2.0 */
#include "memory/pairs.h"

#include "base/map.h"

void pairs_make(const struct pairs *pairs, struct arena *scratch, struct pairs_counts *counts)
{
    struct map open; /* allocations by address */
    map_init(&open, scratch, 512);
    *counts = (struct pairs_counts){0, 0, 0, 0};
    for (uint32_t i = pairs->first; i < pairs->end; i++) {
        bool is_freed = (pairs->flags[i] & pairs->freed_flag) != 0;
        pairs->partner[i] = PAIRS_NONE;
        if ((pairs->flags[i] & pairs->address_flag) == 0) {
            counts->before_window += is_freed;
            counts->never_freed += !is_freed;
            continue;
        }
        struct map_slot *slot = map_at(&open, pairs->address[i]);
        uint32_t allocation = (uint32_t)slot->value;
        if (allocation != MAP_NONE) {
            assert(allocation < i && pairs->partner[allocation] == PAIRS_NONE);
            pairs->partner[allocation] = i;
        }
        if (!is_freed) {
            counts->replaced += allocation != MAP_NONE;
            if (allocation != MAP_NONE)
                slot->value = i;
            else
                map_fill(&open, slot, pairs->address[i], i);
        } else if (allocation != MAP_NONE) {
            pairs->partner[i] = allocation;
            map_clear(&open, slot);
        } else {
            counts->before_window++;
        }
        counts->max_open = open.count > counts->max_open ? open.count : counts->max_open;
    }
    counts->never_freed += open.count;
}
