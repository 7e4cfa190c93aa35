/* SPDX-License-Identifier: Apache-2.0
 * change_without.c: what matches is never stored whole: a fused kernel, or a loop over parts, keeps pieces of it.
 *
 * A pattern's rows are those that are live at the peak. Without it there is none of their shape at any time, in no
 * other layer and in no other type; of attention scores no mask of their last two dimensions either. */
#include "whatif/change_kinds.h"

#include "base/map.h"
#include "base/sum.h"
#include "plan/pattern.h"
#include "read/hlo/shape.h"
#include "whatif/alike.h"
#include "whatif/call.h"
#include "whatif/flops.h"
#include "whatif/glob.h"

/* ---- what attention stores instead ---- */

/* How long a head is, by the product that makes scores of the shape with the hash `wanted`; 0: there is none. */
static uint32_t head_find(const struct variant *variant, const struct flops *flops, uint64_t wanted)
{
    const struct graph *graph = variant->plan->graph;
    const struct leaves *leaves = &variant->dimensions.leaves;
    for (uint32_t at = 0; at < graph->hlo->instruction_count; at++) {
        const struct variant_row one = {.leaf = leaves->first[at]};
        struct shape_array array;
        if (graph_op(graph, at) != GRAPH_DOT || leaves_count(leaves, at) != 1 || !alike_array(variant, &one, &array) ||
            shape_array_hash_any_order(&array) != wanted)
            continue;
        double runs = flops->runs[graph->hlo->instructions[at].computation_at];
        double each = flops_of(flops, at) / (2 * (double)shape_array_elements(&array) * (runs > 0 ? runs : 1));
        return each >= 1 && each < (double)INT32_MAX ? (uint32_t)each : 0;
    }
    return 0;
}

/* `heads`: those that were found, by the hash of the scores' shape. */
static int64_t head_of(const struct variant *variant, struct flops *flops, struct map *heads,
                       const struct shape_array *scores)
{
    uint64_t wanted = shape_array_hash_any_order(scores);
    if (flops->runs == NULL)
        flops_build(&variant->dimensions, variant->arena, flops);
    if (map_get(heads, wanted) == MAP_NONE)
        map_put(heads, wanted, head_find(variant, flops, wanted), false);
    return map_get(heads, wanted);
}

/* In blocks of queries a part of the scores is there at a time, and going backward the loop reads its queries again. */
static void blocks_add(struct variant *variant, const bool *flags, uint32_t count)
{
    struct flops flops = {0};
    struct map heads;
    map_init(&heads, variant->arena, 0);
    for (uint32_t i = 0; i < count; i++) {
        struct variant_row row = variant->rows[i];
        struct shape_array array;
        if (!flags[i] || row.is_indefinite || row.plan_row == PLAN_NONE || !alike_array(variant, &row, &array))
            continue;
        int64_t keys = array.dimensions[array.rank - 1], blocks = array.dimensions[array.rank - 2] / CALL_QUERIES;
        int64_t elements = shape_array_elements(&array);
        if (variant->space->rows[row.plan_row].choice.category != CATEGORY_SAVED_ACTIVATION) {
            variant->rows[i].is_gone = blocks == 0;
            variant->rows[i].layers = blocks < UINT32_MAX ? (uint32_t)blocks : UINT32_MAX;
            continue;
        }
        int64_t head = head_of(variant, &flops, &heads, &array);
        if (head == 0 || elements < keys || elements > SUM_MAX_BYTES)
            continue;
        row.added_bytes = elements / keys * head * (int64_t)shape_type_bytes(array.type);
        row.is_gone = false;
        row.plan_row = PLAN_NONE;
        row.leaf = row.instruction_at = HLO_NONE;
        row.layers = 0;
        *variant_add(variant) = row;
    }
}

bool change_without(struct variant *variant, const struct change *change, struct change_result *out, struct err *err)
{
    enum pattern_kind kind;
    bool *flags = arena_array(variant->arena, bool, (size_t)variant->row_count + 1);
    uint32_t count = variant->row_count;
    if (glob_rows(variant, change->glob, flags) == 0)
        return glob_missed(variant, change_name(change->kind), change->glob, err);
    kind = alike_pattern(change->glob);
    if (kind != PATTERN_COUNT)
        alike_flag(variant, kind, flags);
    for (uint32_t i = 0; i < count; i++)
        if (flags[i] && !variant->rows[i].is_gone && !variant->rows[i].is_argument) {
            variant->rows[i].is_gone = true;
            out->row_count++;
        }
    if (out->row_count == 0)
        return err_set(err, ERR_argument, ERR_NO_OFFSET, "without=%.*s: it is given to the program, not computed",
                       (int)change->glob.length, change->glob.data);
    if (kind == PATTERN_ATTENTION_SCORES && variant->plan->platform == SPACE_PLATFORM_TPU)
        blocks_add(variant, flags, count);
    out->confidence = kind == PATTERN_ATTENTION_SCORES ? CHANGE_MODEL : CHANGE_BOUND;
    out->reason =
        kind == PATTERN_ATTENTION_SCORES
            ? "No array of the shape of the scores is in the compiler's heap any more, only blocks of them where they "
              "are computed."
            : "Nothing of its shape is in the compiler's heap any more; the pieces that are stored instead are not "
              "counted.";
    return true;
}
