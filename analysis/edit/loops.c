/* SPDX-License-Identifier: Apache-2.0 */
#include "edit/loops.h"

#include "edit/shapes.h"
#include "whatif/glob.h"

/* An instruction, or what a call of a computation that ends in it gives; its operands are then those of the call. */
struct seen {
    const struct program_body *body;               /* where its operands are */
    const program_instruction *instruction, *call; /* `call`: NULL for an instruction of the body itself */
};

static struct seen see(const struct program *program, const struct program_body *body,
                       const program_instruction *instruction)
{
    if (!program_is(instruction, "call") || instruction->n_called_computation_ids != 1)
        return (struct seen){body, instruction, NULL};
    const struct program_body *callee = program_body_of(program, instruction->called_computation_ids[0]);
    return (struct seen){callee, program_find(callee, callee->computation->root_id), instruction};
}

/* The instruction behind reshapes. */
static const program_instruction *behind_reshapes(const struct program_body *body, const program_instruction *from)
{
    while (from != NULL && program_is(from, "reshape"))
        from = program_operand(body, from, 0);
    return from;
}

/* The body's instruction that corresponds to the given one: itself, or what the call passes for a parameter; -1:
 * none. */
static int64_t outside_id(const struct seen *seen, const program_instruction *inner)
{
    if (inner == NULL)
        return -1;
    if (seen->call == NULL)
        return inner->id;
    if (!program_is(inner, "parameter") || (uint64_t)inner->parameter_number >= seen->call->n_operand_ids)
        return -1;
    return seen->call->operand_ids[inner->parameter_number];
}

bool loops_is_layer(const struct program *program, const struct program_body *body,
                    const program_instruction *instruction, int64_t *stack_id, int64_t *index_id)
{
    struct seen seen = see(program, body, instruction);
    const program_instruction *slice =
        seen.call != NULL ? behind_reshapes(seen.body, seen.instruction) : seen.instruction;
    if (slice == NULL || !program_is(slice, "dynamic-slice") || slice->n_operand_ids < 2 ||
        slice->shape->n_dimensions == 0 || slice->shape->dimensions[0] != 1)
        return false;
    *stack_id = outside_id(&seen, program_operand(seen.body, slice, 0));
    *index_id = outside_id(&seen, program_operand(seen.body, slice, 1));
    return *stack_id >= 0 && *index_id >= 0;
}

int64_t loops_element_of(const program_instruction *instruction, int64_t tuple_id)
{
    return program_is(instruction, "get-tuple-element") && instruction->n_operand_ids == 1 &&
                   instruction->operand_ids[0] == tuple_id
               ? instruction->tuple_index
               : -1;
}

/* ---- what becomes of an element ---- */

static bool is_element(const struct loop *loop, int64_t id, size_t element)
{
    const program_instruction *instruction = program_find(loop->body, id);
    return instruction != NULL && loops_element_of(instruction, loop->parameter->id) == (int64_t)element;
}

static bool is_write(const struct loop *loop, const program_instruction *value, size_t element,
                     struct loop_element *out)
{
    struct seen seen = see(loop->program, loop->body, value);
    if (!program_is(seen.instruction, "dynamic-update-slice") || seen.instruction->n_operand_ids < 3)
        return false;
    const program_instruction *update = program_operand(seen.body, seen.instruction, 1);
    if (update->shape->n_dimensions == 0 || update->shape->dimensions[0] != 1)
        return false;
    out->value_id = outside_id(&seen, behind_reshapes(seen.body, update));
    out->index_id = outside_id(&seen, program_operand(seen.body, seen.instruction, 2));
    int64_t target = outside_id(&seen, program_operand(seen.body, seen.instruction, 0));
    return out->value_id >= 0 && out->index_id >= 0 && target >= 0 && is_element(loop, target, element);
}

static bool is_constant_of(const program_instruction *instruction, int64_t value)
{
    const Xla__LiteralProto *literal = instruction->literal;
    return program_is(instruction, "constant") && literal != NULL && instruction->shape->n_dimensions == 0 &&
           ((literal->n_s32s == 1 && literal->s32s[0] == value) || (literal->n_s64s == 1 && literal->s64s[0] == value));
}

static bool is_sum(const struct loop *loop, const program_instruction *value, size_t element,
                   const program_instruction **other)
{
    if (!program_is(value, "add") || value->n_operand_ids != 2)
        return false;
    for (size_t i = 0; i < 2; i++)
        if (is_element(loop, value->operand_ids[i], element)) {
            *other = program_operand(loop->body, value, 1 - i);
            return true;
        }
    return false;
}

