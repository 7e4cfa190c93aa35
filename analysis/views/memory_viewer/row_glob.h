/* SPDX-License-Identifier: Apache-2.0
 * row_glob.h: how buffers are named in a change (the GLOB of whatif/change.h). */
#pragma once

#include "base/json.h"
#include "plan/plan.h"

/* The member "glob": the path of an argument, else the scope that the person wrote; of several rows, with "*" for the
 * numbers in which they differ. No member where nothing names them, or nothing names them all. It may name others too.
 */
void row_glob_write(struct json *json, const struct plan *plan, const struct plan_space *space, const uint32_t *rows,
                    uint32_t count, struct arena *arena);
