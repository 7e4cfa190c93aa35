/* SPDX-License-Identifier: Apache-2.0
 * pprof_ids.c: see pprof_ids.h. */
#include "input/pprof_ids.h"

void pprof_ids_init(struct pprof_ids *ids, const char *what, uint32_t count, struct arena *arena)
{
    ids->what = what;
    ids->direct_count = (uint64_t)count + 2;
    ids->direct = arena_raw(arena, ids->direct_count * sizeof(*ids->direct));
    memset(ids->direct, 0xff, ids->direct_count * sizeof(*ids->direct));
    map_init(&ids->map, arena, count);
}

bool pprof_ids_add(struct pprof_ids *ids, uint64_t id, uint32_t place, uint64_t offset_bytes, struct err *err)
{
    bool is_new = id >= ids->direct_count ? map_put(&ids->map, id, place, false) : ids->direct[id] == MAP_NONE;
    if (id == 0)
        return err_set(err, ERR_malformed, offset_bytes, "a %s with the id 0, which is reserved", ids->what);
    if (!is_new)
        return err_set(err, ERR_malformed, offset_bytes, "a second %s with the id %llu", ids->what,
                       (unsigned long long)id);
    if (id < ids->direct_count)
        ids->direct[id] = place;
    return true;
}
