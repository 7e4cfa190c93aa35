/* SPDX-License-Identifier: Apache-2.0 */
#include "edit/from_change.h"

#include "whatif/glob.h"

static bool refuse(const struct change *change, const char *reason, struct err *err)
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
        for (uint32_t i = 0; i < variant->space->indefinite_row_count && !is_named; i++) /* they stand first */
            is_named = flags[i] && variant->rows[i].is_argument && variant->rows[i].plan_row != PLAN_NONE &&
                       variant_parameter(variant, &variant->rows[i]) == argument->number;
        if (is_named)
            numbers[out->parameter_count++] = argument->number;
    }
    out->parameters = numbers;
    out->is_every = true; /* of a tree of arrays those that cannot follow stay, as with JAX */
    return out->parameter_count > 0 ||
           refuse(change, "only arguments of the program can be changed so, and it names none", err);
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
    uint32_t count;
    if (!change_targets(variant, change, &targets, &count, err))
        return false;
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
        return true;
    case CHANGE_SHARD:
        out->kind = EDIT_SHARD;
        out->partitions = change->device_count;
        return matching_read(variant, change, out, err);
    case CHANGE_CAST:
        out->kind = EDIT_CAST;
        out->element_type = (int)change->type;
        return matching_read(variant, change, out, err);
    case CHANGE_OFFLOAD: return refuse(change, "where the host's memory is used, the program has to say itself", err);
    case CHANGE_UNPAD: return refuse(change, "layouts are its own choice", err);
    case CHANGE_WITHOUT: return refuse(change, "another kernel is another program", err);
    case CHANGE_COUNT: break;
    }
    return refuse(change, "it is no change", err);
}
