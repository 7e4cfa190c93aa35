/* SPDX-License-Identifier: Apache-2.0
 * select.c: see select.h. Quickselect with a pivot of three. */
#include "base/select.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { FEW = 16 };

struct selection {
    unsigned char *items;
    size_t size;
    select_order *compare;
    void *context;
};

static int select_compare(const struct selection *selection, const void *a, const void *b)
{
    return selection->compare(a, b, selection->context);
}

static void *item(const struct selection *selection, uint32_t at)
{
    return selection->items + (size_t)at * selection->size;
}

static const void *middle(const struct selection *selection, const void *a, const void *b, const void *c)
{
    if (select_compare(selection, a, b) < 0)
        return select_compare(selection, b, c) < 0 ? b : select_compare(selection, a, c) < 0 ? c : a;
    return select_compare(selection, a, c) < 0 ? a : select_compare(selection, b, c) < 0 ? c : b;
}

static void select_swap(const struct selection *selection, uint32_t a, uint32_t b)
{
    unsigned char kept[SELECT_SIZE_MAX];
    memcpy(kept, item(selection, a), selection->size);
    memcpy(item(selection, a), item(selection, b), selection->size);
    memcpy(item(selection, b), kept, selection->size);
}

/* Smaller ones to the front; how many those are, at least one. */
static uint32_t select_part(const struct selection *selection, uint32_t low, uint32_t high)
{
    unsigned char pivot[SELECT_SIZE_MAX];
    memcpy(pivot,
           middle(selection, item(selection, low), item(selection, low + (high - low) / 2), item(selection, high - 1)),
           selection->size);
    uint32_t i = low, j = high - 1;
    while (i <= j) {
        while (select_compare(selection, item(selection, i), pivot) < 0)
            i++;
        while (select_compare(selection, item(selection, j), pivot) > 0)
            j--;
        if (i > j)
            break;
        select_swap(selection, i++, j);
        if (j-- == 0)
            break;
    }
    return i;
}

void select_smallest(struct arena *arena, void *items, uint32_t count, size_t size, uint32_t need, select_order *order,
                     void *context)
{
    struct selection selection = {items, size, order, context};
    uint32_t low = 0, high = count;
    assert(size <= SELECT_SIZE_MAX);
    while (high - low > FEW && need > low && need < high) {
        arena_work(arena, high - low); /* items can be laid out so that each round takes two away */
        uint32_t between = select_part(&selection, low, high);
        if (need <= between)
            high = between;
        else
            low = between;
    }
    if (need > low && need < high)
        sort_items(item(&selection, low), high - low, size, order, context);
}

uint64_t select_work(uint32_t count)
{
    uint64_t rounds = 1;
    while (rounds < 32 && count >> rounds)
        rounds++;
    return count * rounds;
}
