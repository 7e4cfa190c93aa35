/* SPDX-License-Identifier: Apache-2.0
 * regions_cut.c: see regions_cut.h. */
#include "whatif/regions_cut.h"

#include "base/select.h"
#include "base/str.h"
#include "base/sum.h"
#include "plan/value.h"
#include "read/hlo/shape_layout.h"

#include <stdlib.h>

/* The operations going forward, in the order in which they run. */
struct forward {
    const struct regions_program *program;
    struct arena *arena;
    uint32_t backward_position; /* where the backward pass begins */
    const struct graph *graph;
    struct regions *regions;
    struct value_walk walk;
    uint32_t *operations, *number_of; /* by instruction: its number, or HLO_NONE */
    uint32_t count;
    uint32_t *last_reader; /* by number: of the last one that reads what it gives; its own where none does */
    bool *is_for_products; /* by number: nothing but products reads it */
    int64_t *crossing;     /* by number: bytes that are read behind it and made before, or by it */
};

/* Where the backward pass begins: its first product. */
static uint32_t backward_position(const struct regions_program *program)
{
    const struct graph *graph = program->graph;
    uint32_t first = HLO_NONE;
    for (uint32_t at = 0; at < graph->hlo->instruction_count; at++)
        if (graph_op(graph, at) == GRAPH_DOT && graph_phase(graph, at) == GRAPH_BACKWARD) {
            uint32_t position = program->positions[at];
            first = position < first ? position : first;
        }
    return first;
}

static bool is_operation(const struct graph *graph, uint32_t at)
{
    switch (graph_op(graph, at)) {
    case GRAPH_PARAMETER:
    case GRAPH_CONSTANT:
    case GRAPH_FUSION:
    case GRAPH_TUPLE:
    case GRAPH_COPY:
    case GRAPH_SAME: return false;
    default: return graph_phase(graph, at) == GRAPH_FORWARD || graph_phase(graph, at) == GRAPH_BACKWARD;
    }
}

/* Which operations are put in order: those before the backward pass, or all that run from then on. */
enum part { PART_FORWARD, PART_LATE };

static uint32_t position_in(const struct forward *forward, enum part part, uint32_t at)
{
    if (!is_operation(forward->graph, at) || (part == PART_FORWARD && graph_phase(forward->graph, at) != GRAPH_FORWARD))
        return HLO_NONE;
    uint32_t position = forward->program->positions[at];
    return (position < forward->backward_position) == (part == PART_FORWARD) ? position : HLO_NONE;
}

/* As they run; inside of a fusion as in the file. */
static uint32_t *in_order(const struct forward *forward, enum part part, uint32_t *count)
{
    uint32_t all = forward->graph->hlo->instruction_count, length = forward->program->position_count;
    uint32_t *first = arena_array(forward->arena, uint32_t, (size_t)length + 2), *operations;
    *count = 0;
    for (uint32_t at = 0; at < all; at++) {
        uint32_t position = position_in(forward, part, at);
        if (position == HLO_NONE)
            continue;
        first[position + 1]++;
        ++*count;
    }
    for (uint32_t position = 0; position < length; position++)
        first[position + 1] += first[position];
    operations = arena_array(forward->arena, uint32_t, (size_t)*count + 1);
    for (uint32_t at = 0; at < all; at++) {
        uint32_t position = position_in(forward, part, at);
        if (position != HLO_NONE)
            operations[first[position]++] = at;
    }
    return operations;
}

static void forward_order(struct forward *forward)
{
    uint32_t all = forward->graph->hlo->instruction_count;
    forward->operations = in_order(forward, PART_FORWARD, &forward->count);
    forward->number_of = arena_raw(forward->arena, ((size_t)all + 1) * sizeof(*forward->number_of));
    memset(forward->number_of, 0xff, ((size_t)all + 1) * sizeof(*forward->number_of));
    for (uint32_t number = 0; number < forward->count; number++)
        forward->number_of[forward->operations[number]] = number;
}

static void readers_find(struct forward *forward)
{
    struct arena *arena = forward->arena;
    forward->last_reader = arena_array(arena, uint32_t, (size_t)forward->count + 1);
    forward->is_for_products = arena_array(arena, bool, (size_t)forward->count + 1);
    for (uint32_t number = 0; number < forward->count; number++) {
        forward->last_reader[number] = number;
        forward->is_for_products[number] = true;
    }
    for (uint32_t number = 0; number < forward->count; number++) {
        uint32_t at = forward->operations[number];
        enum graph_op op = graph_op(forward->graph, at);
        for (uint32_t nth = 0, operand; (operand = graph_operand(forward->graph, at, nth)) != HLO_NONE; nth++) {
            uint32_t made_by = value_maker(&forward->walk, operand),
                     made = made_by == HLO_NONE ? HLO_NONE : forward->number_of[made_by];
            if (made == HLO_NONE || made >= number)
                continue;
            forward->last_reader[made] = number;
            if (op != GRAPH_DOT && op != GRAPH_CONVERT)
                forward->is_for_products[made] = false;
        }
    }
}

