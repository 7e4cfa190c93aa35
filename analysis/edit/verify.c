/* SPDX-License-Identifier: Apache-2.0 */
#include "edit/verify.h"

#include "edit/shapes.h"
#include "edit/verify_rules.h"

struct check {
    const struct program *program;
    const struct program_body *body;
    uint64_t place; /* of the instruction that is looked at */
};

static bool fault_of(const struct program *program, const program_instruction *instruction, const char *reason)
{
    return err_set(program->err, ERR_malformed, ERR_NO_OFFSET, "%s: %s", instruction->name, reason);
}

/* Comparing it once; it may be compared with many. */
static void charge_shape(const struct program *program, const program_shape *shape)
{
    uint64_t parts = 0;
    if (shape != NULL)
        shapes_fault(shape, &parts);
    arena_work(program->arena, parts);
}

/* ---- one instruction ---- */

static bool check_ids(const struct check *check, const program_instruction *instruction, const int64_t *ids,
                      size_t count, const char *reason)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t place = program_place(check->body, ids[i]);
        if (place == MAP_NONE || place >= check->place)
            return fault_of(check->program, instruction, reason);
    }
    return true;
}

static program_instruction *root_of(const struct program_body *body)
{
    return program_find(body, body->computation->root_id);
}

static size_t parameter_count(const struct program_body *body)
{
    size_t count = 0;
    for (size_t i = 0; i < body->computation->n_instructions; i++)
        count += program_is(body->computation->instructions[i], "parameter");
    return count;
}

/* The shape of parameter `number` of a computation, or NULL. */
static const program_shape *parameter_shape(const struct program_body *body, size_t number)
{
    const program_computation *computation = body->computation;
    for (size_t i = 0; i < computation->n_instructions; i++)
        if (program_is(computation->instructions[i], "parameter") &&
            computation->instructions[i]->parameter_number == (int64_t)number)
            return computation->instructions[i]->shape;
    return NULL;
}

/* Does the computation take the operands from the one at `first` on and give `result` (NULL: whatever)? */
static bool check_call(const struct check *check, const program_instruction *instruction, size_t called, size_t first,
                       size_t count, const program_shape *result)
{
    const struct program_body *callee = program_body_of(check->program, instruction->called_computation_ids[called]);
    arena_work(check->program->arena, (count + 1) * callee->computation->n_instructions);
    if (parameter_count(callee) != count)
        return fault_of(check->program, instruction, "passes another number of operands than its computation takes");
    for (size_t i = 0; i < count; i++) {
        const program_instruction *operand = program_operand(check->body, instruction, first + i);
        const program_shape *wanted = parameter_shape(callee, i);
        charge_shape(check->program, wanted);
        if (wanted == NULL || operand == NULL || !shapes_equal(wanted, operand->shape))
            return fault_of(check->program, instruction, "an operand is not what its computation takes");
    }
    if (result != NULL && !shapes_equal(root_of(callee)->shape, result))
        return fault_of(check->program, instruction, "its shape is not what its computation gives");
    return true;
}

static bool check_while(const struct check *check, const program_instruction *instruction)
{
    const program_instruction *init = program_operand(check->body, instruction, 0);
    if (instruction->n_called_computation_ids != 2 || instruction->n_operand_ids != 1 ||
        !shapes_equal(init->shape, instruction->shape))
        return fault_of(check->program, instruction, "a loop gives what it begins with");
    /* The body, then the condition. */
    return check_call(check, instruction, 0, 0, 1, instruction->shape) && check_call(check, instruction, 1, 0, 1, NULL);
}

static bool check_conditional(const struct check *check, const program_instruction *instruction)
{
    if (instruction->n_operand_ids != instruction->n_called_computation_ids + 1)
        return fault_of(check->program, instruction, "has not one operand for each branch");
    for (size_t i = 0; i < instruction->n_called_computation_ids; i++)
        if (!check_call(check, instruction, i, i + 1, 1, instruction->shape))
            return false;
    return true;
}

static bool check_called(const struct check *check, const program_instruction *instruction)
{
    for (size_t i = 0; i < instruction->n_called_computation_ids; i++) {
        const struct program_body *callee = program_body_of(check->program, instruction->called_computation_ids[i]);
        if (callee == NULL || callee >= check->body || root_of(callee) == NULL)
            return fault_of(check->program, instruction, "calls a computation that does not stand before its own");
    }
    if (program_is(instruction, "while"))
        return check_while(check, instruction);
    if (program_is(instruction, "conditional"))
        return check_conditional(check, instruction);
    if (!program_is(instruction, "call") && !program_is(instruction, "fusion"))
        return true;
    if (instruction->n_called_computation_ids != 1)
        return fault_of(check->program, instruction, "calls no computation");
    return check_call(check, instruction, 0, 0, instruction->n_operand_ids, instruction->shape);
}

/* Its own shape, and what comparing it and its operands takes: each has its own size, but many may read one. Each
 * element of a tuple is compared once. */
static bool check_own_shape(const struct check *check, const program_instruction *instruction)
{
    uint64_t parts;
    if (instruction->shape == NULL)
        return fault_of(check->program, instruction, "has no shape");
    const char *fault = shapes_fault(instruction->shape, &parts);
    if (fault != NULL)
        return fault_of(check->program, instruction, fault);
    arena_work(check->program->arena, parts);
    if (!program_is(instruction, "tuple"))
        arena_work(check->program->arena, parts * instruction->n_operand_ids);
    return true;
}

