/* SPDX-License-Identifier: Apache-2.0
 * map.c: see map.h. */
#include "base/map.h"

#include "base/hash.h"

/* The table's address goes in too: it is not known to whoever wrote the file,
 * so keys cannot be chosen to fall into one slot. */
static uint64_t mixed(const struct map *map, uint64_t key) { return hash_number(key, (uint64_t)(uintptr_t)map->slots); }

void map_init(struct map *map, struct arena *arena, size_t count)
{
    uint64_t slots = 8;
    while (slots < (uint64_t)count * 2)
        slots *= 2;
    map->mask = slots - 1;
    map->slots = arena_raw(arena, slots * sizeof(*map->slots));
    memset(map->slots, 0xff, slots * sizeof(*map->slots));
}

/* The slot of `key`, or the free one where it belongs. */
static struct map_slot *slot_of(const struct map *map, uint64_t key)
{
    /* Ids that follow each other, as those of a computation do, get slots that
     * follow each other: fewer cache misses. Only 16 keys can agree that way. */
    uint64_t at = ((mixed(map, key >> 4) << 4) | (key & 15)) & map->mask;
    while (map->slots[at].value != MAP_NONE && map->slots[at].key != key)
        at = (at + 1) & map->mask;
    return &map->slots[at];
}

uint32_t map_get(const struct map *map, uint64_t key) { return slot_of(map, key)->value; }

bool map_put(struct map *map, uint64_t key, uint32_t value, bool replace)
{
    struct map_slot *slot = slot_of(map, key);
    bool is_new = slot->value == MAP_NONE;
    if (is_new || replace)
        *slot = (struct map_slot){key, value};
    return is_new;
}
