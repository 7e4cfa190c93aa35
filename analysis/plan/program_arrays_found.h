/* SPDX-License-Identifier: Apache-2.0
 * program_arrays_found.h: what is shared while the arrays of a program are found and listed; for program_arrays*.c
 * alone. */
#pragma once

#include "plan/program_arrays.h"
#include "plan/value.h"

struct found_array {
    struct value value;
    struct str shape;
    int64_t bytes;
    enum program_array_role role;
    bool is_elsewhere; /* it may lie in the host's memory */
};

struct arrays_finding {
    const struct plan *plan;
    const struct graph *graph;
    struct value_walk walk;
    struct arena *arena, *scratch;
    struct program_arrays *out;
    struct found_array *items;
    size_t capacity;
    uint32_t count;
    struct map of_value;
    struct str *target_of; /* by instruction, of custom calls that were looked at; else of no data */
    bool *is_met;          /* by instruction: it gives an array of `items` */
    bool is_optimized;     /* it holds fusions: what its instructions give lies in memory */
};

/* Equal ones together, the largest first, and the sentence. */
void program_arrays_list(struct arrays_finding *finding);
