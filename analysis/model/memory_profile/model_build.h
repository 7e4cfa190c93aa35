/* SPDX-License-Identifier: Apache-2.0
 * model_build.h: parts of building the model that have a file of their own. */
#pragma once

#include "model/memory_profile/model.h"

/* The steps by begin; where the file numbers them itself, their spans are those of their memory events. */
void memory_profile_steps_build(struct memory_profile *profile, struct arena *arena);
