/* SPDX-License-Identifier: Apache-2.0
 * jax.checkpoint around each layer, as JAX lowers it (jax/_src/ad_checkpoint.py): what a layer's backward pass reads of
 * its forward pass is computed again, from the layer's inputs, behind an opt-barrier over these inputs and the incoming
 * cotangents. The barrier keeps the compiler from sharing the two computations, and from beginning the second one
 * before the cotangents are there. What the first one computed for the backward pass alone is then needed no more.
 *
 * A layer: as checkpoint_layers.h finds it; of its instructions those that op_name says to be forward or backward.
 * Values that depend on no argument are used as they are: the compiler folds them. Only a layer's own backward
 * instructions read from behind its barrier, and only what does not depend on one of them: else the barrier would wait
 * for itself. */
#include "edit/checkpoint_layers.h"
#include "edit/checkpoint_scan.h"
#include "edit/checkpoint_within.h"
#include "edit/edits.h"
#include "edit/foldable.h"
#include "edit/order.h"

enum { READ_BY_SEVERAL = UINT32_MAX - 1 };

struct node {
    program_instruction *instruction;
    uint32_t region;        /* HLO_NONE: of none that was chosen */
    uint8_t phase;          /* enum graph_phase */
    bool is_constant;       /* depends on no argument */
    uint32_t reader_region; /* of the chosen layers that read it going forward, or READ_BY_SEVERAL */
    /* of the region that is worked on, where `epoch` is its number + 1 */
    uint32_t epoch;
    bool is_needed, is_input; /* computed again; goes through the barrier */
    uint32_t stand_in;        /* the node that the backward pass reads instead */
    uint32_t depends_epoch;
    bool depends; /* on a backward instruction of the region */
};

struct step {
    uint32_t at;
    size_t next; /* operand */
};

struct work {
    struct program *program;
    struct program_body *body;
    struct node *nodes;
    size_t count, capacity, original_count;
    struct map places; /* id → node */
    uint32_t region, epoch;
    bool are_inferred;  /* layers are recognised by their parameters */
    struct step *steps; /* of a walk */
    size_t step_capacity;
    uint32_t *pending; /* nodes that are computed again and were not looked into; room for all original ones */
};

static uint32_t node_of(const struct work *work, int64_t id) { return map_get(&work->places, (uint64_t)id); }

static uint32_t add_node(struct work *work, program_instruction *instruction)
{
    instruction->id = program_new_id(work->program, work->body);
    work->nodes = arena_grown(work->program->arena, work->nodes, work->count + 1, &work->capacity, sizeof *work->nodes);
    work->nodes[work->count] =
        (struct node){.instruction = instruction, .region = HLO_NONE, .phase = GRAPH_RECOMPUTE, .stand_in = HLO_NONE};
    map_put(&work->places, (uint64_t)instruction->id, (uint32_t)work->count, false);
    return (uint32_t)work->count++;
}

static struct node *fresh(struct work *work, uint32_t at)
{
    struct node *node = &work->nodes[at];
    if (node->epoch != work->epoch) {
        node->epoch = work->epoch;
        node->is_needed = node->is_input = false;
        node->stand_in = HLO_NONE;
    }
    return node;
}

static bool is_of(const struct work *work, uint32_t at, enum graph_phase phase)
{
    return work->nodes[at].region == work->region && work->nodes[at].phase == phase;
}

/* ---- what depends on what ---- */

/* Does the value depend on a backward instruction of the region? Each node is walked once an epoch. */
static bool depends_on_backward(struct work *work, uint32_t from)
{
    size_t depth = 1;
    work->steps =
        arena_grown(work->program->arena, work->steps, work->count + 1, &work->step_capacity, sizeof *work->steps);
    work->steps[0] = (struct step){from, 0};
    while (depth > 0) {
        struct step *step = &work->steps[depth - 1];
        struct node *node = &work->nodes[step->at];
        if (node->depends_epoch != work->epoch) {
            node->depends_epoch = work->epoch;
            node->depends = is_of(work, step->at, GRAPH_BACKWARD);
            arena_work(work->program->arena, node->instruction->n_operand_ids + 1);
        }
        if (node->depends || step->next == node->instruction->n_operand_ids) {
            depth--;
            if (depth > 0 && node->depends)
                work->nodes[work->steps[depth - 1].at].depends = true;
            continue;
        }
        uint32_t operand = node_of(work, node->instruction->operand_ids[step->next++]);
        if (work->nodes[operand].depends_epoch != work->epoch)
            work->steps[depth++] = (struct step){operand, 0};
        else
            node->depends = work->nodes[operand].depends;
    }
    return work->nodes[from].depends;
}

