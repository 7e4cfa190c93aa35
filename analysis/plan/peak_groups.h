/* SPDX-License-Identifier: Apache-2.0
 * peak_groups.h: what is live at the peak of a memory space, equal buffers of repeated layers together (group_key.h).
 *
 * Memory: the arena; about 120 bytes a group and 4 a row.
 * Cost:   linear in the rows. */
#pragma once

#include "plan/group_key.h"

struct peak_group {
    struct group_key key;
    char id[GROUP_KEY_TEXT_BYTES];
    uint32_t first_row, count; /* of the largest buffer; of those that are live at the peak */
    int64_t bytes;
};

struct peak_groups {
    struct peak_group *items;
    uint32_t *by_bytes; /* places in `items`, most bytes first */
    uint32_t count;
    uint32_t *of_row; /* MAP_NONE where no buffer of the row's group is live at the peak */
};

/* `scratch` holds one text meanwhile. */
void peak_groups_build(const struct plan *plan, const struct plan_space *space, struct buf *scratch,
                       struct arena *arena, struct peak_groups *out);
