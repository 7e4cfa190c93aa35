/* SPDX-License-Identifier: Apache-2.0
 * change_checkpoint.c: jax.checkpoint around layers: what they save for the backward pass is computed again there.
 *
 * Unrolled layers: the forward pass keeps what goes into each layer and nothing that is made inside; going backward a
 * layer's values are live while its own gradients are computed. Layers of a scan: the stacks that the forward loop
 * writes go, but for the one of what it carries; one layer's part of them comes back while the backward loop runs. */
#include "whatif/change_kinds.h"

#include "base/hash.h"
#include "base/sum.h"
#include "input/shape_layout.h"
#include "plan/pattern.h"
#include "plan/value.h"
#include "whatif/glob.h"
#include "whatif/recompute.h"

struct layer {
    bool is_chosen;
    uint32_t forward, backward, backward_end; /* steps; HLO_NONE: nothing of it was seen */
};

struct work {
    struct variant *variant;
    const struct plan *plan;
    const struct graph *graph;
    struct regions regions;
    struct layer *layers;
    struct value_walk walk;
    uint32_t first_backward; /* step */
};

static uint32_t maker_of(const struct work *work, const struct variant_row *row)
{
    uint32_t made_by = row->plan_row == PLAN_NONE ? HLO_NONE : work->variant->space->rows[row->plan_row].made_by;
    return made_by != HLO_NONE ? made_by : row->instruction_at;
}

static struct layer *layer_of(struct work *work, uint32_t at)
{
    uint32_t region = at == HLO_NONE ? HLO_NONE : work->regions.of[at];
    return region == HLO_NONE ? NULL : &work->layers[region];
}

/* ---- when ---- */

static void earlier(uint32_t *step, uint32_t found)
{
    if (found < *step)
        *step = found;
}

/* When each layer runs. A fusion is of the layer of what it gives; only a layer that gives nothing of its own is where
 * parts of it are. */
static void layers_time(struct work *work)
{
    const struct graph *graph = work->graph;
    uint32_t *inner = arena_raw(work->variant->arena, ((size_t)work->regions.count + 1) * sizeof(*inner));
    memset(inner, 0xff, ((size_t)work->regions.count + 1) * sizeof(*inner));
    work->first_backward = HLO_NONE;
    for (uint32_t i = 0; i < work->regions.count; i++)
        work->layers[i].forward = work->layers[i].backward = work->layers[i].backward_end = HLO_NONE;
    for (uint32_t at = 0; at < work->plan->hlo.instruction_count; at++) {
        uint32_t region = work->regions.of[at], step = region == HLO_NONE ? HLO_NONE : variant_step(work->variant, at);
        if (step == HLO_NONE)
            continue;
        if (graph_phase(graph, at) == GRAPH_FORWARD)
            earlier(&work->layers[region].forward, step);
        else if (graph_phase(graph, at) == GRAPH_BACKWARD && graph_op(graph, at) != GRAPH_BROADCAST)
            earlier(graph_fusion_around(graph, at) == HLO_NONE ? &work->layers[region].backward : &inner[region], step);
    }
    for (uint32_t i = 0; i < work->regions.count; i++) {
        if (work->layers[i].backward == HLO_NONE)
            work->layers[i].backward = inner[i];
        earlier(&work->first_backward, work->layers[i].backward);
    }
    for (uint32_t i = 0; i < work->regions.count; i++)
        for (uint32_t k = 0; k < work->regions.count; k++)
            if (work->layers[k].backward != HLO_NONE && work->layers[k].backward > work->layers[i].backward)
                earlier(&work->layers[i].backward_end, work->layers[k].backward);
}

/* ---- what stays: the inputs of each layer ---- */

struct input {
    uint64_t hash; /* of its op name and its dimensions */
    uint32_t made_by, born, dies;
    bool is_read_by_others; /* than dots and convolutions */
};

struct inputs {
    struct input *items;
    uint32_t count;
    size_t capacity;
    struct map map;
};
#define OUTSIDE UINT32_MAX

static uint64_t value_hash(const struct work *work, uint32_t made_by, const struct shape_array *shape)
{
    struct str name = graph_op_name_end(work->graph, made_by);
    return hash_bytes(name.data, name.length, shape_array_hash_any_order(shape));
}

static bool is_input(const void *context, uint64_t value)
{
    (void)context, (void)value;
    return true;
}

