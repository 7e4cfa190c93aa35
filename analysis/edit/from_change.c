/* SPDX-License-Identifier: Apache-2.0 */
#include "edit/from_change.h"

#include "whatif/glob.h"
#include "whatif/microbatch.h"
#include "whatif/regions.h"

static bool from_change_refuse(const struct change *change, const char *reason, struct err *err)
{
    return err_set(err, ERR_argument, ERR_NO_OFFSET, "%.*s: the compiler cannot be asked: %s",
                   (int)(change->text.length < 80 ? change->text.length : 80), change->text.data, reason);
}

/* The arguments among the flagged rows, each once: several rows may be one. */
static bool parameters_take(const struct variant *variant, const struct change *change, const bool *flags,
                            struct edit *out, struct err *err)
{
    int64_t *numbers = arena_array(variant->arena, int64_t, (size_t)variant->plan->argument_count + 1);
    for (uint32_t k = 0; k < variant->plan->argument_count; k++) {
        const struct plan_argument *argument = &variant->plan->arguments[k];
        bool is_named = false;
        arena_work(variant->arena, variant->space->indefinite_row_count);
        for (uint32_t i = 0; i < variant->space->indefinite_row_count && !is_named; i++) /* they come first */
            is_named = flags[i] && variant->rows[i].is_argument && variant->rows[i].plan_row != PLAN_NONE &&
                       variant_parameter(variant, &variant->rows[i]) == argument->number;
        if (is_named)
            numbers[out->parameter_count++] = argument->number;
    }
    out->parameters = numbers;
    out->is_every = true; /* of a tree of arrays those that cannot follow stay, as with JAX */
    return out->parameter_count > 0 ||
           from_change_refuse(change, "only arguments of the program can be changed so, and it names none", err);
}

static bool donate_read(const struct variant *variant, const struct change *change, struct edit *out, struct err *err)
{
    bool *flags = arena_array(variant->arena, bool, (size_t)variant->row_count + 1);
    out->kind = EDIT_DONATE;
    change_donated(variant, change, flags);
    return parameters_take(variant, change, flags, out, err);
}

static bool matching_read(const struct variant *variant, const struct change *change, struct edit *out, struct err *err)
{
    bool *flags = arena_array(variant->arena, bool, (size_t)variant->row_count + 1);
    if (glob_rows(variant, change->glob, flags) == 0)
        return glob_missed(variant, change_name(change->kind), change->glob, err);
    return parameters_take(variant, change, flags, out, err);
}

static bool resize_read(const struct variant *variant, const struct change *change, struct edit *out, struct err *err)
{
    struct change_target *targets;
    struct microbatch before, after;
    uint32_t count;
    if (!change_targets(variant, change, &targets, &count, err))
        return false;
    if (microbatch_of_change(variant, change, &targets[0], &before, &after))
        return from_change_refuse(change, "the size of its microbatches is in the source", err);
    struct edit_dimension *dimensions = arena_array(variant->arena, struct edit_dimension, (size_t)count + 1);
    struct edit_fraction *fractions = arena_array(variant->arena, struct edit_fraction, (size_t)count + 1);
    for (uint32_t i = 0; i < count; i++) {
        dimensions[i] = (struct edit_dimension){targets[i].parameter, targets[i].dimension};
        fractions[i] = (struct edit_fraction){targets[i].size_after, targets[i].size_before};
    }
    *out =
        (struct edit){.kind = EDIT_RESIZE, .dimensions = dimensions, .dimension_count = count, .fractions = fractions};
    return true;
}

static bool shape_is_there(const struct edit_shape *shapes, size_t count, const struct edit_shape *wanted)
{
    for (size_t i = 0; i < count; i++)
        if (shapes[i].rank == wanted->rank &&
            memcmp(shapes[i].dimensions, wanted->dimensions, wanted->rank * sizeof(*wanted->dimensions)) == 0)
            return true;
    return false;
}

/* Arrays that take more than a quarter more than their elements. More shapes than that are not looked at. */
enum { SHAPES_MAX = 64 };

static bool unpad_read(const struct variant *variant, const struct change *change, struct edit *out, struct err *err)
{
    bool *flags = arena_array(variant->arena, bool, (size_t)variant->row_count + 1);
    struct edit_shape *shapes = arena_array(variant->arena, struct edit_shape, SHAPES_MAX);
    if (glob_rows(variant, change->glob, flags) == 0)
        return glob_missed(variant, change_name(change->kind), change->glob, err);
    *out = (struct edit){.kind = EDIT_UNPAD, .shapes = shapes};
    for (uint32_t i = 0; i < variant->row_count && out->shape_count < SHAPES_MAX; i++) {
        const struct variant_row *row = &variant->rows[i];
        if (!flags[i] || row->plan_row == PLAN_NONE || row->leaf == HLO_NONE)
            continue;
        const struct plan_row *of = &variant->space->rows[row->plan_row];
        const struct leaf *leaf = &variant->dimensions.leaves.items[row->leaf];
        const struct edit_shape shape = {variant->sizes + leaf->first, leaf->rank};
        arena_work(variant->arena, SHAPES_MAX);
        if (of->unpadded_bytes > 0 && of->bytes - of->unpadded_bytes > of->unpadded_bytes / 4 &&
            !shape_is_there(shapes, out->shape_count, &shape))
            shapes[out->shape_count++] = shape;
    }
    return out->shape_count > 0 || from_change_refuse(change, "its layout pads nothing of it", err);
}

static bool shard_read(const struct variant *variant, const struct change *change, struct edit *out, struct err *err)
{
    out->kind = EDIT_SHARD;
    split_read(variant, change->device_count, &out->split);
    return matching_read(variant, change, out, err);
}

bool edit_from_change(const struct variant *variant, const struct change *change, struct edit *out, struct err *err)
{
    *out = (struct edit){.kind = EDIT_DONATE};
    switch (change->kind) {
    case CHANGE_DONATE: return donate_read(variant, change, out, err);
    case CHANGE_BATCH:
    case CHANGE_SEQUENCE: return resize_read(variant, change, out, err);
    case CHANGE_CHECKPOINT:
        out->kind = EDIT_CHECKPOINT;
        out->scopes = change->glob;
        out->layers = regions_parameters(variant);
        return true;
    case CHANGE_SHARD: return shard_read(variant, change, out, err);
    case CHANGE_CAST:
        out->kind = EDIT_CAST;
        out->element_type = (int)change->type;
        return matching_read(variant, change, out, err);
    case CHANGE_OFFLOAD:
        return from_change_refuse(change, "where the host's memory is used, the program has to say itself", err);
    case CHANGE_UNPAD: return unpad_read(variant, change, out, err);
    case CHANGE_WITHOUT: return from_change_refuse(change, "another kernel is another program", err);
    case CHANGE_COUNT: break;
    }
    return from_change_refuse(change, "it is no change", err);
}
