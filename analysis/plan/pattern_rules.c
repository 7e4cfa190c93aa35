/* SPDX-License-Identifier: Apache-2.0
 * pattern_rules.c: see pattern_rules.h. */
#include "plan/pattern_rules.h"

#include "plan/arguments.h"
#include "plan/relayout.h"
#include "read/hlo/hlo_sharding.h"

typedef bool taking(struct pattern_finding *finding, const struct pattern_live *live);

static enum category category_of(const struct pattern_live *live) { return (enum category)live->row->choice.category; }

static const struct plan_argument *argument_of_row(const struct pattern_finding *finding,
                                                   const struct pattern_live *live)
{
    const struct hlo_allocation *allocation = &finding->plan->hlo.allocations[live->row->allocation_at];
    return arguments_find_allocation(finding->plan, allocation);
}

/* Is a part of a path "a/b/c" one of the words, or one and a number? */
static bool has_part(struct pattern_finding *finding, struct str path, const char *const *words, size_t count)
{
    arena_work(finding->arena, path.length);
    for (size_t at = 0; at < path.length; at++) {
        if (at > 0 && path.data[at - 1] != '/' && path.data[at - 1] != '(')
            continue;
        for (size_t i = 0; i < count; i++) {
            size_t length = strlen(words[i]);
            if (at + length <= path.length && memcmp(path.data + at, words[i], length) == 0 &&
                (at + length == path.length || strchr("/)_.:", path.data[at + length]) != NULL))
                return true;
        }
    }
    return false;
}

static bool is_computed(const struct pattern_live *live)
{
    enum category category = category_of(live);
    return live->has_shape && !category_is_of_arguments(category) && category != CATEGORY_COPY_OF_ARGUMENT &&
           category != CATEGORY_CONSTANT;
}

static bool take_logits(struct pattern_finding *finding, const struct pattern_live *live)
{
    return is_computed(live) && pattern_facts_is_logits(finding, live);
}

/* Has it the shape of scores, or of several of them stacked by a loop? */
static bool take_scores(struct pattern_finding *finding, const struct pattern_live *live)
{
    if (!is_computed(live) || pattern_facts_has(&finding->logits, live->hash))
        return false;
    if (pattern_facts_has(&finding->scores, live->hash))
        return true;
    if (live->row->made_by == HLO_NONE || graph_op(finding->graph, live->row->made_by) != GRAPH_UPDATE)
        return false;
    for (uint32_t i = 0; i < live->shape.rank; i++) {
        struct shape_array one = live->shape;
        one.dimensions[i] = 1;
        if (pattern_facts_has(&finding->scores, shape_array_hash_any_order(&one)))
            return true;
    }
    return false;
}

static bool take_saved(struct pattern_finding *finding, const struct pattern_live *live)
{
    (void)finding;
    return category_of(live) == CATEGORY_SAVED_ACTIVATION;
}

static bool take_residuals(struct pattern_finding *finding, const struct pattern_live *live)
{
    static const char *const body[] = {"body"};
    if (category_of(live) != CATEGORY_SAVED_ACTIVATION || live->row->made_by == HLO_NONE)
        return false;
    struct str name = graph_op_name_end(finding->graph, live->row->made_by);
    return graph_op(finding->graph, live->row->made_by) == GRAPH_UPDATE && has_part(finding, name, body, 1);
}

/* Would the argument do for a result of that shape? */
static bool could_be_donated(const struct pattern_finding *finding, uint32_t at, const struct pattern_live *live)
{
    const struct plan_argument *argument = arguments_find_instruction(finding->plan, at);
    struct shape_array shape;
    return argument != NULL && argument->bytes == live->row->bytes &&
           !pattern_facts_has(&finding->donated, (uint64_t)argument->number) &&
           shape_array_read(argument->shape, &shape) && shape_array_hash(&shape) == shape_array_hash(&live->shape);
}

/* Does a loop write it piece by piece into room that was blank, as what jax.lax.scan stacks (ys)? What the loop reads
 * is needed as long as that goes on, so no argument that it is made of can give its memory. */
