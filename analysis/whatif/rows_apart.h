/* SPDX-License-Identifier: Apache-2.0
 * rows_apart.h: may a program work on the rows of a dimension part by part: does nothing compute one of them from
 * another?
 *
 * In:     the dimensions of a program (dimensions.h).
 * Out:    whether each row of a class of dimensions is computed by itself: it is only summed up to something small that
 *         no row is computed from (a loss), or in the backward pass to gradients of what all rows share. Where that is
 *         not seen, the answer is no.
 * Cost:   one pass over the instructions and their operands; walks from sums are bounded. */
#pragma once

#include "whatif/dimensions.h"

bool rows_apart_hold(const struct dimensions *dimensions, uint32_t class, struct arena *arena);
/* Has an array of the class a dimension? `twice` (may be NULL): it has several. */
bool rows_apart_has(const struct dimensions *dimensions, const struct leaf *leaf, uint32_t class, bool *twice);