/* From the layer that makes it until the last one that reads it is done. */
static void input_note(struct work *work, struct inputs *inputs, uint32_t layer, uint32_t made_by, uint32_t reader_at)
{
    struct shape_array shape;
    bool is_new;
    if (!shape_array_read(hlo_instruction_shape(&work->plan->hlo, made_by), &shape) || shape.rank == 0)
        return;
    uint64_t hash = value_hash(work, made_by, &shape);
    uint32_t at = map_number(&inputs->map, hash, is_input, NULL, &is_new),
             step = variant_step(work->variant, reader_at);
    uint32_t maker = work->regions.of[made_by], begin = maker == HLO_NONE ? layer : maker;
    uint32_t born = begin == OUTSIDE ? 0 : work->layers[begin].forward;
    uint32_t dies = layer != OUTSIDE ? work->layers[layer].backward_end : step == HLO_NONE ? 0 : step + 1;
    if (is_new) {
        inputs->items =
            arena_grown(work->variant->arena, inputs->items, at + 1, &inputs->capacity, sizeof(struct input));
        inputs->items[at] = (struct input){hash, made_by, born, dies, false};
        inputs->count = at + 1;
    }
    struct input *input = &inputs->items[at];
    input->born = born < input->born ? born : input->born;
    input->dies = dies > input->dies ? dies : input->dies;
    input->is_read_by_others = input->is_read_by_others || graph_op(work->graph, reader_at) != GRAPH_DOT;
}

/* Through what only hands a value on, into and out of fusions; casts as well: what is kept is what was computed. */
static uint32_t made_behind(struct work *work, uint32_t at)
{
    for (unsigned i = 0; i < 8 && at != HLO_NONE; i++) {
        struct value origin = value_origin(&work->walk, (struct value){at, VALUE_WHOLE}, VALUE_ORIGIN, NULL);
        if (origin.at == HLO_NONE || graph_op(work->graph, origin.at) != GRAPH_CONVERT)
            return origin.at;
        at = graph_operand(work->graph, origin.at, 0);
    }
    return at;
}

static bool is_given(const struct work *work, uint32_t at)
{
    switch (graph_op(work->graph, at)) {
    case GRAPH_PARAMETER:
    case GRAPH_CONSTANT:
    case GRAPH_BROADCAST:
    case GRAPH_TUPLE: return true;
    default: return false;
    }
}

static void inputs_find(struct work *work, struct inputs *inputs)
{
    const struct hlo *hlo = &work->plan->hlo;
    map_init(&inputs->map, work->variant->arena, 256);
    for (uint32_t at = 0; at < hlo->instruction_count; at++) {
        uint32_t layer = work->regions.of[at];
        enum graph_op op = graph_op(work->graph, at);
        enum graph_phase phase = graph_phase(work->graph, at);
        if (layer == HLO_NONE || !work->layers[layer].is_chosen)
            layer = OUTSIDE;
        bool is_late = variant_step(work->variant, at) >= work->first_backward;
        if ((phase != GRAPH_FORWARD && !(layer == OUTSIDE && phase == GRAPH_BACKWARD)) ||
            (layer == OUTSIDE && !is_late) || op == GRAPH_FUSION || op == GRAPH_CONVERT || op == GRAPH_COPY ||
            op == GRAPH_SAME)
            continue;
        for (uint32_t nth = 0, operand; (operand = graph_operand(work->graph, at, nth)) != HLO_NONE; nth++) {
            uint32_t made_by = made_behind(work, operand),
                     maker = made_by == HLO_NONE ? HLO_NONE : work->regions.of[made_by];
            if (made_by == HLO_NONE || is_given(work, made_by) || maker == layer ||
                graph_phase(work->graph, made_by) != GRAPH_FORWARD ||
                (layer == OUTSIDE && (maker == HLO_NONE || !work->layers[maker].is_chosen)))
                continue;
            input_note(work, inputs, layer, made_by, at);
        }
    }
}

/* The rows that stay anyway and hold such values; what is made outside of the layers is kept by itself. */
static bool is_held(struct work *work, const struct input *input)
{
    bool is_there = false;
    for (uint32_t i = 0; i < work->variant->row_count; i++) {
        struct variant_row *row = &work->variant->rows[i];
        struct shape_array shape;
        uint32_t at = maker_of(work, row);
        if (row->is_gone || row->is_indefinite || row->plan_row == PLAN_NONE || at == HLO_NONE ||
            row->dies <= work->first_backward || row->born >= work->first_backward ||
            !shape_array_read(hlo_instruction_shape(&work->plan->hlo, at), &shape) ||
            value_hash(work, at, &shape) != input->hash)
            continue;
        row->dies = input->dies > row->dies ? input->dies : row->dies;
        is_there = true;
    }
    return is_there;
}

