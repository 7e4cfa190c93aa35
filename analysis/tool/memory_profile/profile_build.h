/* SPDX-License-Identifier: Apache-2.0
 * profile_build.h: parts of building the model that have a file of their own. */
#ifndef ANALYSIS_TOOL_MEMORY_PROFILE_PROFILE_BUILD_H
#define ANALYSIS_TOOL_MEMORY_PROFILE_PROFILE_BUILD_H

#include "tool/memory_profile/profile.h"

/* The steps by begin; where the file numbers them itself, their spans are those of their memory events. */
void profile_steps_build(struct profile *profile, struct arena *arena);

#endif
