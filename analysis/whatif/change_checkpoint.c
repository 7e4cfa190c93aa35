/* SPDX-License-Identifier: Apache-2.0
 * change_checkpoint.c: jax.checkpoint around layers: what they save for the backward pass is computed again there.
 *
 * Unrolled layers: the forward pass keeps what goes into each layer and nothing that is made inside; going backward a
 * layer's values are live while its own gradients are computed. Layers of a scan: the stacks that the forward loop
 * writes go, but for the one of what it carries; one layer's part of them comes back while the backward loop runs. */
#include "whatif/change_kinds.h"
#include "whatif/checkpoint.h"
#include "whatif/checkpointed.h"

#include "base/select.h"
#include "base/sum.h"
#include "plan/category.h"
#include "whatif/glob.h"

#include <math.h>
#include <stdlib.h>

static struct checkpoint_layer *layer_of(struct checkpoint *work, uint32_t at)
{
    uint32_t region = at == HLO_NONE ? HLO_NONE : work->regions->of[at];
    return region == HLO_NONE ? NULL : &work->layers[region];
}

/* ---- when ---- */

static int by_step(const void *left, const void *right)
{
    const uint32_t *a = left, *b = right;
    return ORDER(*a, *b);
}

/* A layer's backward pass ends where the next one begins. `steps`: room for one a region. */
static void backward_ends_find(struct checkpoint *work, uint32_t *steps)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < work->regions->count; i++)
        if (work->layers[i].backward != HLO_NONE)
            steps[count++] = work->layers[i].backward;
    arena_work(work->variant->arena, select_work(count));
    qsort(steps, count, sizeof(*steps), by_step);
    for (uint32_t i = 0; i < work->regions->count; i++) {
        uint32_t low = 0, high = count;
        while (low < high) {
            uint32_t middle = low + (high - low) / 2;
            if (steps[middle] <= work->layers[i].backward)
                low = middle + 1;
            else
                high = middle;
        }
        if (low < count)
            work->layers[i].backward_end = steps[low];
    }
}

/* When each layer runs. Its backward pass begins with a product, if it has any: what is
 * named like it and does not wait for the forward pass (masks, sorted indices) may run long before. */
static void layers_time(struct checkpoint *work)
{
    const struct graph *graph = work->graph;
    uint32_t *inner = arena_raw(work->variant->arena, ((size_t)work->regions->count + 1) * sizeof(*inner));
    memset(inner, 0xff, ((size_t)work->regions->count + 1) * sizeof(*inner));
    work->first_backward = HLO_NONE;
    for (uint32_t i = 0; i < work->regions->count; i++)
        work->layers[i].forward = work->layers[i].backward = work->layers[i].backward_end = HLO_NONE;
    for (uint32_t at = 0; at < work->plan->hlo.instruction_count; at++) {
        uint32_t region = work->regions->of[at], step = region == HLO_NONE ? HLO_NONE : variant_step(work->variant, at);
        if (step == HLO_NONE)
            continue;
        if (graph_phase(graph, at) == GRAPH_FORWARD)
            checkpoint_earlier(&work->layers[region].forward, step);
        else if (graph_phase(graph, at) == GRAPH_BACKWARD && graph_op(graph, at) == GRAPH_DOT)
            checkpoint_earlier(&work->layers[region].backward, step);
        else if (graph_phase(graph, at) == GRAPH_BACKWARD && graph_op(graph, at) != GRAPH_BROADCAST)
            checkpoint_earlier(&inner[region], step);
    }
    for (uint32_t i = 0; i < work->regions->count; i++) {
        if (work->layers[i].backward == HLO_NONE)
            work->layers[i].backward = inner[i];
        checkpoint_earlier(&work->first_backward, work->layers[i].backward);
    }
    backward_ends_find(work, inner);
}

/* ---- what goes, and comes back ---- */