/* Bits of an element as the base keeps it, where it does: a value computed in f32 may be stored in bf16. */
static int64_t bits_kept(struct work *work, const struct input *input, int64_t bits)
{
    for (uint32_t i = 0; i < work->variant->row_count; i++) {
        const struct variant_row *row = &work->variant->rows[i];
        struct shape_array shape;
        uint32_t at = maker_of(work, row);
        int64_t row_bits = 8 * (int64_t)shape_type_bytes(row->type);
        if (row->is_indefinite || row->plan_row == PLAN_NONE || at == HLO_NONE || row_bits == 0 || row_bits >= bits ||
            !shape_array_read(hlo_instruction_shape(&work->plan->hlo, at), &shape) ||
            value_hash(work, at, &shape) != input->hash)
            continue;
        bits = row_bits;
    }
    return bits;
}

static void inputs_keep(struct work *work, const struct inputs *inputs)
{
    for (uint32_t i = 0; i < inputs->count; i++) {
        const struct input *input = &inputs->items[i];
        struct str shape = hlo_instruction_shape(&work->plan->hlo, input->made_by);
        struct shape_array array;
        struct shape_layout layout;
        if (!shape_array_read(shape, &array) || !shape_layout_read(shape, &layout))
            continue;
        if (!input->is_read_by_others && shape_type_is_float(array.type) && layout.element_bits == 32)
            layout.element_bits = 16;
        layout.element_bits = bits_kept(work, input, layout.element_bits);
        int64_t bytes = shape_padded_bytes(&array, &layout);
        if (bytes <= 0 || input->born >= input->dies || is_held(work, input))
            continue;
        *variant_add(work->variant) = (struct variant_row){.bytes = bytes,
                                                           .born = input->born,
                                                           .dies = input->dies,
                                                           .plan_row = PLAN_NONE,
                                                           .leaf = HLO_NONE,
                                                           .instruction_at = input->made_by,
                                                           .divided_by = 1};
    }
}

/* ---- what goes, and comes back ---- */

/* Values that several products read are put into memory again. What only elementwise operations read is computed inside of
 * the fusion that reads it. */
struct reading {
    struct work *work;
    uint32_t layer;        /* its own, or HLO_NONE: one of a scan */
    uint32_t dot_at;       /* the first product that reads it, going backward in its own layer; or HLO_NONE */
    bool is_computed_with; /* elementwise, the same */
    uint32_t count;        /* of products, and of all elementwise readers together */
};

static bool reader_note(void *context, uint32_t reader_at, uint32_t operand)
{
    struct reading *reading = context;
    const struct graph *graph = reading->work->graph;
    (void)operand;
    if (reader_at == HLO_NONE || graph_phase(graph, reader_at) != GRAPH_BACKWARD ||
        (reading->layer != HLO_NONE && reading->work->regions.of[reader_at] != reading->layer) ||
        reader_at == reading->dot_at)
        return true;
    if (graph_op(graph, reader_at) == GRAPH_DOT) {
        reading->dot_at = reader_at;
        reading->count++;
    } else if (!reading->is_computed_with) {
        reading->is_computed_with = true;
        reading->count++;
    }
    return reading->count < 2;
}

static uint32_t saved_drop(struct work *work)
{
    uint32_t before = work->variant->row_count, dropped = 0;
    for (uint32_t i = 0; i < before; i++) {
        struct variant_row row = work->variant->rows[i];
        uint32_t at = maker_of(work, &row);
        struct layer *layer = layer_of(work, at);
        if (row.is_indefinite || row.is_gone || row.plan_row == PLAN_NONE || !layer || !layer->is_chosen ||
            graph_phase(work->graph, at) != GRAPH_FORWARD || row.born >= work->first_backward ||
            row.dies <= work->first_backward)
            continue;
        work->variant->rows[i].is_gone = true;
        dropped++;
        struct reading reading = {.work = work, .layer = work->regions.of[at], .dot_at = HLO_NONE};
        value_each_reader(&work->walk,
                          value_of_buffer(&work->plan->hlo, work->variant->space->rows[row.plan_row].buffer_at),
                          reader_note, &reading);
        if (reading.count < 2 || layer->backward == HLO_NONE)
            continue;
        row.born = layer->backward;
        row.dies = layer->backward_end != HLO_NONE ? layer->backward_end : row.dies;
        *variant_add(work->variant) = row;
    }
    return dropped;
}

