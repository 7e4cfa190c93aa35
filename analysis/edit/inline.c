/* SPDX-License-Identifier: Apache-2.0 */
#include "edit/inline.h"

#include "edit/loops.h"

static void add_one(struct inlining *inlining, program_instruction *instruction)
{
    inlining->instructions = arena_grown(inlining->program->arena, inlining->instructions, inlining->count + 1,
                                         &inlining->capacity, sizeof(program_instruction *));
    inlining->instructions[inlining->count++] = instruction;
}

void inline_init(struct inlining *inlining, struct program *program, struct program_body *body,
                 program_instruction *const *instructions, size_t count)
{
    *inlining = (struct inlining){.program = program, .body = body};
    map_init(&inlining->instead, program->arena, 64);
    for (size_t i = 0; i < count; i++)
        add_one(inlining, instructions[i]);
}

static void inline_note(struct map *map, int64_t id, int64_t other)
{
    map_fill(map, map_at(map, (uint64_t)id), (uint64_t)id, (uint64_t)other);
}

static int64_t noted(const struct map *map, int64_t id)
{
    uint64_t value = map_at(map, (uint64_t)id)->value;
    return value == MAP_FREE ? id : (int64_t)value;
}

/* Names within are relative to the caller's. */
static void name_within(struct inlining *inlining, program_instruction *copy, const program_instruction *call)
{
    if (copy->metadata != NULL && copy->metadata->op_name[0] != '\0' && call->metadata != NULL &&
        call->metadata->op_name[0] != '\0')
        copy->metadata->op_name =
            arena_format(inlining->program->arena, "%s/%s", call->metadata->op_name, copy->metadata->op_name);
}

void inline_call(struct inlining *inlining, const program_instruction *call)
{
    struct program *program = inlining->program;
    const struct program_body *callee = program_body_of(program, call->called_computation_ids[0]);
    const program_computation *called = callee->computation;
    const program_instruction *root = program_find(callee, called->root_id);
    bool is_tuple = program_is(root, "tuple");
    size_t before = inlining->count;
    arena_work(program->arena, before + called->n_instructions);
    struct map copies;
    map_init(&copies, program->arena, called->n_instructions);
    for (size_t i = 0; i < called->n_instructions; i++) {
        const program_instruction *original = called->instructions[i];
        if (program_is(original, "parameter")) {
            inline_note(&copies, original->id, call->operand_ids[original->parameter_number]);
            continue;
        }
        program_instruction *copy = program_clone(program, original);
        for (size_t j = 0; j < copy->n_operand_ids; j++)
            copy->operand_ids[j] = noted(&copies, copy->operand_ids[j]);
        for (size_t j = 0; j < copy->n_control_predecessor_ids; j++)
            copy->control_predecessor_ids[j] = noted(&copies, copy->control_predecessor_ids[j]);
        name_within(inlining, copy, call);
        copy->id = program_new_id(program, inlining->body);
        inline_note(&copies, original->id, copy->id);
        add_one(inlining, copy);
    }
    inline_note(&inlining->instead, call->id, noted(&copies, root->id));
    for (size_t i = 0; is_tuple && i < before; i++) {
        int64_t element = loops_element_of(inlining->instructions[i], call->id);
        if (element >= 0)
            inline_note(&inlining->instead, inlining->instructions[i]->id, noted(&copies, root->operand_ids[element]));
    }
}

void inline_end(struct inlining *inlining)
{
    for (size_t i = 0; i < inlining->count; i++)
        for (size_t j = 0; j < inlining->instructions[i]->n_operand_ids; j++) {
            int64_t *id = &inlining->instructions[i]->operand_ids[j];
            for (int64_t next = noted(&inlining->instead, *id); next != *id; next = noted(&inlining->instead, *id))
                *id = next;
        }
}
