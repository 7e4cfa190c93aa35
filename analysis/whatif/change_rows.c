/* SPDX-License-Identifier: Apache-2.0
 * change_rows.c: changes that say of each row what becomes of it: cast, offload, shard, unpad. */
#include "whatif/change_kinds.h"

#include "plan/category.h"
#include "plan/value.h"
#include "whatif/alike.h"
#include "whatif/cast_kept.h"
#include "whatif/donors.h"
#include "whatif/glob.h"
#include "whatif/softmax.h"
#include "whatif/split.h"
#include "whatif/types.h"

#include <stdio.h>

static bool *rows_matching(const struct variant *variant, const struct change *change, uint32_t *count, struct err *err)
{
    bool *flags = arena_array(variant->arena, bool, (size_t)variant->row_count + 1);
    *count = glob_rows(variant, change->glob, flags);
    if (*count == 0)
        glob_missed(variant, change_name(change->kind), change->glob, err);
    return *count == 0 ? NULL : flags;
}

/* ---- cast ---- */

/* Is it a copy of an argument that the compiler made in the type that the argument itself has only now? */
static bool is_needless_copy(const struct variant *variant, struct value_walk *walk, const struct variant_row *row,
                             uint64_t type)
{
    const struct graph *graph = variant->plan->graph;
    if (row->is_indefinite || row->plan_row == PLAN_NONE || row->type != type || row->instruction_at == HLO_NONE ||
        variant->space->rows[row->plan_row].choice.category != CATEGORY_COPY_OF_ARGUMENT)
        return false;
    uint32_t of = value_origin(walk, (struct value){row->instruction_at, VALUE_WHOLE}, VALUE_BASE, NULL).at;
    const struct leaf *argument = graph_is_argument(graph, of) ? leaves_array(&variant->dimensions.leaves, of) : NULL;
    return argument != NULL && shape_type_bytes(argument->type) > shape_type_bytes(type);
}

/* What is cast back to its former type for a while, beside itself. */
static void widened_add(struct variant *variant, uint32_t at, uint32_t until)
{
    struct variant_row row = variant->rows[at];
    row.dies = until > row.born && until < row.dies ? until : row.dies;
    *variant_add(variant) = row;
}

/* What is not in memory now may be put there by a later change. */
static void types_note(struct variant *variant, const uint8_t *states, uint64_t type, bool is_all)
{
    const struct leaves *leaves = &variant->dimensions.leaves;
    const uint8_t *before = variant->types;
    variant->types = arena_array(variant->arena, uint8_t, (size_t)leaves->count + 1);
    for (uint32_t leaf = 0; leaf < leaves->count; leaf++) {
        uint32_t array = variant->dimensions.arrays[leaf];
        enum type_state state = (enum type_state)states[array];
        variant->types[leaf] = before != NULL ? before[leaf] : 0;
        if (array != leaf || state == TYPE_WIDE || (state != TYPE_NARROW && !is_all))
            continue;
        uint64_t now = variant->types[leaf] != 0 ? variant->types[leaf] : leaves->items[leaf].type;
        if (shape_type_is_float(now) && shape_type_bytes(now) > shape_type_bytes(type))
            variant->types[leaf] = (uint8_t)type;
    }
}

static bool is_optimizer_state(const struct variant *variant, const struct variant_row *row)
{
    return row->plan_row != PLAN_NONE &&
           variant->space->rows[row->plan_row].choice.category == CATEGORY_OPTIMIZER_STATE;
}

/* By row: is it a result that an update makes of a cast argument of the optimizer, in memory of its own? Optimizers
 * keep their state in one type. Several results may be alike; which one is the update's does not change the sum. */
static bool *updates_find(const struct variant *variant, const bool *flags)
{
    bool *is_update = arena_array(variant->arena, bool, (size_t)variant->row_count + 1);
    struct variant tried;
    variant_copy(&tried, variant, variant->arena);
    struct donors *donors = donors_build(&tried);
    for (uint32_t i = 0, count = variant->row_count; i < count; i++) {
        const struct variant_row *row = &variant->rows[i];
        if (!flags[i] || !row->is_argument || !is_optimizer_state(variant, row))
            continue;
        uint32_t result = donors_result(donors, i);
        if (result == PLAN_NONE)
            continue;
        tried.rows[result].is_gone = is_update[result] = true;
    }
    return is_update;
}

/* XLA for GPUs casts logits inside the kernels that reduce them, and stores their gradient before it is cast back. */
static bool is_gradient_of_logits(const struct variant *variant, const struct variant_row *row)
{
    return variant->plan->platform == SPACE_PLATFORM_GPU && row->plan_row != PLAN_NONE && !row->is_indefinite &&
           (variant->space->rows[row->plan_row].patterns & 1U << PATTERN_LOGITS) != 0 &&
           row->instruction_at != HLO_NONE && graph_phase(variant->plan->graph, row->instruction_at) == GRAPH_BACKWARD;
}