/* Is it kept for the backward pass? */
static bool is_saved(const struct checkpoint *work, const struct variant_row *row)
{
    return work->variant->space->rows[row->plan_row].choice.category == CATEGORY_SAVED_ACTIVATION ||
           (row->born < work->first_backward && row->dies > work->first_backward);
}

/* What reads a value that is made outside of the chosen layers. */
struct outer_reading {
    const struct checkpoint *work;
    uint32_t last_forward; /* step of the last reader before the backward pass */
    bool is_kept;          /* something that is no chosen layer reads it in the backward pass */
};

static bool outer_reader_note(void *context, uint32_t reader_at, uint32_t operand)
{
    struct outer_reading *reading = context;
    const struct checkpoint *work = reading->work;
    uint32_t step = reader_at == HLO_NONE ? HLO_NONE : variant_step(work->variant, reader_at);
    (void)operand;
    if (step == HLO_NONE) {
        reading->is_kept = true;
    } else if (step < work->first_backward) {
        reading->last_forward = step > reading->last_forward ? step : reading->last_forward;
    } else {
        uint32_t region = work->regions->of[reader_at];
        if (region == HLO_NONE) /* repeated inside of a fusion of the layer */
            region = work->regions->of[variant_scheduled(work->variant, reader_at)];
        reading->is_kept = region == HLO_NONE || !work->layers[region].is_chosen;
    }
    return !reading->is_kept;
}

/* What only chosen layers read in the backward pass is no longer needed there: what they need stays as their input. */
static void outer_cut(struct checkpoint *work, struct variant_row *row)
{
    struct outer_reading reading = {.work = work};
    value_each_reader(&work->walk,
                      value_of_buffer(&work->plan->hlo, work->variant->space->rows[row->plan_row].buffer_at),
                      outer_reader_note, &reading);
    if (!reading.is_kept && reading.last_forward > row->born && reading.last_forward + 1 < row->dies)
        row->dies = reading.last_forward + 1;
}

/* What reads a value of a layer going backward. */
struct again_reading {
    const struct checkpoint *work;
    struct checkpointed_readers readers;
};

static bool again_reader_note(void *context, uint32_t reader_at, uint32_t operand)
{
    struct again_reading *reading = context;
    const struct checkpoint *work = reading->work;
    uint32_t step = reader_at == HLO_NONE ? HLO_NONE : variant_step(work->variant, reader_at);
    (void)operand;
    if (step != HLO_NONE && step < work->first_backward)
        return true;
    return checkpointed_reader_note(work->graph, step == HLO_NONE ? HLO_NONE : reader_at, work->variant->arena,
                                    &reading->readers);
}

/* Is it kept for layers that are checkpointed already? They go on needing it. */
static bool is_checkpoint_input(struct checkpoint *work, const struct variant_row *row)
{
    struct again_reading reading = {.work = work};
    value_each_reader(&work->walk,
                      value_of_buffer(&work->plan->hlo, work->variant->space->rows[row->plan_row].buffer_at),
                      again_reader_note, &reading);
    return checkpointed_needs(&reading.readers);
}

/* What reads a value of a layer going backward: is it that layer? */
struct own_reading {
    const struct checkpoint *work;
    uint32_t layer;
    bool is_own, is_other;
};

static bool own_reader_note(void *context, uint32_t reader_at, uint32_t operand)
{
    struct own_reading *reading = context;
    const struct checkpoint *work = reading->work;
    uint32_t step = reader_at == HLO_NONE ? HLO_NONE : variant_step(work->variant, reader_at);
    (void)operand;
    if (step == HLO_NONE || step < work->first_backward)
        return true;
    uint32_t region = work->regions->of[reader_at];
    if (region == HLO_NONE)
        region = work->regions->of[variant_scheduled(work->variant, reader_at)];
    reading->is_own = reading->is_own || region == HLO_NONE || region == reading->layer;
    reading->is_other = reading->is_other || region != reading->layer;
    return !reading->is_own;
}

