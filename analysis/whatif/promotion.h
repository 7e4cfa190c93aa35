/* SPDX-License-Identifier: Apache-2.0
 * promotion.h: where arrays of fewer bits become float32 and stay so: bf16 × np.float32(2) is float32, as NumPy's
 * scalars have a type that counts; bf16 × 2.0 stays bf16.
 *
 * In:     a program's graph with stack frames, and its arrays.
 * Out:    conversions that JAX makes where an array meets a scalar, at the same place of the source, in a program whose
 *         products with narrow weights give float32.
 * Limits: x.astype(float32) * 2.0 begins at the same place, and XLA keeps no more of it: it counts too. Without columns
 *         in the source's places there is none.
 * Source: JAX's type promotion (jax.numpy, "weak types").
 */
#pragma once

#include "read/hlo/leaves.h"
#include "whatif/variant.h"

/* A number, or one and the same in all places: constants and scalars, also broadcast. */
bool promotion_is_scalar(const struct graph *graph, const struct leaves *leaves, uint32_t at);
/* By instruction: for a conversion that is a promotion, the instruction that computes with its result and the scalar;
 * else HLO_NONE. NULL: there is none. For the program before any change, found once for all its variants. */
const uint32_t *promotions_find(const struct variant *variant);
