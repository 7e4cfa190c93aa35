/* SPDX-License-Identifier: Apache-2.0
 * checkpoint_stacks.c: layers of a scan: what its loop stacks up for the backward pass. */
#include "whatif/checkpoint.h"
#include "whatif/checkpointed.h"

#include "base/map.h"
#include "base/select.h"
#include "plan/pattern.h"

#include <stdlib.h>

static bool is_same_slice(const struct variant *variant, const struct leaf *stack, const struct leaf *carried)
{
    if (stack->rank != carried->rank + 1)
        return false;
    for (uint32_t i = 0; i < carried->rank; i++)
        if (variant->sizes[stack->first + 1 + i] != variant->sizes[carried->first + i])
            return false;
    return true;
}

/* Arrays of the shape of a layer's part of a stack that a loop hands from layer to layer: all, and by the bytes of an
 * element. */
enum { ELEMENT_BYTES_MAX = 16 };
struct carried {
    uint32_t count, of_size[ELEMENT_BYTES_MAX + 1];
};

static uint32_t *of_its_size(struct carried *carried, const struct leaf *leaf)
{
    unsigned bytes = shape_type_bytes(leaf->type);
    return &carried->of_size[bytes < ELEMENT_BYTES_MAX ? bytes : ELEMENT_BYTES_MAX];
}

static struct carried carried_count(const struct checkpoint *work, uint32_t body, const struct leaf *stack)
{
    const struct graph *graph = work->graph;
    const struct leaves *leaves = &work->variant->dimensions.leaves;
    struct carried found = {.count = 0};
    uint32_t root = graph->root_of[body], loop_at = graph->caller_of[body], operand;
    if (root == HLO_NONE || loop_at == HLO_NONE || graph_op(graph, root) != GRAPH_TUPLE)
        return found;
    arena_work(work->variant->arena, graph->operand_first[root + 1] - graph->operand_first[root]);
    for (uint32_t nth = 0; (operand = graph_operand(graph, root, nth)) != HLO_NONE; nth++) {
        uint32_t count, leaf = leaves_element(leaves, loop_at, nth, &count);
        bool is_kept = graph_op(graph, operand) == GRAPH_ELEMENT && (uint32_t)graph->numbers[operand] == nth;
        if (is_kept || count != 1 || !is_same_slice(work->variant, stack, &leaves->items[leaf]))
            continue;
        found.count++;
        ++*of_its_size(&found, &leaves->items[leaf]);
    }
    return found;
}

/* What takes a layer's part out of a stack going backward. */
enum { SLICE_MAX = 16 };
struct slices {
    const struct checkpoint *work;
    uint32_t at[SLICE_MAX], count, first_step;
};

static bool slice_note(void *context, uint32_t reader_at, uint32_t operand)
{
    struct slices *slices = context;
    const struct graph *graph = slices->work->graph;
    (void)operand;
    if (reader_at == HLO_NONE || graph_phase(graph, reader_at) != GRAPH_BACKWARD)
        return true;
    checkpoint_earlier(&slices->first_step, variant_step(slices->work->variant, reader_at));
    if (graph_op(graph, reader_at) == GRAPH_SLICE)
        slices->at[slices->count++] = reader_at;
    return slices->count < SLICE_MAX;
}

/* Where the backward pass takes layers out of a stack. It may be filled where it was made, or in what the forward loop
 * gives. */
static void slices_find(struct checkpoint *work, const struct variant_row *row, struct slices *slices)
{
    uint32_t maker = checkpoint_maker(work, row);
    *slices = (struct slices){.work = work, .first_step = HLO_NONE};
    value_each_reader(&work->walk,
                      value_of_buffer(&work->plan->hlo, work->variant->space->rows[row->plan_row].buffer_at),
                      slice_note, slices);
    if (slices->count == 0 && maker != HLO_NONE)
        value_each_reader(&work->walk, (struct value){maker, VALUE_WHOLE}, slice_note, slices);
}

/* Is a layer's part put into memory when it is computed again? */
static bool is_stored_again(struct checkpoint *work, const struct variant_row *row, uint32_t *first_step)
{
    struct slices slices;
    struct checkpoint_reading reading = {.work = work, .layer = HLO_NONE, .kernel_at = HLO_NONE};
    slices_find(work, row, &slices);
    for (uint32_t i = 0; i < slices.count && reading.count < 2; i++)
        value_each_reader(&work->walk, (struct value){slices.at[i], VALUE_WHOLE}, checkpoint_reader_note, &reading);
    checkpoint_earlier(first_step, slices.first_step);
    return reading.count >= 2;
}