/* Is it read going backward, and only in layers whose input it is not known to be? Then the layers were not told apart
 * as the program has them. */
static bool is_astray(struct checkpoint *work, const struct checkpoint_inputs *inputs, const struct variant_row *row,
                      uint32_t at)
{
    struct own_reading reading = {.work = work, .layer = work->regions->of[at]};
    if (checkpoint_inputs_has(inputs, at))
        return false;
    value_each_reader(&work->walk,
                      value_of_buffer(&work->plan->hlo, work->variant->space->rows[row->plan_row].buffer_at),
                      own_reader_note, &reading);
    return reading.is_other && !reading.is_own;
}

static uint32_t saved_drop(struct checkpoint *work, const struct checkpoint_inputs *inputs)
{
    uint32_t before = work->variant->row_count, dropped = 0;
    for (uint32_t i = 0; i < before; i++) {
        struct variant_row row = work->variant->rows[i];
        uint32_t at = checkpoint_maker(work, &row);
        struct checkpoint_layer *layer = layer_of(work, at);
        if (row.is_indefinite || row.is_gone || row.plan_row == PLAN_NONE || at == HLO_NONE ||
            graph_phase(work->graph, at) != GRAPH_FORWARD || !is_saved(work, &row))
            continue;
        if (work->only && !work->only[i])
            continue;
        if (!layer || !layer->is_chosen) {
            if (!work->only)
                outer_cut(work, &work->variant->rows[i]);
            continue;
        }
        if (work->checkpointed != NULL && !layer->has_policy && is_checkpoint_input(work, &row))
            continue;
        work->variant->rows[i].is_gone = true;
        work->dropped_bytes = sum_add(work->dropped_bytes, row.bytes);
        layer->dropped_bytes = sum_add(layer->dropped_bytes, row.bytes);
        if (is_astray(work, inputs, &row, at))
            work->astray_bytes = sum_add(work->astray_bytes, row.bytes);
        dropped++;
        struct checkpoint_reading reading = {.work = work, .layer = work->regions->of[at], .kernel_at = HLO_NONE};
        value_each_reader(&work->walk,
                          value_of_buffer(&work->plan->hlo, work->variant->space->rows[row.plan_row].buffer_at),
                          checkpoint_reader_note, &reading);
        if (reading.count == 0) /* what a loop fills is read behind it */
            value_each_reader(&work->walk, (struct value){at, VALUE_WHOLE}, checkpoint_reader_note, &reading);
        /* What a product gives is put into memory again for one reader, too. */
        if (reading.count < (graph_op(work->graph, at) == GRAPH_DOT ? 1 : 2) || layer->backward == HLO_NONE)
            continue;
        row.born = layer->backward;
        row.dies = layer->backward_end < row.dies ? layer->backward_end : row.dies;
        if (!checkpoint_inputs_stand_for(work, inputs, work->regions->of[at], &row))
            *variant_add(work->variant) = row;
    }
    return dropped;
}

/* What reads a gradient. */
struct gradient_reading {
    const struct checkpoint *work;
    uint32_t last; /* step of the last reader; HLO_NONE: it is not known */
};

/* Gradients of weights wait for what the layer computes again, and no longer than its backward pass. */
static bool gradient_reader_note(void *context, uint32_t reader_at, uint32_t operand)
{
    struct gradient_reading *reading = context;
    struct checkpoint *work = (struct checkpoint *)reading->work;
    uint32_t step = reader_at == HLO_NONE ? HLO_NONE : variant_step(work->variant, reader_at);
    (void)operand;
    if (step == HLO_NONE) {
        reading->last = HLO_NONE;
        return false;
    }
    const struct checkpoint_layer *layer = layer_of(work, reader_at);
    if (layer == NULL)
        layer = layer_of(work, variant_scheduled(work->variant, reader_at));
    enum graph_op op = graph_op(work->graph, reader_at);
    if (layer != NULL && layer->is_chosen && layer->backward_end != HLO_NONE && step > layer->backward_end &&
        (op == GRAPH_DOT || op == GRAPH_REDUCE || op == GRAPH_CONCATENATE ||
         str_equal(hlo_instruction_opcode(&work->plan->hlo, reader_at), STR("pad"))))
        step = layer->backward_end;
    reading->last = step > reading->last ? step : reading->last;
    return true;
}

