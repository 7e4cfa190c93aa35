/* SPDX-License-Identifier: Apache-2.0
 * map.h: the hash map: 64-bit keys and a value of each, by open addressing.
 *
 * Where a key is wider than that (a text, a few words), its hash is the key, and whoever asks says which value it
 * means: the things themselves are the caller's, mostly in an array, and the values are places in it. Keys come out of
 * hostile files: where one is depends on the table's address too, which is not known to whoever wrote the file, and
 * hashes that are made to be equal are charged to the arena's work.
 *
 * Memory: the arena's, or of a function of the caller that always gives some, until map_free; 32 to 64 bytes a key, and
 * what it grew out of. */
#pragma once

#include "base/arena.h"
#include "base/hash.h"

#include <assert.h>

#define MAP_FREE UINT64_MAX
#define MAP_NONE UINT32_MAX

/* Key and value side by side: a look-up then misses the cache once. */
struct map_slot {
    uint64_t key, value; /* the value MAP_FREE: none */
};

/* `size` bytes for free(); returns only with them. */
typedef void *map_take(size_t size);

struct map {
    struct arena *arena; /* NULL: see take */
    map_take *take;      /* NULL: of the arena */
    struct map_slot *slots;
    uint64_t mask;  /* number of slots − 1 */
    uint32_t count; /* keys; at most half as many as slots */
};

/* Values may be pointers: no pointer is MAP_FREE. */
static inline uint64_t map_value(void *pointer) { return (uint64_t)(uintptr_t)pointer; }
static inline void *map_pointer(uint64_t value) { return value == MAP_FREE ? NULL : (void *)(uintptr_t)value; }

/* Is what is at `value` the thing that is looked for? Asked where the hashes are equal. */
typedef bool map_same(const void *context, uint64_t value);

/* Room for `count` keys; it grows where there are more. */
void map_init(struct map *map, struct arena *arena, size_t count);
/* The same without an arena. */
void map_init_of(struct map *map, map_take *take, size_t count);
void map_free(struct map *map);

/* The slot where the search for `key` begins. Four ids that follow each other, as those of a computation do, have the
 * four slots of one cache line: fewer misses. Longer runs would collide as wholes, and searches become long. */
static inline uint64_t map_home(const struct map *map, uint64_t key)
{
    return (hash_number(key >> 2, (uint64_t)(uintptr_t)map->slots) << 2 | (key & 3)) & map->mask;
}

/* ---- keys, each once ---- */

/* The slot of `key`, or the free one where it belongs; good until the map changes. */
static inline struct map_slot *map_at(const struct map *map, uint64_t key)
{
    uint64_t at = map_home(map, key);
    while (map->slots[at].value != MAP_FREE && map->slots[at].key != key)
        at = (at + 1) & map->mask;
    return &map->slots[at];
}

/* The value of `key`, or MAP_NONE. */
static inline uint32_t map_get(const struct map *map, uint64_t key) { return (uint32_t)map_at(map, key)->value; }
/* Sets `key` to `value` (not MAP_NONE). False when it was there: then the value
 * is replaced if `replace`. */
bool map_put(struct map *map, uint64_t key, uint32_t value, bool replace);
/* Puts `key` into the slot that map_at found free. */
void map_fill(struct map *map, struct map_slot *slot, uint64_t key, uint64_t value);
/* Takes out what is in a slot. What follows it moves up, unless its search begins behind the hole. */
static inline void map_clear(struct map *map, struct map_slot *slot)
{
    uint64_t hole = (uint64_t)(slot - map->slots);
    for (uint64_t at = (hole + 1) & map->mask; map->slots[at].value != MAP_FREE; at = (at + 1) & map->mask) {
        if (((at - map_home(map, map->slots[at].key)) & map->mask) < ((at - hole) & map->mask))
            continue;
        map->slots[hole] = map->slots[at];
        hole = at;
    }
    map->slots[hole].value = MAP_FREE;
    map->count--;
}

/* ---- keys that are hashes ---- */

/* Takes in a value that is not there. */
void map_add(struct map *map, uint64_t hash, uint64_t value);
/* Takes out a value that is there. */
void map_remove(struct map *map, uint64_t hash, uint64_t value);

/* The value that has this hash and is the same, or MAP_FREE. */
static inline uint64_t map_find(const struct map *map, uint64_t hash, map_same *is_same, const void *context)
{
    for (uint64_t at = map_home(map, hash); map->slots[at].value != MAP_FREE; at = (at + 1) & map->mask) {
        if (map->slots[at].key != hash)
            continue;
        if (is_same(context, map->slots[at].value))
            return map->slots[at].value;
        if (map->arena != NULL)
            arena_work(map->arena, 1);
    }
    return MAP_FREE;
}

/* Numbers things from 0, in the order of their first coming: the number of this one. */
uint32_t map_number(struct map *map, uint64_t hash, map_same *is_same, const void *context, bool *is_new);

/* A text may be long and named very often, so its bytes are charged to the arena's work. */
static inline uint64_t map_hash_text(struct arena *arena, struct str text, uint64_t seed)
{
    arena_work(arena, text.length / 8);
    return hash_bytes(text.data, text.length, seed);
}