/* ---- layers of a scan ---- */

static bool is_same_slice(const struct variant *variant, const struct leaf *stack, const struct leaf *carried)
{
    if (stack->rank != carried->rank + 1)
        return false;
    for (uint32_t i = 0; i < carried->rank; i++)
        if (variant->sizes[stack->first + 1 + i] != variant->sizes[carried->first + i])
            return false;
    return true;
}

/* Is a layer's part of the stack of the shape of what the loop hands from layer to layer? */
static bool is_of_carried(const struct work *work, const struct leaf *stack)
{
    const struct graph *graph = work->graph;
    const struct leaves *leaves = &work->variant->dimensions.leaves;
    for (uint32_t at = 0; at < work->plan->hlo.instruction_count; at++) {
        uint32_t body = graph_op(graph, at) == GRAPH_WHILE ? graph_called(graph, at, 0) : HLO_NONE;
        uint32_t root = body == HLO_NONE ? HLO_NONE : graph->root_of[body], operand;
        if (root == HLO_NONE || graph_op(graph, root) != GRAPH_TUPLE)
            continue;
        for (uint32_t nth = 0; (operand = graph_operand(graph, root, nth)) != HLO_NONE; nth++) {
            uint32_t count, leaf = leaves_element(leaves, at, nth, &count);
            bool is_kept = graph_op(graph, operand) == GRAPH_ELEMENT && (uint32_t)graph->numbers[operand] == nth;
            if (!is_kept && count == 1 && is_same_slice(work->variant, stack, &leaves->items[leaf]))
                return true;
        }
    }
    return false;
}

/* What takes a layer's part out of a stack going backward. */
enum { SLICE_MAX = 16 };
struct slices {
    const struct work *work;
    uint32_t at[SLICE_MAX], count, first_step;
};

static bool slice_note(void *context, uint32_t reader_at, uint32_t operand)
{
    struct slices *slices = context;
    const struct graph *graph = slices->work->graph;
    (void)operand;
    if (reader_at == HLO_NONE || graph_phase(graph, reader_at) != GRAPH_BACKWARD)
        return true;
    earlier(&slices->first_step, variant_step(slices->work->variant, reader_at));
    if (graph_op(graph, reader_at) == GRAPH_SLICE)
        slices->at[slices->count++] = reader_at;
    return slices->count < SLICE_MAX;
}

/* Is a layer's part put into memory when it is computed again? */
static bool is_stored_again(struct work *work, const struct variant_row *row, uint32_t *first_step)
{
    struct slices slices = {.work = work, .first_step = HLO_NONE};
    struct reading reading = {.work = work, .layer = HLO_NONE, .dot_at = HLO_NONE};
    value_each_reader(&work->walk,
                      value_of_buffer(&work->plan->hlo, work->variant->space->rows[row->plan_row].buffer_at),
                      slice_note, &slices);
    for (uint32_t i = 0; i < slices.count && reading.count < 2; i++)
        value_each_reader(&work->walk, (struct value){slices.at[i], VALUE_WHOLE}, reader_note, &reading);
    earlier(first_step, slices.first_step);
    return reading.count >= 2;
}

static bool is_stack(const struct work *work, const struct variant_row *row)
{
    return !row->is_gone && row->plan_row != PLAN_NONE && row->leaf != HLO_NONE &&
           work->variant->dimensions.leaves.items[row->leaf].rank > 0 &&
           (work->variant->space->rows[row->plan_row].patterns & 1U << PATTERN_SCAN_RESIDUALS) != 0;
}

/* The stack of what is carried: the smallest of its shape. */
static uint32_t carried_find(const struct work *work, const bool *flags)
{
    const struct variant *variant = work->variant;
    uint32_t found = HLO_NONE;
    for (uint32_t i = 0; i < variant->row_count; i++)
        if (is_stack(work, &variant->rows[i]) && (!flags || flags[i]) &&
            (found == HLO_NONE || variant->rows[i].bytes < variant->rows[found].bytes) &&
            is_of_carried(work, &variant->dimensions.leaves.items[variant->rows[i].leaf]))
            found = i;
    return found;
}

