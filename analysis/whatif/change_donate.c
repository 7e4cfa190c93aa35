/* SPDX-License-Identifier: Apache-2.0
 * change_donate.c: results that live in the memory of arguments. */
#include "whatif/change_kinds.h"

#include "base/size_text.h"
#include "base/sum.h"
#include "plan/arguments.h"
#include "plan/category.h"
#include "read/hlo/hlo_ranges.h"
#include "read/hlo/shape_layout.h"
#include "whatif/call.h"
#include "whatif/donors.h"

#include <stdlib.h>

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
    enum category category = variant->space->rows[row->plan_row].choice.category;
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

/* ---- what lies in the memory of a result before it is made ---- */

/* Another value in the memory of a result: positions of the schedule, both included. */
struct lodger {
    uint32_t start, end;
    int64_t bytes;
};

static int lodger_order(const void *left, const void *right)
{
    const struct lodger *a = left, *b = right;
    return ORDER(a->start, b->start) ?: ORDER(a->end, b->end);
}

/* Is a value handed on in its place: written into, copied, or taken through a loop? */
static bool is_handed_on(const struct graph *graph, uint32_t at)
{
    enum graph_op op = graph_op(graph, at);
    uint32_t called = op == GRAPH_FUSION ? graph_called(graph, at, 0) : HLO_NONE,
             root = called == HLO_NONE ? HLO_NONE : graph->root_of[called];
    return op == GRAPH_WHILE || op == GRAPH_CONDITIONAL || op == GRAPH_CALL || op == GRAPH_COPY || op == GRAPH_UPDATE ||
           (root != HLO_NONE && (graph_op(graph, root) == GRAPH_UPDATE || graph_op(graph, root) == GRAPH_COPY));
}

/* What has this value's place up to its start, or HLO_NONE; without an end: the result, which is there last. */
static uint32_t value_before(const struct hlo *hlo, const struct hlo_ranges *ranges,
                             const struct hlo_allocation *allocation, const struct hlo_range *of)
{
    uint32_t last = HLO_NONE;
    for (uint32_t i = 0; i < allocation->assigned_count; i++) {
        uint32_t buffer_at = hlo->assigned[allocation->assigned_first + i].buffer_at;
        const struct hlo_range *range = buffer_at == HLO_NONE ? NULL : &ranges->of_buffer[buffer_at];
        if (range != NULL && range->start != HLO_NONE &&
            (of == NULL || (range->start < of->start && range->end == of->start)) &&
            (last == HLO_NONE || range->start > ranges->of_buffer[last].start))
            last = buffer_at;
    }
    return last;
}

/* The position from which on the result is in its memory: first what is written into in its place. */
enum { HANDED_ON_MAX = 256 };
static uint32_t result_start(const struct variant *variant, const struct hlo_ranges *ranges,
                             const struct hlo_allocation *allocation)
{
    const struct hlo *hlo = &variant->plan->hlo;
    uint32_t at = value_before(hlo, ranges, allocation, NULL), before = at;
    for (unsigned i = 0; i < HANDED_ON_MAX && before != HLO_NONE; i++) {
        at = before;
        uint32_t instruction_at = hlo->buffers[at].instruction_at;
        arena_work(variant->arena, allocation->assigned_count);
        before = instruction_at == HLO_NONE || !is_handed_on(variant->plan->graph, instruction_at)
                     ? HLO_NONE
                     : value_before(hlo, ranges, allocation, &ranges->of_buffer[at]);
    }
    return at == HLO_NONE ? HLO_NONE : ranges->of_buffer[at].start;
}

