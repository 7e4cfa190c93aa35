/* SPDX-License-Identifier: Apache-2.0
 * checkpoint_scan.h: jax.checkpoint around the layers of a scan; for checkpoint.c alone. */
#pragma once

#include "edit/program.h"

/* Changes the pairs of loops, forward and backward, whose instructions the glob `scopes` names, and counts them. False
 * with a report; none found is no fault. */
bool checkpoint_scan_apply(struct program *program, struct str scopes);
