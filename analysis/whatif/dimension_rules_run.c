/* SPDX-License-Identifier: Apache-2.0
 * dimension_rules_run.c: rules of what hands arrays on: computations that are run, copies in the background, tuples. */
#include "whatif/dimension_rules.h"

static void join_parameter(struct looked_at *look, uint32_t computation_at, uint32_t number, uint32_t value_at)
{
    if (computation_at != HLO_NONE)
        dimension_rules_join_values(look, graph_parameter(look->graph, computation_at, number), value_at);
}

static uint32_t root_of(const struct looked_at *look, uint32_t computation_at)
{
    return computation_at == HLO_NONE ? HLO_NONE : look->graph->root_of[computation_at];
}

void dimension_rules_run(struct looked_at *look)
{
    uint32_t computation_at = graph_called(look->graph, look->at, 0);
    for (uint32_t i = 0; i < look->operand_count; i++)
        join_parameter(look, computation_at, i, look->operands[i]);
    dimension_rules_join_values(look, look->at, root_of(look, computation_at));
}

void dimension_rules_while(struct looked_at *look)
{
    uint32_t body_at = graph_called(look->graph, look->at, 0), condition_at = graph_called(look->graph, look->at, 1);
    uint32_t state = look->operand_count > 0 ? look->operands[0] : HLO_NONE;
    dimension_rules_join_values(look, look->at, state);
    join_parameter(look, body_at, 0, state);
    join_parameter(look, condition_at, 0, state);
    dimension_rules_join_values(look, look->at, body_at == HLO_NONE ? HLO_NONE : root_of(look, body_at));
}

void dimension_rules_conditional(struct looked_at *look)
{
    for (uint32_t i = 1; i < look->operand_count; i++) {
        uint32_t branch_at = graph_called(look->graph, look->at, i - 1);
        join_parameter(look, branch_at, 0, look->operands[i]);
        dimension_rules_join_values(look, look->at, root_of(look, branch_at));
    }
}

/* What begins in the background gives its operands, its result and more, as one tuple. */
void dimension_rules_async_start(struct looked_at *look)
{
    uint32_t computation_at = graph_called(look->graph, look->at, 0), count;
    uint32_t from = leaves_element(look->leaves, look->at, 0, &count);
    for (uint32_t i = 0, leaf = from; i < look->operand_count; i++) {
        join_parameter(look, computation_at, i, look->operands[i]);
        if (look->operands[i] == HLO_NONE)
            continue;
        uint32_t width = leaves_count(look->leaves, look->operands[i]);
        if (leaf + width <= from + count)
            dimension_rules_join_ranges(look, leaf, width, look->leaves->first[look->operands[i]], width);
        leaf += width;
    }
    uint32_t result_count, result = leaves_element(look->leaves, look->at, 1, &result_count),
                           root = root_of(look, computation_at);
    if (root != HLO_NONE)
        dimension_rules_join_ranges(look, result, result_count, look->leaves->first[root],
                                    leaves_count(look->leaves, root));
}

void dimension_rules_async_done(struct looked_at *look)
{
    uint32_t count, from = look->operand_count > 0 && look->operands[0] != HLO_NONE
                               ? leaves_element(look->leaves, look->operands[0], 1, &count)
                               : HLO_NONE;
    if (from != HLO_NONE)
        dimension_rules_join_ranges(look, look->leaves->first[look->at], leaves_count(look->leaves, look->at), from,
                                    count);
}

void dimension_rules_copy_start(struct looked_at *look)
{
    uint32_t count;
    for (uint32_t i = 0; i < 2; i++) {
        uint32_t leaf = leaves_element(look->leaves, look->at, i, &count);
        if (count == 1 && dimension_rules_operand(look, 0) != HLO_NONE)
            dimension_rules_join_ranges(look, leaf, 1, dimension_rules_operand(look, 0), 1);
    }
}

void dimension_rules_copy_done(struct looked_at *look)
{
    uint32_t count, operand = look->operand_count > 0 ? look->operands[0] : HLO_NONE;
    uint32_t leaf = operand != HLO_NONE ? leaves_element(look->leaves, operand, 0, &count) : HLO_NONE;
    if (leaf != HLO_NONE && count == 1 && dimension_rules_leaf(look, look->at) != HLO_NONE)
        dimension_rules_join_ranges(look, leaf, 1, dimension_rules_leaf(look, look->at), 1);
}

