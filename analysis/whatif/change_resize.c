/* SPDX-License-Identifier: Apache-2.0
 * change_resize.c: another batch size, another length of the sequence. */
#include "whatif/change_kinds.h"

#include "plan/arguments.h"
#include "plan/category.h"
#include "plan/value.h"
#include "whatif/call_arguments.h"
#include "whatif/microbatch.h"

#include <stdio.h>

/* ---- which dimensions ---- */

static bool is_state(const struct plan_argument *argument)
{
    switch ((enum category)argument->choice.category) {
    case CATEGORY_PARAMETER:
    case CATEGORY_OPTIMIZER_STATE:
    case CATEGORY_CACHE:
    case CATEGORY_GRADIENT_ACCUMULATOR:
    case CATEGORY_RNG: return true;
    default: return false;
    }
}

/* Arguments that are data, surest first. */
enum data_rank {
    DATA_BATCH,   /* what the program's own names, or what it does with it, make a batch */
    DATA_INDICES, /* whole numbers: tokens, labels */
    DATA_OTHER,   /* all that is no state */
    DATA_RANK_COUNT
};

static bool is_data(const struct variant *variant, const struct plan_argument *argument, enum data_rank rank)
{
    struct shape_array shape;
    if (argument->instruction_at == HLO_NONE || is_state(argument))
        return false;
    switch (rank) {
    case DATA_BATCH: return argument->choice.category == CATEGORY_BATCH;
    case DATA_INDICES:
        return shape_array_read(hlo_instruction_shape(&variant->plan->hlo, argument->instruction_at), &shape) &&
               shape_array_is_integer(&shape);
    default: return true;
    }
}

/* The dimension behind the batch is no sequence if it is a picture's side, or the length of a row of numbers: then some
 * parameter has that size. A parameter may have the size of a sequence of tokens too (their positions), but tokens are
 * whole numbers. */
static bool is_sequence(const struct variant *variant, const struct plan_argument *argument, uint32_t class,
                        bool is_in_state, bool is_mixed)
{
    struct shape_array shape;
    if (variant->dimensions.is_side[class] || is_mixed)
        return false;
    return !is_in_state ||
           !shape_array_read(hlo_instruction_shape(&variant->plan->hlo, argument->instruction_at), &shape) ||
           shape.rank > 2 || shape_array_is_integer(&shape);
}

/* ---- signs that the first dimension of some data is a batch ---- */

struct resize_signs {
    uint32_t data_count;    /* arguments that are arrays and no state */
    uint32_t *shared_count; /* by class: how many of them begin with it */
    bool *is_signed;        /* by class: one of them is enough of a sign */
    bool *is_in_state;      /* by class: some state has it */
    bool *is_pointed;       /* by class: nodes or edges of a graph, table rows: indices of data say which of data */
    bool *is_mixed;         /* by class: weights that have it are multiplied, as those that mix tokens */
    bool has_parameters, has_products;
};

static bool is_array_of_data(const struct plan_argument *argument, struct shape_array *shape)
{
    return argument->instruction_at != HLO_NONE && !is_state(argument) && shape_array_read(argument->shape, shape) &&
           shape->rank > 0;
}

static void state_read(const struct variant *variant, struct resize_signs *signs)
{
    for (uint32_t i = 0; i < variant->plan->argument_count; i++) {
        const struct plan_argument *argument = &variant->plan->arguments[i];
        uint32_t dimension;
        if (!is_state(argument) || argument->instruction_at == HLO_NONE)
            continue;
        for (uint32_t nth = 0;
             (dimension = dimensions_of(&variant->dimensions, argument->instruction_at, nth)) != HLO_NONE; nth++)
            signs->is_in_state[dimensions_class(&variant->dimensions, dimension)] = true;
    }
}

/* For a program that serves: a cache gets its own part with each request, as queries do. */
static void caches_read(const struct variant *variant, struct resize_signs *signs)
{
    for (uint32_t i = 0; i < variant->plan->argument_count && signs->has_products; i++) {
        const struct plan_argument *argument = &variant->plan->arguments[i];
        uint32_t first = argument->choice.category != CATEGORY_CACHE || argument->instruction_at == HLO_NONE
                             ? HLO_NONE
                             : dimensions_of(&variant->dimensions, argument->instruction_at, 0);
        if (first != HLO_NONE)
            signs->is_signed[dimensions_class(&variant->dimensions, first)] = true;
    }
}

