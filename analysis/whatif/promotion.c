/* SPDX-License-Identifier: Apache-2.0 */
#include "whatif/promotion.h"

#include "plan/arguments.h"
#include "plan/value.h"
#include "read/hlo/shape.h"

bool promotion_is_scalar(const struct graph *graph, const struct leaves *leaves, uint32_t at)
{
    at = graph_behind_broadcasts(graph, at);
    const struct leaf *array = leaves_array(leaves, at);
    return array != NULL && (graph_op(graph, at) == GRAPH_CONSTANT || array->rank == 0);
}

/* A narrower array of floats is made float32, and the program's source says so. */
static bool widens(const struct graph *graph, const struct leaves *leaves, uint32_t at)
{
    const struct leaf *from = leaves_array(leaves, graph_operand(graph, at, 0)), *to = leaves_array(leaves, at);
    enum graph_phase phase = graph_phase(graph, at);
    return graph_op(graph, at) == GRAPH_CONVERT && from != NULL && to != NULL && to->rank > 0 &&
           shape_type_is_float(from->type) && to->type == shape_type_find(STR("f32")) &&
           shape_type_bytes(from->type) < shape_type_bytes(to->type) &&
           (phase == GRAPH_FORWARD || phase == GRAPH_PLAIN);
}

static uint32_t place_of(const struct hlo *hlo, uint32_t at)
{
    uint32_t frame_at = hlo_detail(hlo, at).frame_at;
    return frame_at != HLO_NONE && hlo->frames[frame_at].user_at == frame_at && hlo->frames[frame_at].column > 0
               ? frame_at
               : HLO_NONE;
}

/* What computes with the result of a conversion and a scalar, where it is a promotion; else HLO_NONE. */
static uint32_t promotion_reader(const struct graph *graph, const struct leaves *leaves, uint32_t at,
                                 struct arena *arena)
{
    uint32_t found = HLO_NONE, place;
    if (!widens(graph, leaves, at) || (place = place_of(graph->hlo, at)) == HLO_NONE)
        return HLO_NONE;
    for (uint32_t i = graph->reader_first[at]; i < graph->reader_first[at + 1]; i++) {
        uint32_t reader_at = graph->readers[i].reader_at, other = graph_operand(graph, reader_at, 0);
        arena_work(arena, 1);
        if (other == at)
            other = graph_operand(graph, reader_at, 1);
        enum graph_op op = graph_op(graph, reader_at);
        if ((op != GRAPH_COMPUTE && op != GRAPH_ADD) || other == HLO_NONE || other == at ||
            graph_operand(graph, reader_at, 2) != HLO_NONE || !promotion_is_scalar(graph, leaves, other) ||
            place_of(graph->hlo, reader_at) != place)
            return HLO_NONE;
        found = reader_at;
    }
    return found;
}

/* Does a product with narrow weights give float32? Where float32 is meant for a part alone, as a norm or a softmax is
 * computed in it, its result is narrow again before it meets weights. */
static bool has_wide_product(const struct variant *variant)
{
    const struct graph *graph = variant->plan->graph;
    const struct leaves *leaves = &variant->dimensions.leaves;
    struct value_walk walk;
    value_walk_init(&walk, graph, 8 * (uint64_t)graph->hlo->instruction_count + 4096, variant->findings->arena);
    for (uint32_t at = 0; at < graph->hlo->instruction_count; at++) {
        const struct leaf *made = graph_op(graph, at) == GRAPH_DOT ? leaves_array(leaves, at) : NULL;
        if (made == NULL || made->type != shape_type_find(STR("f32")) || graph_phase(graph, at) == GRAPH_BACKWARD)
            continue;
        for (uint32_t nth = 0, operand; (operand = graph_operand(graph, at, nth)) != HLO_NONE; nth++) {
            uint32_t from_at = value_maker(&walk, operand);
            const struct leaf *from = graph_is_argument(graph, from_at) ? leaves_array(leaves, from_at) : NULL;
            const struct plan_argument *argument =
                from == NULL ? NULL : arguments_find(variant->plan, graph->numbers[from_at]);
            if (argument != NULL && argument->choice.category == CATEGORY_PARAMETER &&
                shape_type_is_float(from->type) && shape_type_bytes(from->type) < shape_type_bytes(made->type))
                return true;
        }
    }
    return false;
}

const uint32_t *promotions_find(const struct variant *variant)
{
    struct variant_findings *findings = variant->findings;
    const struct graph *graph = variant->plan->graph;
    uint32_t count = graph->hlo->instruction_count, *found = NULL;
    if (findings->are_promotions_known)
        return findings->promotions;
    findings->are_promotions_known = true;
    for (uint32_t at = 0; at < count; at++) {
        uint32_t reader_at = promotion_reader(graph, &variant->dimensions.leaves, at, findings->arena);
        if (reader_at == HLO_NONE)
            continue;
        if (found == NULL) {
            found = arena_raw(findings->arena, ((size_t)count + 1) * sizeof(*found));
            memset(found, 0xff, ((size_t)count + 1) * sizeof(*found));
        }
        found[at] = reader_at;
    }
    if (found != NULL && has_wide_product(variant))
        findings->promotions = found;
    return findings->promotions;
}
