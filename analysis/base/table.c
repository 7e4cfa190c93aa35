/* SPDX-License-Identifier: Apache-2.0
 * table.c: see table.h. */
#include "base/table.h"

#include <stdbool.h>

#define FREE UINT32_MAX

static uint64_t hash_of(const struct table *table, const uint64_t *key)
{
    uint64_t hash = (uint64_t)(uintptr_t)table->slots * 0x9e3779b97f4a7c15ULL; /* not known to whoever wrote the file */
    for (size_t i = 0; i < table->words; i++) {
        hash = (hash ^ key[i]) * 0xff51afd7ed558ccdULL;
        hash ^= hash >> 32;
    }
    return hash ^ hash >> 29;
}

static void slots_make(struct table *table, size_t slot_count)
{
    table->slot_count = slot_count;
    table->slots = arena_raw(table->keys.arena, slot_count * sizeof *table->slots);
    memset(table->slots, 0xff, slot_count * sizeof *table->slots);
    for (size_t i = 0; i < table->keys.count; i++) {
        size_t slot = hash_of(table, table_key(table, i)) & (slot_count - 1);
        while (table->slots[slot] != FREE)
            slot = (slot + 1) & (slot_count - 1);
        table->slots[slot] = (uint32_t)i;
    }
}

void table_init(struct table *table, struct arena *arena, size_t words)
{
    chunks_init(&table->keys, arena, words * sizeof(uint64_t));
    table->words = words;
    table->last = 0;
    slots_make(table, 64);
}

/* Keys are a few words: comparing them here is faster than a call. */
static inline bool is_key(const struct table *table, size_t number, const uint64_t *key)
{
    const uint64_t *other = table_key(table, number);
    uint64_t difference = 0;
    for (size_t i = 0; i < table->words; i++)
        difference |= other[i] ^ key[i];
    return difference == 0;
}

uint32_t table_number(struct table *table, const uint64_t *key)
{
    if (table->keys.count > 0 && is_key(table, table->last, key))
        return table->last;
    size_t slot = hash_of(table, key) & (table->slot_count - 1);
    for (; table->slots[slot] != FREE; slot = (slot + 1) & (table->slot_count - 1))
        if (is_key(table, table->slots[slot], key))
            return table->last = table->slots[slot];
    table->last = (uint32_t)table->keys.count;
    table->slots[slot] = table->last;
    memcpy(chunks_add(&table->keys), key, table->words * sizeof *key);
    if (table->keys.count * 2 > table->slot_count)
        slots_make(table, table->slot_count * 2);
    return table->last;
}
