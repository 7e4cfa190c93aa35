/* SPDX-License-Identifier: Apache-2.0
 * change_donate.c: results that live in the memory of arguments. */
#include "whatif/change_kinds.h"

#include "plan/category.h"
#include "whatif/call.h"
#include "whatif/donors.h"

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

/* Data that comes anew with each call, which its caller may want to keep. */
static bool is_data(const struct variant *variant, const struct variant_row *row)
{
    enum category category = variant->space->rows[row->plan_row].verdict.category;
    return category == CATEGORY_BATCH || category == CATEGORY_INPUT;
}

/* Numbers are those of the function's arguments, as for donate_argnums; without names those of parameters. */
static uint32_t donated_find(const struct variant *variant, const struct change *change, struct donors *donors,
                             bool *flags)
{
    bool is_all = str_equal(change->glob, STR("all")) || str_equal(change->glob, STR("*")), has_state = false;
    const int64_t *numbers = call_argument_numbers(variant->plan, variant->arena);
    uint32_t count = 0;
    for (uint32_t i = 0; is_all && i < variant->row_count && !has_state; i++) {
        const struct variant_row *row = &variant->rows[i];
        bool is_donated = row->is_argument && row->is_output && row->plan_row != PLAN_NONE;
        has_state = (is_donated || donors_result(donors, i) != PLAN_NONE) && !is_data(variant, row);
    }
    for (uint32_t i = 0; i < variant->row_count; i++) {
        const struct variant_row *row = &variant->rows[i];
        flags[i] = row->is_argument && !row->is_gone && row->plan_row != PLAN_NONE;
        if (flags[i] && is_all) {
            flags[i] = !has_state || !is_data(variant, row);
        } else if (flags[i]) {
            int64_t parameter = variant_parameter(variant, row),
                    number = call_argument_number(variant->plan, numbers, parameter);
            arena_work(variant->arena, change->glob.length);
            flags[i] = is_listed(change->glob, number >= 0 ? number : parameter);
        }
        count += flags[i];
    }
    return count;
}

uint32_t change_donated(const struct variant *variant, const struct change *change, bool *flags)
{
    return donated_find(variant, change, donors_build(variant), flags);
}

/* Flags stay of the arguments that have a result for their memory, one each. */
static uint32_t results_take(struct variant *variant, struct donors *donors, bool *flags)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < variant->row_count; i++) {
        uint32_t result = flags[i] ? donors_result(donors, i) : PLAN_NONE;
        flags[i] = result != PLAN_NONE;
        if (!flags[i])
            continue;
        variant->rows[result].is_gone = true;
        variant->rows[i].is_output = true;
        count++;
    }
    return count;
}

void change_donating(const struct variant *variant, const struct change *change, bool *flags)
{
    struct variant tried;
    variant_copy(&tried, variant, variant->arena);
    struct donors *donors = donors_build(&tried);
    donated_find(&tried, change, donors, flags);
    results_take(&tried, donors, flags);
}

bool change_donate(struct variant *variant, const struct change *change, struct change_result *out, struct err *err)
{
    uint32_t donated_count = 0;
    bool *flags = arena_array(variant->arena, bool, (size_t)variant->row_count + 1);
    struct donors *donors = donors_build(variant);
    uint32_t asked_count = donated_find(variant, change, donors, flags);
    for (uint32_t i = 0; i < variant->row_count; i++)
        donated_count += flags[i] && variant->rows[i].is_output;
    out->row_count = results_take(variant, donors, flags);
    if (asked_count == 0)
        return err_set(err, ERR_argument, ERR_NO_OFFSET, "donate=%.*s: the program has no such argument",
                       (int)change->glob.length, change->glob.data);
    if (out->row_count == 0)
        return err_set(err, ERR_argument, ERR_NO_OFFSET, "donate=%.*s: %s", (int)change->glob.length, change->glob.data,
                       donated_count == asked_count ? "it is donated already"
                       : donated_count > 0          ? "all that has a result for its memory is donated already"
                                                    : "no result that could live in its memory has its shape and type");
    out->confidence = CHANGE_EXACT;
    out->reason = "A result repeats the shape and type of the argument, and lives in memory of its own now.";
    return true;
}
