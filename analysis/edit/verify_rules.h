/* SPDX-License-Identifier: Apache-2.0
 * verify_rules.h: what a rule of verify_shape.c is asked, and the rules of the opcodes that multiply or look up. */
#pragma once

#include "edit/shapes.h"
#include "edit/verify.h"

enum { VERIFY_OPERANDS_SEEN = 4 }; /* rules look at the first few by number */

struct verify_asked {
    const struct program *program;
    const struct program_body *body;
    const program_instruction *instruction;
    const program_shape *shape; /* the result's */
    const program_shape *operands[VERIFY_OPERANDS_SEEN];
    size_t count; /* of operands, all */
};

/* Says what is wrong; NULL: nothing. */
typedef const char *verify_rule(const struct verify_asked *asked);

verify_rule verify_dot, verify_convolution, verify_reduce_window, verify_gather, verify_scatter;

static inline bool verify_same_type(const program_shape *a, const program_shape *b)
{
    return a->element_type == b->element_type;
}
