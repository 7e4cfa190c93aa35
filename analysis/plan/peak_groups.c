/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/peak_groups.h"

#include "base/map.h"
#include "base/sum.h"

#include <stdlib.h>

struct ordered {
    const struct peak_group *group;
    uint32_t at;
};

static int by_bytes(const void *left, const void *right)
{
    const struct ordered *a = left, *b = right;
    return ORDER(b->group->bytes, a->group->bytes) ?: strcmp(a->group->id, b->group->id);
}

static bool is_group(const void *context, uint64_t value)
{
    const struct peak_groups *groups = ((const void *const *)context)[0];
    return strcmp(groups->items[value].id, ((const void *const *)context)[1]) == 0;
}

static void rows_collect(const struct plan *plan, const struct plan_space *space, struct buf *scratch,
                         struct arena *arena, struct peak_groups *out)
{
    struct map map;
    map_init(&map, arena, space->live_at_peak_count);
    for (int is_alive = 1; is_alive >= 0; is_alive--)
        for (uint32_t i = 0; i < space->row_count; i++) {
            const struct plan_row *row = &space->rows[i];
            char id[GROUP_KEY_TEXT_BYTES];
            bool is_new;
            if (plan_row_is_alive(row, space->peak_step) != (bool)is_alive)
                continue;
            struct group_key key = group_key_of(plan, row, scratch, arena);
            group_key_text(&key, id);
            const void *const sought[] = {out, id};
            uint64_t hash = hash_text(id, 0);
            uint64_t found =
                is_alive ? map_number(&map, hash, is_group, sought, &is_new) : map_find(&map, hash, is_group, sought);
            out->of_row[i] = found == MAP_FREE ? MAP_NONE : (uint32_t)found;
            if (!is_alive)
                continue;
            struct peak_group *group = &out->items[found];
            if (is_new) {
                *group = (struct peak_group){.key = key, .first_row = i};
                memcpy(group->id, id, sizeof(id));
                out->count++;
            }
            group->count++;
            group->bytes = sum_add(group->bytes, row->bytes);
            if (row->bytes > space->rows[group->first_row].bytes)
                group->first_row = i;
        }
}

void peak_groups_build(const struct plan *plan, const struct plan_space *space, struct buf *scratch,
                       struct arena *arena, struct peak_groups *out)
{
    *out = (struct peak_groups){.items = arena_array(arena, struct peak_group, (size_t)space->live_at_peak_count + 1),
                                .of_row = arena_array(arena, uint32_t, (size_t)space->row_count + 1)};
    rows_collect(plan, space, scratch, arena, out);
    struct ordered *order = arena_array(arena, struct ordered, (size_t)out->count + 1);
    out->by_bytes = arena_array(arena, uint32_t, (size_t)out->count + 1);
    for (uint32_t i = 0; i < out->count; i++)
        order[i] = (struct ordered){&out->items[i], i};
    qsort(order, out->count, sizeof(*order), by_bytes);
    for (uint32_t i = 0; i < out->count; i++)
        out->by_bytes[i] = order[i].at;
}
