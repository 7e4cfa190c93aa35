/* SPDX-License-Identifier: Apache-2.0
 * replay_write.h: how far a snapshot was replayed, as JSON; for the views of this folder. */
#pragma once

#include "base/json.h"
#include "model/memory_profile/replay.h"

/* The member "replay"; `replay` NULL: none. */
void memory_profile_replay_write(struct json *json, const struct memory_profile_replay *replay);
