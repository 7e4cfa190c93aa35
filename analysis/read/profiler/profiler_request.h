/* SPDX-License-Identifier: Apache-2.0
 * profiler_request.h: what the profiler server of a running JAX or TensorFlow job is asked: a trace with memory events
 * and programs, as a message of gRPC.
 *
 * Source: profiler_service.proto and profiler_options.proto of openxla; jax 0.10.2 as it answers. */
#pragma once

#include "base/buf.h"
#include "exchange/profiler.h"

#include <stdint.h>

/* Appends the message with the five bytes that gRPC puts in front. A failure stays in `out`. */
void profiler_request_write(const struct profiler_request *request, struct buf *out);
