/* SPDX-License-Identifier: Apache-2.0 */
#include "base/map.h"

#include <stdlib.h>

static void slots_make(struct map *map, uint64_t count)
{
    size_t size = count * sizeof(*map->slots);
    map->slots = map->arena != NULL ? arena_raw(map->arena, size) : map->take(size);
    memset(map->slots, 0xff, size);
    map->mask = count - 1;
}

static uint64_t slots_for(size_t count)
{
    uint64_t slots = 8;
    while (slots < (uint64_t)count * 2)
        slots *= 2;
    return slots;
}

void map_init(struct map *map, struct arena *arena, size_t count)
{
    *map = (struct map){.arena = arena};
    slots_make(map, slots_for(count));
}

void map_init_of(struct map *map, map_take *take, size_t count)
{
    *map = (struct map){.take = take};
    slots_make(map, slots_for(count));
}

void map_free(struct map *map) { free(map->slots); }

/* The first free slot for `key`. */
static struct map_slot *free_for(const struct map *map, uint64_t key)
{
    uint64_t at = map_home(map, key);
    while (map->slots[at].value != MAP_FREE)
        at = (at + 1) & map->mask;
    return &map->slots[at];
}

static void map_grow(struct map *map)
{
    struct map_slot *former = map->slots, *end = former + map->mask + 1;
    slots_make(map, (map->mask + 1) * 2);
    for (struct map_slot *slot = former; slot < end; slot++)
        if (slot->value != MAP_FREE)
            *free_for(map, slot->key) = *slot;
    if (map->arena == NULL)
        free(former);
}

void map_fill(struct map *map, struct map_slot *slot, uint64_t key, uint64_t value)
{
    assert(slot->value == MAP_FREE && value != MAP_FREE);
    *slot = (struct map_slot){key, value};
    if ((uint64_t)++map->count * 2 > map->mask + 1)
        map_grow(map);
}

bool map_put(struct map *map, uint64_t key, uint32_t value, bool replace)
{
    struct map_slot *slot = map_at(map, key);
    bool is_new = slot->value == MAP_FREE;
    if (is_new)
        map_fill(map, slot, key, value);
    else if (replace)
        slot->value = value;
    return is_new;
}

void map_add(struct map *map, uint64_t hash, uint64_t value) { map_fill(map, free_for(map, hash), hash, value); }

void map_remove(struct map *map, uint64_t hash, uint64_t value)
{
    uint64_t at = map_home(map, hash);
    while (map->slots[at].key != hash || map->slots[at].value != value) {
        assert(map->slots[at].value != MAP_FREE);
        at = (at + 1) & map->mask;
    }
    map_clear(map, &map->slots[at]);
}

uint32_t map_number(struct map *map, uint64_t hash, map_same *is_same, const void *context, bool *is_new)
{
    uint64_t found = map_find(map, hash, is_same, context);
    *is_new = found == MAP_FREE;
    if (*is_new)
        map_add(map, hash, found = map->count);
    return (uint32_t)found;
}
