/* SPDX-License-Identifier: Apache-2.0
 * around.h: what the lines around each failure of a log tell: whose program it is, what that was doing, whether it took
 * the failure back. Rows in around.def and given_up.def. */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "base/source.h"
#include "read/oom/oom.h"

/* Sets `program`, `activity`, `share_percent`, `signs`, `has_loader`, `has_no_gradients`, `has_other_reason` and
 * `has_loss` of each of `count` failures, which stand in the order of the log. */
bool oom_around_read(const struct source *source, struct arena *arena, struct oom_failure *failures, size_t count,
                     struct err *err);

/* Sets `is_given_up`, of what follows the last of their copies and consequences. */
bool oom_around_judge(const struct source *source, struct arena *arena, struct oom_failure *failures, size_t count,
                      struct err *err);