static void read_element(const struct loop *loop, size_t element, struct loop_element *out)
{
    const program_instruction *value = program_operand(loop->body, loop->root, element), *other;
    const program_instruction *init = program_operand(loop->program->entry, loop->init, element);
    *out = (struct loop_element){.role = LOOP_CARRIED, .init_id = init->id};
    if (is_element(loop, value->id, element))
        out->role = LOOP_READ;
    else if (is_write(loop, value, element, out))
        out->role = LOOP_STACK;
    else if (is_sum(loop, value, element, &other))
        out->role = is_constant_of(other, 1) && is_constant_of(init, 0) ? LOOP_COUNTER : LOOP_SUMMED;
}

bool loops_read(struct program *program, program_instruction *instruction, struct loop *loop)
{
    *loop = (struct loop){.program = program, .instruction = instruction};
    if (!program_is(instruction, "while"))
        return false;
    loop->init = program_operand(program->entry, instruction, 0);
    loop->body = program_body_of(program, instruction->called_computation_ids[0]);
    loop->condition = program_body_of(program, instruction->called_computation_ids[1]);
    loop->root = program_find(loop->body, loop->body->computation->root_id);
    arena_work(program->arena, loop->body->computation->n_instructions + loop->root->n_operand_ids);
    for (size_t i = 0; i < loop->body->computation->n_instructions; i++)
        if (program_is(loop->body->computation->instructions[i], "parameter"))
            loop->parameter = loop->body->computation->instructions[i];
    if (!program_is(loop->init, "tuple") || !program_is(loop->root, "tuple") || loop->parameter == NULL)
        return false;
    loop->count = loop->root->n_operand_ids;
    loop->elements = arena_array(program->arena, struct loop_element, loop->count);
    for (size_t i = 0; i < loop->count; i++)
        read_element(loop, i, &loop->elements[i]);
    return true;
}

bool loops_is_named(const struct loop *loop, struct str glob)
{
    if (str_equal(glob, STR("*")))
        return true;
    const program_computation *body = loop->body->computation;
    arena_work(loop->program->arena, body->n_instructions);
    for (size_t i = 0; i < body->n_instructions; i++)
        if (body->instructions[i]->metadata != NULL &&
            glob_matches(glob, str_of(body->instructions[i]->metadata->op_name)))
            return true;
    for (size_t i = 0; i < body->n_instructions; i++)
        for (size_t j = 0; j < body->instructions[i]->n_called_computation_ids; j++) {
            const program_computation *called =
                program_body_of(loop->program, body->instructions[i]->called_computation_ids[j])->computation;
            arena_work(loop->program->arena, called->n_instructions);
            for (size_t k = 0; k < called->n_instructions; k++)
                if (called->instructions[k]->metadata != NULL &&
                    glob_matches(glob, str_of(called->instructions[k]->metadata->op_name)))
                    return true;
        }
    return false;
}

/* ---- one element more ---- */

static void append_shape(struct program *program, program_shape *tuple, const program_shape *shape)
{
    program_shape **shapes = arena_array(program->arena, program_shape *, tuple->n_tuple_shapes + 1);
    for (size_t i = 0; i < tuple->n_tuple_shapes; i++)
        shapes[i] = tuple->tuple_shapes[i];
    shapes[tuple->n_tuple_shapes++] = program_copy_shape(program, shape);
    tuple->tuple_shapes = shapes;
}

static void append_operand(struct program *program, program_instruction *tuple, int64_t id, const program_shape *shape)
{
    int64_t *ids = arena_array(program->arena, int64_t, tuple->n_operand_ids + 1);
    if (tuple->n_operand_ids > 0)
        memcpy(ids, tuple->operand_ids, tuple->n_operand_ids * sizeof *ids);
    ids[tuple->n_operand_ids] = id;
    program_set_operands(program, tuple, ids, tuple->n_operand_ids + 1);
    append_shape(program, tuple->shape, shape);
}

static void append_parameter(struct program *program, const struct program_body *body, const program_shape *shape)
{
    program_computation *computation = body->computation;
    for (size_t i = 0; i < computation->n_instructions; i++)
        if (program_is(computation->instructions[i], "parameter"))
            append_shape(program, computation->instructions[i]->shape, shape);
    if (computation->program_shape != NULL && computation->program_shape->n_parameters == 1)
        append_shape(program, computation->program_shape->parameters[0], shape);
}

size_t loops_append(struct loop *loop, int64_t init_id, const program_shape *shape)
{
    struct program *program = loop->program;
    append_operand(program, loop->init, init_id, shape);
    append_shape(program, loop->instruction->shape, shape);
    append_parameter(program, loop->body, shape);
    append_parameter(program, loop->condition, shape);
    append_operand(program, loop->root, 0, shape);
    if (loop->body->computation->program_shape != NULL)
        append_shape(program, loop->body->computation->program_shape->result, shape);
    return loop->root->n_operand_ids - 1;
}

void loops_set(struct loop *loop, size_t element, int64_t value_id) { loop->root->operand_ids[element] = value_id; }
