/* SPDX-License-Identifier: Apache-2.0
 * notes.h: what a program held that could not be used, each with count and effect. */
#pragma once

#include "plan/plan.h"

/* Fills plan->notes from what decoding and replay counted. */
void notes_build(struct plan *plan, struct arena *arena);
/* One sentence about a space's failed replay, or NULL. */
const char *notes_replay_failure(const struct plan *plan, const struct plan_space *space, struct arena *arena);
