/* SPDX-License-Identifier: Apache-2.0
 * Layers of a scan: the forward loop writes what it computes into stacks, layer by layer, and the backward loop reads
 * them in the opposite order. Under jax.checkpoint the one stack that is written is of what the loop carries; the
 * backward loop computes the rest of a layer again from it, behind an opt-barrier over the layer's inputs (what is
 * carried, its part of each argument) and the incoming cotangents.
 *
 * So here: in the body of the backward loop each layer of a stack that is read is replaced by a copy of what the body
 * of the forward loop writes there. What the forward loop carries is read from the stack that has it; where there is
 * none, one is added. The stacks that nobody reads any more the compiler removes from both loops. */
#include "edit/checkpoint_scan.h"

#include "edit/foldable.h"
#include "edit/inline.h"
#include "edit/loops.h"
#include "edit/order.h"
#include "edit/shapes.h"
#include "edit/transplant.h"

struct pair {
    struct program *program;
    struct loop forward, backward;
    const bool *entry_constants;                /* by place in the entry */
    bool *is_constant, *is_layered;             /* by place in the forward body; see classify */
    struct transplant layer, inputs, constants; /* into the backward body: what is computed again, what goes through the
                                                   barrier, what depends on nothing */
    int64_t layer_index;                        /* in the backward body: which layer it works on */
    program_instruction *tuple, *barrier;
    int64_t *input_ids;             /* elements of the barrier, in the backward body */
    program_instruction **elements; /* what reads them behind it */
    size_t input_count, input_capacity, element_capacity;
};

/* ---- which loops belong together ---- */

/* The element of the forward loop that begins an element of the backward loop, or -1. */
static int64_t element_behind(const struct pair *pair, const struct loop_element *element)
{
    const program_instruction *init = program_find(pair->program->entry, element->init_id);
    return loops_element_of(init, pair->forward.instruction->id);
}

/* A stack that the forward loop writes and the backward loop reads. */
static int64_t stack_behind(const struct pair *pair, size_t at)
{
    const struct loop_element *element = &pair->backward.elements[at];
    int64_t behind = element->role == LOOP_READ ? element_behind(pair, element) : -1;
    return behind >= 0 && (size_t)behind < pair->forward.count && pair->forward.elements[behind].role == LOOP_STACK
               ? behind
               : -1;
}

static bool is_pair(const struct pair *pair)
{
    arena_work(pair->program->arena, pair->backward.count);
    for (size_t i = 0; i < pair->backward.count; i++)
        if (stack_behind(pair, i) >= 0)
            return true;
    return false;
}

/* ---- what the forward loop carries, saved ---- */

/* Through what calls and tuples only pass on: the value itself. */
static int64_t checkpoint_scan_resolved(const struct pair *pair, int64_t id)
{
    const struct program_body *body = pair->forward.body;
    for (size_t steps = body->computation->n_instructions; steps > 0; steps--) {
        const program_instruction *value = program_find(body, id);
        const program_instruction *of = program_is(value, "get-tuple-element") ? program_operand(body, value, 0) : NULL;
        if (of == NULL || !program_is(of, "call"))
            return id;
        const struct program_body *callee = program_body_of(pair->program, of->called_computation_ids[0]);
        const program_instruction *root = program_find(callee, callee->computation->root_id);
        const program_instruction *given =
            program_is(root, "tuple") ? program_operand(callee, root, (size_t)value->tuple_index) : NULL;
        if (given == NULL || !program_is(given, "parameter"))
            return id;
        id = of->operand_ids[given->parameter_number];
    }
    return id;
}

/* The reader of a layer of the element in the backward body, or NULL. */
static program_instruction *reader_of(const struct pair *pair, size_t element)
{
    const program_computation *body = pair->backward.body->computation;
    arena_work(pair->program->arena, body->n_instructions);
    for (size_t i = 0; i < body->n_instructions; i++) {
        int64_t stack, index;
        if (!loops_is_layer(pair->program, pair->backward.body, body->instructions[i], &stack, &index))
            continue;
        const program_instruction *from = program_find(pair->backward.body, stack);
        if (loops_element_of(from, pair->backward.parameter->id) == (int64_t)element)
            return body->instructions[i];
    }
    return NULL;
}

