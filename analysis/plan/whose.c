/* SPDX-License-Identifier: Apache-2.0
 * whose.c: see whose.h. */
#include "plan/whose.h"

#include "base/sum.h"
#include "plan/arguments.h"
#include "plan/pattern.h"
#include "read/hlo/shape.h"

/* Steps of all walks together, for each operand and row of the program, and for any program. */
enum { STEPS_EACH = 64, STEPS_ANY = 1 << 20 };

struct whose_deciding {
    struct plan *plan;
    const struct graph *graph;
    struct value_walk walk;
    struct map parameter_shapes; /* arguments_parameters_by_shape */
};

/* Who reads a value. */
struct readers {
    struct value_walk *walk;
    bool is_forward, is_backward, is_plain, is_result, is_collective;
    uint32_t first_named; /* HLO_NONE: none is named */
    uint32_t sum_at;      /* that adds it to another array, or writes into it; HLO_NONE: none does */
    struct value loop;    /* the element of a loop's state that lives in its memory, and that the loop changes */
};

static bool reader_met(void *context, uint32_t reader_at, uint32_t operand)
{
    struct readers *readers = context;
    if (reader_at == HLO_NONE) {
        readers->is_result = true;
        return true;
    }
    const struct graph *graph = readers->walk->graph;
    unsigned phases = value_phases(readers->walk, reader_at);
    if (readers->sum_at == HLO_NONE &&
        (graph_op(graph, reader_at) == GRAPH_ADD || (graph_op(graph, reader_at) == GRAPH_UPDATE && operand == 0)))
        readers->sum_at = reader_at;
    readers->is_forward = readers->is_forward || (phases & 1u << GRAPH_FORWARD);
    readers->is_backward = readers->is_backward || (phases & (1u << GRAPH_BACKWARD | 1u << GRAPH_RECOMPUTE));
    readers->is_plain = readers->is_plain || (phases & 1u << GRAPH_PLAIN);
    readers->is_collective = readers->is_collective || graph_op(graph, reader_at) == GRAPH_COLLECTIVE;
    if (readers->first_named == HLO_NONE && graph_phase(graph, reader_at) == GRAPH_NAMELESS)
        reader_at = graph_fusion_around(graph, reader_at);
    if (readers->first_named == HLO_NONE && reader_at != HLO_NONE && graph_phase(graph, reader_at) != GRAPH_NAMELESS)
        readers->first_named = reader_at;
    return true;
}

static struct readers readers_of(struct whose_deciding *deciding, struct value value)
{
    struct readers readers = {.walk = &deciding->walk, .first_named = HLO_NONE, .sum_at = HLO_NONE};
    value_each_reader(&deciding->walk, value, reader_met, &readers);
    readers.loop = deciding->walk.loop;
    bool is_cut = deciding->walk.is_cut;
    if (readers.loop.at != HLO_NONE) {
        value_each_reader(&deciding->walk, readers.loop, reader_met, &readers);
        is_cut |= deciding->walk.is_cut;
    }
    deciding->plan->untold_count += is_cut;
    return readers;
}

static bool has_parameter_shape(const struct whose_deciding *deciding, const struct plan_row *row)
{
    struct shape_array shape;
    return shape_array_read(deciding->plan->shapes[row->buffer_at], &shape) && shape.rank > 0 &&
           map_get(&deciding->parameter_shapes, shape_array_hash_any_order(&shape)) != MAP_NONE;
}

/* A sum in a loop's body of what came in and what a backward pass made. */
static bool adds_gradients(struct whose_deciding *deciding, struct value origin)
{
    const struct graph *graph = deciding->graph;
    if (graph_op(graph, origin.at) != GRAPH_ADD || graph_phase(graph, origin.at) != GRAPH_PLAIN)
        return false;
    for (uint32_t i = 0; i < 2; i++) {
        uint32_t namer =
            value_namer(&deciding->walk, (struct value){graph_operand(graph, origin.at, i), VALUE_WHOLE}, NULL);
        if (namer != HLO_NONE && graph_phase(graph, namer) == GRAPH_BACKWARD)
            return true;
    }
    return false;
}

/* Of what a backward pass makes of a parameter's shape: is it added to another part of the same gradient, and that,
 * after so many sums, read behind the backward pass? A parameter that is used in several places has one for each. */