/* ---- one region ---- */

/* Marks what is to stand for an operand of the region's backward instructions, or of those that are computed again.
 * True where it is another one that is. */
static bool take_operand(struct work *work, uint32_t at)
{
    struct node *node = fresh(work, at);
    if (node->is_constant || node->is_needed || node->is_input || depends_on_backward(work, at))
        return false;
    node->is_needed = is_of(work, at, GRAPH_FORWARD);
    node->is_input = !node->is_needed;
    return node->is_needed;
}

static void take_operands(struct work *work, const program_instruction *reader, size_t *pending)
{
    for (size_t i = 0; i < reader->n_operand_ids; i++) {
        uint32_t at = node_of(work, reader->operand_ids[i]);
        if (take_operand(work, at))
            work->pending[(*pending)++] = at;
    }
}

/* How many instructions are computed again. */
static size_t mark_region(struct work *work)
{
    size_t pending = 0, needed = 0;
    for (size_t i = 0; i < work->original_count; i++)
        if (is_of(work, (uint32_t)i, GRAPH_BACKWARD))
            take_operands(work, work->nodes[i].instruction, &pending);
    for (; pending > 0; needed++)
        take_operands(work, work->nodes[work->pending[--pending]].instruction, &pending);
    return needed;
}

/* Values of the forward pass first, then cotangents, as JAX passes them. */
static size_t collect_inputs(struct work *work, uint32_t *inputs)
{
    size_t count = 0;
    for (int backward = 0; backward < 2; backward++)
        for (size_t i = 0; i < work->count; i++)
            if (fresh(work, (uint32_t)i)->is_input && (work->nodes[i].phase == GRAPH_BACKWARD) == backward)
                inputs[count++] = (uint32_t)i;
    return count;
}

static program_shape *tuple_shape(struct work *work, const uint32_t *inputs, size_t count)
{
    program_shape *shape = arena_alloc(work->program->arena, 1, sizeof *shape);
    xla__shape_proto__init(shape);
    shape->element_type = XLA__PRIMITIVE_TYPE__TUPLE;
    shape->n_tuple_shapes = count;
    shape->tuple_shapes = arena_array(work->program->arena, program_shape *, count);
    for (size_t i = 0; i < count; i++)
        shape->tuple_shapes[i] = program_copy_shape(work->program, work->nodes[inputs[i]].instruction->shape);
    return shape;
}

/* tuple → opt-barrier → an element for each input. */
static void add_barrier(struct work *work, const uint32_t *inputs, size_t count, const program_instruction *like)
{
    struct program *program = work->program;
    int64_t *ids = arena_array(program->arena, int64_t, count);
    for (size_t i = 0; i < count; i++)
        ids[i] = work->nodes[inputs[i]].instruction->id;
    program_instruction *tuple = program_new(program, "checkpoint", "tuple", tuple_shape(work, inputs, count), like);
    program_set_operands(program, tuple, ids, count);
    add_node(work, tuple);
    program_instruction *barrier =
        program_new(program, "checkpoint", "opt-barrier", program_copy_shape(program, tuple->shape), like);
    program_set_operands(program, barrier, &tuple->id, 1);
    add_node(work, barrier);
    for (size_t i = 0; i < count; i++) {
        program_instruction *element = program_new(program, "checkpoint", "get-tuple-element",
                                                   program_copy_shape(program, tuple->shape->tuple_shapes[i]), like);
        element->tuple_index = (int64_t)i;
        program_set_operands(program, element, &barrier->id, 1);
        uint32_t at = add_node(work, element);
        work->nodes[inputs[i]].stand_in = at;
    }
}

/* ---- whether the author's function would have the same ends ---- */

