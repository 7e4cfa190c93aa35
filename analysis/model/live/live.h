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
