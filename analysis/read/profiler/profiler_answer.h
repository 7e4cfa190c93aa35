/* SPDX-License-Identifier: Apache-2.0
 * profiler_answer.h: what the profiler server of a running job answers, read while it comes: the trace goes on to
 * whoever asked, piece by piece, and is never held whole.
 *
 * A message of gRPC: one byte 0 (not compressed), four bytes size, a ProfileResponse; at most 4 GiB by that. Whether it
 * went well is in the trailers. */
#pragma once

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Takes the next bytes of the trace, an XSpace; false ends the reading, and why is its own to keep. */
typedef bool profiler_answer_take(void *context, const void *bytes, size_t size);

struct profiler_answer {
    profiler_answer_take *take;
    void *context;
    /* What was found so far. */
    uint64_t trace_bytes; /* given to `take` */
    bool is_empty_trace;  /* the server says that nothing was recorded */

    /* Where the reading is: profiler_answer.c. */
    enum profiler_answer_step {
        PROFILER_ANSWER_PREFIX,
        PROFILER_ANSWER_TAG,
        PROFILER_ANSWER_NUMBER,
        PROFILER_ANSWER_LENGTH,
        PROFILER_ANSWER_SKIPPED,
        PROFILER_ANSWER_TRACE,
        PROFILER_ANSWER_END
    } step;
    uint64_t at_bytes;     /* read of the answer */
    uint64_t message_left; /* bytes of the message not read yet */
    uint64_t field_left;   /* of the field */
    uint64_t number;       /* as far as it is read */
    unsigned shift;        /* bits of it that are read */
    unsigned prefix_count;
    uint64_t field; /* its number */
};

/* All else of `answer` becomes 0. */
void profiler_answer_begin(struct profiler_answer *answer, profiler_answer_take *take, void *context);
/* The next bytes, in pieces of any size. False with `err` (malformed, unsupported: compressed), or when `take` gave
 * false, without one: nothing more is to be given then. */
bool profiler_answer_add(struct profiler_answer *answer, const void *bytes, size_t size, struct err *err);
/* No more bytes come: false with `err` (truncated) unless the message is whole. */
bool profiler_answer_end(const struct profiler_answer *answer, struct err *err);

/* The trailers grpc-status and grpc-message, NULL where they are missing. False with `err`, which says what the server
 * says: unsupported (no profiler server, or trailers missing), conflict (it records for somebody else already), io (all
 * else). */
bool profiler_answer_judge(const char *status, const char *message, struct err *err);
