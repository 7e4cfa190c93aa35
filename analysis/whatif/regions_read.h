/* SPDX-License-Identifier: Apache-2.0
 * regions_read.h: layers without scopes: by the parameters that they read, in a program before or after the compiler's
 * work. What is predicted and what is edited for the compiler have the same layers by it.
 *
 * In:     which layer each parameter is of, and a program with its instructions in an order.
 * Out:    regions as in regions.h.
 * Memory: the arena; about 30 bytes an instruction.
 * Cost:   a few passes over the operations and their operands. */
#pragma once

#include "whatif/regions.h"

/* The regions of instructions that read parameters of no layer, and of those that run before the first layer. They are
 * distinguished while layers are found, and are in no region afterwards. */
#define REGION_OUTSIDE (UINT32_MAX - 1)
#define REGION_BEFORE (UINT32_MAX - 2)

struct regions_program {
    const struct graph *graph;
    const struct dimensions *dimensions; /* of the same program */
    const uint32_t *positions;           /* by instruction: when it, or what it is part of, runs; HLO_NONE: never */
    uint32_t position_count;
    bool is_as_written; /* in the order in which it was written, not in that of a schedule, which mixes layers */
    /* As written: the instructions whose place in the run of the source is known, in that order. */
    const uint32_t *sources;
    uint32_t source_count;
    /* By instruction: it is made from one layer's parameters alone, and comes before its readers as written. Set by
     * regions_read; NULL: none is. */
    const bool *is_parameter;
};

struct regions_parameters {
    const struct plan *plan;
    const uint32_t *of; /* by plan->arguments: a layer, REGION_OUTSIDE, or HLO_NONE: it tells nothing */
    struct region *items;
    uint32_t count; /* of layers; below 2 there are none to tell */
};

/* Its result is its operand, elsewhere or in another form. */
static inline bool regions_moves(enum graph_op op)
{
    return op == GRAPH_SAME || op == GRAPH_COPY || op == GRAPH_CONVERT || op == GRAPH_RESHAPE || op == GRAPH_SLICE ||
           op == GRAPH_BROADCAST;
}

void regions_read(const struct regions_program *program, const struct regions_parameters *parameters,
                  struct arena *arena, struct regions *out);