enum { HANDED_ON_MAX = 8 };
static bool is_stacked(const struct pattern_finding *finding, uint32_t at)
{
    const struct graph *graph = finding->graph;
    uint32_t body =
                 at == HLO_NONE || graph_op(graph, at) != GRAPH_UPDATE ? HLO_NONE : graph_loop_body_around(graph, at),
             loop = body == HLO_NONE ? HLO_NONE : graph->caller_of[body], base = at;
    for (unsigned i = 0;
         i < HANDED_ON_MAX && loop != HLO_NONE && base != HLO_NONE && graph_op(graph, base) != GRAPH_ELEMENT; i++) {
        uint32_t fusion = graph_fusion_around(graph, base);
        base = graph_op(graph, base) != GRAPH_PARAMETER
                   ? graph_operand(graph, base, 0)
                   : (fusion == HLO_NONE ? HLO_NONE : graph_operand(graph, fusion, (uint32_t)graph->numbers[base]));
    }
    uint32_t state = loop == HLO_NONE ? HLO_NONE : graph_operand(graph, loop, 0);
    if (base == HLO_NONE || state == HLO_NONE || graph_op(graph, base) != GRAPH_ELEMENT ||
        graph_op(graph, state) != GRAPH_TUPLE)
        return false;
    struct value begin = {graph_operand(graph, state, (uint32_t)graph->numbers[base]), VALUE_WHOLE};
    return value_is_blank(graph, value_origin(finding->walk, begin, VALUE_ORIGIN, NULL));
}

/* Is the value made, outside of the passes, from an argument that would do? Looks back over a bounded part of the
 * graph. */
enum { BACK_NODES_MAX = 128, BACK_STEPS_MAX = 1024 };
static bool is_made_from_donor(const struct pattern_finding *finding, struct value value,
                               const struct pattern_live *live)
{
    const struct graph *graph = finding->graph;
    uint32_t nodes[BACK_NODES_MAX], count = 0, steps = 0;
    nodes[count++] = value_origin(finding->walk, value, VALUE_ORIGIN, NULL).at;
    if (is_stacked(finding, nodes[0]))
        return false;
    for (uint32_t i = 0; i < count && finding->walk->steps_left > 0; i++) {
        if (could_be_donated(finding, nodes[i], live))
            return true;
        if (nodes[i] == HLO_NONE || graph_phase(graph, nodes[i]) == GRAPH_BACKWARD ||
            graph_op(graph, nodes[i]) == GRAPH_DOT ||
            graph_op(graph, nodes[i]) == GRAPH_CUSTOM_CALL) /* a product cannot be written over its factors */
            continue;
        for (uint32_t j = graph->operand_first[nodes[i]];
             j < graph->operand_first[nodes[i] + 1] && count < BACK_NODES_MAX && steps++ < BACK_STEPS_MAX; j++) {
            struct value operand = {graph->operands[j], VALUE_WHOLE};
            uint32_t at = value_origin(finding->walk, operand, VALUE_ORIGIN, NULL).at;
            bool is_known = at == HLO_NONE;
            for (uint32_t k = 0; k < count && !is_known; k++)
                is_known = nodes[k] == at;
            if (!is_known)
                nodes[count++] = at;
        }
    }
    return false;
}

/* Several values may lie in a result's allocation one after the other; one of them is the result. */
enum { ASSIGNED_MAX = 16 };
static bool take_not_donated(struct pattern_finding *finding, const struct pattern_live *live)
{
    const struct hlo *hlo = &finding->plan->hlo;
    const struct plan_row *row = live->row;
    const struct hlo_allocation *allocation = &hlo->allocations[row->allocation_at];
    if (category_of(live) != CATEGORY_OUTPUT || !live->has_shape || live->shape.rank == 0)
        return false;
    for (uint32_t i = 0; i < allocation->assigned_count && i < ASSIGNED_MAX; i++) {
        uint32_t at = hlo->assigned[allocation->assigned_first + i].buffer_at;
        if (plan_buffer_is_usable(hlo, at) && finding->plan->bytes[at] == row->bytes &&
            is_made_from_donor(finding, value_of_buffer(hlo, at), live))
            return true;
    }
    return false;
}

static bool take_unused_donors(struct pattern_finding *finding, const struct pattern_live *live)
{
    const struct plan_argument *argument = argument_of_row(finding, live);
    return argument != NULL && pattern_facts_has(&finding->unused_donors, (uint64_t)argument->number);
}

static bool take_cache_copies(struct pattern_finding *finding, const struct pattern_live *live)
{
    return !finding->graph->has_backward && live->has_shape && argument_of_row(finding, live) == NULL &&
           category_of(live) != CATEGORY_CONSTANT && live->shape.rank > 0 &&
           pattern_facts_has(&finding->cache_shapes, pattern_facts_cache_key(&live->shape)) &&
           relayout_of(finding->plan, live->row) == NULL; /* which no other way to update it saves */
}

