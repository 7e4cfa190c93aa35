/* SPDX-License-Identifier: Apache-2.0 */
#include "edit/foldable.h"

/* Opcodes that give something without operands, or not the same each time. */
static bool is_source(const program_instruction *instruction)
{
    static const char *const opcodes[] = {
        "parameter",    "infeed",     "rng",       "rng-get-and-update-state", "custom-call", "recv",
        "partition-id", "replica-id", "after-all", "rng-bit-generator",
    };
    for (size_t i = 0; i < sizeof opcodes / sizeof *opcodes; i++)
        if (program_is(instruction, opcodes[i]))
            return true;
    return false;
}

bool *foldable_values(const struct program *program, const struct program_body *body)
{
    const program_computation *computation = body->computation;
    arena_work(program->arena, computation->n_instructions);
    bool *values = arena_array(program->arena, bool, computation->n_instructions);
    for (size_t i = 0; i < computation->n_instructions; i++) {
        const program_instruction *instruction = computation->instructions[i];
        values[i] = !is_source(instruction);
        for (size_t j = 0; values[i] && j < instruction->n_operand_ids; j++)
            values[i] = values[program_place(body, instruction->operand_ids[j])];
    }
    return values;
}
