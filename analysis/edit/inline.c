/* SPDX-License-Identifier: Apache-2.0 */
#include "edit/inline.h"

#include "edit/order.h"

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
    map_init(&inlining->tuples, program->arena, 64);
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
    arena_work(program->arena, called->n_instructions);
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
        if (original == root && program_is(root, "tuple"))
            map_put(&inlining->tuples, (uint64_t)copy->id, (uint32_t)inlining->count, false);
        add_one(inlining, copy);
    }
    inline_note(&inlining->instead, call->id, noted(&copies, root->id));
}

/* What takes an element of a call's result takes what the call put there. */
static void elements_note(struct inlining *inlining)
{
    for (size_t i = 0; i < inlining->count; i++) {
        const program_instruction *element = inlining->instructions[i];
        if (!program_is(element, "get-tuple-element"))
            continue;
        uint32_t place = map_get(&inlining->tuples, (uint64_t)noted(&inlining->instead, element->operand_ids[0]));
        if (place != MAP_NONE && element->tuple_index >= 0 &&
            (uint64_t)element->tuple_index < inlining->instructions[place]->n_operand_ids)
            inline_note(&inlining->instead, element->id,
                        inlining->instructions[place]->operand_ids[element->tuple_index]);
    }
}

static int64_t stands_for(const struct inlining *inlining, int64_t id)
{
    for (int64_t next = noted(&inlining->instead, id); next != id; next = noted(&inlining->instead, id))
        id = next;
    return id;
}

void inline_end(struct inlining *inlining)
{
    elements_note(inlining);
    for (size_t i = 0; i < inlining->count; i++) {
        program_instruction *reader = inlining->instructions[i];
        for (size_t j = 0; j < reader->n_operand_ids; j++)
            reader->operand_ids[j] = stands_for(inlining, reader->operand_ids[j]);
        for (size_t j = 0; j < reader->n_control_predecessor_ids; j++)
            reader->control_predecessor_ids[j] = stands_for(inlining, reader->control_predecessor_ids[j]);
    }
}

/* A call that has some may say there that it is to stay one. */
static bool has_attributes(const program_instruction *instruction)
{
    const Xla__KeptMessage *attributes = instruction->frontend_attributes;
    return attributes != NULL && attributes->base.n_unknown_fields > 0;
}

static bool is_written_out(const program_instruction *instruction)
{
    return program_is(instruction, "call") && instruction->n_called_computation_ids == 1 &&
           instruction->n_control_predecessor_ids == 0 && !has_attributes(instruction);
}

static bool inline_once(struct program *program, struct program_body *body, bool *is_any)
{
    struct inlining inlining;
    const program_computation *computation = body->computation;
    size_t count = computation->n_instructions;
    const bool *was_read = order_reads(program, body);
    *is_any = false;
    inline_init(&inlining, program, body, computation->instructions, count);
    for (size_t i = 0; i < count; i++)
        if (was_read[i] && is_written_out(computation->instructions[i]) &&
            computation->instructions[i]->id != computation->root_id) {
            inline_call(&inlining, computation->instructions[i]);
            *is_any = true;
        }
    if (!*is_any)
        return true;
    inline_end(&inlining);
    return order_live(program, body, inlining.instructions, inlining.count, was_read, count) && program_index(program);
}

bool inline_every(struct program *program, struct program_body *body)
{
    int64_t id = body->computation->id;
    for (bool is_any = true; is_any;)
        if (!inline_once(program, program_body_of(program, id), &is_any))
            return false;
    return true;
}
