/* SPDX-License-Identifier: Apache-2.0
 * from_change.h: a change as a person writes it (whatif/change.h), as an edit of the program before optimizations.
 *
 * Globs and numbers are resolved in the compiled program, whose plan says what each argument is; parameters have the
 * same numbers in both. */
#pragma once

#include "edit/edit.h"
#include "whatif/change.h"

/* Makes the edit of a change that applies to `variant`, as it is before the change. Arrays of the edit are in the
 * variant's arena, texts are those of the change. False with an `argument` report if the compiler cannot check such a
 * change. */
bool edit_from_change(const struct variant *variant, const struct change *change, struct edit *out, struct err *err);