/* What weights of products have is no data's own: of positions, which are added, it may be. */
enum { MIXED_STEPS_MAX = 1 << 20 };
static void mixed_read(const struct variant *variant, struct resize_signs *signs)
{
    const struct graph *graph = variant->plan->graph;
    struct value_walk walk;
    value_walk_init(&walk, graph, MIXED_STEPS_MAX, variant->findings->arena);
    for (uint32_t at = 0; at < graph->hlo->instruction_count && walk.steps_left > 0; at++)
        for (uint32_t k = 0; graph_op(graph, at) == GRAPH_DOT && k < 2; k++) {
            struct value operand = {graph_operand(graph, at, k), VALUE_WHOLE};
            uint32_t from = value_origin(&walk, operand, VALUE_BASE, NULL).at, dimension;
            const struct plan_argument *argument = arguments_find_instruction(variant->plan, from);
            if (argument == NULL || argument->choice.category != CATEGORY_PARAMETER)
                continue;
            for (uint32_t nth = 0; (dimension = dimensions_of(&variant->dimensions, from, nth)) != HLO_NONE; nth++)
                signs->is_mixed[dimensions_class(&variant->dimensions, dimension)] = true;
        }
}

/* For a program that learns: finds the rows of data that indices point into, and those indices. Weights do not count,
 * because the batch's own tokens look them up. */
static void pointings_read(const struct variant *variant, struct resize_signs *signs)
{
    const struct dimensions *dimensions = &variant->dimensions;
    if (!variant->plan->graph->has_backward || !signs->has_parameters)
        return;
    arena_work(variant->arena, dimensions->pointing_count);
    for (uint32_t i = 0; i < dimensions->pointing_count; i++) {
        uint32_t from = dimensions_class(dimensions, dimensions->pointings[i].from),
                 to = dimensions_class(dimensions, dimensions->pointings[i].to);
        if (from != to && signs->shared_count[to] > 0 && !signs->is_in_state[to])
            signs->is_pointed[from] = signs->is_pointed[to] = true;
    }
}

static bool is_called_batch(const struct plan_argument *argument)
{
    return argument->choice.category == CATEGORY_BATCH && (argument->choice.rule == CATEGORY_RULE_ARGUMENT_NAME ||
                                                           argument->choice.rule == CATEGORY_RULE_ARGUMENT_WORD);
}

/* One picture: as high as wide, with its channels last or none. */
static bool is_picture(const struct shape_array *shape)
{
    enum { CHANNELS_MAX = 4 };
    return (shape->rank == 2 || (shape->rank == 3 && shape->dimensions[2] <= CHANNELS_MAX)) &&
           shape->dimensions[0] == shape->dimensions[1];
}

static void data_read(const struct variant *variant, struct resize_signs *signs)
{
    struct shape_array shape;
    for (uint32_t i = 0; i < variant->plan->argument_count; i++) {
        const struct plan_argument *argument = &variant->plan->arguments[i];
        if (!is_array_of_data(argument, &shape))
            continue;
        uint32_t class =
            dimensions_class(&variant->dimensions, dimensions_of(&variant->dimensions, argument->instruction_at, 0));
        signs->data_count++;
        signs->shared_count[class]++;
        signs->is_signed[class] |= shape_array_is_integer(&shape) ||
                                   (is_called_batch(argument) && signs->has_parameters && !is_picture(&shape));
    }
}

/* Signs belong to the program before any change: they are found once for all its variants. */
static const struct resize_signs *signs_of(const struct variant *variant)
{
    struct variant_findings *findings = variant->findings;
    struct arena *arena = findings->arena;
    size_t class_count = (size_t)variant->dimensions.leaves.dimension_count + 1;
    if (findings->resize_signs != NULL)
        return findings->resize_signs;
    struct resize_signs *signs = arena_array(arena, struct resize_signs, 1);
    *signs = (struct resize_signs){.shared_count = arena_array(arena, uint32_t, class_count),
                                   .is_signed = arena_array(arena, bool, class_count),
                                   .is_in_state = arena_array(arena, bool, class_count),
                                   .is_pointed = arena_array(arena, bool, class_count),
                                   .is_mixed = arena_array(arena, bool, class_count),
                                   .has_products = variant_has_products(variant)};
    for (uint32_t i = 0; i < variant->plan->argument_count; i++)
        signs->has_parameters |= variant->plan->arguments[i].choice.category == CATEGORY_PARAMETER;
    state_read(variant, signs);
    data_read(variant, signs);
    caches_read(variant, signs);
    pointings_read(variant, signs);
    mixed_read(variant, signs);
    return findings->resize_signs = signs;
}

/* Whole numbers begin with it (tokens, labels), or a cache does; or an argument that is called a batch, in a program
 * with parameters; or all data of a program that learns, or all operands of products, as queries, keys and values are.
 * The samples of a source, the sides of a grid, rows of a table are none. */
