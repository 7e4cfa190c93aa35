/* SPDX-License-Identifier: Apache-2.0
 * pairs.c: see pairs.h. */
#include "memory/pairs.h"

#include "base/hash.h"
#include "base/str.h"

struct slot {
    uint64_t address;
    uint32_t event; /* PAIRS_NONE: closed, but the slot was used */
    uint32_t is_used;
};

struct open_table {
    struct slot *slots, *spare;
    uint64_t mask, spare_count;
    uint32_t used_count, open_count;
    struct arena *arena;
};

static struct slot *slot_of(const struct open_table *table, uint64_t address)
{
    uint64_t at = hash_number(address, (uint64_t)(uintptr_t)table->slots) & table->mask;
    while (table->slots[at].is_used && table->slots[at].address != address)
        at = (at + 1) & table->mask;
    return &table->slots[at];
}

/* Room again: addresses that are closed are forgotten. The two halves take turns, for an arena takes nothing back. */
static void rebuild(struct open_table *table)
{
    struct slot *old = table->slots;
    uint64_t old_count = table->mask + 1, count = 64;
    while (count < (uint64_t)table->open_count * 4)
        count *= 2;
    if (table->spare_count >= count) {
        table->slots = table->spare;
        memset(table->slots, 0, count * sizeof(*table->slots));
    } else {
        table->slots = arena_array(table->arena, struct slot, count);
    }
    table->spare = old;
    table->spare_count = old_count;
    table->mask = count - 1;
    table->used_count = table->open_count;
    for (uint64_t i = 0; i < old_count; i++)
        if (old[i].is_used && old[i].event != PAIRS_NONE)
            *slot_of(table, old[i].address) = old[i];
}

static void open_address(struct open_table *table, uint64_t address, uint32_t event)
{
    if ((uint64_t)(table->used_count + 1) * 2 > table->mask)
        rebuild(table);
    struct slot *slot = slot_of(table, address);
    table->used_count += !slot->is_used;
    table->open_count += !slot->is_used || slot->event == PAIRS_NONE;
    *slot = (struct slot){address, event, 1};
}

void pairs_make(const struct pairs *pairs, struct arena *scratch, struct pairs_counts *counts)
{
    struct open_table table = {.arena = scratch};
    *counts = (struct pairs_counts){0, 0, 0, 0};
    table.slots = arena_array(scratch, struct slot, 64);
    table.mask = 63;
    for (uint32_t i = pairs->first; i < pairs->end; i++) {
        bool is_freed = (pairs->flags[i] & pairs->freed_flag) != 0;
        pairs->partner[i] = PAIRS_NONE;
        if ((pairs->flags[i] & pairs->address_flag) == 0) {
            counts->before_window += is_freed;
            counts->never_freed += !is_freed;
            continue;
        }
        struct slot *slot = slot_of(&table, pairs->address[i]);
        uint32_t open = slot->is_used ? slot->event : PAIRS_NONE;
        if (open != PAIRS_NONE)
            pairs->partner[open] = i;
        if (is_freed) {
            pairs->partner[i] = open;
            counts->before_window += open == PAIRS_NONE;
            if (open != PAIRS_NONE) {
                slot->event = PAIRS_NONE;
                table.open_count--;
            }
        } else {
            counts->replaced += open != PAIRS_NONE;
            open_address(&table, pairs->address[i], i);
        }
        counts->max_open = table.open_count > counts->max_open ? table.open_count : counts->max_open;
    }
    counts->never_freed += table.open_count;
}
