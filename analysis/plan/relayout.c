/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/relayout.h"

#include "base/buf.h"
#include "plan/arguments.h"
#include "read/hlo/graph.h"
#include "read/hlo/shape.h"

/* Copies of copies: to bring what was packed back. */
enum { COPIES_MAX = 8 };

static bool is_other_layout(struct str a, struct str b)
{
    struct shape_array one, other;
    struct buf first = BUF_INIT, second = BUF_INIT;
    shape_layout_text(a, &first);
    shape_layout_text(b, &second);
    bool is_other = first.length != second.length || memcmp(first.data, second.data, first.length) != 0;
    bool is_same_array =
        shape_array_read(a, &one) && shape_array_read(b, &other) && shape_array_hash(&one) == shape_array_hash(&other);
    buf_free(&first);
    buf_free(&second);
    return is_other && is_same_array;
}

static uint32_t relayout_instruction(const struct plan *plan, const struct plan_row *row)
{
    return plan->graph == NULL || row->buffer_at == PLAN_NONE ? HLO_NONE
                                                              : plan->hlo.buffers[row->buffer_at].instruction_at;
}

const struct plan_argument *relayout_of(const struct plan *plan, const struct plan_row *row)
{
    uint32_t at = relayout_instruction(plan, row), from = at;
    if (row->is_indefinite)
        return NULL;
    for (unsigned i = 0; i < COPIES_MAX && from != HLO_NONE && graph_op(plan->graph, from) == GRAPH_COPY; i++)
        from = graph_operand(plan->graph, from, 0);
    if (from == HLO_NONE || from == at || !graph_is_argument(plan->graph, from) ||
        !is_other_layout(plan->shapes[row->buffer_at], hlo_instruction_shape(&plan->hlo, from)))
        return NULL;
    return arguments_find_instruction(plan, from);
}

uint32_t relayout_reader(const struct plan *plan, const struct plan_row *row)
{
    const struct graph *graph = plan->graph;
    uint32_t at = relayout_instruction(plan, row);
    for (unsigned i = 0; i < COPIES_MAX && at != HLO_NONE; i++) {
        uint32_t next = HLO_NONE;
        for (uint32_t k = graph->reader_first[at]; k < graph->reader_first[at + 1]; k++) {
            uint32_t reader = graph->readers[k].reader_at;
            if (graph_op(graph, reader) == GRAPH_COPY)
                next = reader;
            else if (graph_op_name(graph, reader).length > 0)
                return reader;
        }
        at = next;
    }
    return HLO_NONE;
}