/* Is it in a derivative of a derivative? Its results are not only gradients: further derivatives read them. */
static bool is_of_higher(const struct graph *graph, uint32_t at)
{
    static const char once[] = "jvp(";
    struct str name = graph_op_name_end(graph, at);
    const char *first = memmem(name.data, name.length, once, sizeof(once) - 1);
    const char *behind = first == NULL ? NULL : first + sizeof(once) - 1;
    return behind != NULL && memmem(behind, (size_t)(name.data + name.length - behind), once, sizeof(once) - 1) != NULL;
}

/* Where all values of a layer are kept, the compiler may compute its gradients of weights long after the others, and
 * keep what they are made of meanwhile. Once they are computed again, it does so with them at hand. */
static void gradients_cut(struct checkpoint *work)
{
    for (uint32_t i = 0; i < work->variant->row_count; i++) {
        struct variant_row *row = &work->variant->rows[i];
        uint32_t at = checkpoint_maker(work, row);
        if (row->is_indefinite || row->is_gone || row->plan_row == PLAN_NONE || at == HLO_NONE ||
            row->born < work->first_backward || graph_phase(work->graph, at) != GRAPH_BACKWARD ||
            is_of_higher(work->graph, at))
            continue;
        struct gradient_reading reading = {.work = work, .last = row->born};
        value_each_reader(&work->walk,
                          value_of_buffer(&work->plan->hlo, work->variant->space->rows[row->plan_row].buffer_at),
                          gradient_reader_note, &reading);
        if (!work->walk.is_cut && reading.last < row->dies && reading.last + 1 < row->dies)
            row->dies = reading.last + 1;
    }
}

/* Where what the compiler computes again to save memory is needed, so is what it repeats (remat.h). */
static void originals_need(struct checkpoint *work)
{
    const uint32_t *remat_of = work->variant->findings->remat_of;
    const uint64_t *hashes = checkpoint_values(work->variant);
    uint32_t count = work->plan->hlo.instruction_count;
    struct map needed;
    if (remat_of == NULL)
        return;
    map_init(&needed, work->variant->arena, 64);
    for (uint32_t at = 0; at < count; at++) {
        uint32_t kernel_at = work->recompute.is_needed[at] ? variant_scheduled(work->variant, at) : HLO_NONE;
        if (kernel_at != HLO_NONE && remat_of[kernel_at] != HLO_NONE)
            map_put(&needed, hash_number(remat_of[kernel_at], hashes[at]), at, false);
    }
    for (uint32_t at = 0; at < count && needed.count > 0; at++) {
        uint32_t kernel_at =
            graph_phase(work->graph, at) == GRAPH_FORWARD ? variant_scheduled(work->variant, at) : HLO_NONE;
        if (kernel_at != HLO_NONE && map_get(&needed, hash_number(kernel_at, hashes[at])) != MAP_NONE)
            work->recompute.is_needed[at] = true;
    }
}

/* ---- which layers ---- */

struct choice {
    struct str glob;
    bool is_all;
    uint32_t matching;      /* rows, or 1 where all are meant */
    uint32_t chosen;        /* layers */
    uint32_t *checkpointed; /* those that would be too, but for what the program does already */
    uint32_t checkpointed_count;
};

