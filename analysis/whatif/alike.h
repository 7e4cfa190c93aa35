/* SPDX-License-Identifier: Apache-2.0
 * alike.h: what has the shape of a pattern's rows.
 *
 * In:     a pattern, whose rows are those that are live at the peak.
 * Out:    flags by row, added to those that are set: what has the shape of one of them at any other time, in any layer
 *         and of any type; of attention scores masks of their last two dimensions, too; of logits what has one position
 *         less, and all of them in two dimensions. What is given to the program is left out, and so are shapes of
 *         logits that layers have.
 * Memory: the arena. */
#pragma once

#include "plan/pattern.h"
#include "whatif/variant.h"

/* PATTERN_COUNT: no pattern has that name. */
enum pattern_kind alike_pattern(struct str name);
void alike_flag(const struct variant *variant, enum pattern_kind kind, bool *flags);
/* The array of a row without dimensions of one element. False: it is not known, or has less than two. */
bool alike_array(const struct variant *variant, const struct variant_row *row, struct shape_array *array);
