/* SPDX-License-Identifier: Apache-2.0 */
#include "whatif/regions_read.h"

#include "plan/arguments.h"
#include "read/hlo/shape.h"
#include "whatif/regions_cut.h"

struct regions_reading {
    const struct regions_program *program;
    const struct graph *graph;
    uint32_t *labels; /* by array: the region whose parameter it is */
    struct regions *regions;
    struct arena *arena;
};

static uint32_t *label_of(struct regions_reading *reading, uint32_t at)
{
    const struct dimensions *dimensions = reading->program->dimensions;
    const struct leaves *leaves = &dimensions->leaves;
    return at != HLO_NONE && leaves_count(leaves, at) == 1 ? &reading->labels[dimensions->arrays[leaves->first[at]]]
                                                           : NULL;
}

static void parameters_take(struct regions_reading *reading, const struct regions_parameters *parameters)
{
    for (uint32_t at = 0; at < reading->graph->hlo->instruction_count; at++) {
        if (!graph_is_argument(reading->graph, at))
            continue;
        const struct plan_argument *argument = arguments_find(parameters->plan, reading->graph->numbers[at]);
        uint32_t *label = label_of(reading, at);
        if (argument != NULL && label != NULL && *label == HLO_NONE)
            *label = parameters->of[argument - parameters->plan->arguments];
    }
}

/* Is it a conversion of whole numbers? */
static bool is_of_whole_numbers(const struct regions_reading *reading, uint32_t at)
{
    const struct leaves *leaves = &reading->program->dimensions->leaves;
    const struct leaf *from = graph_op(reading->graph, at) == GRAPH_CONVERT
                                  ? leaves_array(leaves, graph_operand(reading->graph, at, 0))
                                  : NULL;
    return from != NULL && !shape_type_is_float(from->type);
}

/* Is it made of a layer's weights that are stored in whole numbers, its other parameters and constants alone? Then it
 * is a parameter of that layer, too. As written, of any weights: the negated exponential of one may stand within the
 * layer before. */
static bool is_made_of(struct regions_reading *reading, uint32_t at, uint32_t region)
{
    const struct graph *graph = reading->graph;
    bool is_any = false;
    arena_work(reading->arena, graph->operand_first[at + 1] - graph->operand_first[at]);
    for (uint32_t i = graph->operand_first[at]; i < graph->operand_first[at + 1]; i++) {
        uint32_t operand = graph_behind_broadcasts(graph, graph->operands[i]);
        const uint32_t *label = label_of(reading, operand);
        if (label == NULL || (*label != region && graph_op(graph, operand) != GRAPH_CONSTANT))
            return false;
        is_any = is_any || is_of_whole_numbers(reading, operand);
    }
    return (is_any || reading->program->is_as_written) && graph_phase(graph, at) == GRAPH_FORWARD &&
           graph_op(graph, at) != GRAPH_DOT;
}

/* Copies, casts and views of a parameter are the parameter; what computes with it is of its layer. */
static void readers_label(struct regions_reading *reading)
{
    const struct graph *graph = reading->graph;
    for (unsigned pass = 0; pass < 2; pass++)
        for (uint32_t at = 0; at < graph->hlo->instruction_count; at++) {
            enum graph_op op = graph_op(graph, at);
            for (uint32_t i = graph->operand_first[at]; i < graph->operand_first[at + 1]; i++) {
                uint32_t *from = label_of(reading, graph->operands[i]), *to = label_of(reading, at);
                if (!from || *from == HLO_NONE)
                    continue;
                if (regions_moves(op) || (to && (*to == *from || is_made_of(reading, at, *from)))) {
                    if (to && *to == HLO_NONE)
                        *to = *from;
                } else if (op != GRAPH_FUSION && op != GRAPH_TUPLE) {
                    reading->regions->of[at] = *from;
                }
            }
        }
}

/* All else is of the layer that was read last, as the program runs. */
static void rest_label(struct regions_reading *reading, struct arena *arena)
{
    const struct graph *graph = reading->graph;
    const uint32_t *positions = reading->program->positions;
    uint32_t length = reading->program->position_count, last = HLO_NONE;
    uint32_t *at_position = arena_raw(arena, ((size_t)length + 1) * sizeof(*at_position));
    memset(at_position, 0xff, ((size_t)length + 1) * sizeof(*at_position));
    for (uint32_t at = 0; at < graph->hlo->instruction_count; at++)
        if (positions[at] != HLO_NONE && reading->regions->of[at] != HLO_NONE && graph_phase(graph, at) != GRAPH_PLAIN)
            at_position[positions[at]] = reading->regions->of[at];
    for (uint32_t position = 0; position < length; position++)
        last = at_position[position] = at_position[position] != HLO_NONE ? at_position[position] : last;
    for (uint32_t at = 0; at < graph->hlo->instruction_count; at++) {
        enum graph_phase phase = graph_phase(graph, at);
        if (reading->regions->of[at] == HLO_NONE && positions[at] != HLO_NONE &&
            (phase == GRAPH_FORWARD || phase == GRAPH_BACKWARD))
            reading->regions->of[at] = at_position[positions[at]];
    }
}

