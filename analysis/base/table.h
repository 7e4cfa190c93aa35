/* SPDX-License-Identifier: Apache-2.0
 * table.h: equal keys of a few words become one number, in order of appearance.
 *
 * Rows that repeat are then four bytes each. Grows by doubling in its arena. */
#ifndef ANALYSIS_BASE_TABLE_H
#define ANALYSIS_BASE_TABLE_H

#include "base/chunks.h"

struct table {
    struct chunks keys; /* by number */
    uint32_t *slots;
    size_t slot_count; /* a power of two */
    size_t words;      /* 64-bit words of a key */
    uint32_t last;     /* the number found last: rows repeat */
};

void table_init(struct table *table, struct arena *arena, size_t words);
/* The number of `key`, new or not. */
uint32_t table_number(struct table *table, const uint64_t *key);

static inline size_t table_count(const struct table *table)
{
    return table->keys.count;
}
static inline const uint64_t *table_key(const struct table *table, size_t number)
{
    return chunks_at(&table->keys, number);
}

#endif
