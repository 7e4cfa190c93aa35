/* SPDX-License-Identifier: Apache-2.0
 * mentions.h: the lines of a log that speak of memory, for one in which nothing was recognised. */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "base/source.h"
#include "base/str.h"

struct oom_mention {
    uint64_t line; /* from 1 */
    uint64_t begin_at, end_at;
    struct str text; /* its first 400 bytes */
};

struct oom_mentions {
    struct oom_mention *items;
    size_t count;           /* of those that are kept: the first 200 */
    uint64_t mention_count; /* of all */
    uint64_t line_count;    /* of the log */
};

/* In one pass and 2 MiB. False when the source cannot be read. */
bool oom_mentions_read(const struct source *source, struct arena *arena, struct oom_mentions *out, struct err *err);
