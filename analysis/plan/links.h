/* SPDX-License-Identifier: Apache-2.0
 * links.h: from buffer to buffer: what a buffer was made of and what reads it, through tuples, bitcasts, calls, loops
 * and branches, in which a value stays where it is. A fusion and a copy are one step each.
 *
 * Cost: building is linear in buffers and events; readers of one buffer in the operands of the program. */
#pragma once

#include "plan/plan.h"

struct links {
    const struct plan *plan; /* with a graph */
    struct arena *arena;
    uint32_t *buffer_first, *buffer_next; /* logical buffers of each instruction; HLO_NONE ends them */
    struct links_place *place_of_buffer;
};

/* A row of a space. */
struct links_place {
    uint32_t space_at, row_at; /* PLAN_NONE: none */
};

/* plan->graph must be there. */
void links_build(const struct plan *plan, struct arena *arena, struct links *out);

/* Where the value of operand `nth` of an instruction lies; *made_at: the instruction that made it (HLO_NONE: not
 * known). */
struct links_place links_operand(const struct links *links, uint32_t at, uint32_t nth, uint32_t *made_at);
/* The next row that an instruction made, behind the buffer *buffer_at (HLO_NONE at first); false at the end. */
bool links_made(const struct links *links, uint32_t at, uint32_t *buffer_at, struct links_place *place);

/* What reads a value: each instruction once, in the order of the schedule. */
struct links_readers {
    uint32_t *items, count;
    bool is_result; /* it is (part of) the result of the program */
    bool is_cut;    /* it is at more places than are followed: some are left out */
};
void links_readers(const struct links *links, struct value value, struct links_readers *out);
