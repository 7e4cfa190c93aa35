/* SPDX-License-Identifier: Apache-2.0
 * live.h: what processes of a running job have in use as time goes, by the files that python/memviewd/_live.py writes
 * (their lines are described there): a line for each device of each process, the peak, and what grows.
 *
 * What is in a file was written by a program that nobody trusts: a line that is damaged is left out. Sizes are bytes,
 * times Unix milliseconds of the process's own clock; -1: not known. Memory: the arena; names are copied. */
#pragma once

#include "base/arena.h"
#include "base/str.h"
#include "exchange/live.h"
#include "model/finding.h"

#include <stdbool.h>

enum { LIVE_LINES_MAX = 256 }; /* devices of all processes; further ones are counted */

void live_read(const struct live_text *texts, size_t count, struct arena *arena, struct live *live);

const char *live_kind_name(enum live_kind kind);

/* live_growth.c: does what a process has in use grow as time goes? By the rule of model/trend.h, over the least that
 * was in use in each of some stretches of time: what a step takes and gives back is not in that. */
/* Over all of the line, else over its later half, else over its last quarter, so that what the start of a program took
 * hides nothing. NULL, and 0 bytes: it does not grow, or there are too few samples. */
const struct finding *live_growth_find(const struct live_line *line, struct arena *arena, int64_t *per_minute_bytes);
