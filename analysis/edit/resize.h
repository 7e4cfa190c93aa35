/* SPDX-License-Identifier: Apache-2.0
 * resize.h: what resize.c hands to the rules that follow new sizes into attributes (resize_attributes.c) and constants
 * (resize_constants.c). */
#pragma once

#include "edit/program.h"

/* An instruction some of whose sizes changed: its former shapes, and the new ones of the instruction and its
 * operands. */
struct resize_asked {
    const struct program *program;
    program_instruction *instruction;
    const program_shape *old_shape, *shape;
    const program_shape *old_operand, *operand; /* the first one's; NULL: none */
};

/* Changes what the instruction says of sizes. NULL, or why that cannot be. */
const char *resize_attributes(const struct resize_asked *asked);
const char *resize_constants(const struct resize_asked *asked);
