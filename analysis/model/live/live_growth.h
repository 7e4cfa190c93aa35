/* SPDX-License-Identifier: Apache-2.0
 * live_growth.h: does what a process has in use grow as time goes? By the rule of model/trend.h, over the least that
 * was in use in each of some stretches of time: what a step takes and gives back is not in that. */
#pragma once

#include "model/live/live.h"

/* Over all of the line, else over its later half, else over its last quarter, so that what the start of a program took
 * hides nothing. NULL, and 0 bytes: it does not grow, or there are too few samples. */
const struct finding *live_growth_find(const struct live_line *line, struct arena *arena, int64_t *per_minute_bytes);
