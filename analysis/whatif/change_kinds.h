/* SPDX-License-Identifier: Apache-2.0
 * change_kinds.h: one function for each kind of change, for change.c alone; and what they share. */
#pragma once

#include "whatif/change.h"

#define CHANGE(constant, name, function, form, words)                                                                  \
    bool change_##function(struct variant *variant, const struct change *change, struct change_result *out,            \
                           struct err *err);
#include "whatif/change.def"
#undef CHANGE