enum { SUMMANDS_MAX = 8 };
static bool is_summand(struct whose_deciding *deciding, struct readers readers)
{
    const struct graph *graph = deciding->graph;
    for (int i = 0; i < SUMMANDS_MAX && readers.sum_at != HLO_NONE; i++) {
        struct value sum = {readers.sum_at, VALUE_WHOLE};
        if (graph_phase(graph, sum.at) != GRAPH_BACKWARD && graph_phase(graph, sum.at) != GRAPH_NAMELESS)
            return false;
        readers = readers_of(deciding, sum);
        if (readers.is_plain || readers.is_result)
            return true;
    }
    return false;
}

static bool is_collective(const struct graph *graph, struct value value, struct value origin)
{
    if (graph_op(graph, value.at) == GRAPH_COLLECTIVE || graph_op(graph, value.at) == GRAPH_COLLECTIVE_DONE ||
        graph_op(graph, origin.at) == GRAPH_COLLECTIVE)
        return true;
    struct str name = hlo_instruction_name(graph->hlo, value.at);
    return str_starts(name, STR("AsyncCollective")) || str_starts(name, STR("async-collective")) ||
           str_starts(name, STR("async_collective"));
}

/* For a value that some part of a training step makes. */
static struct category_choice by_phase(struct whose_deciding *deciding, const struct plan_row *row,
                                       enum graph_phase phase, struct value origin, const struct readers *readers)
{
    switch (phase) {
    case GRAPH_RECOMPUTE: return category_choice_of(CATEGORY_WORKSPACE, CATEGORY_RULE_RECOMPUTED);
    case GRAPH_FORWARD:
        return readers->is_backward ? category_choice_of(CATEGORY_SAVED_ACTIVATION, CATEGORY_RULE_SAVED)
                                    : category_choice_of(CATEGORY_WORKSPACE, CATEGORY_RULE_FORWARD);
    case GRAPH_BACKWARD:
        return has_parameter_shape(deciding, row) &&
                       (readers->is_plain || readers->is_result || is_summand(deciding, *readers))
                   ? category_choice_of(CATEGORY_GRADIENT, CATEGORY_RULE_GRADIENT)
                   : category_choice_of(CATEGORY_WORKSPACE, CATEGORY_RULE_BACKWARD);
    case GRAPH_PLAIN:
        if (!has_parameter_shape(deciding, row))
            return category_choice_of(CATEGORY_WORKSPACE, CATEGORY_RULE_PLAIN);
        if (readers->loop.at != HLO_NONE && adds_gradients(deciding, origin))
            return category_choice_of(CATEGORY_GRADIENT_ACCUMULATOR, CATEGORY_RULE_ACCUMULATOR);
        return readers->is_result ? category_choice_of(CATEGORY_OUTPUT, CATEGORY_RULE_RESULT)
                                  : category_choice_of(CATEGORY_OPTIMIZER_TEMPORARY, CATEGORY_RULE_UPDATE);
    case GRAPH_NAMELESS: break;
    }
    return category_choice_of(CATEGORY_UNKNOWN, CATEGORY_RULE_NONE);
}

static struct category_choice by_value(struct whose_deciding *deciding, struct plan_row *row, struct value value)
{
    const struct graph *graph = deciding->graph;
    bool is_gathered;
    struct value origin;
    row->named_by = value_namer(&deciding->walk, value, &origin);
    struct value base = value_origin(&deciding->walk, origin, VALUE_BASE, &is_gathered);
    row->made_by = origin.at;
    if (graph_is_argument(graph, base.at) && !is_gathered)
        return category_choice_of(CATEGORY_COPY_OF_ARGUMENT, CATEGORY_RULE_COPY);
    if (is_collective(graph, value, origin))
        return category_choice_of(CATEGORY_COLLECTIVE, CATEGORY_RULE_COLLECTIVE);
    struct readers readers = readers_of(deciding, value);
    enum category_rule from = CATEGORY_RULE_NONE;
    if (value_is_blank(graph, origin) && readers.loop.at != HLO_NONE) {
        row->named_by = value_namer(&deciding->walk, readers.loop, &origin);
        row->made_by = origin.at;
    } else if (value_is_blank(graph, origin)) {
        if (readers.is_collective)
            return category_choice_of(CATEGORY_COLLECTIVE, CATEGORY_RULE_COLLECTIVE);
        if (graph_op(graph, origin.at) == GRAPH_CONSTANT)
            return category_choice_of(CATEGORY_CONSTANT, CATEGORY_RULE_COPY_OF_CONSTANT);
        row->named_by = readers.first_named;
        from = CATEGORY_RULE_READER;
    }
    if (row->named_by == HLO_NONE) {
        row->named_by = readers.first_named;
        from = CATEGORY_RULE_READER;
    } else if (from == CATEGORY_RULE_NONE && row->named_by != origin.at) {
        from = CATEGORY_RULE_NEAREST;
    }
    if (is_collective(graph, origin, origin))
        return category_choice_of(CATEGORY_COLLECTIVE, CATEGORY_RULE_COLLECTIVE);
    if (row->named_by == HLO_NONE)
        return category_choice_of(CATEGORY_UNKNOWN, CATEGORY_RULE_NONE);
    if (!graph->has_backward)
        return category_choice_of(CATEGORY_WORKSPACE, CATEGORY_RULE_INFERENCE);
    struct category_choice found = by_phase(deciding, row, graph_phase(graph, row->named_by), origin, &readers);
    if (from != CATEGORY_RULE_NONE && found.category != CATEGORY_UNKNOWN)
        found.rule = (uint8_t)from;
    return found;
}