static bool is_batch(const struct variant *variant, const struct resize_signs *signs, uint32_t class)
{
    bool is_of_all = signs->shared_count[class] == signs->data_count;
    if (signs->is_pointed[class])
        return false;
    return signs->is_signed[class] || (is_of_all && ((variant->plan->graph->has_backward && signs->has_parameters) ||
                                                     (signs->data_count > 1 && signs->has_products)));
}

/* Are two dimensions as long? Of sequences a token behind one of them does not count: a target has one more than its
 * source where a next token is predicted. */
static bool are_as_long(const struct variant *variant, uint32_t left, uint32_t right, bool is_of_sequence)
{
    int64_t a = variant->sizes[left], b = variant->sizes[right];
    return a == b || (is_of_sequence &&
                      a - change_has_token_behind(variant, left) == b - change_has_token_behind(variant, right));
}

/* The batch, or the sequence, of the arguments that are data; of a class that no state has, if there are such. One
 * size: arguments of another are other dimensions. */
static uint32_t targets_find(const struct variant *variant, bool is_of_sequence, struct change_target *targets)
{
    uint32_t nth = is_of_sequence;
    const struct resize_signs *signs = signs_of(variant);
    for (unsigned rank = 0; rank < 2 * DATA_RANK_COUNT; rank++) {
        uint32_t count = 0;
        for (uint32_t i = 0; i < variant->plan->argument_count; i++) {
            const struct plan_argument *argument = &variant->plan->arguments[i];
            if (!is_data(variant, argument, (enum data_rank)(rank / 2)))
                continue;
            uint32_t dimension = dimensions_of(&variant->dimensions, argument->instruction_at, nth);
            uint32_t class = dimension == HLO_NONE ? 0 : dimensions_class(&variant->dimensions, dimension);
            if (dimension == HLO_NONE || (rank % 2 == 0 && signs->is_in_state[class]) ||
                (is_of_sequence &&
                 !is_sequence(variant, argument, class, signs->is_in_state[class], signs->is_mixed[class])) ||
                (count > 0 && !are_as_long(variant, targets[0].at, dimension, is_of_sequence)))
                continue;
            uint32_t first = dimensions_of(&variant->dimensions, argument->instruction_at, 0);
            if (is_batch(variant, signs, dimensions_class(&variant->dimensions, first)))
                targets[count++] = (struct change_target){argument->number, nth, .at = dimension};
        }
        if (count > 0)
            return count;
    }
    return 0;
}

/* For a program without such signs: a dimension that the user could name; "" if there is none. */
static const char *target_offered(const struct variant *variant, const struct change *change)
{
    const char *name = change_name(change->kind);
    uint32_t nth = change->kind == CHANGE_SEQUENCE;
    struct shape_array shape;
    for (uint32_t i = 0; i < variant->plan->argument_count; i++) {
        const struct plan_argument *argument = &variant->plan->arguments[i];
        if (is_array_of_data(argument, &shape) && shape.rank > nth && argument->path.length > 0)
            return arena_format(variant->arena, ", such as %s=%g@%.*s:%u (%lld)", name, change->factor,
                                (int)argument->path.length, argument->path.data, nth, (long long)shape.dimensions[nth]);
    }
    return "";
}

/* The dimension that the person named: ARGUMENT is its number or path. */
static bool target_named(const struct variant *variant, const struct change *change, struct change_target *target,
                         struct err *err)
{
    for (uint32_t i = 0; i < variant->plan->argument_count; i++) {
        const struct plan_argument *argument = &variant->plan->arguments[i];
        char number[24];
        snprintf(number, sizeof(number), "%lld", (long long)argument->number);
        if (!str_equal(change->argument, argument->path) && !str_equal(change->argument, str_of(number)))
            continue;
        *target = (struct change_target){argument->number, (uint32_t)change->dimension, .at = HLO_NONE};
        if (argument->instruction_at != HLO_NONE)
            target->at = dimensions_of(&variant->dimensions, argument->instruction_at, (uint32_t)change->dimension);
        return target->at != HLO_NONE ||
               err_set(err, ERR_argument, ERR_NO_OFFSET, "%s: argument %.*s has no dimension %lld",
                       change_name(change->kind), (int)argument->path.length, argument->path.data,
                       (long long)change->dimension);
    }
    return err_set(err, ERR_argument, ERR_NO_OFFSET, "%s: no argument \"%.*s\"", change_name(change->kind),
                   (int)change->argument.length, change->argument.data);
}

/* At most 1e15. */
static bool is_whole(double size) { return size == (double)(int64_t)size; }