/* All that match, but those that the program checkpoints already. */
static void layers_choose(struct checkpoint *work, struct choice *choice, const bool *flags)
{
    struct arena *arena = work->variant->arena;
    uint32_t count = work->regions->count, matching = 0;
    choice->checkpointed = arena_raw(arena, ((size_t)count + 1) * sizeof(*choice->checkpointed));
    for (uint32_t i = 0; i < count; i++) {
        arena_work(arena, choice->is_all ? 1 : glob_work(choice->glob, work->regions->items[i].name));
        work->layers[i].is_chosen = choice->is_all || glob_matches(choice->glob, work->regions->items[i].name);
        matching += work->layers[i].is_chosen;
    }
    if (matching == 0 && choice->matching > 0) /* parts of layers: all layers, with a policy that saves the rest */
        work->only = flags;
    for (uint32_t i = 0; i < count; i++) {
        work->layers[i].is_chosen = work->layers[i].is_chosen || work->only;
        if (work->layers[i].is_chosen && work->checkpointed && work->checkpointed[i] == CHECKPOINTED_ALL) {
            work->layers[i].is_chosen = false;
            choice->checkpointed[choice->checkpointed_count++] = i;
        }
        work->layers[i].has_policy = work->checkpointed && work->checkpointed[i] == CHECKPOINTED_PARTLY;
        choice->chosen += work->layers[i].is_chosen;
    }
}

/* "layer_0, layer_1, layer_2 and 9 more": as they run. Orders choice->checkpointed. */
static const char *checkpointed_names(const struct checkpoint *work, struct choice *choice)
{
    enum { NAMED_MAX = 3 };
    struct arena *arena = work->variant->arena;
    uint32_t count = choice->checkpointed_count, named = count == NAMED_MAX + 1 ? count : NAMED_MAX;
    const char *text = "";
    for (uint32_t nth = 0; nth < count && nth < named; nth++) {
        uint32_t *first = &choice->checkpointed[nth];
        arena_work(arena, count);
        for (uint32_t i = nth + 1; i < count; i++)
            if (work->layers[choice->checkpointed[i]].forward < work->layers[*first].forward) {
                uint32_t later = *first;
                *first = choice->checkpointed[i];
                choice->checkpointed[i] = later;
            }
        struct str name = work->regions->items[*first].name;
        text = arena_format(arena, "%s%s%.*s", text, nth == 0 ? "" : ", ", (int)(name.length < 60 ? name.length : 60),
                            name.data);
    }
    return count > named ? arena_format(arena, "%s and %u more", text, count - named) : text;
}

/* Why nothing is saved. */
static bool nothing_is_kept(const struct checkpoint *work, struct choice *choice, struct err *err)
{
    int length = (int)choice->glob.length;
    if (choice->checkpointed_count == 0 && work->checkpointed != NULL && work->regions->count == 0)
        return err_set(err, ERR_argument, ERR_NO_OFFSET, "checkpoint=%.*s: the layers are checkpointed already", length,
                       choice->glob.data);
    if (choice->checkpointed_count > 0)
        return err_set(err, ERR_argument, ERR_NO_OFFSET, "checkpoint=%.*s: these layers are checkpointed already: %s%s",
                       length, choice->glob.data, checkpointed_names(work, choice),
                       choice->chosen == 0 ? "" : "; the others keep nothing for the backward pass");
    return err_set(err, ERR_argument, ERR_NO_OFFSET,
                   "checkpoint=%.*s: no layer that matches keeps anything for the backward pass", length,
                   choice->glob.data);
}

/* Of what layers keep, what is read as no layer reads it, where they were told apart, and what one of them keeps
 * (percent). */
enum { ASTRAY_PERCENT = 25, UNEVEN_PERCENT = 55 };

