/* SPDX-License-Identifier: Apache-2.0
 * replay_check.h: a recording run again with its own settings, beside what was recorded; for replay.c. */
#pragma once

#include "model/memory_profile/replay.h"
#include "model/memory_profile/replay_walk.h"

/* Sets what `out` says of the rules; out->settings are those that were recorded. */
void replay_check_make(const struct replay_ground *ground, struct arena *arena, struct memory_profile_replay *out);