bool checkpoint_is_stack(const struct checkpoint *work, const struct variant_row *row)
{
    return !row->is_gone && row->layers == 0 && row->plan_row != PLAN_NONE && row->leaf != HLO_NONE &&
           work->variant->dimensions.leaves.items[row->leaf].rank > 0 &&
           (work->variant->space->rows[row->plan_row].patterns & 1U << PATTERN_SCAN_RESIDUALS) != 0;
}

/* What was put back for a layer that holds a whole loop is none. */
static bool is_meant(const struct checkpoint *work, const bool *flags, uint32_t row)
{
    return row < work->flag_count && (!flags || flags[row]);
}

/* ---- stacks of layers that are checkpointed already ---- */

struct inner_reading {
    const struct checkpoint *work;
    struct checkpointed_readers readers;
};

static bool inner_reader_note(void *context, uint32_t reader_at, uint32_t operand)
{
    struct inner_reading *reading = context;
    (void)operand;
    return checkpointed_reader_note(reading->work->graph, reader_at, reading->work->variant->arena, &reading->readers);
}

/* Does the loop stack up what its checkpointed body goes in with, and no value that a policy keeps? */
static bool is_checkpoint_input(struct checkpoint *work, const struct variant_row *row)
{
    struct slices slices;
    struct inner_reading reading = {.work = work};
    uint32_t maker = checkpoint_maker(work, row),
             stacked = maker == HLO_NONE ? HLO_NONE : graph_operand(work->graph, maker, 1),
             made_by = stacked == HLO_NONE ? HLO_NONE : value_maker(&work->walk, stacked);
    if (work->checkpointed == NULL || (made_by != HLO_NONE && checkpointed_may_be_kept(work->graph, made_by)))
        return false;
    slices_find(work, row, &slices);
    for (uint32_t i = 0; i < slices.count && !reading.readers.are_outside; i++)
        value_each_reader(&work->walk, (struct value){slices.at[i], VALUE_WHOLE}, inner_reader_note, &reading);
    return checkpointed_needs(&reading.readers);
}

/* Stacks of one loop and shape. */
struct stack {
    uint64_t kind; /* a hash of both: stacks whose hashes agree by mistake would only count as one kind */
    int64_t bytes;
    uint32_t row, body;
};

static int by_kind_and_size(const void *left, const void *right)
{
    const struct stack *a = left, *b = right;
    return ORDER(a->kind, b->kind) ?: ORDER(a->bytes, b->bytes) ?: ORDER(a->row, b->row);
}

static uint64_t stack_kind(const struct variant *variant, uint32_t body, const struct leaf *leaf)
{
    uint64_t kind = hash_number(body, leaf->rank);
    for (uint32_t i = 0; i < leaf->rank; i++)
        kind = hash_number((uint64_t)variant->sizes[leaf->first + i], kind);
    return kind;
}

static bool stack_read(const struct checkpoint *work, uint32_t at, struct stack *out)
{
    const struct variant *variant = work->variant;
    const struct variant_row *row = &variant->rows[at];
    uint32_t maker = checkpoint_maker(work, row),
             body = maker == HLO_NONE ? HLO_NONE : graph_loop_body_around(work->graph, maker);
    if (body == HLO_NONE || row->layers > 0 || row->plan_row == PLAN_NONE || row->leaf == HLO_NONE ||
        (variant->space->rows[row->plan_row].patterns & 1U << PATTERN_SCAN_RESIDUALS) == 0)
        return false;
    *out =
        (struct stack){stack_kind(variant, body, &variant->dimensions.leaves.items[row->leaf]), row->bytes, at, body};
    return true;
}

/* The body of the loop that takes its layers out again going backward, or HLO_NONE. */
static uint32_t backward_body(struct checkpoint *work, uint32_t row)
{
    struct slices slices;
    slices_find(work, &work->variant->rows[row], &slices);
    return slices.count > 0 ? graph_loop_body_around(work->graph, slices.at[0]) : HLO_NONE;
}

/* Going forward a loop may take what it carries out of the stack of it; going backward it carries the gradients, in a
 * type of their own. */
static struct carried wanted_count(struct checkpoint *work, const struct stack *stack, const struct leaf *leaf)
{
    struct carried forward = carried_count(work, stack->body, leaf);
    uint32_t body = backward_body(work, stack->row),
             backward = body == HLO_NONE ? 0 : carried_count(work, body, leaf).count;
    forward.count = forward.count > backward ? forward.count : backward;
    return forward;
}

