/* SPDX-License-Identifier: Apache-2.0
 * foldable.h: values that depend on no argument: the compiler folds them, wherever they are written again. */
#pragma once

#include "edit/program.h"

/* By place in the body. In the arena. */
bool *foldable_values(const struct program *program, const struct program_body *body);
