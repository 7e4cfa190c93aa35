/* SPDX-License-Identifier: Apache-2.0
 * regions_cut.c: see regions_cut.h. */
#include "whatif/regions_cut.h"

#include "base/str.h"
#include "base/sum.h"
#include "plan/value.h"
#include "read/hlo/shape_layout.h"
#include "whatif/regions_spans.h"

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
    /* By number: a view of arguments, or whole numbers made of them alone: indices and masks, which may be written down
     * long before they are read. */
    bool *is_early;
    int64_t *crossing; /* by number: bytes that are read behind it and made before, or by it */
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

/* Which operations are put in order: those going forward before the backward pass, or all others. */
enum part { PART_FORWARD, PART_LATE };

static uint32_t position_in(const struct forward *forward, enum part part, uint32_t at)
{
    uint32_t position = forward->program->positions[at];
    if (!is_operation(forward->graph, at) || position == HLO_NONE)
        return HLO_NONE;
    bool is_forward = graph_phase(forward->graph, at) == GRAPH_FORWARD && position < forward->backward_position;
    return is_forward == (part == PART_FORWARD) ? position : HLO_NONE;
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

static bool is_early(const struct forward *forward, uint32_t at)
{
    const struct graph *graph = forward->graph;
    const struct leaves *leaves = &forward->program->dimensions->leaves;
    bool is_any = false;
    if (forward->program->is_parameter != NULL && forward->program->is_parameter[at])
        return true;
    if (leaves_count(leaves, at) != 1 ||
        (!regions_moves(graph_op(graph, at)) && shape_type_is_float(leaves->items[leaves->first[at]].type)))
        return false;
    for (uint32_t nth = 0, operand; (operand = graph_operand(graph, at, nth)) != HLO_NONE; nth++) {
        uint32_t number = forward->number_of[operand];
        enum graph_op op = graph_op(graph, operand);
        bool is_of_arguments = number == HLO_NONE ? graph_is_argument(graph, operand) : forward->is_early[number];
        if (!is_of_arguments && (number != HLO_NONE || (op != GRAPH_CONSTANT && op != GRAPH_BROADCAST)))
            return false;
        is_any = is_any || is_of_arguments;
    }
    return is_any;
}

static void readers_find(struct forward *forward)
{
    struct arena *arena = forward->arena;
    forward->last_reader = arena_array(arena, uint32_t, (size_t)forward->count + 1);
    forward->is_for_products = arena_array(arena, bool, (size_t)forward->count + 1);
    forward->is_early = arena_array(arena, bool, (size_t)forward->count + 1);
    for (uint32_t number = 0; number < forward->count; number++) {
        forward->last_reader[number] = number;
        forward->is_for_products[number] = true;
    }
    for (uint32_t number = 0; number < forward->count; number++) {
        uint32_t at = forward->operations[number];
        enum graph_op op = graph_op(forward->graph, at);
        forward->is_early[number] = is_early(forward, at);
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

/* What runs between two operations is cut where the fewest bytes go from one to the other: the number of the last
 * operation of the first part. */
static uint32_t cheapest_cut(const struct forward *forward, uint32_t from, uint32_t to)
{
    uint32_t cut = from;
    for (uint32_t number = from; number < to; number++)
        if (forward->crossing[number] < forward->crossing[cut])
            cut = number;
    return cut;
}

/* Those from `from` to before `to` that are of none yet. */
static void part_label(struct forward *forward, uint32_t from, uint32_t to, uint32_t region)
{
    for (uint32_t number = from; number < to; number++) {
        uint32_t *of = &forward->regions->of[forward->operations[number]];
        *of = *of == HLO_NONE && !forward->is_early[number] ? region : *of;
    }
}

static uint32_t between_label(struct forward *forward, uint32_t from, uint32_t from_region, uint32_t to,
                              uint32_t to_region)
{
    uint32_t cut = cheapest_cut(forward, from, to);
    part_label(forward, from + 1, cut + 1, from_region);
    part_label(forward, cut + 1, to, to_region);
    return cut;
}

/* Between them something may read parameters that are no layer's: that part is outside. Where they were cut, or
 * HLO_NONE. */
static uint32_t spans_part(struct forward *forward, const struct regions_span *before, const struct regions_span *after)
{
    uint32_t first = HLO_NONE, last = 0;
    for (uint32_t number = before->last; number < after->first; number++)
        if (forward->regions->of[forward->operations[number]] == REGION_OUTSIDE) {
            first = number < first ? number : first;
            last = number;
        }
    if (before->last >= after->first)
        return HLO_NONE;
    if (first == HLO_NONE)
        return between_label(forward, before->last, before->region, after->first, after->region);
    between_label(forward, before->last, before->region, first, REGION_OUTSIDE);
    part_label(forward, first, last, REGION_OUTSIDE);
    between_label(forward, last, REGION_OUTSIDE, after->first, after->region);
    return HLO_NONE;
}

/* ---- the first layer's beginning and the last one's end, which have no layer beside them ---- */

/* Are so many operations from each number on the same? */
static bool are_alike(const struct forward *forward, uint32_t left, uint32_t right, uint32_t count)
{
    const struct graph *graph = forward->graph;
    for (uint32_t i = 0; i < count; i++) {
        if (left + i >= forward->count || right + i >= forward->count)
            return false;
        uint32_t a = forward->operations[left + i], b = forward->operations[right + i];
        arena_work(forward->arena, 1 + graph_op_name_end(graph, a).length / 8);
        if (graph_op(graph, a) != graph_op(graph, b) ||
            !str_equal(graph_op_name_end(graph, a), graph_op_name_end(graph, b)))
            return false;
    }
    return true;
}

static bool are_of_kind(const struct forward *forward, const struct regions_span *left,
                        const struct regions_span *right)
{
    return left->region < forward->regions->count && right->region < forward->regions->count &&
           forward->regions->items[left->region].kind == forward->regions->items[right->region].kind;
}

/* It begins as the next layer of its kind does, behind as many operations; else behind what reads other parameters. */
static void first_label(struct forward *forward, const struct regions_span *spans, const uint32_t *cuts, uint32_t count)
{
    uint32_t begin = HLO_NONE;
    for (uint32_t i = 0; i + 1 < count && begin == HLO_NONE; i++) {
        if (cuts[i] == HLO_NONE || !are_of_kind(forward, &spans[0], &spans[i + 1]))
            continue;
        uint32_t ahead = spans[i + 1].first - cuts[i] - 1;
        if (ahead > spans[0].first || !are_alike(forward, spans[0].first - ahead, cuts[i] + 1, ahead + 1))
            break;
        begin = spans[0].first - ahead;
    }
    for (uint32_t number = spans[0].first; begin == HLO_NONE && number-- > 0;)
        if (forward->regions->of[forward->operations[number]] == REGION_OUTSIDE)
            begin = cheapest_cut(forward, number, spans[0].first) + 1;
    if (begin == HLO_NONE)
        return;
    for (uint32_t number = 0; number < begin; number++)
        if (!forward->is_early[number])
            forward->regions->of[forward->operations[number]] = REGION_BEFORE;
    part_label(forward, begin, spans[0].first, spans[0].region);
}

/* It ends as the one of its kind before it does. False where that cannot be told. */
static bool last_label(struct forward *forward, const struct regions_span *spans, const uint32_t *cuts, uint32_t last)
{
    uint32_t at = last;
    while (at-- > 0)
        if (cuts[at] != HLO_NONE && are_of_kind(forward, &spans[at], &spans[last]))
            break;
    if (at == HLO_NONE)
        return false;
    uint32_t behind = cuts[at] - spans[at].last, end = spans[last].last + behind;
    if (!are_alike(forward, spans[at].last, spans[last].last, behind + 1))
        return false;
    part_label(forward, spans[last].last, end + 1, spans[last].region);
    for (uint32_t number = end + 1; number < forward->count; number++)
        if (forward->last_reader[number] !=
            number) /* else only gradients read it: of the layer whose values it reads */
            part_label(forward, number, number + 1, REGION_OUTSIDE);
    return true;
}

/* An operation between two that read a layer's parameters, and which reads none, belongs to the layer before. */
static void within_label(struct forward *forward, const struct regions_span *spans, uint32_t span_count)
{
    uint32_t number = 0, region = HLO_NONE;
    for (uint32_t i = 0; i < span_count; i++)
        for (number = spans[i].first > number ? spans[i].first : number; number < spans[i].last; number++) {
            uint32_t of = forward->regions->of[forward->operations[number]];
            region = of != HLO_NONE ? of : region;
            part_label(forward, number, number + 1, region);
        }
}

/* They are of the layer that reads them last. */
static void early_label(struct forward *forward)
{
    for (uint32_t number = forward->count; number-- > 0;) {
        uint32_t *of = &forward->regions->of[forward->operations[number]];
        if (forward->is_early[number] && *of == HLO_NONE)
            *of = forward->regions->of[forward->operations[forward->last_reader[number]]];
    }
}

static void spans_label(struct forward *forward, const struct regions_span *spans, uint32_t count)
{
    uint32_t *cuts = arena_raw(forward->arena, ((size_t)count + 1) * sizeof(*cuts));
    uint32_t layer_count = count > 0 && spans[count - 1].region == REGION_OUTSIDE ? count - 1 : count;
    bool is_in_order = true; /* the layer that begins last ends last */
    for (uint32_t i = 0; i + 1 < layer_count; i++) {
        cuts[i] = spans_part(forward, &spans[i], &spans[i + 1]);
        is_in_order = is_in_order && spans[i].last < spans[layer_count - 1].last;
    }
    if (layer_count == 0)
        return;
    if (!(is_in_order && last_label(forward, spans, cuts, layer_count - 1)) && layer_count < count)
        spans_part(forward, &spans[layer_count - 1], &spans[layer_count]);
    if (forward->program->is_as_written)
        within_label(forward, spans, count);
    first_label(forward, spans, cuts, layer_count);
    early_label(forward);
}

/* ---- what runs later: gradients, and forward operations that are repeated inside of their kernels ---- */

struct late {
    const struct forward *forward;
    uint32_t *order; /* by region: its place among the layers, from 1; behind the last: what is outside of them */
    uint32_t
        *read_until; /* by instruction: behind the last layer that reads what it gives going forward; 0: none does */
};

static uint32_t order_of(const struct late *late, uint32_t region)
{
    if (region == HLO_NONE || region == REGION_BEFORE)
        return region == HLO_NONE ? HLO_NONE : 0;
    return late->order[region == REGION_OUTSIDE ? late->forward->regions->count : region];
}

static void read_until_find(struct late *late, struct forward *forward)
{
    uint32_t all = forward->graph->hlo->instruction_count;
    late->read_until = arena_array(forward->arena, uint32_t, (size_t)all + 1);
    for (uint32_t number = 0; number < forward->count; number++) {
        uint32_t at = forward->operations[number], order = order_of(late, forward->regions->of[at]);
        for (uint32_t nth = 0, operand; (operand = graph_operand(forward->graph, at, nth)) != HLO_NONE; nth++) {
            uint32_t made_by = value_maker(&forward->walk, operand);
            if (made_by != HLO_NONE && order != HLO_NONE && order >= late->read_until[made_by])
                late->read_until[made_by] = order + 1;
        }
    }
}

/* Was it there before all layers: an argument that something going forward reads? */
static bool is_given(const struct late *late, const struct forward *forward, uint32_t at)
{
    return graph_is_argument(forward->graph, at) && late->read_until[at] > 0;
}

/* What an operation reads, so far. */
struct late_reading {
    uint32_t region;          /* of the gradients, of several the one that ran first */
    uint32_t made_last, from; /* the layer that has the last of the values, and its place */
    uint32_t until;           /* where the last layer is that has all of them */
};

static void late_read(const struct late *late, struct forward *forward, uint32_t operand, struct late_reading *reading)
{
    uint32_t made_by = value_maker(&forward->walk, operand),
             of = made_by == HLO_NONE                ? HLO_NONE
                  : is_given(late, forward, made_by) ? REGION_BEFORE
                                                     : forward->regions->of[made_by],
             order = order_of(late, of);
    if (order == HLO_NONE)
        return;
    if (forward->number_of[made_by] == HLO_NONE && !graph_is_argument(forward->graph, made_by)) {
        /* Operations that only look at arguments may come before all layers, and any layer may read them. */
        bool is_later = order > 0 && (order < order_of(late, reading->region) || reading->region == REGION_BEFORE);
        reading->region = reading->region == HLO_NONE || is_later ? of : reading->region;
        return;
    }
    if (reading->made_last == HLO_NONE || order >= reading->from) {
        reading->made_last = of;
        reading->from = order;
    }
    reading->until = late->read_until[made_by] < reading->until ? late->read_until[made_by] : reading->until;
}

/* The layer of the gradients that it reads, of several the one that ran first; but none that does not have the values
 * of the forward pass that it reads too. A loop reads what the tuple holds that it begins with. */
static uint32_t late_region(const struct late *late, struct forward *forward, uint32_t at)
{
    const struct graph *graph = forward->graph;
    struct late_reading reading = {HLO_NONE, HLO_NONE, 0, HLO_NONE};
    for (uint32_t nth = 0, operand; (operand = graph_operand(graph, at, nth)) != HLO_NONE; nth++) {
        bool is_begin = forward->program->is_as_written && graph_op(graph, at) == GRAPH_WHILE &&
                        graph_op(graph, operand) == GRAPH_TUPLE;
        if (!is_begin)
            late_read(late, forward, operand, &reading);
        for (uint32_t i = 0, element; is_begin && (element = graph_operand(graph, operand, i)) != HLO_NONE; i++)
            late_read(late, forward, element, &reading);
    }
    if (reading.region == HLO_NONE || reading.made_last == HLO_NONE)
        return reading.region == HLO_NONE ? reading.made_last : reading.region;
    uint32_t order = order_of(late, reading.region);
    return order < reading.from || order >= reading.until ? reading.made_last : reading.region;
}

/* What only gradients read, such as the derivative of a square, is of the layer that it stands in as the source runs:
 * its operand may be what the layer before gives. */
static void derivatives_label(struct forward *forward)
{
    const struct regions_program *program = forward->program;
    uint32_t *before = arena_array(forward->arena, uint32_t, (size_t)program->source_count + 1), last = HLO_NONE;
    for (uint32_t i = 0; i < program->source_count; i++) {
        uint32_t number = forward->number_of[program->sources[i]];
        before[i] = last;
        if (number != HLO_NONE && !forward->is_early[number] && forward->regions->of[program->sources[i]] != HLO_NONE)
            last = forward->regions->of[program->sources[i]];
    }
    last = HLO_NONE;
    for (uint32_t i = program->source_count; i-- > 0;) {
        uint32_t at = program->sources[i], number = forward->number_of[at], *of = &forward->regions->of[at];
        bool is_read = number != HLO_NONE && (forward->is_early[number] || forward->last_reader[number] != number);
        if (*of == HLO_NONE && !is_read && is_operation(forward->graph, at) &&
            graph_phase(forward->graph, at) == GRAPH_FORWARD && before[i] == last)
            *of = last;
        if (number != HLO_NONE && !forward->is_early[number] && *of != HLO_NONE)
            last = *of;
    }
}

static void late_label(struct forward *forward, const struct regions_span *spans, uint32_t span_count)
{
    struct regions *regions = forward->regions;
    struct late late = {forward, arena_array(forward->arena, uint32_t, (size_t)regions->count + 1), NULL};
    uint32_t count;
    for (uint32_t i = 0; i <= regions->count; i++)
        late.order[i] = span_count + 1;
    for (uint32_t i = 0; i < span_count; i++)
        late.order[spans[i].region == REGION_OUTSIDE ? regions->count : spans[i].region] = i + 1;
    read_until_find(&late, forward);
    derivatives_label(forward);
    for (uint32_t number = 0; number < forward->count; number++)
        if (regions->of[forward->operations[number]] == HLO_NONE && forward->last_reader[number] == number)
            regions->of[forward->operations[number]] = late_region(&late, forward, forward->operations[number]);
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
    struct value_walk walk; /* its own: the steps it uses are not missing elsewhere */
    value_walk_init(&walk, forward.graph, 32 * (uint64_t)forward.graph->hlo->instruction_count + 4096, arena);
    const struct regions_order order = {forward.graph, regions, forward.operations, forward.number_of, forward.count,
                                        &walk,         arena};
    struct regions_span *spans = arena_array(arena, struct regions_span, (size_t)regions->count + 1);
    uint32_t span_count = regions_spans_find(&order, spans);
    spans_label(&forward, spans, span_count);
    late_label(&forward, spans, span_count);
}
