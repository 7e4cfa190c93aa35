/* SPDX-License-Identifier: Apache-2.0 */
#include "whatif/cast_kept.h"

#include "base/map.h"
#include "plan/value.h"

/* A value that several kernels compute from one product. */
struct twice {
    uint32_t product_at, first_step, last_step, count;
};

/* What the fusion reads that the value in it is computed from, along first operands that are arrays. */
enum { BACK_MAX = 32 };
static uint32_t product_of(const struct variant *variant, struct value_walk *walk, uint32_t at, uint32_t fusion)
{
    const struct graph *graph = variant->plan->graph;
    for (unsigned i = 0; i < BACK_MAX && at != HLO_NONE; i++) {
        if (graph_op(graph, at) == GRAPH_PARAMETER) {
            uint32_t operand = graph_operand(graph, fusion, (uint32_t)graph->numbers[at]);
            return operand == HLO_NONE
                       ? HLO_NONE
                       : value_origin(walk, (struct value){operand, VALUE_WHOLE}, VALUE_BUFFER, NULL).at;
        }
        uint32_t next = HLO_NONE;
        for (uint32_t nth = 0; next == HLO_NONE && nth < 2; nth++) {
            uint32_t operand = graph_operand(graph, at, nth);
            if (operand != HLO_NONE && graph_op(graph, operand) != GRAPH_BROADCAST &&
                graph_op(graph, operand) != GRAPH_CONSTANT)
                next = operand;
        }
        at = next;
    }
    return HLO_NONE;
}

static uint32_t twice_find(const struct variant *variant, struct value_walk *walk, struct twice *found, uint32_t room)
{
    const struct graph *graph = variant->plan->graph;
    struct map places;
    uint32_t count = 0;
    map_init(&places, variant->arena, 16);
    for (uint32_t at = 0; at < graph->hlo->instruction_count; at++) {
        uint32_t fusion = graph_phase(graph, at) == GRAPH_FORWARD &&
                                  str_equal(hlo_instruction_opcode(graph->hlo, at), STR("tanh"))
                              ? graph_fusion_around(graph, at)
                              : HLO_NONE,
                 step = fusion == HLO_NONE ? HLO_NONE : variant_step(variant, fusion),
                 product = step == HLO_NONE ? HLO_NONE : product_of(variant, walk, at, fusion);
        if (product == HLO_NONE)
            continue;
        uint32_t place = map_get(&places, product);
        if (place == MAP_NONE && count < room) {
            place = count++;
            found[place] = (struct twice){product, step, step, 0};
            map_put(&places, product, place, true);
        }
        if (place == MAP_NONE)
            continue;
        found[place].first_step = step < found[place].first_step ? step : found[place].first_step;
        found[place].last_step = step > found[place].last_step ? step : found[place].last_step;
        found[place].count++;
    }
    return count;
}

enum { TWICE_MAX = 4096 };
void cast_kept_add(struct variant *variant, uint64_t type, const bool *is_narrowed, uint32_t row_count)
{
    struct value_walk walk;
    if (variant->plan->platform != SPACE_PLATFORM_GPU || shape_type_bytes(type) != 2)
        return;
    struct twice *found = arena_array(variant->arena, struct twice, TWICE_MAX);
    struct map places;
    map_init(&places, variant->arena, 16);
    value_walk_init(&walk, variant->plan->graph, 8 * (uint64_t)variant->plan->hlo.instruction_count + 4096,
                    variant->arena);
    uint32_t count = twice_find(variant, &walk, found, TWICE_MAX);
    for (uint32_t i = 0; i < count; i++)
        if (found[i].count > 1 && found[i].last_step > found[i].first_step + 1)
            map_put(&places, found[i].product_at, i, true);
    for (uint32_t i = 0; i < row_count && places.count > 0; i++) {
        struct variant_row row = variant->rows[i];
        uint32_t place = row.is_gone || row.is_indefinite || row.plan_row == PLAN_NONE || !is_narrowed[i] ||
                                 row.instruction_at == HLO_NONE
                             ? MAP_NONE
                             : map_get(&places, row.instruction_at);
        if (place == MAP_NONE || row.born > found[place].first_step || row.dies <= found[place].first_step)
            continue; /* or what has the product's memory later */
        row.born = found[place].first_step;
        row.dies = found[place].last_step + 1;
        *variant_add(variant) = row;
    }
}
