/* SPDX-License-Identifier: Apache-2.0
 * door/analysis_profiler.h: a part of analysis.h, and included by it: messages of a running job's profiler server
 * (read/profiler). */
#pragma once

#include "base/buf.h"
#include "base/err.h"
#include "exchange/profiler.h"

#include <stdbool.h>
#include <stddef.h>

/* Appends the message with the five bytes that gRPC puts in front. A failure stays in `out`. */
void analysis_profiler_request_write(const struct profiler_request *request, struct buf *out);

/* All else of `answer` becomes 0. */
void analysis_profiler_answer_begin(struct profiler_answer *answer, profiler_answer_take *take, void *context);
/* The next bytes, in pieces of any size. False with `err` (malformed, unsupported: compressed), or when `take` gave
 * false, without one: nothing more is to be given then. */
bool analysis_profiler_answer_add(struct profiler_answer *answer, const void *bytes, size_t size, struct err *err);
/* No more bytes come: false with `err` (truncated) unless the message is whole. */
bool analysis_profiler_answer_end(const struct profiler_answer *answer, struct err *err);
/* The trailers grpc-status and grpc-message, NULL where they are missing. False with `err`, which says what the server
 * says: unsupported (no profiler server, or trailers missing), conflict (it records for somebody else already), io (all
 * else). */
bool analysis_profiler_answer_judge(const char *status, const char *message, struct err *err);
