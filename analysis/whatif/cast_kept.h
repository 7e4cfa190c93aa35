/* SPDX-License-Identifier: Apache-2.0
 * cast_kept.h: values that XLA for GPUs computes twice while they are wide, and keeps once they are narrow.
 *
 * In a program of float32 the tanh of a GELU is computed again in each backward kernel that reads it, from the product
 * that it is taken of. In one of bfloat16, where it is computed in float32 and rounded, it is stored for the backward
 * pass beside that product.
 * In:     a program all of whose arguments were cast; its rows have their new types. `is_narrowed`: of the first
 *         `row_count` rows, which ones the cast made narrower: what was narrow before is kept already.
 * Out:    a row more for each such value: that of its product, from the forward kernel to the last backward one.
 * Memory: the arena; linear in instructions.
 * Source: programs of GELU compiled for an H100 in both types by XLA of jax 0.11.2. */
#pragma once

#include "whatif/variant.h"

void cast_kept_add(struct variant *variant, uint64_t type, const bool *is_narrowed, uint32_t row_count);
