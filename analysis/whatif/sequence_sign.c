/* SPDX-License-Identifier: Apache-2.0 */
#include "whatif/sequence_sign.h"

#include "plan/arguments.h"
#include "whatif/change.h"

/* Shorter ones are rows of labels, or sides of something. */
enum { SEQUENCE_LEAST = 32 };

/* Does an array have a class of dimensions twice? */
static bool has_twice(const struct dimensions *dimensions, uint32_t at, uint32_t class)
{
    uint32_t count = 0, dimension;
    for (uint32_t nth = 0; (dimension = dimensions_of(dimensions, at, nth)) != HLO_NONE; nth++)
        count += dimensions_class(dimensions, dimension) == class;
    return count > 1;
}

/* Of pairs of all things with all others a product makes a further array of pairs: those are no scores. */
static bool is_of_pairs(const struct variant *variant, uint32_t dot_at, uint32_t class)
{
    const struct graph *graph = variant->plan->graph;
    uint32_t left = graph_operand(graph, dot_at, 0), right = graph_operand(graph, dot_at, 1);
    return (left != HLO_NONE && has_twice(&variant->dimensions, left, class)) ||
           (right != HLO_NONE && has_twice(&variant->dimensions, right, class));
}

/* By class of dimensions: does a product have it twice, as attention scores have? */
static const bool *squared_find(const struct variant *variant)
{
    const struct graph *graph = variant->plan->graph;
    const struct dimensions *dimensions = &variant->dimensions;
    struct arena *arena = variant->arena;
    bool *is_squared = arena_array(arena, bool, (size_t)dimensions->leaves.dimension_count + 1);
    arena_work(arena, graph->hlo->instruction_count);
    for (uint32_t at = 0; at < graph->hlo->instruction_count; at++) {
        uint32_t one, other;
        if (graph_op(graph, at) != GRAPH_DOT)
            continue;
        for (uint32_t nth = 0; (one = dimensions_of(dimensions, at, nth)) != HLO_NONE; nth++)
            for (uint32_t k = nth + 1; (other = dimensions_of(dimensions, at, k)) != HLO_NONE; k++)
                if (dimensions_class(dimensions, one) == dimensions_class(dimensions, other) &&
                    !is_of_pairs(variant, at, dimensions_class(dimensions, one)))
                    is_squared[dimensions_class(dimensions, one)] = true;
    }
    return is_squared;
}

bool sequence_sign_is_there(const struct variant *variant)
{
    struct change change;
    struct change_target *targets;
    struct err err = ERR_INIT;
    struct shape_array shape;
    uint32_t count;
    if (!change_read(STR("sequence=0.5"), &change, &err) || !change_targets(variant, &change, &targets, &count, &err))
        return false;
    const bool *is_squared = squared_find(variant);
    for (uint32_t i = 0; i < count; i++) {
        const struct plan_argument *argument = arguments_find(variant->plan, targets[i].parameter);
        if (targets[i].size_before < SEQUENCE_LEAST || argument == NULL)
            continue;
        if ((shape_array_read(argument->shape, &shape) && shape_array_is_integer(&shape)) ||
            is_squared[dimensions_class(&variant->dimensions, targets[i].at)])
            return true;
    }
    return false;
}
