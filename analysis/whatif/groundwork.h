/* SPDX-License-Identifier: Apache-2.0
 * groundwork.h: what every prediction about a program begins with, found once for all of them.
 *
 * In:     a plan with a module and memory space 0 (plan/plan.h), which outlives it.
 * Out:    the variant without any change, and what changes find out of the program
 *         alone: layers that scopes tell, floating-point operations, what makes the same value.
 * Memory: the arena; about as for a variant. Immutable once built: any number of threads may begin variants with it. */
#pragma once

#include "whatif/variant.h"

struct groundwork {
    struct variant start;
    struct variant_findings findings;
};

/* False: there is no program with memory of its own. */
bool groundwork_build(const struct plan *plan, struct arena *arena, struct groundwork *out);
/* As variant_begin, of space 0 of the same program; its plan may be seen by a user's rules. Without `groundwork`
 * (NULL) all is found again. */
void groundwork_begin(const struct groundwork *groundwork, const struct plan *plan, const struct plan_space *space,
                      struct arena *arena, struct variant *out);
