/* SPDX-License-Identifier: Apache-2.0
 * scan.h: finds the out-of-memory texts in a log of any size.
 *
 * In:     any source; text or not, with line ends or without.
 * Out:    struct oom_result in the arena.
 * Memory: about 16 MB whatever the input's size.
 * Errors: io; limit, when the arena is full. Bytes that mean nothing are no error.
 * Cost:   one read of the input and a search for a few rare letters in it; only what
 *         is near those is looked at closely. */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "base/source.h"
#include "read/oom/oom.h"

bool oom_scan(const struct source *source, struct arena *arena, struct oom_result *out, struct err *err);
