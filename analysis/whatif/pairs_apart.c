/* SPDX-License-Identifier: Apache-2.0
 * pairs_apart.c: see pairs_apart.h. */
#include "whatif/pairs_apart.h"

#include "read/hlo/elementwise.h"

bool pairs_apart_is(const struct dimensions *dimensions, const struct leaf *leaf, uint32_t class)
{
    return leaf != NULL && leaf->rank == 2 && dimensions_class(dimensions, leaf->first) == class &&
           dimensions_class(dimensions, leaf->first + 1) == class;
}

static bool is_pairs(const struct dimensions *dimensions, uint32_t at, uint32_t class)
{
    return pairs_apart_is(dimensions, leaves_array(&dimensions->leaves, at), class);
}

/* Does it make or read rows of pairs one by one? `read_count`: how many of its operands are pairs. */
static bool is_rowwise(const struct dimensions *dimensions, uint32_t at, bool gives, uint32_t read_count)
{
    const struct graph *graph = dimensions->graph;
    struct str opcode = hlo_instruction_opcode(graph->hlo, at);
    switch (graph_op(graph, at)) {
    case GRAPH_SAME:
    case GRAPH_BROADCAST:
    case GRAPH_REDUCE:
    case GRAPH_CONVERT: return true;
    case GRAPH_DOT: return read_count + gives <= 1;
    default: return elementwise_is(opcode) || str_equal(opcode, STR("iota")) || str_equal(opcode, STR("transpose"));
    }
}

bool pairs_apart_hold(const struct dimensions *dimensions, uint32_t class, struct arena *arena)
{
    const struct graph *graph = dimensions->graph;
    bool are_there = false;
    for (uint32_t at = 0; at < graph->hlo->instruction_count; at++) {
        uint32_t read_count = 0;
        bool gives = is_pairs(dimensions, at, class);
        arena_work(arena, 1);
        are_there = are_there || gives;
        if (graph_is_argument(graph, at) && gives)
            return false; /* it is given, not computed */
        if (graph_hands_on(graph, at) || graph_op(graph, at) == GRAPH_COPY)
            continue;
        uint32_t nth = 0;
        for (uint32_t operand; (operand = graph_operand(graph, at, nth)) != HLO_NONE; nth++)
            read_count += is_pairs(dimensions, operand, class);
        arena_work(arena, nth);
        if ((gives || read_count > 0) && !is_rowwise(dimensions, at, gives, read_count))
            return false;
    }
    return are_there;
}
