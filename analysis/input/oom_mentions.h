/* SPDX-License-Identifier: Apache-2.0
 * oom_mentions.h: the lines of a log that speak of memory, for a reader whose text was not recognised.
 *
 * Out:    {"line_count", "mention_count", "mentions": [{"line", "begin_bytes", "end_bytes", "text"}]}:
 *         lines counted from 1, the text of a long line cut, the first 200 mentions.
 * Memory: 1.2 MiB in the arena. Cost: one read of the input. */
#ifndef ANALYSIS_INPUT_OOM_MENTIONS_H
#define ANALYSIS_INPUT_OOM_MENTIONS_H

#include "base/arena.h"
#include "base/err.h"
#include "base/json.h"
#include "base/source.h"

bool oom_mentions_write(const struct source *source, struct arena *arena, struct json *json, struct err *err);

#endif
