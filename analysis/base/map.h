/* SPDX-License-Identifier: Apache-2.0
 * map.h: 64-bit keys to indices, in an arena.
 *
 * Made for a count that is known beforehand. Keys come out of hostile files,
 * so they are mixed before use; open addressing keeps it to one block. */
#ifndef ANALYSIS_BASE_MAP_H
#define ANALYSIS_BASE_MAP_H

#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>

#define MAP_NONE UINT32_MAX

/* Key and value side by side: a look-up then misses the cache once. */
struct map_slot {
    uint64_t key;
    uint32_t value; /* MAP_NONE = free */
};

struct map {
    struct map_slot *slots;
    uint64_t mask; /* number of slots − 1 */
};

/* Room for `count` keys. */
void map_init(struct map *map, struct arena *arena, size_t count);
/* The value of `key`, or MAP_NONE. */
uint32_t map_get(const struct map *map, uint64_t key);
/* Sets `key` to `value` (not MAP_NONE). False when it was there: then the value
 * is replaced if `replace`. */
bool map_put(struct map *map, uint64_t key, uint32_t value, bool replace);

#endif