/* Why its saving is not known, behind "because"; NULL: it is known. */
static const char *doubt_of(const struct checkpoint *work, const struct choice *choice, bool *is_uneven)
{
    if (work->astray_bytes > work->dropped_bytes / 100 * ASTRAY_PERCENT)
        return "values are kept that other layers read than those that were found to make them; what a layer is given "
               "stays, and may be most of what is kept";
    for (uint32_t i = 0; choice->is_all && work->regions->count > 1 && i < work->regions->count; i++)
        if ((*is_uneven = work->layers[i].dropped_bytes > work->dropped_bytes / 100 * UNEVEN_PERCENT))
            return "one layer keeps more than all others; all of that is there again where it is recomputed, and into "
                   "how many parts the source cuts it decides";
    return NULL;
}

bool change_checkpoint(struct variant *variant, const struct change *change, struct change_result *out, struct err *err)
{
    struct checkpoint work = {.variant = variant, .plan = variant->plan, .graph = variant->plan->graph};
    struct choice choice = {.glob = change->glob, .is_all = str_equal(change->glob, STR("*"))};
    work.regions = regions_by_any(variant);
    work.layers = arena_array(variant->arena, struct checkpoint_layer, (size_t)work.regions->count + 1);
    value_walk_init(&work.walk, work.graph, 64 * (uint64_t)variant->plan->hlo.instruction_count, variant->arena);
    bool *flags = arena_array(variant->arena, bool, (size_t)variant->row_count + 1);
    work.flag_count = variant->row_count;
    choice.matching = choice.is_all ? 1 : glob_rows(variant, change->glob, flags);
    work.checkpointed = checkpointed_layers(variant);
    layers_choose(&work, &choice, flags);
    layers_time(&work);
    for (uint32_t i = 0; i < variant->row_count && work.regions->count == 0; i++) {
        uint32_t at = checkpoint_maker(&work, &variant->rows[i]);
        if (!variant->rows[i].is_indefinite && at != HLO_NONE && graph_phase(work.graph, at) == GRAPH_BACKWARD)
            checkpoint_earlier(&work.first_backward, variant->rows[i].born);
    }
    if (choice.matching == 0 && choice.chosen + choice.checkpointed_count == 0)
        return glob_missed(variant, "checkpoint", change->glob, err);
    if (work.first_backward == HLO_NONE)
        return err_set(err, ERR_argument, ERR_NO_OFFSET, "checkpoint=%.*s: the program has no backward pass",
                       (int)change->glob.length, change->glob.data);
    bool has_stacks = false;
    for (uint32_t i = 0; i < variant->row_count && !has_stacks; i++)
        has_stacks = checkpoint_is_stack(&work, &variant->rows[i]) && (choice.is_all || flags[i]);
    bool *is_chosen = arena_array(variant->arena, bool, (size_t)work.regions->count + 1);
    for (uint32_t i = 0; i < work.regions->count; i++)
        is_chosen[i] = work.layers[i].is_chosen;
    recompute_count(variant, work.regions, is_chosen, has_stacks, &work.recompute);
    originals_need(&work);
    if (choice.chosen > 0) {
        struct checkpoint_inputs *inputs = checkpoint_inputs_find(&work);
        out->row_count += saved_drop(&work, inputs);
        if (out->row_count > 0 && !work.only) {
            checkpoint_inputs_keep(&work, inputs);
            gradients_cut(&work);
        }
    }
    uint32_t stack_count = checkpoint_stacks_drop(&work, choice.is_all ? NULL : flags);
    out->row_count += stack_count;
    if (stack_count > 0)
        checkpoint_late_end(&work);
    if (out->row_count == 0)
        return nothing_is_kept(&work, &choice, err);
    out->has_extra_flops = work.recompute.all > 0 && isfinite(work.recompute.all) && !work.only;
    out->extra_flops_percent =
        work.recompute.all > 0 && isfinite(work.recompute.all) ? 100 * work.recompute.again / work.recompute.all : 0;
    out->doubt = doubt_of(&work, &choice, &out->is_uneven);
    out->confidence = CHANGE_MODEL;
    out->reason =
        "What the layers keep for the backward pass is taken out of the compiler's own heap, and each layer's "
        "values are put where its gradients are computed.";
    return true;
}