/* The get-tuple-element of the backward loop's parameter for one of its elements, there or new. */
static int64_t backward_element(struct pair *pair, size_t element)
{
    const program_computation *body = pair->backward.body->computation;
    arena_work(pair->program->arena, body->n_instructions);
    for (size_t i = 0; i < body->n_instructions; i++)
        if (loops_element_of(body->instructions[i], pair->backward.parameter->id) == (int64_t)element)
            return body->instructions[i]->id;
    program_shape *shape = program_copy_shape(pair->program, pair->backward.parameter->shape->tuple_shapes[element]);
    program_instruction *taken =
        program_new(pair->program, "get-tuple-element", "get-tuple-element", shape, pair->backward.root);
    taken->tuple_index = (int64_t)element;
    program_set_operands(pair->program, taken, &pair->backward.parameter->id, 1);
    return transplant_add(&pair->inputs, taken);
}

/* An element of the backward loop that stays what `init_id` of the entry is, there or new. */
static int64_t backward_reads(struct pair *pair, int64_t init_id, const program_shape *shape)
{
    for (size_t i = 0; i < pair->backward.count; i++)
        if (pair->backward.elements[i].role == LOOP_READ && pair->backward.elements[i].init_id == init_id)
            return backward_element(pair, i);
    size_t element = loops_append(&pair->backward, init_id, shape);
    int64_t id = backward_element(pair, element);
    loops_set(&pair->backward, element, id);
    return id;
}

/* What the loop carries, as the layer began with it: in the stack that keeps it. */
static int64_t carried_before(struct pair *pair, const program_instruction *carried)
{
    for (size_t i = 0; i < pair->backward.count; i++) {
        int64_t stack = stack_behind(pair, i);
        if (stack < 0 || checkpoint_scan_resolved(pair, pair->forward.elements[stack].value_id) != carried->id)
            continue;
        const program_instruction *reader = reader_of(pair, i);
        if (reader != NULL && shapes_equal(reader->shape, carried->shape))
            return reader->id;
    }
    err_set(pair->program->err, ERR_conflict, ERR_NO_OFFSET,
            "checkpoint: the forward loop does not keep what it carries (%s)", carried->name);
    return -1;
}

/* ---- the barrier ---- */

static program_instruction *backward_find(const struct pair *pair, int64_t id)
{
    const struct transplant *made[] = {&pair->inputs, &pair->layer, &pair->constants};
    arena_work(pair->program->arena, pair->inputs.count + pair->layer.count + pair->constants.count);
    for (size_t i = 0; i < sizeof made / sizeof *made; i++)
        for (size_t j = 0; j < made[i]->count; j++)
            if (made[i]->copies[j]->id == id)
                return made[i]->copies[j];
    return program_find(pair->backward.body, id);
}

/* The value behind the barrier. */
static int64_t through_barrier(struct pair *pair, int64_t id)
{
    struct program *program = pair->program;
    arena_work(program->arena, pair->input_count);
    for (size_t i = 0; i < pair->input_count; i++)
        if (pair->input_ids[i] == id)
            return pair->elements[i]->id;
    const program_instruction *input = backward_find(pair, id);
    program_instruction *element = program_new(program, "checkpoint", "get-tuple-element",
                                               program_copy_shape(program, input->shape), pair->backward.root);
    element->tuple_index = (int64_t)pair->input_count;
    program_set_operands(program, element, &pair->barrier->id, 1);
    pair->input_ids =
        arena_grown(program->arena, pair->input_ids, pair->input_count + 1, &pair->input_capacity, sizeof(int64_t));
    pair->elements = arena_grown(program->arena, pair->elements, pair->input_count + 1, &pair->element_capacity,
                                 sizeof(program_instruction *));
    pair->input_ids[pair->input_count] = id;
    pair->elements[pair->input_count++] = element;
    return transplant_add(&pair->layer, element);
}

static void begin_barrier(struct pair *pair)
{
    for (int i = 0; i < 2; i++) {
        program_shape *shape = arena_alloc(pair->program->arena, 1, sizeof *shape);
        xla__shape_proto__init(shape);
        shape->element_type = XLA__PRIMITIVE_TYPE__TUPLE;
        program_instruction *made =
            program_new(pair->program, "checkpoint", i == 0 ? "tuple" : "opt-barrier", shape, pair->backward.root);
        transplant_add(&pair->layer, made);
        *(i == 0 ? &pair->tuple : &pair->barrier) = made;
    }
    program_set_operands(pair->program, pair->barrier, &pair->tuple->id, 1);
}

