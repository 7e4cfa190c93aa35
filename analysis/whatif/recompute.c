/* SPDX-License-Identifier: Apache-2.0 */
#include "whatif/recompute.h"

struct search {
    const struct graph *graph;
    const struct regions *regions;
    const bool *is_chosen;
    bool with_loops;
    bool *is_needed;   /* by instruction */
    uint32_t *waiting; /* needed, and not yet followed */
    uint32_t waiting_count;
};

/* Views, copies, casts, fusions and their elements on the way back from a value to what computed it; loops are not
 * left. */
enum { BACK_STEPS_MAX = 64 };

static uint32_t computed_by(const struct graph *graph, uint32_t at)
{
    int32_t element = -1;
    for (unsigned steps = 0; steps < BACK_STEPS_MAX && at != HLO_NONE; steps++) {
        uint32_t computation_at = graph->hlo->instructions[at].computation_at, caller_at;
        switch (graph_op(graph, at)) {
        case GRAPH_SAME:
        case GRAPH_COPY:
        case GRAPH_CONVERT:
        case GRAPH_RESHAPE:
        case GRAPH_COPY_START:
        case GRAPH_DONE: at = graph_operand(graph, at, 0); break;
        case GRAPH_ELEMENT:
            element = graph->numbers[at];
            at = graph_operand(graph, at, 0);
            break;
        case GRAPH_FUSION:
        case GRAPH_CALL:
            computation_at = graph_called(graph, at, 0);
            at = computation_at == HLO_NONE ? HLO_NONE : graph->root_of[computation_at];
            break;
        case GRAPH_TUPLE:
            at = element < 0 ? HLO_NONE : graph_operand(graph, at, (uint32_t)element);
            element = -1;
            break;
        case GRAPH_PARAMETER:
            caller_at = graph->caller_of[computation_at];
            if (caller_at == HLO_NONE ||
                (graph_op(graph, caller_at) != GRAPH_FUSION && graph_op(graph, caller_at) != GRAPH_CALL))
                return HLO_NONE;
            at = graph_operand(graph, caller_at, (uint32_t)graph->numbers[at]);
            break;
        default: return at;
        }
    }
    return HLO_NONE;
}

static bool is_in_loop(const struct graph *graph, uint32_t at) { return graph_loop_body_around(graph, at) != HLO_NONE; }

/* Part of a layer that is chosen, going forward. */
static bool is_of_layer(const struct search *search, uint32_t at, uint32_t region)
{
    if (graph_phase(search->graph, at) != GRAPH_FORWARD || search->regions->of[at] != region)
        return false;
    return region != HLO_NONE ? search->is_chosen[region] : search->with_loops && is_in_loop(search->graph, at);
}

static void need(struct search *search, uint32_t operand_at, uint32_t region)
{
    uint32_t at = operand_at == HLO_NONE ? HLO_NONE : computed_by(search->graph, operand_at);
    if (at == HLO_NONE || search->is_needed[at] || !is_of_layer(search, at, region))
        return;
    search->is_needed[at] = true;
    search->waiting[search->waiting_count++] = at;
}

static void operands_need(struct search *search, uint32_t at)
{
    for (uint32_t i = search->graph->operand_first[at]; i < search->graph->operand_first[at + 1]; i++)
        need(search, search->graph->operands[i], search->regions->of[at]);
}

const double *recompute_flops(const struct variant *variant)
{
    struct variant_findings *findings = variant->findings;
    uint32_t count = variant->plan->hlo.instruction_count;
    struct flops flops;
    if (findings->flops == NULL) {
        double *by_instruction = arena_raw(findings->arena, ((size_t)count + 1) * sizeof(*by_instruction));
        flops_build(&variant->dimensions, findings->arena, &flops);
        for (uint32_t at = 0; at < count; at++)
            by_instruction[at] = flops_of(&flops, at);
        findings->flops = by_instruction;
    }
    return findings->flops;
}

void recompute_count(const struct variant *variant, const struct regions *regions, const bool *is_chosen,
                     bool with_loops, struct recompute *out)
{
    const struct graph *graph = variant->plan->graph;
    const double *flops = recompute_flops(variant);
    struct arena *arena = variant->arena;
    uint32_t count = graph->hlo->instruction_count;
    struct search search = {graph, regions, is_chosen, with_loops, NULL, NULL, 0};
    search.is_needed = arena_array(arena, bool, (size_t)count + 1);
    search.waiting = arena_array(arena, uint32_t, (size_t)count + 1);
    *out = (struct recompute){0, 0, search.is_needed};
    for (uint32_t at = 0; at < count; at++) {
        bool is_stacked = with_loops && graph_op(graph, at) == GRAPH_UPDATE &&
                          graph_phase(graph, at) == GRAPH_FORWARD && is_in_loop(graph, at);
        if (graph_phase(graph, at) == GRAPH_BACKWARD)
            operands_need(&search, at);
        else if (is_stacked)
            need(&search, graph_operand(graph, at, 1), regions->of[at]);
    }
    while (search.waiting_count > 0)
        operands_need(&search, search.waiting[--search.waiting_count]);
    for (uint32_t at = 0; at < count; at++) {
        out->all += flops[at];
        out->again += search.is_needed[at] ? flops[at] : 0;
    }
}