static const struct plan_argument *gathered_argument(const struct pattern_finding *finding, uint32_t gather_at)
{
    struct value base = {graph_operand(finding->graph, gather_at, 0), VALUE_WHOLE};
    return arguments_find_instruction(finding->plan, value_origin(finding->walk, base, VALUE_BASE, NULL).at);
}

static bool take_gathered_activations(struct pattern_finding *finding, const struct pattern_live *live)
{
    return live->gather_at != HLO_NONE && gathered_argument(finding, live->gather_at) == NULL;
}

static bool take_gathered_parameters(struct pattern_finding *finding, const struct pattern_live *live)
{
    return live->gather_at != HLO_NONE && gathered_argument(finding, live->gather_at) != NULL;
}

static bool take_whole_batches(struct pattern_finding *finding, const struct pattern_live *live)
{
    uint64_t devices = finding->plan->hlo.device_count;
    if (devices < 2 || is_stacked(finding, live->row->made_by) || /* its first dimension counts iterations */
        !is_computed(live) || live->shape.rank < 2 || live->shape.dimensions[0] % (int64_t)devices != 0)
        return false;
    return pattern_facts_has(&finding->batch_lengths, (uint64_t)live->shape.dimensions[0] / devices) &&
           !pattern_facts_has(&finding->parameter_lengths, (uint64_t)live->shape.dimensions[0]) &&
           !take_gathered_parameters(finding, live);
}

static bool take_replicated(struct pattern_finding *finding, const struct pattern_live *live)
{
    const struct plan_argument *argument = argument_of_row(finding, live);
    if (finding->plan->hlo.device_count < 2 || argument == NULL ||
        (argument->choice.category != CATEGORY_PARAMETER && argument->choice.category != CATEGORY_OPTIMIZER_STATE))
        return false;
    arena_work(finding->arena, finding->plan->hlo.instructions[argument->instruction_at].length);
    return hlo_sharding_is_replicated(&finding->plan->hlo, argument->instruction_at, argument->number);
}

static bool take_accumulators(struct pattern_finding *finding, const struct pattern_live *live)
{
    const struct plan_argument *argument = argument_of_row(finding, live);
    struct str path = argument == NULL ? (struct str){"", 0} : argument->path;
    arena_work(finding->arena, path.length);
    return str_contains(path, STR("acc_grads")) || category_of(live) == CATEGORY_GRADIENT_ACCUMULATOR;
}

static bool take_gradients(struct pattern_finding *finding, const struct pattern_live *live)
{
    (void)finding;
    return category_of(live) == CATEGORY_GRADIENT;
}

static bool take_casts(struct pattern_finding *finding, const struct pattern_live *live)
{
    const struct plan_argument *argument = arguments_find_instruction(finding->plan, live->base.at);
    struct shape_array shape;
    return category_of(live) == CATEGORY_COPY_OF_ARGUMENT && live->has_shape && argument != NULL &&
           argument->choice.category != CATEGORY_BATCH && argument->choice.category != CATEGORY_CACHE &&
           shape_array_read(argument->shape, &shape) && shape.type != live->shape.type;
}

/* A table of many words by few features, the words being what the result is last divided by. */
enum { WORDS_A_FEATURE_MIN = 2 };
static bool is_vocabulary(const struct shape_array *table, const struct shape_array *result)
{
    if (table->rank != 2)
        return false;
    int64_t a = table->dimensions[0], b = table->dimensions[1], words = a > b ? a : b, features = a > b ? b : a;
    return result->dimensions[result->rank - 1] == words && words / WORDS_A_FEATURE_MIN >= features;
}

static bool take_prefill(struct pattern_finding *finding, const struct pattern_live *live)
{
    if (finding->graph->has_backward || category_of(live) != CATEGORY_OUTPUT || !live->has_shape ||
        live->shape.rank < 3 || live->shape.dimensions[live->shape.rank - 2] < 2 || live->base.at == HLO_NONE ||
        graph_op(finding->graph, live->base.at) != GRAPH_DOT)
        return false;
    for (uint32_t i = 0; i < 2; i++) {
        struct value base = {graph_operand(finding->graph, live->base.at, i), VALUE_WHOLE};
        const struct plan_argument *argument =
            arguments_find_instruction(finding->plan, value_origin(finding->walk, base, VALUE_BASE, NULL).at);
        struct shape_array shape;
        if (argument != NULL && shape_array_read(argument->shape, &shape) && is_vocabulary(&shape, &live->shape))
            return true;
    }
    return false;
}