static void end_barrier(struct pair *pair)
{
    program_set_operands(pair->program, pair->tuple, pair->input_ids, pair->input_count);
    program_shape *const shapes[] = {pair->tuple->shape, pair->barrier->shape};
    for (int i = 0; i < 2; i++) {
        shapes[i]->n_tuple_shapes = pair->input_count;
        shapes[i]->tuple_shapes = arena_array(pair->program->arena, program_shape *, pair->input_count);
        for (size_t j = 0; j < pair->input_count; j++)
            shapes[i]->tuple_shapes[j] = program_copy_shape(pair->program, pair->elements[j]->shape);
    }
}

/* ---- a layer, again ---- */

static enum loop_role role_of(const struct pair *pair, const program_instruction *instruction, int64_t *element)
{
    *element = loops_element_of(instruction, pair->forward.parameter->id);
    return *element >= 0 && (size_t)*element < pair->forward.count ? pair->forward.elements[*element].role
                                                                   : LOOP_SUMMED;
}

static bool is_entry_constant(const struct pair *pair, int64_t element)
{
    return pair->entry_constants[program_place(pair->program->entry, pair->forward.elements[element].init_id)];
}

/* A value of the forward body is a constant, or made of arguments and the count alone (layered), or of what is
 * carried. */
static void classify(struct pair *pair)
{
    const struct program_body *body = pair->forward.body;
    size_t count = body->computation->n_instructions;
    bool *foldable = foldable_values(pair->program, body);
    pair->is_constant = arena_array(pair->program->arena, bool, count);
    pair->is_layered = arena_array(pair->program->arena, bool, count);
    for (size_t i = 0; i < count; i++) {
        const program_instruction *instruction = body->computation->instructions[i];
        int64_t element;
        enum loop_role role = role_of(pair, instruction, &element);
        bool is_constant = true, is_layered = true;
        for (size_t j = 0; j < instruction->n_operand_ids; j++) {
            uint32_t place = program_place(body, instruction->operand_ids[j]);
            is_constant = is_constant && pair->is_constant[place];
            is_layered = is_layered && (pair->is_layered[place] || pair->is_constant[place]);
        }
        if (element >= 0) {
            is_constant = role == LOOP_READ && is_entry_constant(pair, element);
            is_layered = role == LOOP_READ || role == LOOP_COUNTER;
        } else if (instruction->n_operand_ids == 0) {
            is_constant = foldable[i];
            is_layered = false;
        }
        pair->is_constant[i] = is_constant;
        pair->is_layered[i] = is_layered && !is_constant;
    }
}

/* For what goes through the barrier: elements of the loop alone. */
static int64_t input_stand_in(void *context, const program_instruction *instruction)
{
    struct pair *pair = context;
    int64_t element;
    enum loop_role role = role_of(pair, instruction, &element);
    if (element < 0)
        return -1;
    if (role == LOOP_COUNTER)
        return pair->layer_index;
    int64_t init_id = pair->forward.elements[element].init_id;
    return is_entry_constant(pair, element) ? transplant_value(&pair->constants, init_id)
                                            : backward_reads(pair, init_id, instruction->shape);
}

/* An instruction of the backward body that is already what a copy is: one layer of the same argument. */
static int64_t same_layer(const struct pair *pair, int64_t copy_id)
{
    const program_computation *body = pair->backward.body->computation;
    const program_instruction *copy = backward_find(pair, copy_id);
    int64_t stack, index, other_stack, other_index;
    if (!loops_is_layer(pair->program, pair->backward.body, copy, &stack, &index))
        return copy_id;
    arena_work(pair->program->arena, body->n_instructions);
    for (size_t i = 0; i < body->n_instructions; i++)
        if (loops_is_layer(pair->program, pair->backward.body, body->instructions[i], &other_stack, &other_index) &&
            stack == other_stack && index == other_index && shapes_equal(copy->shape, body->instructions[i]->shape))
            return body->instructions[i]->id;
    return copy_id;
}

/* For what is computed again: at the first value that depends on nothing carried, its like behind the barrier. */
static int64_t layer_stand_in(void *context, const program_instruction *instruction)
{
    struct pair *pair = context;
    int64_t element, input = -1;
    uint32_t place = program_place(pair->forward.body, instruction->id);
    enum loop_role role = role_of(pair, instruction, &element);
    if (pair->is_constant[place])
        return element >= 0 ? input_stand_in(pair, instruction) : -1;
    if (pair->is_layered[place])
        input = transplant_value(&pair->inputs, instruction->id);
    else if (element >= 0 && role == LOOP_CARRIED)
        input = carried_before(pair, instruction);
    else if (element >= 0)
        err_set(pair->program->err, ERR_conflict, ERR_NO_OFFSET,
                "checkpoint: a layer reads what former ones wrote (%s)", instruction->name);
    return input < 0 ? -1 : through_barrier(pair, same_layer(pair, input));
}

