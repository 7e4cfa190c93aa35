/* SPDX-License-Identifier: Apache-2.0
 * pprof_ids.h: ids of a profile's tables and the places they stand for; of pprof.c alone. */
#ifndef ANALYSIS_INPUT_PPROF_IDS_H
#define ANALYSIS_INPUT_PPROF_IDS_H

#include "base/map.h"
#include "input/pprof.h"

/* Writers count from 1 and without gaps; then `direct` is enough. */
struct pprof_ids {
    uint32_t *direct; /* by id, MAP_NONE where there is none; ids below direct_count */
    uint64_t direct_count;
    struct map map; /* of greater ids */
    const char *what;
};

void pprof_ids_init(struct pprof_ids *ids, const char *what, uint32_t count, struct arena *arena);
/* False with a report when the id is 0 or taken. */
bool pprof_ids_add(struct pprof_ids *ids, uint64_t id, uint32_t place, uint64_t offset_bytes, struct err *err);
static inline uint32_t pprof_ids_find(const struct pprof_ids *ids, uint64_t id)
{
    return id < ids->direct_count ? ids->direct[id] : map_get(&ids->map, id);
}

#endif