static uint32_t stacks_drop(struct work *work, const bool *flags)
{
    struct variant *variant = work->variant;
    uint32_t dropped = 0, to = 0, carried = carried_find(work, flags), first_step = HLO_NONE;
    int64_t part_bytes = 0;
    for (uint32_t i = 0; i < variant->row_count; i++) {
        struct variant_row *row = &variant->rows[i];
        if (i == carried || !is_stack(work, row) || (flags && !flags[i]))
            continue;
        int64_t layers = variant->sizes[variant->dimensions.leaves.items[row->leaf].first];
        row->is_gone = true;
        to = row->dies > to ? row->dies : to;
        if (is_stored_again(work, row, &first_step))
            part_bytes = sum_add(part_bytes, row->bytes / (layers > 0 ? layers : 1));
        dropped++;
    }
    if (dropped > 0)
        *variant_add(variant) = (struct variant_row){.bytes = part_bytes,
                                                     .born = first_step < to ? first_step : work->first_backward,
                                                     .dies = to,
                                                     .plan_row = PLAN_NONE,
                                                     .leaf = HLO_NONE,
                                                     .instruction_at = HLO_NONE,
                                                     .divided_by = 1};
    return dropped;
}

bool change_checkpoint(struct variant *variant, const struct change *change, struct change_result *out, struct err *err)
{
    struct work work = {.variant = variant, .plan = variant->plan, .graph = variant->plan->graph};
    struct inputs inputs = {.count = 0};
    uint32_t chosen_count = 0;
    bool is_all = str_equal(change->glob, STR("*"));
    regions_build(work.graph, variant->arena, &work.regions);
    work.layers = arena_array(variant->arena, struct layer, (size_t)work.regions.count + 1);
    value_walk_init(&work.walk, work.graph, 64 * (uint64_t)variant->plan->hlo.instruction_count, variant->arena);
    for (uint32_t i = 0; i < work.regions.count; i++) {
        work.layers[i].is_chosen = is_all || glob_matches(change->glob, work.regions.items[i].name);
        chosen_count += work.layers[i].is_chosen;
    }
    layers_time(&work);
    for (uint32_t i = 0; i < variant->row_count && work.regions.count == 0; i++) {
        uint32_t at = maker_of(&work, &variant->rows[i]);
        if (!variant->rows[i].is_indefinite && at != HLO_NONE && graph_phase(work.graph, at) == GRAPH_BACKWARD)
            earlier(&work.first_backward, variant->rows[i].born);
    }
    bool *flags = arena_array(variant->arena, bool, (size_t)variant->row_count + 1);
    uint32_t matching = is_all ? 1 : glob_rows(variant, change->glob, flags);
    if (matching == 0 && chosen_count == 0)
        return glob_missed(variant, "checkpoint", change->glob, err);
    if (work.first_backward == HLO_NONE)
        return err_set(err, ERR_argument, ERR_NO_OFFSET, "checkpoint=%.*s: the program has no backward pass",
                       (int)change->glob.length, change->glob.data);
    if (chosen_count > 0) {
        inputs_find(&work, &inputs);
        out->row_count += saved_drop(&work);
        if (out->row_count > 0)
            inputs_keep(&work, &inputs);
    }
    uint32_t stack_count = stacks_drop(&work, is_all ? NULL : flags);
    out->row_count += stack_count;
    if (out->row_count == 0)
        return err_set(err, ERR_argument, ERR_NO_OFFSET,
                       "checkpoint=%.*s: no layer that matches keeps anything for the backward pass",
                       (int)change->glob.length, change->glob.data);
    struct recompute recompute;
    bool *is_chosen = arena_array(variant->arena, bool, (size_t)work.regions.count + 1);
    for (uint32_t i = 0; i < work.regions.count; i++)
        is_chosen[i] = work.layers[i].is_chosen;
    recompute_count(&variant->dimensions, &work.regions, is_chosen, stack_count > 0, variant->arena, &recompute);
    out->has_extra_flops = recompute.all > 0;
    out->extra_flops_percent = recompute.all > 0 ? 100 * recompute.again / recompute.all : 0;
    out->confidence = CHANGE_MODEL;
    out->reason =
        "What the layers keep for the backward pass is taken out of the compiler's own heap, and each layer's "
        "values are put where its gradients are computed.";
    return true;
}
