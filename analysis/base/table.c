/* SPDX-License-Identifier: Apache-2.0
 * table.c: see table.h. */
#include "base/table.h"

static void slot_fill(struct table *table, size_t number)
{
    size_t mask = table->slot_count - 1, slot = table_hash(table, table_key(table, number), table->words) & mask;
    while (table->slots[slot] != TABLE_FREE)
        slot = (slot + 1) & mask;
    table->slots[slot] = (uint32_t)number;
}

static void slots_make(struct table *table, size_t slot_count)
{
    table->slot_count = slot_count;
    table->slots = arena_raw(table->keys.arena, slot_count * sizeof(*table->slots));
    table->seed = (uint64_t)(uintptr_t)table->slots;
    memset(table->slots, 0xff, slot_count * sizeof(*table->slots));
    for (size_t i = 0; i < table->keys.count; i++)
        slot_fill(table, i);
}

void table_init(struct table *table, struct arena *arena, size_t words)
{
    chunks_init(&table->keys, arena, words * sizeof(uint64_t));
    table->words = words;
    table->last = 0;
    slots_make(table, 64);
}

uint32_t table_add(struct table *table, const uint64_t *key)
{
    size_t number = table->keys.count;
    memcpy(chunks_add(&table->keys), key, table->words * sizeof(*key));
    slot_fill(table, number);
    if (table->keys.count * 2 > table->slot_count)
        slots_make(table, table->slot_count * 2);
    return (uint32_t)number;
}

uint32_t table_number(struct table *table, const uint64_t *key)
{
    return table_number_near(table, key, table->words, &table->last);
}