/* The layer of all values of the forward pass that a loop begins with; HLO_NONE: there are several, or none. */
static uint32_t loop_region(struct regions_reading *reading, struct value_walk *walk, uint32_t loop_at)
{
    const struct graph *graph = reading->graph;
    uint32_t begin = graph_operand(graph, loop_at, 0), region = HLO_NONE, operand;
    if (begin == HLO_NONE || graph_op(graph, begin) != GRAPH_TUPLE)
        return HLO_NONE;
    for (uint32_t nth = 0; (operand = graph_operand(graph, begin, nth)) != HLO_NONE; nth++) {
        uint32_t made_by = value_maker(walk, operand);
        uint32_t of = made_by == HLO_NONE || graph_phase(graph, made_by) != GRAPH_FORWARD
                          ? HLO_NONE
                          : reading->regions->of[made_by];
        if (of >= reading->regions->count)
            continue;
        if (region != HLO_NONE && region != of)
            return HLO_NONE;
        region = of;
    }
    return region;
}

/* A schedule may read the next layer's parameters before a loop of the one before runs: the rounds of a loop that reads
 * none itself are of the layer of what it begins with. `told`: what was known of each instruction by what it reads. */
static void loops_label(struct regions_reading *reading, const uint32_t *told, struct arena *arena)
{
    const struct graph *graph = reading->graph;
    uint32_t count = graph->hlo->instruction_count;
    bool *is_told = arena_array(arena, bool, (size_t)graph->hlo->computation_count + 1);
    uint32_t *region_of = arena_raw(arena, ((size_t)graph->hlo->computation_count + 1) * sizeof(*region_of));
    struct value_walk walk;
    memset(region_of, 0xff, ((size_t)graph->hlo->computation_count + 1) * sizeof(*region_of));
    value_walk_init(&walk, graph, 8 * (uint64_t)count + 4096, arena);
    for (uint32_t at = 0; at < count; at++) {
        uint32_t body = told[at] == HLO_NONE ? HLO_NONE : graph_loop_body_around(graph, at);
        if (body != HLO_NONE)
            is_told[body] = true;
    }
    for (uint32_t at = 0; at < count; at++) {
        uint32_t body = graph_op(graph, at) == GRAPH_WHILE ? graph_called(graph, at, 0) : HLO_NONE;
        if (body != HLO_NONE && !is_told[body])
            region_of[body] = loop_region(reading, &walk, at);
    }
    for (uint32_t at = 0; at < count; at++) {
        uint32_t body = graph_phase(graph, at) == GRAPH_FORWARD ? graph_loop_body_around(graph, at) : HLO_NONE;
        if (body != HLO_NONE && region_of[body] != HLO_NONE)
            reading->regions->of[at] = region_of[body];
    }
}

static bool *made_of_parameters(struct regions_reading *reading)
{
    const struct graph *graph = reading->graph;
    uint32_t count = graph->hlo->instruction_count;
    bool *is_parameter = arena_array(reading->arena, bool, (size_t)count + 1);
    for (uint32_t at = 0; at < count; at++) {
        const uint32_t *label = label_of(reading, at);
        is_parameter[at] = label != NULL && *label < reading->regions->count && !graph_is_argument(graph, at) &&
                           graph_phase(graph, at) == GRAPH_FORWARD;
    }
    return is_parameter;
}

void regions_read(const struct regions_program *program, const struct regions_parameters *parameters,
                  struct arena *arena, struct regions *out)
{
    const struct graph *graph = program->graph;
    uint32_t count = graph->hlo->instruction_count, leaf_count = program->dimensions->leaves.count;
    struct regions_reading reading = {program, graph, NULL, out, arena};
    *out = (struct regions){arena_raw(arena, ((size_t)count + 1) * sizeof(*out->of)), parameters->items,
                            parameters->count};
    memset(out->of, 0xff, ((size_t)count + 1) * sizeof(*out->of));
    if (out->count < 2)
        return;
    reading.labels = arena_raw(arena, ((size_t)leaf_count + 1) * sizeof(*reading.labels));
    memset(reading.labels, 0xff, ((size_t)leaf_count + 1) * sizeof(*reading.labels));
    parameters_take(&reading, parameters);
    readers_label(&reading);
    struct regions_program seen = *program;
    seen.is_parameter = program->is_as_written ? made_of_parameters(&reading) : NULL;
    regions_cut(&seen, arena, out);
    if (!program->is_as_written) { /* where it is, no order says more than what is read */
        uint32_t *told = arena_raw(arena, ((size_t)count + 1) * sizeof(*told));
        memcpy(told, out->of, ((size_t)count + 1) * sizeof(*told));
        rest_label(&reading, arena);
        loops_label(&reading, told, arena);
    }
    for (uint32_t at = 0; at < count; at++)
        if (out->of[at] == REGION_OUTSIDE || out->of[at] == REGION_BEFORE)
            out->of[at] = HLO_NONE;
}
