/* SPDX-License-Identifier: Apache-2.0
 * loops.h: a loop of the entry computation as jax.lax.scan writes it: a tuple of what it carries, what it counts, the
 * stacks that it writes layer by layer, and what it only reads. */
#pragma once

#include "edit/program.h"

enum loop_role {
    LOOP_CARRIED, /* each turn makes it anew */
    LOOP_READ,    /* stays as it is */
    LOOP_STACK,   /* each turn writes one layer */
    LOOP_COUNTER, /* from 0 on, by one */
    LOOP_SUMMED,  /* each turn adds to it */
};

struct loop_element {
    enum loop_role role;
    int64_t init_id;            /* in the entry */
    int64_t value_id, index_id; /* of a stack: what is written, as what layer; in the body */
};

struct loop {
    struct program *program;
    program_instruction *instruction, *init; /* in the entry: the loop, the tuple that it begins with */
    struct program_body *body, *condition;
    program_instruction *parameter, *root; /* of the body */
    struct loop_element *elements;
    size_t count;
};

/* False, without a report, where the instruction is no such loop. */
bool loops_read(struct program *program, program_instruction *instruction, struct loop *loop);
/* One more element, which begins as `init_id` of the entry and is read only; its number. The caller gives a body that
 * writes it another value by loops_set. */
size_t loops_append(struct loop *loop, int64_t init_id, const program_shape *shape);
void loops_set(struct loop *loop, size_t element, int64_t value_id);
/* The element that a get-tuple-element of the body's parameter (or of another tuple) takes, or -1. */
int64_t loops_element_of(const program_instruction *instruction, int64_t tuple_id);

/* Has anything in its body, or in what that calls, such a name (of op_name)? */
bool loops_is_named(const struct loop *loop, struct str glob);
/* One layer of a stack that is read: by a dynamic-slice, or by a call of a computation that does that alone. False
 * where the instruction is none. `stack_id` and `index_id` are instructions of the body. */
bool loops_is_layer(const struct program *program, const struct program_body *body,
                    const program_instruction *instruction, int64_t *stack_id, int64_t *index_id);
