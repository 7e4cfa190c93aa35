/* SPDX-License-Identifier: Apache-2.0 */
#include "whatif/regions_spans.h"

#include "base/select.h"

#include <stdlib.h>

static int by_first(const void *left, const void *right)
{
    const struct regions_span *a = left, *b = right;
    return ORDER(a->first, b->first);
}

static uint32_t label_of(const struct regions_order *order, uint32_t number)
{
    return order->regions->of[order->operations[number]];
}

static void span_grow(struct regions_span *span, uint32_t number)
{
    span->first = number < span->first ? number : span->first;
    span->last = number;
}

static uint32_t spans_list(const struct regions_order *order, struct regions_span *spans)
{
    uint32_t count = order->regions->count, found = 0, end = 0;
    for (uint32_t i = 0; i <= count; i++)
        spans[i] = (struct regions_span){i < count ? i : REGION_OUTSIDE, HLO_NONE, 0};
    for (uint32_t number = 0; number < order->count; number++) {
        uint32_t region = label_of(order, number);
        if (region < count) {
            span_grow(&spans[region], number);
            end = number;
        }
    }
    for (uint32_t number = end; number < order->count; number++)
        if (label_of(order, number) == REGION_OUTSIDE)
            span_grow(&spans[count], number);
    for (uint32_t i = 0; i <= count; i++)
        if (spans[i].first != HLO_NONE)
            spans[found++] = spans[i];
    arena_work(order->arena, select_work(found));
    qsort(spans, found, sizeof(*spans), by_first);
    return found;
}

/* ---- regions that need each other ---- */

struct joining {
    const struct regions_order *order;
    uint32_t *into;  /* by region: the one that it is part of */
    uint8_t *behind; /* by number: which of the two it computes with something of */
};

enum { BEHIND_LEFT = 1, BEHIND_RIGHT = 2 };

static unsigned side_of(const struct joining *joining, uint32_t number, uint32_t left, uint32_t right)
{
    uint32_t region = label_of(joining->order, number);
    if (region >= joining->order->regions->count)
        return 0;
    return joining->into[region] == left ? BEHIND_LEFT : region == right ? BEHIND_RIGHT : 0;
}

/* Does something of each compute with what the other made? */
static bool need_each_other(struct joining *joining, const struct regions_span *left, const struct regions_span *right)
{
    const struct regions_order *order = joining->order;
    uint32_t last = left->last > right->last ? left->last : right->last;
    unsigned met = 0;
    arena_work(order->arena, (uint64_t)last - left->first + 1);
    for (uint32_t number = left->first; number <= last; number++) {
        unsigned behind = 0, side = side_of(joining, number, left->region, right->region);
        for (uint32_t nth = 0, operand;
             (operand = graph_operand(order->graph, order->operations[number], nth)) != HLO_NONE; nth++) {
            uint32_t made_by = value_maker(order->walk, operand),
                     made = made_by == HLO_NONE ? HLO_NONE : order->number_of[made_by];
            if (made != HLO_NONE && made >= left->first && made < number)
                behind |= joining->behind[made];
        }
        met |= side == BEHIND_LEFT ? behind & BEHIND_RIGHT : side == BEHIND_RIGHT ? behind & BEHIND_LEFT : 0;
        joining->behind[number] = (uint8_t)(behind | side);
    }
    return met == (BEHIND_LEFT | BEHIND_RIGHT);
}

static bool may_be_one(const struct regions *regions, const struct regions_span *left, const struct regions_span *right)
{
    return left->region < regions->count && right->region < regions->count && right->first < left->last &&
           regions->items[left->region].kind != regions->items[right->region].kind;
}

/* How many are part of another from now on. */
static uint32_t spans_join(struct joining *joining, struct regions_span *spans, uint32_t count)
{
    uint32_t joined = 0, at = 0;
    for (uint32_t i = 1; i < count; i++) {
        if (!may_be_one(joining->order->regions, &spans[at], &spans[i]) ||
            !need_each_other(joining, &spans[at], &spans[i])) {
            at = i;
            continue;
        }
        joining->into[spans[i].region] = spans[at].region;
        spans[at].last = spans[i].last > spans[at].last ? spans[i].last : spans[at].last;
        joined++;
    }
    return joined;
}

uint32_t regions_spans_find(const struct regions_order *order, struct regions_span *spans)
{
    struct regions *regions = order->regions;
    uint32_t count = spans_list(order, spans);
    struct joining joining = {order, arena_raw(order->arena, ((size_t)regions->count + 1) * sizeof(uint32_t)),
                              arena_array(order->arena, uint8_t, (size_t)order->count + 1)};
    for (uint32_t i = 0; i < regions->count; i++)
        joining.into[i] = i;
    if (spans_join(&joining, spans, count) == 0)
        return spans_list(order, spans);
    for (uint32_t at = 0; at < order->graph->hlo->instruction_count; at++)
        if (regions->of[at] < regions->count)
            regions->of[at] = joining.into[regions->of[at]];
    return spans_list(order, spans);
}