/* As it would be kept: what only products read is rounded to bf16. */
static int64_t kept_bytes(const struct forward *forward, uint32_t number)
{
    const struct leaves *leaves = &forward->program->dimensions->leaves;
    uint32_t at = forward->operations[number];
    if (leaves_count(leaves, at) != 1)
        return 0;
    const struct leaf *leaf = &leaves->items[leaves->first[at]];
    int64_t bytes = (int64_t)shape_type_bytes(leaf->type);
    if (forward->is_for_products[number] && bytes == 4)
        bytes = 2;
    for (uint32_t i = 0; i < leaf->rank; i++)
        if (__builtin_mul_overflow(bytes, leaves->sizes[leaf->first + i], &bytes) || bytes < 0) {
            bytes = INT64_MAX;
            break;
        }
    /* No sum of them comes near 2^63. */
    int64_t most_bytes = SUM_MAX_BYTES_TOGETHER / ((int64_t)forward->count + 1);
    return bytes < most_bytes ? bytes : most_bytes;
}

static void crossing_find(struct forward *forward)
{
    struct arena *arena = forward->arena;
    int64_t live = 0;
    forward->crossing = arena_array(arena, int64_t, (size_t)forward->count + 1);
    int64_t *ends = arena_array(arena, int64_t, (size_t)forward->count + 1);
    for (uint32_t number = 0; number < forward->count; number++) {
        int64_t bytes = kept_bytes(forward, number);
        live += bytes - ends[number];
        if (forward->last_reader[number] == number)
            live -= bytes; /* nothing going forward reads it */
        else
            ends[forward->last_reader[number]] += bytes;
        forward->crossing[number] = live;
    }
}

/* ---- layers, in the order in which they run ---- */

struct layer_span {
    uint32_t region, first, last; /* numbers of operations that read its parameters */
};

static int by_first(const void *left, const void *right)
{
    const struct layer_span *a = left, *b = right;
    return ORDER(a->first, b->first);
}

static void span_grow(struct layer_span *span, uint32_t number)
{
    span->first = number < span->first ? number : span->first;
    span->last = number;
}

/* How many; `spans` has room for the layers and for what comes behind all of them. */
static uint32_t spans_find(const struct forward *forward, struct layer_span *spans)
{
    uint32_t count = forward->regions->count, found = 0, end = 0;
    for (uint32_t i = 0; i <= count; i++)
        spans[i] = (struct layer_span){i < count ? i : REGION_OUTSIDE, HLO_NONE, 0};
    for (uint32_t number = 0; number < forward->count; number++) {
        uint32_t region = forward->regions->of[forward->operations[number]];
        if (region < count) {
            span_grow(&spans[region], number);
            end = number;
        }
    }
    for (uint32_t number = end; number < forward->count; number++)
        if (forward->regions->of[forward->operations[number]] == REGION_OUTSIDE)
            span_grow(&spans[count], number);
    for (uint32_t i = 0; i <= count; i++)
        if (spans[i].first != HLO_NONE)
            spans[found++] = spans[i];
    return found;
}

/* What runs between two layers is cut where the fewest bytes go from one to the other. */
static void between_label(struct forward *forward, uint32_t from, uint32_t from_region, uint32_t to, uint32_t to_region)
{
    uint32_t cut = from;
    for (uint32_t number = from; number < to; number++)
        if (forward->crossing[number] < forward->crossing[cut])
            cut = number;
    for (uint32_t number = from + 1; number < to; number++) {
        uint32_t *region = &forward->regions->of[forward->operations[number]];
        if (*region == HLO_NONE)
            *region = number <= cut ? from_region : to_region;
    }
}

/* Between them something may read parameters that are no layer's: that part is outside. */
static void spans_part(struct forward *forward, const struct layer_span *before, const struct layer_span *after)
{
    uint32_t first = HLO_NONE, last = 0;
    for (uint32_t number = before->last; number < after->first; number++)
        if (forward->regions->of[forward->operations[number]] == REGION_OUTSIDE) {
            first = number < first ? number : first;
            last = number;
        }
    if (before->last >= after->first)
        return;
    if (first == HLO_NONE) {
        between_label(forward, before->last, before->region, after->first, after->region);
        return;
    }
    between_label(forward, before->last, before->region, first, REGION_OUTSIDE);
    between_label(forward, first, REGION_OUTSIDE, last, REGION_OUTSIDE);
    between_label(forward, last, REGION_OUTSIDE, after->first, after->region);
}

