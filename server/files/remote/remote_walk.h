/* SPDX-License-Identifier: Apache-2.0
 * remote_walk.h: folders and prefixes that are listed side by side, each of which may name more to be listed. */
#pragma once

#include "base/err.h"

#include <stdbool.h>

/* What a hostile server, or links that lead round, can add at most. */
enum { REMOTE_WALK_STEPS_MAX = 4000000, REMOTE_WALK_FOLDERS_MAX = 200000 };

struct remote_walk;

/* Lists one of them; false with `err`: then all end. Any number run at a time. */
typedef bool remote_walk_visit(struct remote_walk *walk, void *context, const char *name, unsigned depth,
                               struct err *err);

/* Visits `first` (depth 0) and all that is added meanwhile, and returns when nothing is left. Without threads of its
 * own it works alone. */
bool remote_walk_run(remote_walk_visit *visit, void *context, const char *first, struct err *err);
/* By a visit: one more to be visited. The name is copied; with a slash at its end it is a folder. Beyond
 * REMOTE_WALK_STEPS_MAX, or REMOTE_WALK_FOLDERS_MAX folders, the walk fails with ERR_limit. */
void remote_walk_add(struct remote_walk *walk, const char *name, unsigned depth);
