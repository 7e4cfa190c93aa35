/* SPDX-License-Identifier: Apache-2.0
 * advice_blocks.c: attention that is computed in blocks by a scan (around a ring of devices, or over keys), which keeps
 * the scores of every block for the backward pass. */
#include "verdict/advice_parts.h"

#include "base/sum.h"
#include "read/hlo/shape.h"

/* Is it stacked, round by round, by a loop without products beside those of attention: scores, which the compiler may
 * compute twice, and what is weighted by them? Layers have others. */
static bool is_stack_of_blocks(const struct advice *advice, const struct plan_row *row)
{
    enum { PRODUCTS_MAX = 3 };
    const struct graph *graph = advice->facts->parts->plan->graph;
    uint32_t products = 0, body = row->made_by == HLO_NONE || graph_op(graph, row->made_by) != GRAPH_UPDATE
                                      ? HLO_NONE
                                      : graph_loop_body_around(graph, row->made_by);
    if (body == HLO_NONE)
        return false;
    arena_work(advice->facts->arena, graph->hlo->instruction_count);
    for (uint32_t at = 0; at < graph->hlo->instruction_count && products <= PRODUCTS_MAX; at++)
        products += graph_op(graph, at) == GRAPH_DOT && graph_loop_body_around(graph, at) == body;
    return products <= PRODUCTS_MAX;
}

bool advice_find_blocks(struct advice *advice, const struct plan_pattern *pattern)
{
    const struct verdict_facts *facts = advice->facts;
    const struct plan *plan = facts->parts->plan;
    struct cause_arrays stacks = {.rows = arena_array(facts->arena, uint32_t, (size_t)pattern->row_count + 1)};
    struct shape_array shape;
    for (uint32_t i = 0; i < pattern->row_count; i++) {
        const struct plan_row *row = &facts->space->rows[pattern->rows[i]];
        if (!is_stack_of_blocks(advice, row) || !shape_array_read(plan->shapes[row->buffer_at], &shape) ||
            shape.rank < 3)
            continue;
        stacks.rows[stacks.count++] = pattern->rows[i];
        stacks.bytes = sum_add(stacks.bytes, row->bytes);
        if (stacks.said == NULL) {
            stacks.said = row;
            stacks.slices = shape.dimensions[0];
        }
    }
    struct verdict_advice item = {
        .call = "jax.lax.scan(jax.checkpoint(body), …)  # the body that computes one block of the scores",
        .reason =
            "At most this much: one block of scores exists at a time, but the loop keeps its carry of each round.",
    };
    if (stacks.bytes < pattern->bytes / 2 || stacks.slices < 2 ||
        !advice_saving_set(advice, &stacks, 1, stacks.slices * stacks.count, &item))
        return false;
    item.title =
        arena_format(facts->arena, "Checkpoint the body of the scan that stacks %lld blocks of attention scores",
                     (long long)stacks.slices);
    advice_evidence(pattern, facts->arena, &item);
    advice_add_of_cause(advice, item)->is_of_cause &= facts->out->cause.kind == VERDICT_CAUSE_ATTENTION_LOGITS;
    return true;
}
