/* SPDX-License-Identifier: Apache-2.0
 * program_graph.h: a program that is being edited, as the rest of the analysis sees programs.
 *
 * Instructions are numbered in the order of the file: those of computation c begin at first[c], where c is its place in
 * module->computations. Good until the program changes. */
#pragma once

#include "edit/program.h"
#include "read/hlo/graph.h"

struct program_graph {
    struct hlo hlo;
    struct graph graph;
};

/* False with a report. */
bool program_graph_build(const struct program *program, struct program_graph *out);
/* The number of the first instruction of a body. */
uint32_t program_graph_first(const struct program *program, const struct program_graph *graph,
                             const struct program_body *body);
