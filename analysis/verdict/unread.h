/* SPDX-License-Identifier: Apache-2.0
 * unread.h: files that a verdict would rest on, and that could not be read: each is named, none is reported as
 * absent. */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "exchange/around.h"

/* "memory.prof could not be read: the gzip data ends, at byte 612." In the arena. */
const char *unread_sentence(const struct verdict_unread *unread, struct arena *arena);
/* "memory.prof", "memory.prof and 2 other files". In the arena; `count` is at least 1. */
const char *unread_names(const struct verdict_unread *unread, size_t count, struct arena *arena);