/* Which stacks stay, by row: as many of a shape as the loop carries arrays of it, of the type in which it carries them
 * where there are such, else the smallest first. */
static bool *stacks_staying(struct checkpoint *work, const bool *flags)
{
    const struct variant *variant = work->variant;
    bool *stays = arena_array(variant->arena, bool, (size_t)variant->row_count + 1);
    struct stack *stacks = arena_array(variant->arena, struct stack, (size_t)variant->row_count + 1);
    uint32_t count = 0;
    for (uint32_t i = 0; i < variant->row_count; i++)
        if (is_meant(work, flags, i))
            count += stack_read(work, i, &stacks[count]);
    arena_work(variant->arena, select_work(count));
    qsort(stacks, count, sizeof(*stacks), by_kind_and_size);
    for (uint32_t first = 0, end; first < count; first = end) {
        const struct leaf *leaves = variant->dimensions.leaves.items;
        struct carried wanted = wanted_count(work, &stacks[first], &leaves[variant->rows[stacks[first].row].leaf]);
        for (end = first; end < count && stacks[end].kind == stacks[first].kind; end++) {
            uint32_t *of_size = of_its_size(&wanted, &leaves[variant->rows[stacks[end].row].leaf]);
            if (wanted.count == 0 || *of_size == 0)
                continue;
            wanted.count--, --*of_size;
            stays[stacks[end].row] = true;
        }
        for (uint32_t i = first; i < end && wanted.count > 0; i++)
            if (!stays[stacks[i].row]) {
                wanted.count--;
                stays[stacks[i].row] = true;
            }
    }
    return stays;
}

/* What makes a row: behind the user's views as well. */
static uint32_t base_of(struct checkpoint *work, const struct variant_row *row)
{
    uint32_t buffer_at = row->plan_row == PLAN_NONE ? PLAN_NONE : work->variant->space->rows[row->plan_row].buffer_at;
    return buffer_at == PLAN_NONE
               ? HLO_NONE
               : value_origin(&work->walk, value_of_buffer(&work->plan->hlo, buffer_at), VALUE_BASE, NULL).at;
}

/* Between the loops, XLA for GPUs brings a whole stack into the layout that the backward loop reads: with the stack goes
 * its copy. */
static void relaid_drop(struct checkpoint *work, const struct map *dropped)
{
    struct variant *variant = work->variant;
    for (uint32_t i = 0; i < work->flag_count && dropped->count > 0; i++) {
        struct variant_row *row = &variant->rows[i];
        if (row->is_gone || row->is_indefinite || row->layers > 0 || checkpoint_is_stack(work, row))
            continue;
        uint32_t base = base_of(work, row), stack = base == HLO_NONE ? MAP_NONE : map_get(dropped, base);
        row->is_gone = stack != MAP_NONE && variant->rows[stack].bytes == row->bytes;
    }
}

uint32_t checkpoint_stacks_drop(struct checkpoint *work, const bool *flags)
{
    struct variant *variant = work->variant;
    uint32_t dropped = 0, to = 0, first_step = HLO_NONE, before = variant->row_count;
    const bool *stays = stacks_staying(work, flags);
    struct map makers; /* of stacks that are dropped: their rows */
    map_init(&makers, variant->arena, 16);
    for (uint32_t i = 0; i < before; i++) {
        struct variant_row *row = &variant->rows[i];
        if (!checkpoint_is_stack(work, row) || !is_meant(work, flags, i) || stays[i] || is_checkpoint_input(work, row))
            continue;
        uint32_t maker = checkpoint_maker(work, row);
        row->is_gone = true;
        if (maker != HLO_NONE)
            map_put(&makers, maker, i, true);
        to = row->dies > to ? row->dies : to;
        dropped++;
        if (!is_stored_again(work, row, &first_step))
            continue;
        struct variant_row part = *row;
        int64_t layers = variant->dimensions.leaves.sizes[variant->dimensions.leaves.items[row->leaf].first];
        part.is_gone = false;
        part.layers = layers > 0 && layers < UINT32_MAX ? (uint32_t)layers : 1;
        *variant_add(variant) = part;
    }
    for (uint32_t i = before; i < variant->row_count; i++) { /* all at once, while the backward loop runs */
        variant->rows[i].born = first_step < to ? first_step : work->first_backward;
        variant->rows[i].dies = to;
    }
    relaid_drop(work, &makers);
    return dropped;
}
