/* SPDX-License-Identifier: Apache-2.0
 * whose.h: whose memory each row of a plan is.
 *
 * In:     a plan whose rows are built.
 * Out:    a choice for each row and each entry argument, and sums by category at the peak of each space.
 * Cost:   linear in instructions and operands. */
#pragma once

#include "plan/plan.h"

/* Fills rows' `choice` and `named_by`, plan->arguments, and the spaces' category_bytes. */
void whose_build(struct plan *plan, struct arena *arena);
