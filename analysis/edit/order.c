/* SPDX-License-Identifier: Apache-2.0 */
#include "edit/order.h"

enum state { STATE_NEW, STATE_OPEN, STATE_DONE };

struct step {
    program_instruction *instruction;
    size_t next; /* of its operands, then of its control predecessors */
};

struct order {
    struct program *program;
    struct map places; /* id → place in `instructions` */
    program_instruction **instructions, **out;
    uint8_t *states; /* enum state, by place */
    struct step *stack;
    size_t count, depth, out_count;
};

/* What an instruction needs before itself; false at the end. */
static bool next_need(struct step *step, int64_t *id)
{
    const program_instruction *instruction = step->instruction;
    size_t at = step->next++;
    if (at < instruction->n_operand_ids)
        *id = instruction->operand_ids[at];
    else if (at < instruction->n_operand_ids + instruction->n_control_predecessor_ids)
        *id = instruction->control_predecessor_ids[at - instruction->n_operand_ids];
    else
        return false;
    return true;
}

static bool open_one(struct order *order, int64_t id)
{
    uint32_t place = map_get(&order->places, (uint64_t)id);
    if (place == MAP_NONE)
        return err_set(order->program->err, ERR_malformed, ERR_NO_OFFSET, "an operand's id %lld is none",
                       (long long)id);
    if (order->states[place] == STATE_OPEN)
        return err_set(order->program->err, ERR_conflict, ERR_NO_OFFSET, "%s would need its own result",
                       order->instructions[place]->name);
    if (order->states[place] == STATE_NEW) {
        order->states[place] = STATE_OPEN;
        order->stack[order->depth++] = (struct step){order->instructions[place], 0};
    }
    return true;
}

static bool order_walk(struct order *order, int64_t seed)
{
    if (!open_one(order, seed))
        return false;
    while (order->depth > 0) {
        struct step *top = &order->stack[order->depth - 1];
        int64_t id;
        if (next_need(top, &id)) {
            if (!open_one(order, id))
                return false;
            continue;
        }
        order->out[order->out_count++] = top->instruction;
        order->states[map_get(&order->places, (uint64_t)top->instruction->id)] = STATE_DONE;
        order->depth--;
    }
    return true;
}

bool order_instructions(struct program *program, struct program_body *body, program_instruction **instructions,
                        size_t count, const int64_t *seeds, size_t seed_count)
{
    struct order order = {.program = program, .instructions = instructions, .count = count};
    order.out = arena_array(program->arena, program_instruction *, count);
    order.states = arena_array(program->arena, uint8_t, count);
    order.stack = arena_array(program->arena, struct step, count + 1);
    map_init(&order.places, program->arena, count);
    for (size_t i = 0; i < count; i++)
        map_put(&order.places, (uint64_t)instructions[i]->id, (uint32_t)i, false);
    for (size_t i = 0; i < seed_count; i++) {
        uint32_t place = map_get(&order.places, (uint64_t)seeds[i]);
        if ((place == MAP_NONE || order.states[place] == STATE_NEW) && !order_walk(&order, seeds[i]))
            return false;
    }
    body->computation->instructions = order.out;
    body->computation->n_instructions = order.out_count;
    return true;
}

bool *order_reads(const struct program *program, const struct program_body *body)
{
    const program_computation *computation = body->computation;
    bool *is_read = arena_array(program->arena, bool, computation->n_instructions);
    for (size_t i = 0; i < computation->n_instructions; i++) {
        struct step step = {computation->instructions[i], 0};
        for (int64_t id; next_need(&step, &id);)
            is_read[program_place(body, id)] = true;
    }
    return is_read;
}

bool order_live(struct program *program, struct program_body *body, program_instruction **instructions, size_t count,
                const bool *was_read, size_t original_count)
{
    int64_t *seeds = arena_array(program->arena, int64_t, original_count);
    size_t seed_count = 0;
    for (size_t i = 0; i < original_count; i++)
        if (!was_read[i] || instructions[i]->id == body->computation->root_id)
            seeds[seed_count++] = instructions[i]->id;
    for (size_t i = 0; i < original_count; i++)
        if (was_read[i] && instructions[i]->id != body->computation->root_id &&
            program_is(instructions[i], "parameter"))
            seeds[seed_count++] = instructions[i]->id;
    return order_instructions(program, body, instructions, count, seeds, seed_count);
}
