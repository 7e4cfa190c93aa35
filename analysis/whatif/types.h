/* SPDX-License-Identifier: Apache-2.0
 * types.h: what becomes of the types of all arrays when arguments are kept in fewer bits.
 *
 * In:     a program's graph and arrays; which arguments are cast, to which type.
 * Out:    for each array whether it is narrow then. As JAX promotes: a result is as wide as its widest operand that is
 * an array; scalars ask for nothing; what the person casts to a wider type stays wide. To a type that is not computed
 *         with (int8), only what is moved follows: slices, updates, copies.
 * Limits: a cast to float32 of what is float32 already leaves no trace in a program.
 * Memory: the arena; 1 byte an array.
 * Source: JAX's type promotion (jax.numpy, "weak types"). */
#pragma once

#include "whatif/variant.h"

enum type_state { TYPE_FREE, TYPE_NARROW, TYPE_WIDE };

/* `is_cast`: by row of the variant. `is_computed_with`: what is computed follows too, else only what is moved. Out:
 * enum type_state by leaf; read through dimensions.arrays. */
uint8_t *types_follow(const struct variant *variant, const bool *is_cast, uint64_t type, bool is_computed_with);
/* Are they whole numbers that the program makes wide by themselves, images.astype(float32) / 255? The source says so.
 * Where they meet an array they become of its type. The work is the arena's. */
bool types_are_numbers_widened(const struct graph *graph, const struct leaves *leaves, uint32_t at,
                               struct arena *arena);
