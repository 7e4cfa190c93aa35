/* SPDX-License-Identifier: Apache-2.0
 * unpad.h: what unpad.c and the rules of instructions that name dimensions (unpad_rules.c) share. */
#pragma once

#include "edit/program.h"
#include "read/hlo/shape.h"

/* How the dimensions of an array are put into another order. */
struct unpad_order {
    uint8_t rank;
    uint8_t from[SHAPE_RANK_MAX];     /* by new place: the former one */
    uint8_t place_of[SHAPE_RANK_MAX]; /* by former place: the new one */
    bool is_moved;
};

/* An instruction that gives one array. */
struct unpad_asked {
    const struct program *program;
    program_instruction *instruction; /* its shape is in the new order already */
    const struct unpad_order *result, **operands;
    const program_shape *operand; /* of the first, in the new order; NULL: none */
};

/* Puts what it says of dimensions into the new order. False: no rule is known, or it does not hold; nothing is
 * changed. */
bool unpad_rule(const struct unpad_asked *asked);
/* The last dimension in the lanes, the one before it in the rows, and so on. */
void unpad_default_layout(program_shape *shape);
/* Puts the sizes of an array into the new order, and changes the layout to match. */
void unpad_turn_shape(const struct program *program, const struct unpad_order *order, program_shape *shape);
