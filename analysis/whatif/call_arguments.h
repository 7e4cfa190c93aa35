/* SPDX-License-Identifier: Apache-2.0
 * call_arguments.h: lines of JAX that change arguments: all that a change is of, each as the function names it. For
 * call.c, and for change_resize.c, which knows what it resizes. */
#pragma once

#include "whatif/change.h"

/* In the arena, never NULL; "x" represents an argument only where none is named. */
const char *call_cast(const struct variant *variant, const struct change *change);
/* `sizes`: of the dimensions after the change, as variant->sizes has them before it. "" where nothing is resized. */
const char *call_resize(const struct variant *variant, const int64_t *sizes);
const char *call_shard(const struct variant *variant, const struct change *change);