static bool is_small(const program_shape *shape)
{
    enum { SMALL_ELEMENTS = 4096 };
    return !shapes_is_array(shape) || (uint64_t)shapes_elements(shape) <= SMALL_ELEMENTS;
}

/* Is it a cast of another of the inputs? */
static bool is_cast_of_input(struct work *work, uint32_t at)
{
    const program_instruction *instruction = work->nodes[at].instruction;
    return program_is(instruction, "convert") && fresh(work, node_of(work, instruction->operand_ids[0]))->is_input;
}

/* A view of an argument is no value of the layers before or behind. */
static bool is_of_argument(const struct work *work, uint32_t at)
{
    const program_instruction *instruction = work->nodes[at].instruction;
    for (size_t steps = work->original_count; steps > 0 && instruction->n_operand_ids == 1; steps--) {
        arena_work(work->program->arena, 1);
        instruction = work->nodes[node_of(work, instruction->operand_ids[0])].instruction;
    }
    return program_is(instruction, "parameter");
}

/* One value goes into a layer and one gradient comes back, besides what the whole model reads: then there is no other
 * place where the author's function could begin or end. */
static bool has_one_stream(struct work *work, const uint32_t *inputs, size_t count)
{
    size_t forward = 0, backward = 0;
    for (size_t i = 0; i < count; i++) {
        const struct node *node = &work->nodes[inputs[i]];
        if (is_small(node->instruction->shape) || is_of_argument(work, inputs[i]) || is_cast_of_input(work, inputs[i]))
            continue;
        forward += node->phase == GRAPH_FORWARD && node->reader_region != READ_BY_SEVERAL;
        backward += node->phase == GRAPH_BACKWARD;
    }
    return forward <= 1 && backward <= 1;
}

static void checkpoint_reroute(struct work *work, program_instruction *reader)
{
    for (size_t i = 0; i < reader->n_operand_ids; i++) {
        const struct node *node = fresh(work, node_of(work, reader->operand_ids[i]));
        if (node->stand_in != HLO_NONE)
            reader->operand_ids[i] = work->nodes[node->stand_in].instruction->id;
    }
}

static void clone_needed(struct work *work)
{
    for (size_t i = 0; i < work->original_count; i++) {
        if (!fresh(work, (uint32_t)i)->is_needed)
            continue;
        program_instruction *clone = program_clone(work->program, work->nodes[i].instruction);
        clone->n_control_predecessor_ids = 0;
        program_name_recomputed(work->program, clone);
        checkpoint_reroute(work, clone);
        uint32_t at = add_node(work, clone);
        work->nodes[i].stand_in = at;
    }
}

static bool is_recomputed_already(const struct work *work)
{
    for (size_t i = 0; i < work->original_count; i++)
        if (is_of(work, (uint32_t)i, GRAPH_RECOMPUTE))
            return true;
    return false;
}

/* Counts the region as changed, or as left where its backward pass reads nothing of its forward pass. */
static void checkpoint_region(struct work *work)
{
    work->epoch++;
    arena_work(work->program->arena, work->count);
    size_t needed = is_recomputed_already(work) ? 0 : mark_region(work);
    if (needed == 0) {
        work->program->left_count++;
        return;
    }
    uint32_t *inputs = arena_array(work->program->arena, uint32_t, work->count);
    size_t count = collect_inputs(work, inputs);
    const program_instruction *like = NULL;
    for (size_t i = 0; like == NULL && i < work->original_count; i++)
        if (is_of(work, (uint32_t)i, GRAPH_BACKWARD))
            like = work->nodes[i].instruction;
    if (work->are_inferred && work->program->partial == NULL && !has_one_stream(work, inputs, count))
        work->program->partial =
            "its layers are recognised by the parameters they read, and more than one value passes from one to the "
            "next, so your functions may begin and end elsewhere";
    if (count > 0)
        add_barrier(work, inputs, count, like);
    clone_needed(work);
    for (size_t i = 0; i < work->original_count; i++)
        if (is_of(work, (uint32_t)i, GRAPH_BACKWARD))
            checkpoint_reroute(work, work->nodes[i].instruction);
    work->program->changed_count++;
}