/* An optimizer's state is for keeping: its update is computed as before, and rounded where it is stored. */
bool change_cast(struct variant *variant, const struct change *change, struct change_result *out, struct err *err)
{
    uint32_t count, argument_count = 0;
    bool *flags = rows_matching(variant, change, &count, err), is_all = str_equal(change->glob, STR("*"));
    if (!flags)
        return false;
    unsigned wanted = shape_type_bytes(change->type);
    bool is_of_optimizer = !is_all;
    for (uint32_t i = 0; i < variant->row_count; i++)
        if (flags[i] && variant->rows[i].is_argument) {
            argument_count++;
            is_of_optimizer = is_of_optimizer && is_optimizer_state(variant, &variant->rows[i]);
        }
    uint8_t *states = argument_count > 0 && !is_of_optimizer
                          ? types_follow(variant, flags, change->type, is_all && wanted >= 2)
                          : NULL;
    const bool *is_update = is_all || argument_count == 0 ? NULL : updates_find(variant, flags);
    bool is_exact = true;
    if (states != NULL)
        types_note(variant, states, change->type, is_all && wanted >= 2);
    const uint32_t before = variant->row_count;
    bool *is_narrowed = arena_array(variant->arena, bool, (size_t)before + 1);
    struct softmax softmax;
    struct value_walk walk;
    softmax_init(&softmax, variant);
    value_walk_init(&walk, variant->plan->graph, 8 * (uint64_t)variant->plan->hlo.instruction_count + 4096,
                    variant->arena);
    for (uint32_t i = 0; i < before; i++) {
        struct variant_row *row = &variant->rows[i];
        enum type_state state = states && row->leaf != HLO_NONE
                                    ? (enum type_state)states[variant->dimensions.arrays[row->leaf]]
                                    : TYPE_FREE;
        /* one byte is for keeping: what is computed with such arguments is not computed in it */
        bool is_named = flags[i] && (row->is_argument || !is_all || (wanted >= 2 && state != TYPE_WIDE));
        bool is_updated = is_update != NULL && is_update[i];
        if (row->is_gone || (!is_named && state != TYPE_NARROW && !is_updated))
            continue;
        if (flags[i] && is_needless_copy(variant, &walk, row, change->type)) {
            row->is_gone = true;
            out->row_count++;
        }
        if (!shape_type_is_float(row->type) || shape_type_bytes(row->type) <= wanted)
            continue;
        enum softmax_part part = is_all ? softmax_part_of(&softmax, row) : SOFTMAX_NO;
        if (part == SOFTMAX_WIDE || (is_all && is_gradient_of_logits(variant, row)))
            continue;
        if (part == SOFTMAX_LOGITS && variant->plan->platform != SPACE_PLATFORM_GPU)
            widened_add(variant, i, softmax.first_backward);
        row = &variant->rows[i];
        is_exact = is_exact && (row->is_argument || is_updated);
        row->type = (uint8_t)change->type;
        is_narrowed[i] = true;
        out->row_count++;
    }
    if (is_all)
        cast_kept_add(variant, change->type, is_narrowed, before);
    if (out->row_count == 0)
        return err_set(err, ERR_argument, ERR_NO_OFFSET, "cast=%.*s: what matches has no wider numbers",
                       (int)change->glob.length, change->glob.data);
    out->confidence = is_exact ? CHANGE_EXACT : CHANGE_MODEL;
    out->reason = is_exact
                      ? "These arguments, and results that live in them, take fewer bytes an element."
                      : "What is computed from arrays of fewer bits has fewer bits, as JAX promotes types; a cast to "
                        "float32 in the source leaves no trace where all is float32.";
    return true;
}

/* ---- offload, shard, unpad ---- */

/* Changes a row that is still there; false where there is nothing to change. */
typedef bool row_visitor(void *context, struct variant *variant, const struct change *change, uint32_t row_at);

/* What is whole on every device is so wherever it is computed, again or in other layers, not at the peak alone. */
static bool is_of_every_moment(const struct change *change)
{
    enum pattern_kind kind = change->kind == CHANGE_SHARD ? alike_pattern(change->glob) : PATTERN_COUNT;
    return kind == PATTERN_BATCH_NOT_SPLIT || kind == PATTERN_GATHERED_ACTIVATION;
}

static bool rows_visit(struct variant *variant, const struct change *change, row_visitor *visit, void *context,
                       struct change_result *out, struct err *err)
{
    uint32_t count;
    bool *flags = rows_matching(variant, change, &count, err);
    if (flags && is_of_every_moment(change))
        alike_flag(variant, alike_pattern(change->glob), flags);
    for (uint32_t i = 0; flags && i < variant->row_count; i++)
        if (flags[i] && !variant->rows[i].is_gone)
            out->row_count += visit(context, variant, change, i);
    out->confidence = CHANGE_BOUND;
    return flags != NULL;
}

static bool offload_row(void *context, struct variant *variant, const struct change *change, uint32_t row_at)
{
    (void)context, (void)change;
    variant->rows[row_at].is_gone = true;
    return true;
}

