/* SPDX-License-Identifier: Apache-2.0
 * pairs_apart.h: arrays of all pairs, such as the distances of points: may a program work on rows of them part by part?
 *
 * In:     the dimensions of a program (dimensions.h).
 * Out:    whether all arrays of two dimensions that are both of one class are computed row by row: each from what the
 *         program has of single rows, never from another such array as a whole, and read element by element, by sums,
 *         or by a product with something that has the rows once. Where that is not seen, the answer is no.
 * Cost:   one pass over the instructions and their operands. */
#pragma once

#include "whatif/dimensions.h"

bool pairs_apart_hold(const struct dimensions *dimensions, uint32_t class, struct arena *arena);
/* Is it an array of pairs of the class? */
bool pairs_apart_is(const struct dimensions *dimensions, const struct leaf *leaf, uint32_t class);
