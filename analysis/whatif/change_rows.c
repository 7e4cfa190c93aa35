/* SPDX-License-Identifier: Apache-2.0
 * change_rows.c: changes that say of each row what becomes of it: donate, cast, offload, shard, unpad. */
#include "whatif/change_kinds.h"

#include "plan/arguments.h"
#include "whatif/call.h"
#include "whatif/glob.h"
#include "whatif/softmax.h"

#include <stdio.h>

static bool *rows_matching(const struct variant *variant, const struct change *change, uint32_t *count, struct err *err)
{
    bool *flags = arena_array(variant->arena, bool, (size_t)variant->row_count + 1);
    *count = glob_rows(variant, change->glob, flags);
    if (*count == 0)
        glob_missed(variant, change_name(change->kind), change->glob, err);
    return *count == 0 ? NULL : flags;
}

/* ---- donate ---- */

static bool is_listed(struct str list, int64_t number)
{
    for (size_t at = 0; at < list.length; at++) {
        int64_t value = 0;
        size_t digits = str_digits((struct str){list.data, list.length}, at);
        for (size_t i = 0; i < digits && i < 18; i++)
            value = value * 10 + (list.data[at + i] - '0');
        if (digits > 0 && value == number)
            return true;
        at += digits;
    }
    return false;
}

static bool is_same_array(const struct variant *variant, const struct variant_row *a, const struct variant_row *b)
{
    if (a->leaf == HLO_NONE || b->leaf == HLO_NONE || a->type != b->type)
        return false;
    const struct leaf *x = &variant->dimensions.leaves.items[a->leaf], *y = &variant->dimensions.leaves.items[b->leaf];
    if (x->rank != y->rank)
        return false;
    for (uint32_t i = 0; i < x->rank; i++)
        if (variant->sizes[x->first + i] != variant->sizes[y->first + i])
            return false;
    return true;
}

/* The result that the argument of a row could give its memory to, or HLO_NONE. */
static uint32_t result_for(const struct variant *variant, uint32_t argument)
{
    const struct variant_row *row = &variant->rows[argument];
    if (!row->is_argument || row->is_gone || row->is_output || row->plan_row == PLAN_NONE)
        return HLO_NONE;
    arena_work(variant->arena, variant->space->indefinite_row_count);
    for (uint32_t i = 0; i < variant->space->indefinite_row_count; i++) { /* they stand first */
        const struct variant_row *result = &variant->rows[i];
        if (result->is_output && !result->is_argument && !result->is_gone && is_same_array(variant, row, result))
            return i;
    }
    return HLO_NONE;
}

bool change_can_donate(const struct variant *variant, uint32_t row) { return result_for(variant, row) != HLO_NONE; }

/* Numbers are those of the function's arguments, as for donate_argnums; without names those of parameters. */
static bool is_asked(const struct variant *variant, const struct change *change, const struct variant_row *row)
{
    int64_t parameter = variant_parameter(variant, row), number = call_argument_number(variant->plan, parameter);
    return is_listed(change->glob, number >= 0 ? number : parameter);
}

bool change_donate(struct variant *variant, const struct change *change, struct change_result *out, struct err *err)
{
    bool is_all = str_equal(change->glob, STR("all")) || str_equal(change->glob, STR("*"));
    uint32_t asked_count = 0, donated_count = 0;
    for (uint32_t i = 0; i < variant->row_count; i++) {
        struct variant_row *argument = &variant->rows[i];
        if (!argument->is_argument || argument->is_gone || argument->plan_row == PLAN_NONE ||
            (!is_all && !is_asked(variant, change, argument)))
            continue;
        uint32_t result = result_for(variant, i);
        asked_count++;
        donated_count += argument->is_output;
        if (result == HLO_NONE)
            continue;
        variant->rows[result].is_gone = true;
        argument->is_output = true;
        out->row_count++;
    }
    if (asked_count == 0)
        return err_set(err, ERR_argument, ERR_NO_OFFSET, "donate=%.*s: the program has no such argument",
                       (int)change->glob.length, change->glob.data);
    if (out->row_count == 0)
        return err_set(err, ERR_argument, ERR_NO_OFFSET, "donate=%.*s: %s", (int)change->glob.length, change->glob.data,
                       donated_count == asked_count ? "it is donated already"
                                                    : "no result that needs memory of its own has its shape and type");
    out->confidence = CHANGE_EXACT;
    out->reason = "A result repeats the shape and type of the argument, and lives in memory of its own now.";
    return true;
}

