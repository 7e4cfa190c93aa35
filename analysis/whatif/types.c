/* SPDX-License-Identifier: Apache-2.0 */
#include "whatif/types.h"

#include "whatif/promotion.h"

/* Passes until nothing changes; loops within loops need some. */
enum { PASS_MAX = 16 };

struct typing {
    const struct variant *variant;
    const struct graph *graph;
    const struct dimensions *dimensions;
    uint8_t *states; /* by leaf that represents an array */
    unsigned wanted_bytes;
    bool is_computed_with;
    const uint32_t *promotions; /* promotions_find: casts that are not in the user's code */
};

static bool is_wide_float(const struct typing *typing, uint32_t leaf)
{
    uint8_t type = typing->dimensions->leaves.items[leaf].type;
    return shape_type_is_float(type) && shape_type_bytes(type) > typing->wanted_bytes;
}

static uint8_t *state_of(struct typing *typing, uint32_t leaf)
{
    return &typing->states[typing->dimensions->arrays[leaf]];
}

static bool raise(struct typing *typing, uint32_t leaf, enum type_state state)
{
    uint8_t *at = state_of(typing, leaf);
    if (*at >= state || !is_wide_float(typing, leaf))
        return false;
    *at = (uint8_t)state;
    return true;
}

/* Of an operand: what is not wide as the program is asks for nothing more; scalars and constants for nothing at all. */
static enum type_state asked_by(struct typing *typing, uint32_t at)
{
    enum type_state most = TYPE_FREE;
    arena_work(typing->variant->arena, leaves_count(&typing->dimensions->leaves, at)); /* operands may repeat a tuple */
    for (uint32_t leaf = typing->dimensions->leaves.first[at]; leaf < typing->dimensions->leaves.first[at + 1];
         leaf++) {
        const struct leaf *of = &typing->dimensions->leaves.items[leaf];
        if (of->rank == 0 || !shape_type_is_float(of->type))
            continue;
        /* what only moves it and is wide widens it: a copy on TPUs converts, too */
        enum type_state narrow = typing->is_computed_with ? TYPE_NARROW : TYPE_FREE,
                        state = is_wide_float(typing, leaf) ? (enum type_state) * state_of(typing, leaf) : narrow;
        most = state > most ? state : most;
    }
    return most;
}

static bool types_moves(const struct graph *graph, uint32_t at)
{
    switch (graph_op(graph, at)) {
    case GRAPH_COPY:
    case GRAPH_RESHAPE:
    case GRAPH_SLICE:
    case GRAPH_GATHER:
    case GRAPH_UPDATE:
    case GRAPH_BROADCAST:
    case GRAPH_CONCATENATE:
    case GRAPH_SAME: return true;
    default: return false;
    }
}

/* Do all that read it read nothing else but scalars? Then no other array has said which type it is to be. */
static bool is_read_alone(const struct graph *graph, const struct leaves *leaves, uint32_t at, struct arena *arena)
{
    uint32_t first = graph->reader_first[at], limit = graph->reader_first[at + 1];
    for (uint32_t i = first; i < limit; i++) {
        uint32_t reader = graph->readers[i].reader_at, operand;
        if (graph_hands_on(graph, reader))
            return false;
        arena_work(arena, graph->operand_first[reader + 1] - graph->operand_first[reader]);
        for (uint32_t nth = 0; (operand = graph_operand(graph, reader, nth)) != HLO_NONE; nth++)
            if (operand != at && !promotion_is_scalar(graph, leaves, operand))
                return false;
    }
    return first < limit;
}

bool types_are_numbers_widened(const struct graph *graph, const struct leaves *leaves, uint32_t at, struct arena *arena)
{
    const struct leaf *from = leaves_array(leaves, graph_operand(graph, at, 0)), *to = leaves_array(leaves, at);
    return graph_op(graph, at) == GRAPH_CONVERT && from != NULL && to != NULL && to->rank > 0 &&
           !shape_type_is_float(from->type) && from->type != shape_type_find(STR("pred")) &&
           is_read_alone(graph, leaves, at, arena);
}

