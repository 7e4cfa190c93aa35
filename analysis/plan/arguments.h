/* SPDX-License-Identifier: Apache-2.0
 * arguments.h: what the arguments of a program are: parameters, optimizer state, batch, …
 *
 * Names first, where they mean one thing; then what the program does with the value: a training step reads its
 * parameters going forward and gives new ones back, reads its optimizer's state neither forward nor backward, and gives
 * no new batch back. An optimizer's leaf also tells of a parameter: its path ends alike, and it has the same shape. */
#pragma once

#include "plan/plan.h"
#include "plan/value.h"

/* Fills plan->arguments, by number, in the arena; what only the search needs lies in `scratch`. */
void arguments_build(struct plan *plan, const struct graph *graph, struct value_walk *walk, struct arena *arena,
                     struct arena *scratch);

/* The argument with that number; that an instruction is; that an allocation is for. NULL: there is none. */
const struct plan_argument *arguments_find(const struct plan *plan, int64_t number);
const struct plan_argument *arguments_find_instruction(const struct plan *plan, uint32_t at);
const struct plan_argument *arguments_find_allocation(const struct plan *plan, const struct hlo_allocation *allocation);

/* Parameters by shape_array_hash_any_order: of each shape the first, as its place in plan->arguments. */
void arguments_parameters_by_shape(const struct plan *plan, struct arena *arena, struct map *out);