/* ---- cast ---- */

bool change_cast(struct variant *variant, const struct change *change, struct change_result *out, struct err *err)
{
    uint32_t count;
    bool *flags = rows_matching(variant, change, &count, err);
    if (!flags)
        return false;
    unsigned wanted = shape_type_bytes(change->type);
    uint32_t matched_arguments = 0, matched_others = 0;
    for (uint32_t i = 0; i < variant->row_count; i++) {
        struct variant_row *row = &variant->rows[i];
        if (!flags[i] || row->is_gone || !shape_type_is_float(row->type) || shape_type_bytes(row->type) <= wanted ||
            softmax_keeps(variant, row))
            continue;
        *(row->is_argument ? &matched_arguments : &matched_others) += 1;
        row->type = (uint8_t)change->type;
        out->row_count++;
    }
    if (out->row_count == 0)
        return err_set(err, ERR_argument, ERR_NO_OFFSET, "cast=%.*s: what matches has no wider numbers",
                       (int)change->glob.length, change->glob.data);
    out->confidence = matched_others == 0 ? CHANGE_EXACT : CHANGE_MODEL;
    out->reason = matched_others == 0 ? "These arguments, and results that live in them, take fewer bytes an element."
                                      : "Arrays that match are kept in the narrower type; which of them the program "
                                        "widens again for a computation is not known.";
    return true;
}

/* ---- offload, shard, unpad ---- */

bool change_offload(struct variant *variant, const struct change *change, struct change_result *out, struct err *err)
{
    uint32_t count;
    bool *flags = rows_matching(variant, change, &count, err);
    if (!flags)
        return false;
    for (uint32_t i = 0; i < variant->row_count; i++)
        if (flags[i] && !variant->rows[i].is_gone) {
            variant->rows[i].is_gone = true;
            out->row_count++;
        }
    out->confidence = CHANGE_BOUND;
    out->reason = "What matches leaves the device; room to bring it back piece by piece is not counted.";
    return true;
}

bool change_shard(struct variant *variant, const struct change *change, struct change_result *out, struct err *err)
{
    uint32_t count;
    bool *flags = rows_matching(variant, change, &count, err);
    if (!flags)
        return false;
    for (uint32_t i = 0; i < variant->row_count; i++) {
        struct variant_row *row = &variant->rows[i];
        int64_t together = (int64_t)row->divided_by * change->device_count;
        if (!flags[i] || row->is_gone || together > UINT8_MAX)
            continue;
        row->divided_by = (uint8_t)together;
        out->row_count++;
    }
    out->confidence = CHANGE_BOUND;
    out->reason = "Everything that matches is split evenly; what devices gather from each other is not counted.";
    return true;
}

bool change_unpad(struct variant *variant, const struct change *change, struct change_result *out, struct err *err)
{
    uint32_t count;
    bool *flags = rows_matching(variant, change, &count, err);
    if (!flags)
        return false;
    for (uint32_t i = 0; i < variant->row_count; i++) {
        struct variant_row *row = &variant->rows[i];
        const struct plan_row *of = row->plan_row == PLAN_NONE ? NULL : &variant->space->rows[row->plan_row];
        if (!flags[i] || row->is_gone || !of || of->unpadded_bytes < 0 || of->unpadded_bytes >= of->bytes)
            continue;
        row->is_unpadded = true;
        out->row_count++;
    }
    if (out->row_count == 0)
        return err_set(err, ERR_argument, ERR_NO_OFFSET, "unpad=%.*s: the compiler's layout pads nothing of it",
                       (int)change->glob.length, change->glob.data);
    out->confidence = CHANGE_BOUND;
    out->reason = "What matches takes the bytes of its elements; the layout that does so may pad another dimension.";
    return true;
}
