/* SPDX-License-Identifier: Apache-2.0 */
#include "whatif/softmax.h"

#include "base/str.h"
#include "plan/pattern.h"

/* Operations on the way back from a value; what is looked at of a tangled one. */
enum { BACK_MAX = 48 };

struct back {
    const struct graph *graph;
    uint32_t nodes[BACK_MAX], count;
    bool is_wide;
};

static void back_add(struct back *back, uint32_t at)
{
    if (at != HLO_NONE && back->count < BACK_MAX)
        back->nodes[back->count++] = at;
}

/* What a value is computed from, into and out of fusions. */
static void back_step(struct back *back, uint32_t at)
{
    const struct graph *graph = back->graph;
    uint32_t computation_at, operand, fusion_at;
    switch (graph_op(graph, at)) {
    case GRAPH_CONSTANT: return;
    case GRAPH_DOT:
        /* The scores of jax.nn.dot_product_attention, which asks for them in float32. */
        back->is_wide = back->is_wide || str_contains(graph_op_name_end(graph, at), STR("->BNTS"));
        return;
    case GRAPH_PARAMETER:
        if ((fusion_at = graph_fusion_around(graph, at)) != HLO_NONE)
            back_add(back, graph_operand(graph, fusion_at, (uint32_t)graph->numbers[at]));
        return;
    case GRAPH_FUSION:
        if ((computation_at = graph_called(graph, at, 0)) != HLO_NONE)
            back_add(back, graph->root_of[computation_at]);
        return;
    case GRAPH_UPDATE: back_add(back, graph_operand(graph, at, 1)); return;
    default:
        for (uint32_t nth = 0; nth < BACK_MAX && (operand = graph_operand(graph, at, nth)) != HLO_NONE; nth++)
            back_add(back, operand);
    }
}

/* A scan stacks up what JAX saves, and that is what was taken in float32: an exponential, or what is computed from one.
 * Elsewhere the compiler saves what comes before, in fewer bits, but for products that are asked for in float32. */
static bool is_kept_wide(const struct graph *graph, uint32_t at, bool is_stack)
{
    struct back back = {.graph = graph, .nodes = {at}, .count = 1};
    for (uint32_t i = 0; i < back.count; i++) {
        if (is_stack && graph_op(graph, back.nodes[i]) == GRAPH_EXPONENTIAL)
            return true;
        back_step(&back, back.nodes[i]);
    }
    return back.is_wide;
}

/* Readers that are looked at of one value. */
enum { READERS_MAX = 16 };

static bool is_opcode(const struct graph *graph, uint32_t at, struct str opcode)
{
    return str_equal(hlo_instruction_opcode(graph->hlo, at), opcode);
}

static bool is_read_by_exponential(const struct graph *graph, uint32_t at)
{
    uint32_t first = graph->reader_first[at], limit = graph->reader_first[at + 1];
    for (uint32_t i = first; i < limit && i < first + READERS_MAX; i++)
        if (graph_op(graph, graph->readers[i].reader_at) == GRAPH_EXPONENTIAL)
            return true;
    return false;
}

/* The maximum, the exponential, the difference in between: a norm takes sums and differences too. */
static bool begins(const struct graph *graph, uint32_t at)
{
    if (graph_op(graph, at) == GRAPH_EXPONENTIAL)
        return true;
    if (graph_op(graph, at) == GRAPH_REDUCE) {
        uint32_t computation_at = graph_called(graph, at, 0);
        uint32_t root = computation_at == HLO_NONE ? HLO_NONE : graph->root_of[computation_at];
        return root != HLO_NONE && is_opcode(graph, root, STR("maximum"));
    }
    return is_opcode(graph, at, STR("subtract")) && is_read_by_exponential(graph, at);
}

/* A temperature, a mask: between the logits and their softmax. */
static bool hands_to_softmax(const struct graph *graph, uint32_t at)
{
    if (!is_opcode(graph, at, STR("multiply")) && !is_opcode(graph, at, STR("divide")) &&
        !is_opcode(graph, at, STR("select")))
        return false;
    uint32_t first = graph->reader_first[at], limit = graph->reader_first[at + 1];
    for (uint32_t i = first; i < limit && i < first + READERS_MAX; i++)
        if (begins(graph, graph->readers[i].reader_at))
            return true;
    return false;
}

/* Is it what a softmax begins with? */
static bool reader_note(void *context, uint32_t reader_at, uint32_t operand)
{
    struct softmax *softmax = context;
    const struct graph *graph = softmax->variant->plan->graph;
    (void)operand;
    if (reader_at == HLO_NONE)
        return true;
    uint32_t scheduled_at = variant_scheduled(softmax->variant, reader_at);
    if (scheduled_at != HLO_NONE && graph_phase(graph, scheduled_at) == GRAPH_BACKWARD) {
        uint32_t step = variant_step(softmax->variant, reader_at);
        softmax->first_backward = step < softmax->first_backward ? step : softmax->first_backward;
    }
    softmax->is_begun = softmax->is_begun || begins(graph, reader_at) || hands_to_softmax(graph, reader_at);
    return true;
}

void softmax_init(struct softmax *softmax, const struct variant *variant)
{
    *softmax = (struct softmax){.variant = variant};
    softmax->regions = regions_by_scopes(variant);
    value_walk_init(&softmax->walk, variant->plan->graph, 16 * (uint64_t)variant->plan->hlo.instruction_count + 4096,
                    variant->arena);
}

/* Smaller ones do not matter, and need not be looked at. */
enum { LOGITS_SHARE = 200 };

enum softmax_part softmax_part_of(struct softmax *softmax, const struct variant_row *row)
{
    const struct plan *plan = softmax->variant->plan;
    const struct plan_space *space = softmax->variant->space;
    if (row->plan_row == PLAN_NONE || row->is_indefinite || row->bytes < space->peak_bytes / LOGITS_SHARE)
        return SOFTMAX_NO;
    const struct plan_row *of = &space->rows[row->plan_row];
    uint32_t at = of->made_by;
    if (at == HLO_NONE || of->buffer_at == PLAN_NONE || graph_phase(plan->graph, at) == GRAPH_BACKWARD)
        return SOFTMAX_NO;
    if ((of->patterns & 1U << PATTERN_ATTENTION_SCORES) != 0)
        return is_kept_wide(plan->graph, at, (of->patterns & 1U << PATTERN_SCAN_RESIDUALS) != 0) ? SOFTMAX_WIDE
                                                                                                 : SOFTMAX_NO;
    if (softmax->regions->of[at] != HLO_NONE)
        return SOFTMAX_NO;
    softmax->is_begun = false;
    softmax->first_backward = HLO_NONE;
    value_each_reader(&softmax->walk, value_of_buffer(&plan->hlo, of->buffer_at), reader_note, softmax);
    return softmax->is_begun ? SOFTMAX_LOGITS : SOFTMAX_NO;
}
