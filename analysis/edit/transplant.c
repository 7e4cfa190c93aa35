/* SPDX-License-Identifier: Apache-2.0 */
#include "edit/transplant.h"

struct step {
    const program_instruction *instruction;
    size_t next;
};

void transplant_init(struct transplant *transplant, struct program *program, const struct program_body *from,
                     struct program_body *to)
{
    *transplant = (struct transplant){.program = program, .from = from, .to = to};
    map_init(&transplant->made, program->arena, 64);
}

static void transplant_note(struct transplant *transplant, int64_t id, int64_t made)
{
    struct map_slot *slot = map_at(&transplant->made, (uint64_t)id);
    map_fill(&transplant->made, slot, (uint64_t)id, (uint64_t)made);
}

static bool is_made(const struct transplant *transplant, int64_t id, int64_t *made)
{
    uint64_t value = map_at(&transplant->made, (uint64_t)id)->value;
    *made = (int64_t)value;
    return value != MAP_FREE;
}

int64_t transplant_add(struct transplant *transplant, program_instruction *instruction)
{
    instruction->id = program_new_id(transplant->program, transplant->to);
    transplant->copies = arena_grown(transplant->program->arena, transplant->copies, transplant->count + 1,
                                     &transplant->capacity, sizeof(program_instruction *));
    transplant->copies[transplant->count++] = instruction;
    return instruction->id;
}

static bool transplant_copy(struct transplant *transplant, const program_instruction *instruction)
{
    struct program *program = transplant->program;
    if (program_is(instruction, "parameter"))
        return err_set(program->err, ERR_conflict, ERR_NO_OFFSET, "checkpoint: %s is not there in the backward pass",
                       instruction->name);
    for (size_t i = 0; i < instruction->n_called_computation_ids; i++)
        if (program_body_of(program, instruction->called_computation_ids[i]) >= transplant->to)
            return err_set(program->err, ERR_conflict, ERR_NO_OFFSET,
                           "checkpoint: what %s calls comes after the backward pass", instruction->name);
    program_instruction *clone = program_clone(program, instruction);
    clone->n_control_predecessor_ids = 0;
    for (size_t i = 0; i < clone->n_operand_ids; i++)
        is_made(transplant, instruction->operand_ids[i], &clone->operand_ids[i]);
    transplant_note(transplant, instruction->id, transplant_add(transplant, clone));
    return true;
}

int64_t transplant_value(struct transplant *transplant, int64_t id)
{
    struct program *program = transplant->program;
    size_t room = transplant->from->computation->n_instructions + 1, depth = 0;
    int64_t made;
    if (is_made(transplant, id, &made))
        return made;
    struct step *stack = arena_array(program->arena, struct step, room);
    stack[depth++] = (struct step){program_find(transplant->from, id), 0};
    while (depth > 0) {
        struct step *top = &stack[depth - 1];
        const program_instruction *instruction = top->instruction;
        arena_work(program->arena, 1);
        int64_t instead = top->next == 0 && transplant->stand_in != NULL
                              ? transplant->stand_in(transplant->context, instruction)
                              : -1;
        if (err_is_set(program->err))
            return -1;
        if (instead >= 0)
            transplant_note(transplant, instruction->id, instead);
        else if (top->next < instruction->n_operand_ids) {
            int64_t operand = instruction->operand_ids[top->next++];
            if (!is_made(transplant, operand, &made))
                stack[depth++] = (struct step){program_find(transplant->from, operand), 0};
            continue;
        } else if (!transplant_copy(transplant, instruction)) {
            return -1;
        }
        depth--;
    }
    is_made(transplant, id, &made);
    return made;
}
