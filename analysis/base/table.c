/* SPDX-License-Identifier: Apache-2.0 */
#include "base/table.h"

enum { FIRST_KEYS = 32 };

void table_init(struct table *table, struct arena *arena, size_t words)
{
    *table = (struct table){.words = words};
    chunks_init(&table->keys, arena, words * sizeof(uint64_t));
    map_init(&table->map, arena, FIRST_KEYS);
    table->seed = (uint64_t)(uintptr_t)table->map.slots;
}

uint32_t table_add(struct table *table, const uint64_t *key, uint64_t hash)
{
    size_t number = table->keys.count;
    uint64_t *copy = chunks_add(&table->keys);
    for (size_t i = 0; i < table->words; i++)
        copy[i] = key[i];
    map_add(&table->map, hash, number);
    return (uint32_t)number;
}

uint32_t table_number(struct table *table, const uint64_t *key)
{
    return table_number_near(table, key, table->words, &table->last);
}
