/* SPDX-License-Identifier: Apache-2.0
 * profiler_answer.h: what the profiler server of a running job answers, read while it comes: the trace goes on to
 * whoever asked, piece by piece, and is never held whole.
 *
 * A message of gRPC: one byte 0 (not compressed), four bytes size, a ProfileResponse; at most 4 GiB by that. Whether it
 * went well is in the trailers. */
#pragma once

#include "base/err.h"
#include "exchange/profiler.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