bool change_has_token_behind(const struct variant *variant, uint32_t dimension)
{
    const struct dimensions *dimensions = &variant->dimensions;
    uint32_t wanted = dimensions_class(dimensions, dimension);
    int64_t size = variant->sizes[dimension];
    if (size < 2 || __builtin_ctzll((uint64_t)size - 1) <= __builtin_ctzll((uint64_t)size))
        return false;
    arena_work(variant->arena, dimensions->relation_count);
    for (uint32_t i = 0; i < dimensions->relation_count; i++) {
        const struct relation *relation = &dimensions->relations[i];
        const uint32_t *members = &dimensions->members[relation->first];
        if (relation->kind == RELATION_PART && variant->sizes[members[relation->left_count]] == size - 1 &&
            dimensions_class(dimensions, members[0]) == wanted)
            return true;
    }
    return false;
}

bool change_targets(const struct variant *variant, const struct change *change, struct change_target **targets,
                    uint32_t *count, struct err *err)
{
    *targets = arena_array(variant->arena, struct change_target, (size_t)variant->plan->argument_count + 1);
    if (change->dimension >= 0) {
        if (!target_named(variant, change, *targets, err))
            return false;
        *count = 1;
    } else if ((*count = targets_find(variant, change->kind == CHANGE_SEQUENCE, *targets)) == 0) {
        return err_set(err, ERR_argument, ERR_NO_OFFSET,
                       "%s: no argument looks like data with such a dimension; say which: %s=%g@ARGUMENT:DIMENSION%s",
                       change_name(change->kind), change_name(change->kind), change->factor,
                       target_offered(variant, change));
    }
    for (uint32_t i = 0; i < *count; i++) {
        int64_t size = variant->sizes[(*targets)[i].at];
        double wanted = (double)size * change->factor, with_next = (double)(size - 1) * change->factor + 1;
        bool has_next = change->kind == CHANGE_SEQUENCE && change_has_token_behind(variant, (*targets)[i].at);
        if (wanted <= 1e15 && (!is_whole(wanted) || (has_next && is_whole(with_next))))
            wanted = with_next;
        if (wanted < 1 || wanted > 1e15 || !is_whole(wanted))
            return err_set(err, ERR_argument, ERR_NO_OFFSET, "%s: %lld times %g is no whole number",
                           change_name(change->kind), (long long)size, change->factor);
        (*targets)[i].size_before = size;
        (*targets)[i].size_after = (int64_t)wanted;
    }
    return true;
}

static const char *microbatch_call(const struct variant *variant, const struct change_target *target,
                                   const struct microbatch *before, const struct microbatch *after)
{
    const struct plan_argument *argument = arguments_find(variant->plan, target->parameter);
    struct str name = argument == NULL || argument->path.length == 0 ? STR("batch") : argument->path;
    long long size_after = (long long)microbatch_size_of_all(after);
    return arena_format(variant->arena,
                        "%.*s.reshape(%lld, %lld, …)  # %lld microbatches of %lld in place of %lld of %lld",
                        (int)name.length, name.data, (long long)after->steps, size_after, (long long)after->steps,
                        size_after, (long long)before->steps, (long long)microbatch_size_of_all(before));
}

static bool resize(struct variant *variant, const struct change *change, struct change_result *out, struct err *err)
{
    struct change_target *targets;
    struct dimensions_sizes sizes;
    uint32_t count;
    if (!change_targets(variant, change, &targets, &count, err))
        return false;
    struct dimensions_change *changes = arena_array(variant->arena, struct dimensions_change, (size_t)count + 2);
    for (uint32_t i = 0; i < count; i++)
        changes[i] = (struct dimensions_change){targets[i].at, targets[i].size_after};
    struct microbatch before, after;
    bool is_micro = microbatch_of_change(variant, change, &targets[0], &before, &after);
    if (is_micro) {
        changes[0] = (struct dimensions_change){after.size_at, after.size};
        changes[1] = (struct dimensions_change){after.steps_at, after.steps};
        count = 2;
    }
    dimensions_resize(&variant->dimensions, variant->sizes, changes, count, variant->arena, &sizes);
    out->call = is_micro ? microbatch_call(variant, &targets[0], &before, &after) : call_resize(variant, sizes.sizes);
    variant->sizes = sizes.sizes;
    out->confidence = sizes.conflict_count == 0 ? CHANGE_MODEL : CHANGE_GUESS;
    out->reason =
        sizes.conflict_count == 0
            ? "Every array that has the dimension is resized in the compiler's own heap; it may fuse and "
              "pack differently."
            : "Some arrays would get two sizes: what of the program depends on the dimension is not all known.";
    return true;
}

bool change_batch(struct variant *variant, const struct change *change, struct change_result *out, struct err *err)
{
    return resize(variant, change, out, err);
}

bool change_sequence(struct variant *variant, const struct change *change, struct change_result *out, struct err *err)
{
    return resize(variant, change, out, err);
}