/* Those operands that rules compare with each other, and not with its own shape. */
static bool charge_operands(const struct check *check, const program_instruction *instruction)
{
    size_t count = program_is(instruction, "get-tuple-element") ? 0 : instruction->n_operand_ids;
    for (size_t i = 0; i < count && i < VERIFY_OPERANDS_SEEN; i++)
        charge_shape(check->program, program_operand(check->body, instruction, i)->shape);
    return true;
}

static bool check_instruction(const struct check *check, const program_instruction *instruction)
{
    if (!check_own_shape(check, instruction))
        return false;
    return check_ids(check, instruction, instruction->operand_ids, instruction->n_operand_ids,
                     "an operand does not stand before it") &&
           check_ids(check, instruction, instruction->control_predecessor_ids, instruction->n_control_predecessor_ids,
                     "a control predecessor does not stand before it") &&
           charge_operands(check, instruction) && check_called(check, instruction) &&
           verify_shape(check->program, check->body, instruction);
}

/* ---- a computation, the module ---- */

/* Numbered from 0, each once. */
static bool check_parameters(const struct program *program, const struct program_body *body)
{
    size_t count = parameter_count(body);
    bool *is_there = arena_array(program->arena, bool, count);
    for (size_t i = 0; i < body->computation->n_instructions; i++) {
        const program_instruction *instruction = body->computation->instructions[i];
        uint64_t number = (uint64_t)instruction->parameter_number;
        if (!program_is(instruction, "parameter"))
            continue;
        if (number >= count || is_there[number])
            return fault_of(program, instruction, "its number is another parameter's, or too great");
        is_there[number] = true;
    }
    return true;
}

static bool check_program_shape(const struct program *program, const struct program_body *body,
                                const Xla__ProgramShapeProto *shape)
{
    const program_computation *computation = body->computation;
    size_t parameters = 0;
    for (size_t i = 0; i < computation->n_instructions; i++) {
        const program_instruction *instruction = computation->instructions[i];
        if (!program_is(instruction, "parameter"))
            continue;
        parameters++;
        uint64_t number = (uint64_t)instruction->parameter_number;
        if (number >= shape->n_parameters || !shapes_equal(shape->parameters[number], instruction->shape))
            return fault_of(program, instruction, "its shape is not that of the program shape");
    }
    if (parameters != shape->n_parameters || !shapes_equal(shape->result, root_of(body)->shape))
        return err_set(program->err, ERR_malformed, ERR_NO_OFFSET, "%s: its program shape is not that of its %s",
                       computation->name, parameters != shape->n_parameters ? "parameters" : "root");
    return true;
}

static bool check_aliases(const struct program *program)
{
    size_t results = program->root->shape->n_tuple_shapes + 1; /* and the root itself, the last one */
    bool *is_taken = arena_array(program->arena, bool, results);
    const Xla__HloInputOutputAliasProto *aliases = program->module->input_output_alias;
    for (size_t i = 0; aliases != NULL && i < aliases->n_entries; i++) {
        const Xla__HloInputOutputAliasProto__AliasEntryProto *entry = aliases->entries[i];
        if (!program_has_parameter(program, entry->parameter_number))
            return false;
        const program_shape *from = shapes_at(program->parameters[entry->parameter_number]->shape,
                                              entry->parameter_shape_index, entry->n_parameter_shape_index);
        const program_shape *to =
            shapes_at(program->root->shape, entry->output_shape_index, entry->n_output_shape_index);
        charge_shape(program, to);
        if (from == NULL || to == NULL || !shapes_equal(from, to))
            return fault_of(program, program->parameters[entry->parameter_number],
                            "it is donated to a result of another shape");
        size_t result = entry->n_output_shape_index > 0 ? (size_t)entry->output_shape_index[0] : results - 1;
        if (entry->n_output_shape_index <= 1 && is_taken[result])
            return fault_of(program, program->parameters[entry->parameter_number],
                            "it is donated to a result that has another argument's memory");
        is_taken[result] = true;
    }
    return true;
}

static bool is_same_name(const void *context, uint64_t value) { return strcmp(context, map_pointer(value)) == 0; }

static bool check_name(const struct program *program, struct map *names, char *name)
{
    uint64_t hash = map_hash_text(program->arena, str_of(name), 0);
    if (name[0] == '\0' || map_find(names, hash, is_same_name, name) != MAP_FREE)
        return err_set(program->err, ERR_malformed, ERR_NO_OFFSET, "%s: two instructions have this name", name);
    map_add(names, hash, map_value(name));
    return true;
}

bool verify_program(const struct program *program)
{
    struct map names;
    map_init(&names, program->arena, 1024);
    for (size_t i = 0; i < program->module->n_computations; i++) {
        const struct program_body *body = &program->bodies[i];
        const program_computation *computation = body->computation;
        if (root_of(body) == NULL)
            return err_set(program->err, ERR_malformed, ERR_NO_OFFSET, "%s has no root", computation->name);
        for (size_t j = 0; j < computation->n_instructions; j++) {
            const struct check check = {program, body, j};
            if (!check_name(program, &names, computation->instructions[j]->name) ||
                !check_instruction(&check, computation->instructions[j]))
                return false;
        }
        if (!check_parameters(program, body) ||
            (computation->program_shape != NULL && !check_program_shape(program, body, computation->program_shape)))
            return false;
    }
    const Xla__ProgramShapeProto *host = program->module->host_program_shape;
    return (host == NULL || check_program_shape(program, program->entry, host)) && check_aliases(program);
}
