/* SPDX-License-Identifier: Apache-2.0
 * inline.h: calls replaced by what they call, as XLA's call inliner does it, within a list of instructions. */
#pragma once

#include "edit/program.h"

struct inlining {
    struct program *program;
    struct program_body *body;          /* where they are to be: ids are new there */
    program_instruction **instructions; /* in any order; grows by what is copied */
    size_t count, capacity;
    struct map instead; /* id of a call, or of what takes an element of its result → id of what represents it */
    struct map tuples;  /* id of a tuple that a call gave → its place in `instructions` */
};

void inline_init(struct inlining *inlining, struct program *program, struct program_body *body,
                 program_instruction *const *instructions, size_t count);
/* Copies what the instruction, a call, calls. */
void inline_call(struct inlining *inlining, const program_instruction *call);
/* Operands that were calls, or elements of their results, become what represents them. */
void inline_end(struct inlining *inlining);
/* All calls in a body, and those in what they call: the body is then as XLA has it after its first passes, and in
 * order. The program is indexed anew. False with a report. */
bool inline_every(struct program *program, struct program_body *body);