/* ---- the program ---- */

static void add_originals(struct work *work, const struct edit *edit, const struct checkpoint_layers *layers)
{
    program_computation *entry = work->body->computation;
    const bool *constants = foldable_values(work->program, work->body);
    for (size_t i = 0; i < entry->n_instructions; i++) {
        program_instruction *instruction = entry->instructions[i];
        struct node node = {.instruction = instruction,
                            .region = checkpoint_layers_of(work->program, edit, layers, i),
                            .phase = layers->graph.graph.phases[layers->first + i],
                            .is_constant = constants[i],
                            .reader_region = HLO_NONE,
                            .stand_in = HLO_NONE};
        work->nodes[i] = node;
        map_put(&work->places, (uint64_t)instruction->id, (uint32_t)i, false);
    }
    work->count = work->original_count = entry->n_instructions;
    for (size_t i = 0; i < work->count; i++)
        for (size_t j = 0; j < work->nodes[i].instruction->n_operand_ids; j++) {
            uint32_t *of = &work->nodes[node_of(work, work->nodes[i].instruction->operand_ids[j])].reader_region;
            if (work->nodes[i].phase == GRAPH_FORWARD && work->nodes[i].region != HLO_NONE)
                *of = *of == HLO_NONE || *of == work->nodes[i].region ? work->nodes[i].region : READ_BY_SEVERAL;
        }
}

static bool put_in_order(struct work *work, const bool *was_read)
{
    program_instruction **all = arena_array(work->program->arena, program_instruction *, work->count);
    for (size_t i = 0; i < work->count; i++)
        all[i] = work->nodes[i].instruction;
    return order_live(work->program, work->body, all, work->count, was_read, work->original_count);
}

static bool checkpoint_regions(struct program *program, const struct edit *edit, const struct checkpoint_layers *layers)
{
    struct work work = {.program = program, .body = program->entry, .are_inferred = edit->layers != NULL};
    work.capacity = program->entry->computation->n_instructions + 1;
    work.nodes = arena_array(program->arena, struct node, work.capacity);
    work.pending = arena_array(program->arena, uint32_t, work.capacity);
    map_init(&work.places, program->arena, work.capacity);
    add_originals(&work, edit, layers);
    bool *was_read = order_reads(program, work.body),
         *has_backward = arena_array(program->arena, bool, (size_t)layers->regions.count + 1);
    for (size_t i = 0; i < work.original_count; i++)
        if (work.nodes[i].region != HLO_NONE && work.nodes[i].phase == GRAPH_BACKWARD)
            has_backward[work.nodes[i].region] = true;
    for (work.region = 0; work.region < layers->regions.count; work.region++)
        if (has_backward[work.region])
            checkpoint_region(&work);
    return put_in_order(&work, was_read) && program_index(program);
}

/* Where the layers are turns of a loop, of which the entry holds parameters alone, it is the loop's that are meant. */
static bool checkpoint_any(struct program *program, const struct edit *edit)
{
    struct checkpoint_layers layers;
    uint64_t before = program->changed_count;
    if (!checkpoint_layers_find(program, edit, &layers))
        return false;
    bool is_loop_first = edit->layers != NULL && checkpoint_within_has_around(program, edit->layers, &layers);
    if (is_loop_first && !checkpoint_scan_apply(program, edit->scopes))
        return false;
    if (program->changed_count > before)
        return true;
    return checkpoint_regions(program, edit, &layers) &&
           (program->changed_count > before || is_loop_first || checkpoint_scan_apply(program, edit->scopes));
}

bool checkpoint_apply(struct program *program, const struct edit *edit)
{
    uint64_t before = program->changed_count, left = program->left_count;
    if (!checkpoint_any(program, edit))
        return false;
    return program->changed_count > before ||
           err_set(program->err, ERR_conflict, ERR_NO_OFFSET,
                   program->left_count > left
                       ? "checkpoint: the layers of %.*s are computed again already, or keep nothing"
                       : "checkpoint: %.*s names no layers that have a backward pass: a scope that repeats with other "
                         "numbers, or a loop",
                   (int)(edit->scopes.length < 60 ? edit->scopes.length : 60), edit->scopes.data);
}
