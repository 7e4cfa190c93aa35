/* SPDX-License-Identifier: Apache-2.0
 * order.h: the instructions of a computation, operands before users. */
#pragma once

#include "edit/program.h"

/* Puts `count` instructions, in any order, into the computation: what `seeds` need, operand by operand, then the next
 * seed, as XLA itself orders a computation (HloComputation::MakeInstructionPostOrder). What no seed needs is left out.
 * False with a report where they need each other in a circle, or an id is none. Program_index is to follow. */
bool order_instructions(struct program *program, struct program_body *body, program_instruction **instructions,
                        size_t count, const int64_t *seeds, size_t seed_count);

/* By place in the body: whether anything reads the instruction, now. In the arena. */
bool *order_reads(const struct program *program, const struct program_body *body);
/* As order_instructions, for what the root needs. Among the first `original_count`, those that nothing read before and
 * parameters stay; others without a reader are removed. */
bool order_live(struct program *program, struct program_body *body, program_instruction **instructions, size_t count,
                const bool *was_read, size_t original_count);
