/* SPDX-License-Identifier: Apache-2.0
 * change_donate.c: results that live in the memory of arguments. */
#include "whatif/change_kinds.h"

#include "plan/arguments.h"
#include "plan/category.h"
#include "plan/value.h"
#include "whatif/call.h"

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

/* ---- loops that build a result while they read the argument ---- */

/* The loop that a result comes out of, as which element of its state; HLO_NONE: out of none. */
enum { BACK_STEPS_MAX = 32 };

static uint32_t loop_of_result(const struct graph *graph, struct value value, uint32_t *element)
{
    for (unsigned steps = 0; steps < BACK_STEPS_MAX && value.at != HLO_NONE; steps++) {
        switch (graph_op(graph, value.at)) {
        case GRAPH_WHILE: *element = value.element; return value.element == VALUE_WHOLE ? HLO_NONE : value.at;
        case GRAPH_ELEMENT:
            value = (struct value){graph_operand(graph, value.at, 0), (uint32_t)graph->numbers[value.at]};
            break;
        case GRAPH_TUPLE:
            value = (struct value){
                value.element == VALUE_WHOLE ? HLO_NONE : graph_operand(graph, value.at, value.element), VALUE_WHOLE};
            break;
        case GRAPH_SAME:
        case GRAPH_COPY: value.at = graph_operand(graph, value.at, 0); break;
        default: return HLO_NONE;
        }
    }
    return HLO_NONE;
}

/* Does the loop read the argument, and build that element of its state in other memory meanwhile? */
static bool is_read_beside(const struct variant *variant, uint32_t loop_at, uint32_t element, uint32_t argument_at)
{
    const struct graph *graph = variant->plan->graph;
    uint32_t state = graph_operand(graph, loop_at, 0), operand;
    struct value_walk walk;
    bool is_read = false, is_in_place = false;
    if (state == HLO_NONE || graph_op(graph, state) != GRAPH_TUPLE)
        return false;
    value_walk_init(&walk, graph, 100000, variant->arena);
    for (uint32_t nth = 0; (operand = graph_operand(graph, state, nth)) != HLO_NONE; nth++) {
        struct value origin = value_origin(&walk, (struct value){operand, VALUE_WHOLE}, VALUE_ORIGIN, NULL);
        is_read = is_read || origin.at == argument_at;
        is_in_place = is_in_place || (origin.at == argument_at && nth == element);
    }
    return is_read && !is_in_place;
}

/* Are the program's results of the shape of the argument built by a loop that reads it? Then donation only brings a copy
 * at the end: as much memory as before. */
static bool is_built_beside(const struct variant *variant, const struct variant_row *argument)
{
    const struct graph *graph = variant->plan->graph;
    const struct leaves *leaves = &variant->dimensions.leaves;
    uint32_t root = variant->plan->hlo.entry_at == HLO_NONE ? HLO_NONE : graph->root_of[variant->plan->hlo.entry_at];
    const struct plan_argument *of = arguments_find(variant->plan, variant_parameter(variant, argument));
    uint32_t operand, element, beside_count = 0, count = 0;
    if (root == HLO_NONE || graph_op(graph, root) != GRAPH_TUPLE || !of || of->instruction_at == HLO_NONE)
        return false;
    for (uint32_t nth = 0; (operand = graph_operand(graph, root, nth)) != HLO_NONE; nth++) {
        struct variant_row result = {.leaf = leaves->first[operand], .type = argument->type};
        if (leaves_count(leaves, operand) != 1 || leaves->items[result.leaf].type != argument->type ||
            !is_same_array(variant, argument, &result))
            continue;
        uint32_t loop_at = loop_of_result(graph, (struct value){operand, VALUE_WHOLE}, &element);
        count++;
        beside_count += loop_at != HLO_NONE && is_read_beside(variant, loop_at, element, of->instruction_at);
    }
    return count > 0 && beside_count == count;
}

/* The result that the argument of a row could give its memory to, or HLO_NONE. */
static uint32_t result_for(const struct variant *variant, uint32_t argument)
{
    const struct variant_row *row = &variant->rows[argument];
    if (!row->is_argument || row->is_gone || row->is_output || row->plan_row == PLAN_NONE)
        return HLO_NONE;
    arena_work(variant->arena, variant->space->indefinite_row_count);
    if (is_built_beside(variant, row))
        return HLO_NONE;
    for (uint32_t i = 0; i < variant->space->indefinite_row_count; i++) { /* they stand first */
        const struct variant_row *result = &variant->rows[i];
        if (result->is_output && !result->is_argument && !result->is_gone && is_same_array(variant, row, result))
            return i;
    }
    return HLO_NONE;
}

bool change_can_donate(const struct variant *variant, uint32_t row) { return result_for(variant, row) != HLO_NONE; }

/* Data that comes anew with each call, which its caller may want to keep. */
static bool is_data(const struct variant *variant, const struct variant_row *row)
{
    enum category category = variant->space->rows[row->plan_row].verdict.category;
    return category == CATEGORY_BATCH || category == CATEGORY_INPUT;
}

/* Numbers are those of the function's arguments, as for donate_argnums; without names those of parameters. */
uint32_t change_donated(const struct variant *variant, const struct change *change, bool *flags)
{
    bool is_all = str_equal(change->glob, STR("all")) || str_equal(change->glob, STR("*")), has_state = false;
    uint32_t count = 0;
    for (uint32_t i = 0; is_all && i < variant->row_count && !has_state; i++)
        has_state = result_for(variant, i) != HLO_NONE && !is_data(variant, &variant->rows[i]);
    for (uint32_t i = 0; i < variant->row_count; i++) {
        const struct variant_row *row = &variant->rows[i];
        flags[i] = row->is_argument && !row->is_gone && row->plan_row != PLAN_NONE;
        if (flags[i] && is_all) {
            flags[i] = !has_state || !is_data(variant, row);
        } else if (flags[i]) {
            int64_t parameter = variant_parameter(variant, row),
                    number = call_argument_number(variant->plan, parameter);
            flags[i] = is_listed(change->glob, number >= 0 ? number : parameter);
        }
        count += flags[i];
    }
    return count;
}

bool change_donate(struct variant *variant, const struct change *change, struct change_result *out, struct err *err)
{
    uint32_t donated_count = 0;
    bool *flags = arena_array(variant->arena, bool, (size_t)variant->row_count + 1);
    uint32_t asked_count = change_donated(variant, change, flags);
    for (uint32_t i = 0; i < variant->row_count; i++) {
        struct variant_row *argument = &variant->rows[i];
        if (!flags[i])
            continue;
        uint32_t result = result_for(variant, i);
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
                                                    : "no result that could live in its memory has its shape and type");
    out->confidence = CHANGE_EXACT;
    out->reason = "A result repeats the shape and type of the argument, and lives in memory of its own now.";
    return true;
}