/* ---- the backward body ---- */

static void checkpoint_scan_reroute(struct pair *pair, size_t original_count, int64_t from, int64_t to)
{
    const program_computation *body = pair->backward.body->computation;
    arena_work(pair->program->arena, original_count);
    for (size_t i = 0; i < original_count; i++) {
        program_instruction *reader = body->instructions[i];
        int64_t stack, index;
        if (reader == pair->backward.root || loops_is_layer(pair->program, pair->backward.body, reader, &stack, &index))
            continue;
        for (size_t j = 0; j < reader->n_operand_ids; j++)
            if (reader->operand_ids[j] == from)
                reader->operand_ids[j] = to;
    }
}

/* A layer of a stack of the forward loop that an instruction of the backward body reads: the stack's element, or -1. */
static int64_t layer_read(const struct pair *pair, const program_instruction *reader, int64_t *index)
{
    int64_t stack;
    if (!loops_is_layer(pair->program, pair->backward.body, reader, &stack, index))
        return -1;
    int64_t element = loops_element_of(program_find(pair->backward.body, stack), pair->backward.parameter->id);
    return element >= 0 && (size_t)element < pair->backward.count ? stack_behind(pair, (size_t)element) : -1;
}

static bool is_counted(const struct pair *pair, int64_t index_id)
{
    int64_t element;
    return role_of(pair, program_find(pair->forward.body, index_id), &element) == LOOP_COUNTER;
}

/* Does the stack keep what the loop carries? */
static bool is_of_carried(const struct pair *pair, int64_t stack)
{
    int64_t element, value = checkpoint_scan_resolved(pair, pair->forward.elements[stack].value_id);
    return role_of(pair, program_find(pair->forward.body, value), &element) == LOOP_CARRIED;
}

/* Is there a stack of anything else, and is nothing computed again yet? */
static bool is_worth(const struct pair *pair)
{
    const program_computation *body = pair->backward.body->computation;
    for (size_t i = 0; i < body->n_instructions; i++) {
        int64_t index, stack = layer_read(pair, body->instructions[i], &index);
        if (stack >= 0 && !is_of_carried(pair, stack))
            return true;
    }
    return false;
}

/* Reads of stacks become what is computed again. */
static bool replace_reads(struct pair *pair)
{
    const program_computation *body = pair->backward.body->computation;
    struct program *program = pair->program;
    size_t count = body->n_instructions;
    for (size_t i = 0; i < count; i++) {
        program_instruction *reader = body->instructions[i];
        int64_t index, stack = layer_read(pair, reader, &index);
        if (stack < 0 || is_of_carried(pair, stack))
            continue;
        if ((pair->layer_index >= 0 && index != pair->layer_index) ||
            !is_counted(pair, pair->forward.elements[stack].index_id))
            return err_set(program->err, ERR_conflict, ERR_NO_OFFSET,
                           "checkpoint: the loops do not go through their layers one by one (%s)", reader->name);
        pair->layer_index = index;
        int64_t made = transplant_value(&pair->layer, pair->forward.elements[stack].value_id);
        if (made < 0)
            return false;
        if (!shapes_equal(backward_find(pair, made)->shape, reader->shape)) {
            program_instruction *reshaped =
                program_new(program, "checkpoint", "reshape", program_copy_shape(program, reader->shape), reader);
            program_set_operands(program, reshaped, &made, 1);
            made = transplant_add(&pair->layer, reshaped);
        }
        checkpoint_scan_reroute(pair, count, reader->id, made);
    }
    return pair->layer_index >= 0;
}

