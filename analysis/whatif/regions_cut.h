/* SPDX-License-Identifier: Apache-2.0
 * regions_cut.h: where one layer ends and the next begins, where only their parameters tell them.
 *
 * In:     regions of which the operations that read a layer's parameters are known.
 * Out:    the forward operations between two layers are shared out so that as few bytes as possible go from one to the
 *         other: a residual stream is cut before what normalizes it, and behind an activation that only products read.
 *         The first layer begins, and the last one ends, as those beside them do, where their operations are the same.
 * Cost:   two passes over the operations and their operands. */
#pragma once

#include "whatif/regions_read.h"

void regions_cut(const struct regions_program *program, struct arena *arena, struct regions *regions);
