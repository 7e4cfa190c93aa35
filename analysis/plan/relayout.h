/* SPDX-License-Identifier: Apache-2.0
 * relayout.h: copies of arguments that the compiler makes to have them in another layout: the order of dimensions in
 * memory, and tiles. What reads them, or the result, has that layout. */
#pragma once

#include "plan/plan.h"

/* The argument that a row is a copy of, in another layout, perhaps by way of further copies; NULL: the row is none. */
const struct plan_argument *relayout_of(const struct plan *plan, const struct plan_row *row);
/* The first instruction with a name that reads the row's value, behind further copies; HLO_NONE: there is none. */
uint32_t relayout_reader(const struct plan *plan, const struct plan_row *row);
