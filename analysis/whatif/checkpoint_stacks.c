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
    uint32_t kept_count; /* of those that it hands on as they are: going backward there is a gradient for each */
};

static uint32_t *of_its_size(struct carried *carried, const struct leaf *leaf)
{
    unsigned bytes = shape_type_bytes(leaf->type);
    return &carried->of_size[bytes < ELEMENT_BYTES_MAX ? bytes : ELEMENT_BYTES_MAX];
}

/* Does the body hand on element `nth` of what the loop carries as it is? */
static bool is_handed_on(const struct graph *graph, uint32_t operand, uint32_t nth)
{
    uint32_t of = graph_operand(graph, operand, 0);
    return graph_op(graph, operand) == GRAPH_ELEMENT && (uint32_t)graph->numbers[operand] == nth && of != HLO_NONE &&
           graph_op(graph, of) == GRAPH_PARAMETER;
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
        if (count != 1 || !is_same_slice(work->variant, stack, &leaves->items[leaf]))
            continue;
        if (is_handed_on(graph, operand, nth)) {
            found.kept_count += shape_type_is_float(leaves->items[leaf].type);
            continue;
        }
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

/* The step behind the last reader of a layer's part. */
struct part_reading {
    const struct checkpoint *work;
    uint32_t body, dies;
    bool is_result;
};

/* What a loop inside of the layer reads is there until that loop ends. */
static bool part_reader_note(void *context, uint32_t reader_at, uint32_t operand)
{
    enum { LOOPS_MAX = 8 };
    struct part_reading *reading = context;
    const struct graph *graph = reading->work->graph;
    (void)operand;
    reading->is_result = reader_at == HLO_NONE;
    if (reading->is_result)
        return false;
    for (unsigned depth = 0; depth < LOOPS_MAX; depth++) {
        uint32_t body = graph_loop_body_around(graph, reader_at);
        if (body == HLO_NONE || body == reading->body)
            break;
        reader_at = graph->caller_of[body];
    }
    uint32_t step = variant_step(reading->work->variant, reader_at);
    if (step != HLO_NONE && step >= reading->dies)
        reading->dies = step + 1;
    return true;
}

/* A layer's part that is computed again: the backward loop's body that takes it, and until when it is there. */
struct part {
    uint32_t body, dies;
    bool is_stored;
};

static struct part part_read(struct checkpoint *work, const struct variant_row *row, uint32_t *first_steps)
{
    struct slices slices;
    struct checkpoint_reading reading = {.work = work, .layer = HLO_NONE, .kernel_at = HLO_NONE};
    slices_find(work, row, &slices);
    struct part part = {slices.count > 0 ? graph_loop_body_around(work->graph, slices.at[0]) : HLO_NONE, row->dies,
                        false};
    struct part_reading last = {.work = work, .body = part.body};
    for (uint32_t i = 0; i < slices.count && reading.count < 2; i++)
        value_each_reader(&work->walk, (struct value){slices.at[i], VALUE_WHOLE}, checkpoint_reader_note, &reading);
    if (slices.first_step != HLO_NONE)
        checkpoint_earlier(&first_steps[part.body == HLO_NONE ? work->plan->hlo.computation_count : part.body],
                           slices.first_step);
    part.is_stored = reading.count >= 2;
    for (uint32_t i = 0; part.is_stored && i < slices.count && !last.is_result; i++) {
        value_each_reader(&work->walk, (struct value){slices.at[i], VALUE_WHOLE}, part_reader_note, &last);
        last.is_result = last.is_result || work->walk.is_cut;
    }
    if (!last.is_result && last.dies > 0 && last.dies < part.dies)
        part.dies = last.dies;
    return part;
}

/* ---- what one product gives ---- */

/* By instruction: the product whose result, element by element, it is made of; itself: of several; HLO_NONE: it was not
 * looked at yet. */
enum { PRODUCT_DEPTH_MAX = 48 };

static int64_t element_count(const struct checkpoint *work, uint32_t at)
{
    const struct leaves *leaves = &work->variant->dimensions.leaves;
    int64_t count = 1;
    if (leaves_count(leaves, at) != 1)
        return 0;
    const struct leaf *leaf = &leaves->items[leaves->first[at]];
    for (uint32_t i = 0; i < leaf->rank; i++)
        if (__builtin_mul_overflow(count, leaves->sizes[leaf->first + i], &count))
            return 0;
    return count;
}

static uint32_t product_of(struct checkpoint *work, uint32_t *products, uint32_t at, unsigned depth)
{
    enum graph_op op = graph_op(work->graph, at);
    int64_t count = element_count(work, at);
    uint32_t found = HLO_NONE;
    if (products[at] != HLO_NONE)
        return products[at];
    if (depth == PRODUCT_DEPTH_MAX || count == 0 ||
        (op != GRAPH_COMPUTE && op != GRAPH_EXPONENTIAL && op != GRAPH_ADD && op != GRAPH_CONVERT))
        return products[at] = at;
    for (uint32_t nth = 0, operand; (operand = graph_operand(work->graph, at, nth)) != HLO_NONE; nth++) {
        uint32_t made_by = value_maker(&work->walk, operand);
        if (made_by == HLO_NONE)
            return products[at] = at;
        enum graph_op made_as = graph_op(work->graph, made_by);
        if (made_as == GRAPH_BROADCAST || made_as == GRAPH_CONSTANT || element_count(work, made_by) != count)
            continue;
        uint32_t product = product_of(work, products, made_by, depth + 1);
        if (found != HLO_NONE && product != found)
            return products[at] = at;
        found = product;
    }
    return products[at] = found == HLO_NONE ? at : found;
}

/* The product that a layer's part of a stack is made of alone, or HLO_NONE. */
static uint32_t stack_product(struct checkpoint *work, uint32_t *products, const struct variant_row *row)
{
    uint32_t maker = checkpoint_maker(work, row),
             stacked = maker == HLO_NONE ? HLO_NONE : graph_operand(work->graph, maker, 1),
             made_by = stacked == HLO_NONE ? HLO_NONE : value_maker(&work->walk, stacked),
             product = made_by == HLO_NONE ? HLO_NONE : product_of(work, products, made_by, 0);
    return product != HLO_NONE && graph_op(work->graph, product) == GRAPH_DOT ? product : HLO_NONE;
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
 * type of their own, and sums up those of what every layer reads. */
static struct carried wanted_count(struct checkpoint *work, const struct stack *stack, const struct leaf *leaf)
{
    struct carried forward = carried_count(work, stack->body, leaf);
    uint32_t body = backward_body(work, stack->row),
             backward = body == HLO_NONE ? 0 : carried_count(work, body, leaf).count;
    backward = backward > forward.kept_count ? backward - forward.kept_count : 0;
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

/* Is a whole value copied or transposed, by itself or by what a fusion gives in the end? */
static bool is_moved_whole(const struct graph *graph, uint32_t at)
{
    enum { VIEWS_MAX = 8 };
    uint32_t called = graph_op(graph, at) == GRAPH_FUSION ? graph_called(graph, at, 0) : HLO_NONE;
    at = called == HLO_NONE ? at : graph->root_of[called];
    for (unsigned i = 0; i < VIEWS_MAX && at != HLO_NONE && graph_op(graph, at) == GRAPH_SAME; i++)
        at = graph_operand(graph, at, 0);
    return at != HLO_NONE &&
           (graph_op(graph, at) == GRAPH_COPY || str_equal(hlo_instruction_opcode(graph->hlo, at), STR("transpose")));
}

struct relaid_reading {
    const struct graph *graph;
    bool is_of_loop, is_of_others; /* the backward loop reads it; something else does */
};

static bool relaid_reader_note(void *context, uint32_t reader_at, uint32_t operand)
{
    struct relaid_reading *reading = context;
    const struct graph *graph = reading->graph;
    uint32_t body = reader_at == HLO_NONE ? HLO_NONE : graph_loop_body_around(graph, reader_at);
    (void)operand;
    if (body != HLO_NONE && (graph_phase(graph, reader_at) == GRAPH_BACKWARD ||
                             graph_phase(graph, graph->caller_of[body]) == GRAPH_BACKWARD))
        reading->is_of_loop = true;
    else
        reading->is_of_others = true;
    return !reading->is_of_others;
}

static bool is_relaid(struct checkpoint *work, const struct variant_row *row)
{
    struct relaid_reading reading = {.graph = work->graph};
    struct value value = row->plan_row == PLAN_NONE
                             ? (struct value){HLO_NONE, VALUE_WHOLE}
                             : value_of_buffer(&work->plan->hlo, work->variant->space->rows[row->plan_row].buffer_at);
    if (value.at == HLO_NONE || !is_moved_whole(work->graph, value.at))
        return false;
    value_each_reader(&work->walk, value, relaid_reader_note, &reading);
    return reading.is_of_loop && !reading.is_of_others && !work->walk.is_cut;
}

/* Between the loops, XLA for GPUs brings a whole stack into the layout that the backward loop reads: its copy goes with
 * the stack, unless something else reads it. */
static void relaid_drop(struct checkpoint *work, const struct map *dropped)
{
    struct variant *variant = work->variant;
    if (work->plan->platform != SPACE_PLATFORM_GPU)
        return;
    for (uint32_t i = 0; i < work->flag_count && dropped->count > 0; i++) {
        struct variant_row *row = &variant->rows[i];
        if (row->is_gone || row->is_indefinite || row->layers > 0 || checkpoint_is_stack(work, row))
            continue;
        uint32_t base = base_of(work, row), stack = base == HLO_NONE ? MAP_NONE : map_get(dropped, base);
        row->is_gone = stack != MAP_NONE && variant->rows[stack].bytes == row->bytes && is_relaid(work, row);
    }
}

static uint32_t *all_none(struct arena *arena, uint32_t count)
{
    uint32_t *numbers = arena_raw(arena, ((size_t)count + 1) * sizeof(*numbers));
    memset(numbers, 0xff, ((size_t)count + 1) * sizeof(*numbers));
    return numbers;
}

/* Parts of stacks that are computed again. */
struct parts {
    uint32_t first_row;    /* of the variant's, which they are the last of */
    uint32_t *bodies;      /* by part */
    uint32_t *first_steps; /* by body; the last is that of none */
    uint32_t *products;    /* by instruction: product_of */
    uint32_t *row_of;      /* by product: the row of what is made of it, or PLAN_NONE */
};

/* What is made of one product element by element is made where it is read: the largest of it is there. */
static void part_add(struct checkpoint *work, struct parts *parts, const struct variant_row *stack, struct part part)
{
    struct variant *variant = work->variant;
    struct variant_row again = *stack;
    uint32_t product = stack_product(work, parts->products, stack);
    int64_t layers = variant->dimensions.leaves.sizes[variant->dimensions.leaves.items[stack->leaf].first];
    again.is_gone = false;
    again.layers = layers > 0 && layers < UINT32_MAX ? (uint32_t)layers : 1;
    again.dies = part.dies;
    if (product != HLO_NONE && parts->row_of[product] != PLAN_NONE) {
        struct variant_row *other = &variant->rows[parts->row_of[product]];
        again.dies = other->dies > again.dies ? other->dies : again.dies;
        if (again.bytes > other->bytes)
            *other = again;
        other->dies = again.dies;
        return;
    }
    if (product != HLO_NONE)
        parts->row_of[product] = variant->row_count;
    parts->bodies[variant->row_count - parts->first_row] =
        part.body == HLO_NONE ? work->plan->hlo.computation_count : part.body;
    *variant_add(variant) = again;
}

uint32_t checkpoint_stacks_drop(struct checkpoint *work, const bool *flags)
{
    struct variant *variant = work->variant;
    const struct hlo *hlo = &work->plan->hlo;
    uint32_t dropped = 0, before = variant->row_count;
    const bool *stays = stacks_staying(work, flags);
    struct map makers; /* of stacks that are dropped: their rows */
    map_init(&makers, variant->arena, 16);
    struct parts parts = {.first_row = before};
    for (uint32_t i = 0; i < before; i++) {
        struct variant_row row = variant->rows[i];
        if (!checkpoint_is_stack(work, &row) || !is_meant(work, flags, i) || stays[i] ||
            is_checkpoint_input(work, &row))
            continue;
        uint32_t maker = checkpoint_maker(work, &row);
        variant->rows[i].is_gone = true;
        if (maker != HLO_NONE)
            map_put(&makers, maker, i, true);
        if (dropped++ == 0)
            parts = (struct parts){
                before, all_none(variant->arena, before), all_none(variant->arena, hlo->computation_count),
                all_none(variant->arena, hlo->instruction_count), all_none(variant->arena, hlo->instruction_count)};
        struct part part = part_read(work, &row, parts.first_steps);
        if (part.is_stored)
            part_add(work, &parts, &row, part);
    }
    for (uint32_t i = before; i < variant->row_count; i++) { /* from where its backward loop begins */
        uint32_t first_step = parts.first_steps[parts.bodies[i - before]];
        variant->rows[i].born = first_step < variant->rows[i].dies ? first_step : work->first_backward;
    }
    relaid_drop(work, &makers);
    return dropped;
}
