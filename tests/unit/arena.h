/* SPDX-License-Identifier: Apache-2.0
 * arena.h: an arena for a test, as a fixture for check or begun and ended by hand. It is included
 * last: functions of the core's headers call theirs `arena` too. */
#pragma once

#include "base/arena.h"

#include "bytes.h"

static struct arena arena;
static struct err err; /* what it reports */

static inline void arena_begin_limited(uint64_t limit_bytes)
{
    err = (struct err)ERR_INIT;
    arena_init(&arena, limit_bytes, &err);
}

static inline void arena_begin(void) { arena_begin_limited(0); }

static inline void arena_end(void) { arena_free(&arena); }

/* In a function that is still running when the arena jumps: then the test fails with its report. */
#define ARENA_MUST_NOT_JUMP()                                                                                          \
    do {                                                                                                               \
        if (setjmp(arena.trap) != 0)                                                                                   \
            ck_abort_msg("%s", err.text);                                                                              \
    } while (0)
