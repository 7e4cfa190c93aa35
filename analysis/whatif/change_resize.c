/* SPDX-License-Identifier: Apache-2.0
 * change_resize.c: another batch size, another length of the sequence. */
#include "whatif/change_kinds.h"

#include "plan/category.h"

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

/* Which classes some state has, by class. */
static const bool *classes_of_state(const struct variant *variant)
{
    bool *is_in_state = arena_array(variant->arena, bool, (size_t)variant->dimensions.leaves.dimension_count + 1);
    for (uint32_t i = 0; i < variant->plan->argument_count; i++) {
        const struct plan_argument *argument = &variant->plan->arguments[i];
        uint32_t dimension;
        if (!is_state(argument) || argument->instruction_at == HLO_NONE)
            continue;
        for (uint32_t nth = 0;
             (dimension = dimensions_of(&variant->dimensions, argument->instruction_at, nth)) != HLO_NONE; nth++)
            is_in_state[dimensions_class(&variant->dimensions, dimension)] = true;
    }
    return is_in_state;
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

/* What stands behind the batch is no sequence where it is a picture's side, nor where it is what a row of numbers is
 * made of: some parameter has its size then, as it has that of tokens (their positions), which are whole numbers. */
static bool is_sequence(const struct variant *variant, const struct plan_argument *argument, uint32_t class,
                        bool is_in_state)
{
    struct shape_array shape;
    if (variant->dimensions.is_side[class])
        return false;
    return !is_in_state ||
           !shape_array_read(hlo_instruction_shape(&variant->plan->hlo, argument->instruction_at), &shape) ||
           shape.rank > 2 || shape_array_is_integer(&shape);
}

/* The batch, or the sequence, of the arguments that are data; of a class that no state has, if there are such. */
static uint32_t targets_find(const struct variant *variant, bool is_of_sequence, struct change_target *targets)
{
    uint32_t nth = is_of_sequence;
    const bool *is_in_state = classes_of_state(variant);
    for (unsigned rank = 0; rank < 2 * DATA_RANK_COUNT; rank++) {
        uint32_t count = 0;
        for (uint32_t i = 0; i < variant->plan->argument_count; i++) {
            const struct plan_argument *argument = &variant->plan->arguments[i];
            if (!is_data(variant, argument, (enum data_rank)(rank / 2)))
                continue;
            uint32_t dimension = dimensions_of(&variant->dimensions, argument->instruction_at, nth);
            uint32_t class = dimension == HLO_NONE ? 0 : dimensions_class(&variant->dimensions, dimension);
            if (dimension != HLO_NONE && (rank % 2 == 1 || !is_in_state[class]) &&
                (!is_of_sequence || is_sequence(variant, argument, class, is_in_state[class])))
                targets[count++] = (struct change_target){argument->number, nth, .at = dimension};
        }
        if (count > 0)
            return count;
    }
    return 0;
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

/* Is it a sequence and the token behind it? Then all of it but one is a part, of a size that halves more often. */
static bool has_token_behind(const struct variant *variant, uint32_t dimension)
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
                       "%s: no argument looks like data with such a dimension; say which: %s=%g@ARGUMENT:DIMENSION",
                       change_name(change->kind), change_name(change->kind), change->factor);
    }
    for (uint32_t i = 0; i < *count; i++) {
        int64_t size = variant->sizes[(*targets)[i].at];
        double wanted = (double)size * change->factor, with_next = (double)(size - 1) * change->factor + 1;
        bool has_next = change->kind == CHANGE_SEQUENCE && has_token_behind(variant, (*targets)[i].at);
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

static bool resize(struct variant *variant, const struct change *change, struct change_result *out, struct err *err)
{
    struct change_target *targets;
    struct dimensions_sizes sizes;
    uint32_t count;
    if (!change_targets(variant, change, &targets, &count, err))
        return false;
    struct dimensions_change *changes = arena_array(variant->arena, struct dimensions_change, (size_t)count + 1);
    for (uint32_t i = 0; i < count; i++)
        changes[i] = (struct dimensions_change){targets[i].at, targets[i].size_after};
    dimensions_resize(&variant->dimensions, variant->sizes, changes, count, variant->arena, &sizes);
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