static bool take_masks(struct pattern_finding *finding, const struct pattern_live *live)
{
    const struct plan_argument *argument = argument_of_row(finding, live);
    return argument != NULL && live->has_shape && live->shape.rank >= 2 &&
           (argument->choice.category == CATEGORY_BATCH ||
            (argument->choice.category == CATEGORY_INPUT && live->shape.rank > 2) || /* of two dimensions: weights */
            argument->choice.category == CATEGORY_OTHER) &&
           live->shape.dimensions[live->shape.rank - 1] > 1 && live->shape.dimensions[live->shape.rank - 2] > 1 &&
           pattern_facts_has(&finding->score_planes, pattern_facts_plane(&live->shape));
}

static bool take_constants(struct pattern_finding *finding, const struct pattern_live *live)
{
    (void)finding;
    return category_of(live) == CATEGORY_CONSTANT;
}

/* A broadcast of a whole array, some times; not of a row or a number. */
enum { REPEATS_MAX = 64 };
static bool repeats_an_array(const struct pattern_finding *finding, uint32_t at)
{
    const struct hlo *hlo = &finding->plan->hlo;
    struct shape_array one, all;
    if (!pattern_facts_shape(hlo, at, &all) || !pattern_facts_shape(hlo, graph_operand(finding->graph, at, 0), &one))
        return false;
    int64_t few = shape_array_elements(&one), many = shape_array_elements(&all);
    return few > 0 && many / 2 >= few && many / REPEATS_MAX <= few;
}

static bool take_repeats(struct pattern_finding *finding, const struct pattern_live *live)
{
    static const char *const words[] = {"repeat", "tile", "_repeat", "_tile"};
    uint32_t at = live->row->named_by;
    if (at == HLO_NONE || !is_computed(live))
        return false;
    enum graph_op op = graph_op(finding->graph, at);
    struct str name = graph_op_name_end(finding->graph, at);
    if (op == GRAPH_BROADCAST && repeats_an_array(finding, at))
        return true;
    return (op == GRAPH_BROADCAST || op == GRAPH_CONCATENATE || op == GRAPH_RESHAPE || op == GRAPH_GATHER) &&
           has_part(finding, name, words, sizeof(words) / sizeof(words[0]));
}

static bool take_padded(struct pattern_finding *finding, const struct pattern_live *live)
{
    (void)finding;
    const struct plan_row *row = live->row;
    return row->unpadded_bytes != SHAPE_UNKNOWN_SIZE && row->bytes / 5 > row->unpadded_bytes / 4;
}

static taking *const takings[] = {
    [PATTERN_LOGITS] = take_logits,
    [PATTERN_ATTENTION_SCORES] = take_scores,
    [PATTERN_SAVED_ACTIVATIONS] = take_saved,
    [PATTERN_SCAN_RESIDUALS] = take_residuals,
    [PATTERN_NO_DONATION] = take_not_donated,
    [PATTERN_DONATION_UNUSED] = take_unused_donors,
    [PATTERN_CACHE_COPY] = take_cache_copies,
    [PATTERN_BATCH_NOT_SPLIT] = take_whole_batches,
    [PATTERN_GATHERED_ACTIVATION] = take_gathered_activations,
    [PATTERN_GATHERED_PARAMETERS] = take_gathered_parameters,
    [PATTERN_REPLICATED] = take_replicated,
    [PATTERN_GRADIENT_ACCUMULATOR] = take_accumulators,
    [PATTERN_ALL_GRADIENTS] = take_gradients,
    [PATTERN_PARAMETER_CAST_COPY] = take_casts,
    [PATTERN_PREFILL_LOGITS] = take_prefill,
    [PATTERN_MASK] = take_masks,
    [PATTERN_CONSTANT] = take_constants,
    [PATTERN_REPEAT] = take_repeats,
    [PATTERN_PADDING] = take_padded,
};

bool pattern_rules_take(struct pattern_finding *finding, enum pattern_kind kind, const struct pattern_live *live)
{
    return takings[kind](finding, live);
}
