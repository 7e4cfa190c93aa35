/* SPDX-License-Identifier: Apache-2.0
 * donors.h: which results could live in the memory of which arguments.
 *
 * In:     a variant as it is.
 * Out:    for each argument a result of its shape and type that has memory of its own. None for an argument that a loop
 *         reads while it builds the result: donation only brings a copy at its end then, as much memory as before.
 * Memory: the arena of the variant; about 30 bytes an argument or result.
 * Cost:   a pass over arguments and results, and one over the state of each loop that gives a result. */
#pragma once

#include "whatif/variant.h"

struct donors;

/* Uses the variant as it is now: rows may become gone and donated while it is used, and nothing else may change. */
struct donors *donors_build(const struct variant *variant);
/* The result that could use the memory of the row's argument, or PLAN_NONE: also if the row is no argument, is gone or
 * donated already. */
uint32_t donors_result(struct donors *donors, uint32_t row);
