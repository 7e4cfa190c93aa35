/* SPDX-License-Identifier: Apache-2.0
 * transplant.h: copies of what a value is computed from, in another computation. */
#pragma once

#include "edit/program.h"

struct transplant {
    struct program *program;
    const struct program_body *from;
    struct program_body *to;
    /* What is in `to` for an instruction of `from`; -1: it is copied, with what it needs. */
    int64_t (*stand_in)(void *context, const program_instruction *instruction);
    void *context;
    struct map made; /* id in `from` → id in `to` */
    /* What was copied; the caller puts it in order. */
    program_instruction **copies;
    size_t count, capacity;
};

void transplant_init(struct transplant *transplant, struct program *program, const struct program_body *from,
                     struct program_body *to);
/* The id in `to` of the value, or -1 with a report: it needs a parameter, or calls what follows `to`. */
int64_t transplant_value(struct transplant *transplant, int64_t id);
/* An instruction of the caller's among the copies: it gets an id. */
int64_t transplant_add(struct transplant *transplant, program_instruction *instruction);
