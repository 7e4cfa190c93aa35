/* SPDX-License-Identifier: Apache-2.0
 * finding.h: the finding shown first for each pool, the gravest that there is: a request that failed, one that
 * fragmentation would have failed, what grows from step to step, a line that is flat. */
#pragma once

#include "model/memory_profile/model.h"

/* " at 812.4 ms" on the page of the tool. */
void memory_profile_finding_time(struct finding *finding, int64_t time_ps);
/* Sets pool->finding and pool->course. Cost: that of the view "growth", once a pool. */
void memory_profile_finding_make(struct memory_profile *profile, struct arena *arena);