/* A cast that the person wrote, to a wider type; going backward it is one to a narrower type, turned round. */
static bool is_widened(const struct typing *typing, uint32_t at)
{
    const struct graph *graph = typing->graph;
    const struct leaves *leaves = &typing->dimensions->leaves;
    const struct leaf *from = leaves_array(leaves, graph_operand(graph, at, 0));
    if (graph_op(graph, at) != GRAPH_CONVERT || graph_phase(graph, at) == GRAPH_NAMELESS ||
        graph_phase(graph, at) == GRAPH_BACKWARD)
        return false;
    bool is_of_narrow =
        from != NULL && shape_type_is_float(from->type) && shape_type_bytes(from->type) <= typing->wanted_bytes;
    return is_of_narrow || types_are_numbers_widened(graph, leaves, at, typing->variant->arena);
}

static bool instruction_follow(struct typing *typing, uint32_t at)
{
    const struct graph *graph = typing->graph;
    enum type_state most = TYPE_FREE;
    bool is_new = false;
    if (graph_hands_on(graph, at))
        return false;
    uint32_t first = graph->operand_first[at], limit = graph->operand_first[at + 1];
    /* What is written takes the type of where it is written; zeros have the type of what is written to them. */
    if (graph_op(graph, at) == GRAPH_UPDATE && limit > first + 1)
        limit =
            first + 1 + (graph->operands[first] == HLO_NONE || asked_by(typing, graph->operands[first]) == TYPE_FREE);
    else if (!typing->is_computed_with && limit > first + 1 && graph_op(graph, at) != GRAPH_CONCATENATE)
        limit = first + 1;
    if (!typing->is_computed_with && !types_moves(graph, at))
        return false;
    for (uint32_t i = first; i < limit; i++)
        if (graph->operands[i] != HLO_NONE) {
            enum type_state asked = asked_by(typing, graph->operands[i]);
            most = asked > most ? asked : most;
        }
    if ((typing->promotions == NULL || typing->promotions[at] == HLO_NONE) && is_widened(typing, at))
        most = TYPE_WIDE;
    for (uint32_t leaf = typing->dimensions->leaves.first[at]; leaf < typing->dimensions->leaves.first[at + 1]; leaf++)
        is_new = raise(typing, leaf, most) || is_new;
    return is_new;
}

uint8_t *types_follow(const struct variant *variant, const bool *is_cast, uint64_t type, bool is_computed_with)
{
    const struct dimensions *dimensions = &variant->dimensions;
    struct typing typing = {.variant = variant,
                            .graph = variant->plan->graph,
                            .dimensions = dimensions,
                            .wanted_bytes = shape_type_bytes(type),
                            .is_computed_with = is_computed_with,
                            .promotions = promotions_find(variant)};
    uint32_t count = variant->plan->hlo.instruction_count;
    typing.states = arena_array(variant->arena, uint8_t, (size_t)dimensions->leaves.count + 1);
    for (uint32_t at = 0; at < count; at++)
        if (graph_is_argument(typing.graph, at))
            for (uint32_t leaf = dimensions->leaves.first[at]; leaf < dimensions->leaves.first[at + 1]; leaf++)
                if (dimensions->leaves.items[leaf].rank > 0)
                    raise(&typing, leaf, TYPE_WIDE);
    for (uint32_t i = 0; i < variant->row_count; i++) {
        const struct variant_row *row = &variant->rows[i];
        if (is_cast[i] && row->is_argument && row->leaf != HLO_NONE && is_wide_float(&typing, row->leaf))
            *state_of(&typing, row->leaf) = TYPE_NARROW;
    }
    for (unsigned pass = 0; pass < PASS_MAX; pass++) {
        bool is_new = false;
        arena_work(variant->arena, count);
        for (uint32_t at = 0; at < count; at++)
            is_new = instruction_follow(&typing, at) || is_new;
        if (!is_new)
            break;
    }
    return typing.states;
}