static struct category_choice by_row(struct whose_deciding *deciding, struct plan_row *row)
{
    const struct hlo *hlo = &deciding->plan->hlo;
    const struct hlo_allocation *allocation = &hlo->allocations[row->allocation_at];
    row->made_by = HLO_NONE;
    row->named_by = row->buffer_at == PLAN_NONE ? HLO_NONE : hlo->buffers[row->buffer_at].instruction_at;
    if (allocation->is_parameter) {
        const struct plan_argument *argument = arguments_find_allocation(deciding->plan, allocation);
        if (argument == NULL)
            return category_choice_of(CATEGORY_OTHER, CATEGORY_RULE_NONE);
        row->named_by = argument->instruction_at;
        return argument->choice;
    }
    if (allocation->is_live_out && row->buffer_at != PLAN_NONE && deciding->graph != NULL) {
        struct value origin;
        row->named_by = value_namer(&deciding->walk, value_of_buffer(hlo, row->buffer_at), &origin);
        row->made_by = origin.at;
    }
    if (allocation->is_live_out)
        return category_choice_of(CATEGORY_OUTPUT, CATEGORY_RULE_OUTPUT);
    if (allocation->is_constant)
        return category_choice_of(CATEGORY_CONSTANT, CATEGORY_RULE_CONSTANT);
    if (row->buffer_at == PLAN_NONE || row->named_by == HLO_NONE || deciding->graph == NULL)
        return category_choice_of(CATEGORY_UNKNOWN, CATEGORY_RULE_NONE);
    return by_value(deciding, row, value_of_buffer(hlo, row->buffer_at));
}

static uint64_t steps_of(const struct plan *plan, const struct graph *graph)
{
    uint64_t count = graph->operand_first[plan->hlo.instruction_count];
    for (uint32_t i = 0; i < plan->space_count; i++)
        count += plan->spaces[i].row_count;
    return count * STEPS_EACH + STEPS_ANY;
}

void whose_build(struct plan *plan, struct arena *arena)
{
    struct whose_deciding deciding = {.plan = plan};
    struct arena *scratch = arena_child(arena);
    if (plan->hlo.has_module && plan->hlo.entry_at != HLO_NONE) {
        plan->graph = arena_array(arena, struct graph, 1);
        graph_build(&plan->hlo, arena, scratch, plan->graph);
        deciding.graph = plan->graph;
        value_walk_init(&deciding.walk, plan->graph, steps_of(plan, plan->graph), scratch);
        arguments_build(plan, plan->graph, &deciding.walk, arena, scratch);
        arguments_parameters_by_shape(plan, scratch, &deciding.parameter_shapes);
    }
    for (uint32_t i = 0; i < plan->space_count; i++) {
        struct plan_space *space = &plan->spaces[i];
        for (uint32_t j = 0; j < space->row_count; j++) {
            struct plan_row *row = &space->rows[j];
            row->choice = by_row(&deciding, row);
            if (plan_row_is_alive(row, space->peak_step))
                space->category_bytes[row->choice.category] =
                    sum_add(space->category_bytes[row->choice.category], row->bytes);
        }
    }
    if (deciding.graph != NULL)
        pattern_find_all(plan, &deciding.walk, arena, scratch);
    arena_free(scratch);
}
