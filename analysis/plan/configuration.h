/* SPDX-License-Identifier: Apache-2.0
 * configuration.h: what a program was compiled for: how many devices, which mesh, which batch. Two programs of one
 * name that differ in it are two configurations of a job, and what one needs more than the other is no regression.
 *
 * In:     a plan with its arguments (plan_complete); any content.
 * Out:    "8 devices, mesh data=4 model=2, batch 64x1024". The mesh is that of Shardy, where the module names one with
 *         axes; the batch is the shape of the largest batch argument over all devices, so that it stays the same where
 *         a batch is no longer split. How other arguments are split is left out for that reason: losing a split is a
 *         regression.
 * Memory: the arena. Cost: linear in arguments and the text of the mesh. */
#pragma once

#include "plan/plan.h"

/* NULL where the plan has no module. */
const char *configuration_text(const struct plan *plan, struct arena *arena);
/* The part of such a text that comes before the batch. */
struct str configuration_without_batch(const char *configuration);
