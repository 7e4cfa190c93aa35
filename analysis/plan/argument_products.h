/* SPDX-License-Identifier: Apache-2.0
 * argument_products.h: what the products of a program tell of its arguments, going forward.
 *
 * Weights stand beside values that the program computed, data beside weights. Weights may be made of several arguments,
 * element by element: of quantized numbers and their scales. */
#pragma once

#include "plan/plan.h"
#include "plan/value.h"

struct argument_product {
    bool is_weight, is_beside_argument; /* multiplied with a value that was computed; with an argument */
    bool is_quantized;                  /* a part of what weights are made of: numbers, zero points, scales */
};

/* By place in plan->arguments; in the arena. */
struct argument_product *argument_products_find(const struct plan *plan, struct value_walk *walk, struct arena *arena);