bool change_offload(struct variant *variant, const struct change *change, struct change_result *out, struct err *err)
{
    out->reason = "What matches leaves the device; room to bring it back piece by piece is not counted.";
    return rows_visit(variant, change, offload_row, NULL, out, err);
}

/* Has an argument a dimension to split it along? Of what is computed that is not known; of few elements it does not
 * matter. */
static bool is_divisible(const struct variant *variant, const struct variant_row *row, const struct split *split)
{
    if (!row->is_argument || row->leaf == HLO_NONE || row->divided_by > 1)
        return true;
    const struct leaf *leaf = &variant->dimensions.leaves.items[row->leaf];
    int64_t elements = 1, least = split->least;
    for (uint32_t nth = 0; nth < leaf->rank; nth++) {
        int64_t size = variant->sizes[leaf->first + nth];
        if (split_takes(split, size) || size <= 0)
            return true;
        elements = elements < least ? elements * (size < least ? size : least) : elements;
    }
    return elements < least;
}

static bool shard_row(void *context, struct variant *variant, const struct change *change, uint32_t row_at)
{
    struct variant_row *row = &variant->rows[row_at];
    int64_t together = (int64_t)row->divided_by * change->device_count;
    if (together > UINT8_MAX || !is_divisible(variant, row, context))
        return false;
    row->divided_by = (uint8_t)together;
    return true;
}

bool change_shard(struct variant *variant, const struct change *change, struct change_result *out, struct err *err)
{
    struct split split;
    split_read(variant, change->device_count, &split);
    out->reason =
        "Everything that matches and divides is split evenly; what devices gather from each other is not counted.";
    if (split.whole_count > 0)
        out->reason = arena_format(variant->arena,
                                   "%s Dimensions of %s are not split: a loop goes through them, or parts of them are "
                                   "read at computed places, for which every device would gather all.",
                                   out->reason, split_whole_text(&split, variant->arena));
    return rows_visit(variant, change, shard_row, &split, out, err);
}

/* What holds a value now that copies between layouts are gone. */
struct layout_copies {
    uint32_t *row_of;  /* by instruction: the row of its value, or HLO_NONE */
    uint32_t *kept_of; /* by row: itself, or the row that it was a copy of */
};

/* A copy from one layout into another, so that less of an array is padded or more: where nothing is padded its source
 * is all there is, as long as either is needed. */
static void layout_copy_drop(struct variant *variant, uint32_t row_at, struct layout_copies *copies)
{
    const struct graph *graph = variant->plan->graph;
    struct variant_row *row = &variant->rows[row_at];
    const struct plan_row *of = &variant->space->rows[row->plan_row];
    uint32_t at = of->buffer_at == PLAN_NONE ? HLO_NONE : variant->plan->hlo.buffers[of->buffer_at].instruction_at;
    copies->kept_of[row_at] = row_at;
    if (at == HLO_NONE || row->is_indefinite)
        return;
    uint32_t operand = graph_op(graph, at) == GRAPH_COPY ? graph_operand(graph, at, 0) : HLO_NONE;
    uint32_t source_at = operand == HLO_NONE ? HLO_NONE : copies->row_of[operand];
    copies->row_of[at] = row_at;
    if (source_at == HLO_NONE)
        return;
    const struct plan_row *source_of = &variant->space->rows[variant->rows[source_at].plan_row];
    if (source_of->unpadded_bytes != of->unpadded_bytes || source_of->bytes == of->bytes)
        return;
    struct variant_row *kept = &variant->rows[copies->kept_of[source_at]];
    kept->dies = row->dies > kept->dies ? row->dies : kept->dies;
    copies->kept_of[row_at] = copies->kept_of[source_at];
    row->is_gone = true;
}

static bool unpad_row(void *context, struct variant *variant, const struct change *change, uint32_t row_at)
{
    struct variant_row *row = &variant->rows[row_at];
    const struct plan_row *of = row->plan_row == PLAN_NONE ? NULL : &variant->space->rows[row->plan_row];
    (void)change;
    if (of)
        layout_copy_drop(variant, row_at, context);
    if (row->is_gone || !of || of->unpadded_bytes < 0 || of->unpadded_bytes >= of->bytes)
        return false;
    row->is_unpadded = true;
    return true;
}

bool change_unpad(struct variant *variant, const struct change *change, struct change_result *out, struct err *err)
{
    size_t instruction_bytes = ((size_t)variant->plan->hlo.instruction_count + 1) * sizeof(uint32_t);
    struct layout_copies copies = {arena_raw(variant->arena, instruction_bytes),
                                   arena_array(variant->arena, uint32_t, (size_t)variant->row_count + 1)};
    memset(copies.row_of, 0xff, instruction_bytes);
    out->reason = "What matches takes the bytes of its elements; the layout that does so may pad another dimension.";
    if (!rows_visit(variant, change, unpad_row, &copies, out, err))
        return false;
    return out->row_count > 0 ||
           err_set(err, ERR_argument, ERR_NO_OFFSET, "unpad=%.*s: the compiler's layout pads nothing of it",
                   (int)change->glob.length, change->glob.data);
}
