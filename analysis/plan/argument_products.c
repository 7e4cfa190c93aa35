/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/argument_products.h"

#include "plan/arguments.h"
#include "read/hlo/shape.h"

/* Quantized weights are made of a few arguments: of whole numbers, their zero points and scales. */
enum { MADE_OF_MIN = 2, MADE_OF_MAX = 4, MADE_OF_DEPTH_MAX = 6 };

struct products_reading {
    const struct plan *plan;
    struct value_walk *walk;
    struct argument_product *products;
};

/* One side of a product: the argument that it is a view of; an adapter's correction is added to the weights first. */
struct side {
    struct argument_product *argument; /* NULL: the program computed it */
    struct argument_product *corrected;
    struct argument_product *made_of[MADE_OF_MAX]; /* where it was computed of arguments alone, element by element */
    uint32_t made_of_count;
};

static struct argument_product *argument_behind(const struct products_reading *reading, uint32_t at, struct value *base)
{
    bool is_gathered;
    *base = value_origin(reading->walk, (struct value){at, VALUE_WHOLE}, VALUE_BASE, &is_gathered);
    const struct plan_argument *argument = is_gathered ? NULL : arguments_find_instruction(reading->plan, base->at);
    return argument == NULL ? NULL : &reading->products[argument - reading->plan->arguments];
}

static bool is_by_element(const struct graph *graph, uint32_t at)
{
    static const char *const opcodes[] = {
        "multiply", "subtract", "divide", "and", "or", "shift-left", "shift-right-logical", "shift-right-arithmetic"};
    struct str opcode = hlo_instruction_opcode(graph->hlo, at);
    for (size_t i = 0; i < sizeof(opcodes) / sizeof(opcodes[0]); i++)
        if (str_equal(opcode, str_of(opcodes[i])))
            return true;
    return graph_op(graph, at) == GRAPH_ADD;
}

/* The compiler drops dimensions of size 1 by a sum over them. */
static bool drops_dimensions(const struct graph *graph, uint32_t at)
{
    struct shape_array from, to;
    uint32_t operand = graph_op(graph, at) == GRAPH_REDUCE ? graph_operand(graph, at, 0) : HLO_NONE;
    return operand != HLO_NONE && shape_array_read(hlo_instruction_shape(graph->hlo, operand), &from) &&
           shape_array_read(hlo_instruction_shape(graph->hlo, at), &to) &&
           shape_array_elements(&from) == shape_array_elements(&to);
}

/* Adds the arguments that a value is made of to `side`. False: something else is in it. */
static bool made_of_arguments(const struct products_reading *reading, uint32_t at, unsigned depth, struct side *side)
{
    const struct graph *graph = reading->walk->graph;
    struct value base;
    struct argument_product *argument = argument_behind(reading, at, &base);
    if (argument != NULL && side->made_of_count < MADE_OF_MAX) {
        side->made_of[side->made_of_count++] = argument;
        return true;
    }
    if (argument != NULL || base.at == HLO_NONE || depth == MADE_OF_DEPTH_MAX)
        return false;
    if (graph_op(graph, base.at) == GRAPH_CONSTANT)
        return true;
    if (graph_op(graph, base.at) == GRAPH_BROADCAST || drops_dimensions(graph, base.at))
        return made_of_arguments(reading, graph_operand(graph, base.at, 0), depth + 1, side);
    return is_by_element(graph, base.at) &&
           made_of_arguments(reading, graph_operand(graph, base.at, 0), depth + 1, side) &&
           made_of_arguments(reading, graph_operand(graph, base.at, 1), depth + 1, side);
}

static struct side side_of(const struct products_reading *reading, uint32_t at)
{
    const struct graph *graph = reading->walk->graph;
    struct value base, inner;
    struct side side = {.argument = argument_behind(reading, at, &base)};
    if (side.argument != NULL)
        return side;
    if (!made_of_arguments(reading, at, 0, &side) || side.made_of_count < MADE_OF_MIN)
        side.made_of_count = 0;
    if (base.at != HLO_NONE && graph_op(graph, base.at) == GRAPH_ADD)
        for (uint32_t i = 0; i < 2 && side.corrected == NULL; i++)
            side.corrected = argument_behind(reading, graph_operand(graph, base.at, i), &inner);
    return side;
}

static void side_note(const struct side *side, bool is_beside_computed)
{
    for (uint32_t i = 0; i < side->made_of_count; i++)
        side->made_of[i]->is_quantized |= is_beside_computed;
    if (side->argument != NULL) {
        side->argument->is_weight |= is_beside_computed;
        side->argument->is_beside_argument |= !is_beside_computed;
    }
    if (side->corrected != NULL)
        side->corrected->is_weight |= is_beside_computed;
}

static bool is_computed(const struct side *side) { return side->argument == NULL && side->made_of_count == 0; }

/* Reads only the forward pass: in the backward pass, data is beside gradients. */
struct argument_product *argument_products_find(const struct plan *plan, struct value_walk *walk, struct arena *arena)
{
    const struct graph *graph = walk->graph;
    struct products_reading reading = {plan, walk, NULL};
    reading.products = arena_array(arena, struct argument_product, (size_t)plan->argument_count + 1);
    for (uint32_t at = 0; at < plan->hlo.instruction_count; at++) {
        if (graph_op(graph, at) != GRAPH_DOT || graph_phase(graph, at) == GRAPH_BACKWARD)
            continue;
        struct side left = side_of(&reading, graph_operand(graph, at, 0));
        struct side right = side_of(&reading, graph_operand(graph, at, 1));
        side_note(&left, is_computed(&right));
        side_note(&right, is_computed(&left));
    }
    return reading.products;
}
