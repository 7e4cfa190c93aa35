/* SPDX-License-Identifier: Apache-2.0
 * cast_types.h: which arrays of a program get another element type when some of its arguments do; for cast.c alone.
 *
 * As JAX promotes types: what is computed of arrays of the new type alone, and of numbers written in the source, has it
 * too; where an array of the former type takes part, the former type stays. What only passes values on (tuples, calls,
 * loops) has one type throughout. */
#pragma once

#include "edit/edit.h"
#include "edit/program_graph.h"
#include "read/hlo/leaves.h"

struct cast_types {
    const struct program *program;
    struct program_graph graph;
    struct leaves leaves;
    Xla__PrimitiveType from, to;
    program_instruction **instructions; /* by number, as the graph's */
    struct program_body **bodies;       /* by number: where it is */
    uint32_t *parents;                  /* by leaf: union-find */
    uint8_t *states;                    /* by leaf that represents its class */
    bool *is_selected;                  /* by entry parameter */
};

/* False with a report. `is_spread`: the type goes on to what is computed; else arguments alone have it. */
bool cast_types_find(struct cast_types *types, struct program *program, const bool *is_selected,
                     Xla__PrimitiveType from, Xla__PrimitiveType to, bool is_spread);
/* The element type that a leaf has from now on. */
Xla__PrimitiveType cast_types_of(const struct cast_types *types, uint32_t leaf);
/* Is a computation that combines two values (add, maximum) simple enough to be written in another type? */
bool cast_types_is_combiner(const struct cast_types *types, const struct program_body *body);