/* Values that XLA for GPUs packs into the memory of a result until it is made, as gradients; in order, apart. */
static struct lodger *lodgers_find(const struct variant *variant, const struct hlo_ranges *ranges,
                                   const struct variant_row *row, uint32_t *count)
{
    const struct hlo *hlo = &variant->plan->hlo;
    const struct hlo_allocation *allocation = &hlo->allocations[variant->space->rows[row->plan_row].allocation_at];
    arena_work(variant->arena, allocation->assigned_count);
    uint32_t start = result_start(variant, ranges, allocation), found = 0;
    struct lodger *lodgers = arena_array(variant->arena, struct lodger, (size_t)allocation->assigned_count + 1);
    for (uint32_t i = 0; i < allocation->assigned_count && start != HLO_NONE; i++) {
        const struct hlo_assigned *assigned = &hlo->assigned[allocation->assigned_first + i];
        const struct hlo_range *range =
            assigned->buffer_at == HLO_NONE ? NULL : &ranges->of_buffer[assigned->buffer_at];
        if (range != NULL && range->start < start && assigned->size_bytes > 0)
            lodgers[found++] = (struct lodger){range->start, range->end, assigned->size_bytes};
    }
    qsort(lodgers, found, sizeof(*lodgers), lodger_order);
    *count = 0;
    for (uint32_t i = 0; i < found; i++) { /* what a loop hands on is there under several names */
        struct lodger *last = *count > 0 ? &lodgers[*count - 1] : NULL;
        if (last == NULL || lodgers[i].start > last->end) {
            lodgers[(*count)++] = lodgers[i];
            continue;
        }
        last->end = lodgers[i].end > last->end ? lodgers[i].end : last->end;
        last->bytes = lodgers[i].bytes > last->bytes ? lodgers[i].bytes : last->bytes;
    }
    return lodgers;
}

/* They need a place of their own once the result has the argument's. How much that is at one time. */
static int64_t lodgers_add(struct variant *variant, const struct hlo_ranges *ranges, uint32_t result)
{
    uint32_t count = 0, length = variant->plan->schedule.length;
    int64_t largest = 0;
    if (ranges == NULL || variant->rows[result].plan_row == PLAN_NONE)
        return 0;
    const struct lodger *lodgers = lodgers_find(variant, ranges, &variant->rows[result], &count);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t born = lodgers[i].start < length ? variant->step_at[lodgers[i].start] : variant->space->step_count;
        uint32_t dies = lodgers[i].end + 1 < length ? variant->step_at[lodgers[i].end + 1] : variant->space->step_count;
        largest = lodgers[i].bytes > largest ? lodgers[i].bytes : largest;
        *variant_add(variant) = (struct variant_row){.bytes = lodgers[i].bytes,
                                                     .added_bytes = lodgers[i].bytes,
                                                     .born = born,
                                                     .dies = dies,
                                                     .plan_row = PLAN_NONE,
                                                     .leaf = HLO_NONE,
                                                     .instruction_at = HLO_NONE,
                                                     .divided_by = 1};
    }
    return largest;
}

/* When values are there; NULL where nothing else lies in the memory of results. */
static const struct hlo_ranges *ranges_of(const struct variant *variant)
{
    const struct plan *plan = variant->plan;
    if (plan->platform != SPACE_PLATFORM_GPU || plan->schedule.length == 0)
        return NULL;
    if (plan->ranges.of_buffer != NULL)
        return &plan->ranges;
    struct hlo_ranges *ranges = arena_array(variant->arena, struct hlo_ranges, 1);
    hlo_ranges_build(&plan->hlo, &plan->schedule, variant->arena, ranges);
    return ranges;
}

/* ---- arguments that are read in another layout ---- */

static bool is_other_layout(const struct hlo *hlo, uint32_t left, uint32_t right)
{
    struct shape_layout a, b;
    struct shape_array array;
    return shape_array_read(hlo_instruction_shape(hlo, left), &array) &&
           shape_layout_read(hlo_instruction_shape(hlo, left), &a) &&
           shape_layout_read(hlo_instruction_shape(hlo, right), &b) &&
           memcmp(a.physical, b.physical, array.rank * sizeof(*a.physical)) != 0;
}

/* Is the argument copied into another layout? The compiler is free to do so long before the copy is read. */
static bool is_copied(const struct variant *variant, const struct variant_row *row)
{
    const struct graph *graph = variant->plan->graph;
    const struct plan_argument *of = arguments_find(variant->plan, variant_parameter(variant, row));
    if (of == NULL || of->instruction_at == HLO_NONE)
        return false;
    arena_work(variant->arena, graph->reader_first[of->instruction_at + 1] - graph->reader_first[of->instruction_at]);
    for (uint32_t i = graph->reader_first[of->instruction_at]; i < graph->reader_first[of->instruction_at + 1]; i++) {
        uint32_t reader_at = graph->readers[i].reader_at;
        if (str_equal(hlo_instruction_opcode(graph->hlo, reader_at), STR("copy")) &&
            is_other_layout(graph->hlo, of->instruction_at, reader_at))
            return true;
    }
    return false;
}

