/* SPDX-License-Identifier: Apache-2.0 */
#include "whatif/microbatch.h"

#include "plan/arguments.h"
#include "read/hlo/hlo_sharding.h"

/* By computation: passes, as bits 1 << enum graph_phase, that the body of a loop has parts of. */
static const uint8_t *passes_read(const struct variant *variant)
{
    const struct graph *graph = variant->plan->graph;
    uint8_t *passes = arena_array(variant->arena, uint8_t, (size_t)graph->hlo->computation_count + 1);
    arena_work(variant->arena, graph->hlo->instruction_count);
    for (uint32_t at = 0; at < graph->hlo->instruction_count; at++) {
        enum graph_phase phase = graph_phase(graph, at);
        if (phase != GRAPH_FORWARD && phase != GRAPH_BACKWARD)
            continue;
        uint32_t body = graph_loop_body_around(graph, at);
        while (body != HLO_NONE && (passes[body] & 1U << phase) == 0) {
            uint32_t caller = graph->caller_of[body];
            passes[body] |= (uint8_t)(1U << phase);
            body = caller == HLO_NONE ? HLO_NONE : graph_loop_body_around(graph, caller);
        }
    }
    return passes;
}

/* The rows of one trip: the largest dimension that makes up `class` with one that a loop goes through, of as many trips
 * as `*steps`, which becomes that one; HLO_NONE: it is not made up so. */
static uint32_t microbatch_behind(const struct variant *variant, uint32_t class, uint32_t *steps)
{
    const struct dimensions *dimensions = &variant->dimensions;
    arena_work(variant->arena, dimensions->member_count);
    for (uint32_t i = 0; i < dimensions->relation_count; i++) {
        const struct relation *relation = &dimensions->relations[i];
        const uint32_t *left = dimensions->members + relation->first, *right = left + relation->left_count;
        bool is_right = relation->left_count == 1 && dimensions_class(dimensions, left[0]) == class,
             is_left = relation->right_count == 1 && dimensions_class(dimensions, right[0]) == class;
        const uint32_t *parts = is_right ? right : left;
        uint32_t count = is_right ? relation->right_count : relation->left_count, largest = HLO_NONE,
                 through = HLO_NONE;
        if (relation->kind != RELATION_PRODUCT || (!is_right && !is_left))
            continue;
        for (uint32_t k = 0; k < count; k++)
            if (dimensions->is_scanned[dimensions_class(dimensions, parts[k])] &&
                variant->sizes[parts[k]] == variant->sizes[*steps])
                through = parts[k];
            else if (largest == HLO_NONE || variant->sizes[parts[k]] > variant->sizes[largest])
                largest = parts[k];
        if (through == HLO_NONE || largest == HLO_NONE)
            continue;
        *steps = through;
        return largest;
    }
    return HLO_NONE;
}

/* Finds the microbatch of the batch that begins the argument of `target`. False: no such loop goes through it. */
static bool microbatch_find(const struct variant *variant, const struct change_target *target, struct microbatch *out)
{
    const struct graph *graph = variant->plan->graph;
    const struct dimensions *dimensions = &variant->dimensions;
    if (!graph->has_backward)
        return false;
    const uint8_t *passes = passes_read(variant);
    uint32_t class = dimensions_class(dimensions, target->at);
    for (uint32_t at = 0; at < graph->hlo->instruction_count; at++) {
        uint32_t body = graph_op(graph, at) == GRAPH_WHILE ? graph_called(graph, at, 0) : HLO_NONE;
        bool is_plain = graph_phase(graph, at) == GRAPH_PLAIN || graph_phase(graph, at) == GRAPH_NAMELESS;
        bool has_both =
            body != HLO_NONE && (passes[body] & 1U << GRAPH_FORWARD) && (passes[body] & 1U << GRAPH_BACKWARD);
        if (!is_plain || !has_both || dimensions->trips_of[body] == HLO_NONE)
            continue;
        uint32_t steps = dimensions_class(dimensions, dimensions->trips_of[body]);
        bool is_cut_by_caller = class == steps;
        const struct plan_argument *argument = arguments_find(variant->plan, target->parameter);
        uint32_t size = !is_cut_by_caller  ? microbatch_behind(variant, class, &steps)
                        : argument == NULL ? HLO_NONE
                                           : dimensions_of(dimensions, argument->instruction_at, target->dimension + 1);
        if (size == HLO_NONE)
            continue;
        int64_t parts = argument == NULL ? 1
                                         : hlo_sharding_parts(graph->hlo, argument->instruction_at, argument->number,
                                                              target->dimension + is_cut_by_caller);
        *out = (struct microbatch){steps, size, variant->sizes[steps], variant->sizes[size], parts};
        return true;
    }
    return false;
}

int64_t microbatch_size_of_all(const struct microbatch *microbatch)
{
    int64_t all;
    return __builtin_mul_overflow(microbatch->size, microbatch->parts, &all) ? microbatch->size : all;
}

/* The microbatch scaled by `factor`, with as many rows in all. False: no whole numbers. */
static bool microbatch_scale(const struct microbatch *from, double factor, struct microbatch *out)
{
    double size = (double)from->size * factor, steps = (double)from->steps / factor;
    *out = *from;
    if (size < 1 || steps < 1 || size > 1e15 || steps > 1e15)
        return false;
    out->size = (int64_t)size;
    out->steps = (int64_t)steps;
    return (double)out->size == size && (double)out->steps == steps;
}

bool microbatch_of_change(const struct variant *variant, const struct change *change,
                          const struct change_target *target, struct microbatch *before, struct microbatch *after)
{
    return change->kind == CHANGE_BATCH && change->dimension < 0 && microbatch_find(variant, target, before) &&
           microbatch_scale(before, change->factor, after);
}