/* ---- what runs later: gradients, and forward operations that are repeated inside of their kernels ---- */

struct late {
    const struct forward *forward;
    uint32_t *order;      /* by region: its place among the layers, from 0; behind the last: what is outside of them */
    uint32_t *read_until; /* by number: the place of the last layer that reads what it gives */
};

static uint32_t order_of(const struct late *late, uint32_t region)
{
    return region == HLO_NONE ? HLO_NONE
                              : late->order[region == REGION_OUTSIDE ? late->forward->regions->count : region];
}

static void read_until_find(struct late *late, struct forward *forward)
{
    late->read_until = arena_array(forward->arena, uint32_t, (size_t)forward->count + 1);
    for (uint32_t number = 0; number < forward->count; number++) {
        uint32_t at = forward->operations[number], order = order_of(late, forward->regions->of[at]);
        for (uint32_t nth = 0, operand; (operand = graph_operand(forward->graph, at, nth)) != HLO_NONE; nth++) {
            uint32_t made_by = value_maker(&forward->walk, operand),
                     made = made_by == HLO_NONE ? HLO_NONE : forward->number_of[made_by];
            if (made != HLO_NONE && order != HLO_NONE && order > late->read_until[made])
                late->read_until[made] = order;
        }
    }
}

/* The layer of the gradients that it reads, of several the one that ran first; but none that does not have the values
 * of the forward pass that it reads too. */
static uint32_t late_region(const struct late *late, struct forward *forward, uint32_t at)
{
    const struct regions *regions = forward->regions;
    uint32_t region = HLO_NONE, made_last = HLO_NONE, from = 0, until = HLO_NONE;
    for (uint32_t nth = 0, operand; (operand = graph_operand(forward->graph, at, nth)) != HLO_NONE; nth++) {
        uint32_t made_by = value_maker(&forward->walk, operand),
                 of = made_by == HLO_NONE ? HLO_NONE : regions->of[made_by], order = order_of(late, of);
        if (order == HLO_NONE)
            continue;
        uint32_t number = forward->number_of[made_by];
        if (number == HLO_NONE) {
            region = region == HLO_NONE || order < order_of(late, region) ? of : region;
            continue;
        }
        if (made_last == HLO_NONE || order >= from) {
            made_last = of;
            from = order;
        }
        until = late->read_until[number] < until ? late->read_until[number] : until;
    }
    if (region == HLO_NONE || made_last == HLO_NONE)
        return region == HLO_NONE ? made_last : region;
    uint32_t order = order_of(late, region);
    return order < from || order > until ? made_last : region;
}

static void late_label(struct forward *forward, const struct layer_span *spans, uint32_t span_count)
{
    struct regions *regions = forward->regions;
    struct late late = {forward, arena_array(forward->arena, uint32_t, (size_t)regions->count + 1), NULL};
    uint32_t count;
    for (uint32_t i = 0; i <= regions->count; i++)
        late.order[i] = span_count;
    for (uint32_t i = 0; i < span_count; i++)
        late.order[spans[i].region == REGION_OUTSIDE ? regions->count : spans[i].region] = i;
    read_until_find(&late, forward);
    const uint32_t *operations = in_order(forward, PART_LATE, &count);
    for (uint32_t i = 0; i < count; i++)
        if (regions->of[operations[i]] == HLO_NONE)
            regions->of[operations[i]] = late_region(&late, forward, operations[i]);
}

void regions_cut(const struct regions_program *program, struct arena *arena, struct regions *regions)
{
    struct forward forward = {.program = program, .arena = arena, .graph = program->graph, .regions = regions};
    value_walk_init(&forward.walk, forward.graph, 32 * (uint64_t)forward.graph->hlo->instruction_count + 4096, arena);
    forward.backward_position = backward_position(program);
    forward_order(&forward);
    readers_find(&forward);
    crossing_find(&forward);
    struct layer_span *spans = arena_array(arena, struct layer_span, (size_t)regions->count + 1);
    uint32_t span_count = spans_find(&forward, spans);
    arena_work(arena, select_work(span_count));
    qsort(spans, span_count, sizeof(*spans), by_first);
    for (uint32_t i = 0; i + 1 < span_count; i++)
        spans_part(&forward, &spans[i], &spans[i + 1]);
    late_label(&forward, spans, span_count);
}