/* ---- donation ---- */

/* What the sentence says about the results that now have memory of arguments. */
struct donation {
    uint32_t count;
    int64_t bytes, lodged_bytes, copied_bytes; /* of what lay there besides; of arguments that are copied */
};

struct donor {
    int64_t parameter;
    uint32_t row;
};

static int by_parameter(const void *left, const void *right)
{
    const struct donor *a = left, *b = right;
    return ORDER(a->parameter, b->parameter) ?: ORDER(a->row, b->row);
}

/* Flagged arguments in the order of the program's parameters: so JAX gives results to them, and what comes behind the
 * state, as gradients of its shape, goes without. */
static struct donor *donors_in_order(const struct variant *variant, const bool *flags, uint32_t *count)
{
    struct donor *donors = arena_array(variant->arena, struct donor, (size_t)variant->row_count + 1);
    *count = 0;
    for (uint32_t i = 0; i < variant->row_count; i++)
        if (flags[i])
            donors[(*count)++] = (struct donor){variant_parameter(variant, &variant->rows[i]), i};
    qsort(donors, *count, sizeof(*donors), by_parameter);
    return donors;
}

/* Flags stay of the arguments that have a result for their memory, one each. */
static struct donation results_take(struct variant *variant, struct donors *donors, bool *flags)
{
    struct donation donation = {0};
    uint32_t count;
    const struct donor *order = donors_in_order(variant, flags, &count);
    const struct hlo_ranges *ranges = ranges_of(variant);
    for (uint32_t at = 0; at < count; at++) {
        uint32_t i = order[at].row, result = donors_result(donors, i);
        flags[i] = result != PLAN_NONE;
        if (!flags[i])
            continue;
        variant->rows[result].is_gone = true;
        variant->rows[i].is_output = true;
        donation.lodged_bytes = sum_add(donation.lodged_bytes, lodgers_add(variant, ranges, result));
        donation.bytes = sum_add(donation.bytes, variant->rows[i].bytes);
        if (is_copied(variant, &variant->rows[i]))
            donation.copied_bytes = sum_add(donation.copied_bytes, variant->rows[i].bytes);
        donation.count++;
    }
    return donation;
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
    char size[SIZE_TEXT_BYTES];
    bool *flags = arena_array(variant->arena, bool, (size_t)variant->row_count + 1);
    struct donors *donors = donors_build(variant);
    uint32_t asked_count = donated_find(variant, change, donors, flags);
    for (uint32_t i = 0; i < variant->row_count; i++)
        donated_count += flags[i] && variant->rows[i].is_output;
    const struct donation donation = results_take(variant, donors, flags);
    out->row_count = donation.count;
    if (asked_count == 0)
        return err_set(err, ERR_argument, ERR_NO_OFFSET, "donate=%.*s: the program has no such argument",
                       (int)change->glob.length, change->glob.data);
    if (out->row_count == 0)
        return err_set(err, ERR_argument, ERR_NO_OFFSET, "donate=%.*s: %s", (int)change->glob.length, change->glob.data,
                       donated_count == asked_count ? "it is donated already"
                       : donated_count > 0          ? "all that has a result for its memory is donated already"
                                                    : "no result that could live in its memory has its shape and type");
    out->confidence = CHANGE_EXACT;
    out->reason = "A result has the shape and type of the argument, and now has its own memory.";
    if (donation.lodged_bytes > 0) {
        out->confidence = CHANGE_MODEL;
        out->reason = arena_format(variant->arena,
                                   "Other values lie in the memory of these results until they are made: %s need a "
                                   "place of their own then, at most.",
                                   size_text(size, (uint64_t)donation.lodged_bytes));
    }
    if (donation.copied_bytes > donation.bytes / 100) {
        out->confidence = CHANGE_BOUND;
        out->reason = arena_format(variant->arena,
                                   "At most this: %s of the arguments are copied into another layout, and a copy that "
                                   "is made earlier takes the memory that is saved.",
                                   size_text(size, (uint64_t)donation.copied_bytes));
    }
    return true;
}
