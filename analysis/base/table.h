/* SPDX-License-Identifier: Apache-2.0
 * table.h: equal keys of a few words become one number, in order of appearance.
 *
 * Rows that repeat are then four bytes each. Grows by doubling in its arena. */
#pragma once

#include "base/chunks.h"
#include "base/map.h"

struct table {
    struct chunks keys; /* by number */
    struct map map;     /* hashes of keys to numbers */
    size_t words;       /* 64-bit words of a key */
    uint64_t seed;      /* the file's writer cannot know it */
    uint32_t last;      /* the number found last: rows repeat */
};

void table_init(struct table *table, struct arena *arena, size_t words);
/* The number of `key`, new or not. */
uint32_t table_number(struct table *table, const uint64_t *key);
/* Takes in a key that is not there and returns its number. */
uint32_t table_add(struct table *table, const uint64_t *key, uint64_t hash);

static inline size_t table_count(const struct table *table) { return table->keys.count; }
static inline const uint64_t *table_key(const struct table *table, size_t number)
{
    return chunks_at(&table->keys, number);
}

/* What is looked for. */
struct table_wanted {
    const struct table *table;
    const uint64_t *key;
    size_t words;
};

static inline bool table_is_key(const void *context, uint64_t number)
{
    const struct table_wanted *wanted = context;
    const uint64_t *other = table_key(wanted->table, number);
    uint64_t difference = 0;
    for (size_t i = 0; i < wanted->words; i++)
        difference |= other[i] ^ wanted->key[i];
    return difference == 0;
}

/* Two lanes, so that the words of a key do not wait for each other. */
static inline uint64_t table_hash(const struct table *table, const uint64_t *key, size_t words)
{
    uint64_t lanes[2] = {table->seed, ~table->seed};
    for (size_t i = 0; i < words; i++)
        lanes[i & 1] = hash_number(key[i], lanes[i & 1]);
    return words > 1 ? hash_number(lanes[0], lanes[1] << 1) : lanes[0];
}

/* As table_number where `words` is a constant, so that the loops over them are none, and rows repeat what
 * `*last` found: the number that is tried first, and becomes the one that is returned. */
static inline uint32_t table_number_near(struct table *table, const uint64_t *key, size_t words, uint32_t *last)
{
    const struct table_wanted wanted = {table, key, words};
    if (*last < table->keys.count && table_is_key(&wanted, *last))
        return *last;
    uint64_t hash = table_hash(table, key, words), found = map_find(&table->map, hash, table_is_key, &wanted);
    return *last = found != MAP_FREE ? (uint32_t)found : table_add(table, key, hash);
}

/* The number of `key`, or MAP_NONE. */
static inline uint32_t table_find(const struct table *table, const uint64_t *key, size_t words)
{
    const struct table_wanted wanted = {table, key, words};
    return (uint32_t)map_find(&table->map, table_hash(table, key, words), table_is_key, &wanted);
}
