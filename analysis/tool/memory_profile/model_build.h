/* SPDX-License-Identifier: Apache-2.0
 * model_build.h: parts of building the model that have a file of their own. */
#ifndef ANALYSIS_TOOL_MEMORY_PROFILE_MODEL_BUILD_H
#define ANALYSIS_TOOL_MEMORY_PROFILE_MODEL_BUILD_H

#include "tool/memory_profile/model.h"

/* The steps by begin; where the file numbers them itself, their spans are those of their memory events. */
void memory_profile_steps_build(struct memory_profile *profile, struct arena *arena);

#endif