static bool are_as_large(const struct leaves *leaves, uint32_t left, uint32_t right)
{
    const struct leaf *a = &leaves->items[left], *b = &leaves->items[right];
    for (uint32_t i = 0; i < a->rank && a->rank == b->rank; i++)
        if (leaves->sizes[a->first + i] != leaves->sizes[b->first + i])
            return false;
    return a->rank == b->rank;
}

/* TPUs fetch a large array in slices, and a custom call says that these are the array again. */
static bool is_fetched_in_slices(struct looked_at *look)
{
    uint32_t at = look->operand_count > 1 && graph_op(look->graph, look->at) == GRAPH_SAME ? look->operands[0]
                                                                                           : HLO_NONE,
             out = dimension_rules_leaf(look, look->at);
    if (at != HLO_NONE && graph_op(look->graph, at) == GRAPH_DONE)
        at = graph_operand(look->graph, at, 0);
    if (at == HLO_NONE ||
        (graph_op(look->graph, at) != GRAPH_COPY_START && graph_op(look->graph, at) != GRAPH_ASYNC_START))
        return false;
    uint32_t whole = dimension_rules_leaf(look, graph_operand(look->graph, at, 0));
    if (whole == HLO_NONE || out == HLO_NONE || !are_as_large(look->leaves, whole, out))
        return false;
    dimension_rules_join_ranges(look, whole, 1, out, 1);
    return true;
}

void dimension_rules_custom_call(struct looked_at *look)
{
    if (!is_fetched_in_slices(look))
        dimension_rules_unknown(look);
}

void dimension_rules_tuple(struct looked_at *look)
{
    uint32_t count;
    for (uint32_t i = 0; i < look->operand_count; i++) {
        uint32_t leaf = leaves_element(look->leaves, look->at, i, &count);
        if (look->operands[i] != HLO_NONE)
            dimension_rules_join_ranges(look, leaf, count, look->leaves->first[look->operands[i]],
                                        leaves_count(look->leaves, look->operands[i]));
    }
}

void dimension_rules_element(struct looked_at *look)
{
    uint32_t count, operand = look->operand_count > 0 ? look->operands[0] : HLO_NONE;
    if (operand == HLO_NONE)
        return;
    uint32_t leaf = leaves_element(look->leaves, operand, (uint32_t)look->graph->numbers[look->at], &count);
    dimension_rules_join_ranges(look, look->leaves->first[look->at], leaves_count(look->leaves, look->at), leaf, count);
}

/* ---- what loops go through ---- */

/* Does the user's own function read at this index in a loop's body, rather than jax.lax.scan for its xs? The body's
 * function is called, "while/body/closed_call/dynamic_slice". */
static bool is_own_index(const struct looked_at *look)
{
    const struct graph *graph = look->graph;
    for (uint32_t at = look->at; at != HLO_NONE && graph_op(graph, at) != GRAPH_WHILE;
         at = graph->caller_of[graph->hlo->instructions[at].computation_at]) {
        struct str name = graph_op_name_end(graph, at), body = STR("/body/");
        arena_work(look->builder->arena, name.length);
        for (const char *found; (found = memmem(name.data, name.length, body.data, body.length)) != NULL;)
            name = (struct str){found + body.length, name.length - (size_t)(found - name.data) - body.length};
        if (str_starts(name, STR("closed_call")))
            return true;
    }
    return false;
}

static void trips_join(struct dimension_builder *builder, uint32_t body, uint32_t whole)
{
    if (builder->trips_of[body] == HLO_NONE)
        builder->trips_of[body] = whole;
    dimensions_join(builder, builder->trips_of[body], whole);
}

void dimension_rules_scanned(struct looked_at *look, uint32_t whole, bool is_read)
{
    struct dimension_builder *builder = look->builder;
    uint32_t body = graph_loop_body_around(look->graph, look->at);
    builder->dimensions->is_scanned[whole] = true;
    if (body == HLO_NONE)
        return;
    if (!is_read || !is_own_index(look)) {
        trips_join(builder, body, whole);
        return;
    }
    builder->own_reads = arena_grown(builder->arena, builder->own_reads, builder->own_read_count + 1,
                                     &builder->own_read_capacity, sizeof(*builder->own_reads));
    builder->own_reads[builder->own_read_count++] = (struct own_read){body, whole};
}

void dimension_rules_end(struct dimension_builder *builder)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < builder->own_read_count; i++)
        if (builder->trips_of[builder->own_reads[i].body] == HLO_NONE)
            builder->own_reads[kept++] = builder->own_reads[i];
    for (uint32_t i = 0; i < kept; i++)
        trips_join(builder, builder->own_reads[i].body, builder->own_reads[i].dimension);
}