/* Cotangents and the layer's inputs are read from behind the barrier; constants are written again. */
static bool replace_inputs(struct pair *pair)
{
    const program_computation *body = pair->backward.body->computation;
    size_t count = body->n_instructions;
    for (size_t i = 0; i < count; i++) {
        int64_t element = loops_element_of(body->instructions[i], pair->backward.parameter->id);
        if (element < 0 || (size_t)element >= pair->backward.count)
            continue;
        const struct loop_element *of = &pair->backward.elements[element];
        if (of->role == LOOP_CARRIED)
            through_barrier(pair, body->instructions[i]->id);
        if (of->role != LOOP_READ || !pair->entry_constants[program_place(pair->program->entry, of->init_id)])
            continue;
        int64_t made = transplant_value(&pair->constants, of->init_id);
        if (made < 0)
            return false;
        checkpoint_scan_reroute(pair, count, body->instructions[i]->id, made);
    }
    for (size_t i = 0; i < pair->input_count; i++)
        checkpoint_scan_reroute(pair, count, pair->input_ids[i], pair->elements[i]->id);
    return true;
}

/* Is it a call that is computed again for the layer, or one that reads such a call? Both are written out, so that each
 * instruction is where the backward pass needs it, as it is where JAX writes both as one. */
static bool is_of_layer(const struct pair *pair, const program_instruction *instruction)
{
    int64_t stack, index;
    if (!program_is(instruction, "call") ||
        loops_is_layer(pair->program, pair->backward.body, instruction, &stack, &index))
        return false;
    arena_work(pair->program->arena, pair->layer.count * (instruction->n_operand_ids + 1));
    for (size_t i = 0; i < pair->layer.count; i++) {
        if (pair->layer.copies[i] == instruction)
            return true;
        for (size_t j = 0; j < instruction->n_operand_ids; j++)
            if (pair->layer.copies[i]->id == instruction->operand_ids[j])
                return true;
    }
    return false;
}

static bool put_in_order(struct pair *pair, const bool *was_read)
{
    struct program_body *body = pair->backward.body;
    const struct transplant *made[] = {&pair->inputs, &pair->layer, &pair->constants};
    size_t originals = body->computation->n_instructions, count = originals;
    program_instruction **all = arena_array(pair->program->arena, program_instruction *,
                                            originals + made[0]->count + made[1]->count + made[2]->count);
    memcpy(all, body->computation->instructions, originals * sizeof *all);
    for (size_t i = 0; i < sizeof made / sizeof *made; i++)
        for (size_t j = 0; j < made[i]->count; j++)
            all[count++] = made[i]->copies[j];
    struct inlining inlining;
    inline_init(&inlining, pair->program, body, all, count);
    for (size_t i = 0; i < count; i++)
        if (is_of_layer(pair, all[i]))
            inline_call(&inlining, all[i]);
    inline_end(&inlining);
    return order_live(pair->program, body, inlining.instructions, inlining.count, was_read, originals);
}

static bool checkpoint_pair(struct pair *pair)
{
    const bool *was_read = order_reads(pair->program, pair->backward.body);
    transplant_init(&pair->layer, pair->program, pair->forward.body, pair->backward.body);
    transplant_init(&pair->inputs, pair->program, pair->forward.body, pair->backward.body);
    transplant_init(&pair->constants, pair->program, pair->program->entry, pair->backward.body);
    pair->layer.stand_in = layer_stand_in;
    pair->inputs.stand_in = input_stand_in;
    pair->layer.context = pair->inputs.context = pair;
    pair->layer_index = -1;
    classify(pair);
    begin_barrier(pair);
    if (!replace_reads(pair) || !replace_inputs(pair))
        return false;
    end_barrier(pair);
    for (size_t i = 0; i < pair->layer.count; i++)
        program_name_recomputed(pair->program, pair->layer.copies[i]);
    pair->program->changed_count++;
    return put_in_order(pair, was_read);
}

bool checkpoint_scan_apply(struct program *program, struct str scopes)
{
    const program_computation *entry = program->entry->computation;
    for (size_t i = 0; i < entry->n_instructions; i++)
        for (size_t j = 0; j < i && program_is(entry->instructions[i], "while"); j++) {
            struct pair pair = {.program = program};
            arena_work(program->arena, 1);
            if (!program_is(entry->instructions[j], "while") ||
                !loops_read(program, entry->instructions[j], &pair.forward) ||
                !loops_read(program, entry->instructions[i], &pair.backward) || !is_pair(&pair) ||
                !loops_is_named(&pair.forward, scopes))
                continue;
            if (!is_worth(&pair)) {
                program->left_count++;
                continue;
            }
            pair.entry_constants = foldable_values(program, program->entry);
            if (!checkpoint_pair(&pair) || !program_index(program))
                return false;
            entry = program->entry->computation;
        }
    return true;
}
