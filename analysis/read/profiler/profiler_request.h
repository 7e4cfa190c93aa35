/* SPDX-License-Identifier: Apache-2.0
 * profiler_request.h: what the profiler server of a running JAX or TensorFlow job is asked: a trace with memory events
 * and programs, as a message of gRPC.
 *
 * Source: profiler_service.proto and profiler_options.proto of openxla; jax 0.10.2 as it answers. */
#pragma once

#include "base/buf.h"

#include <stdint.h>

/* Method and path of the request. */
#define PROFILER_REQUEST_PATH "/tensorflow.ProfilerService/Profile"

/* Borrowed texts. A server that knows how sends the trace in its answer. One of 2025 or before writes it itself, on its
 * own machine: to REPOSITORY_ROOT/SESSION_ID/HOST_NAME.xplane.pb, with each ":" of the host's name as "_". */
struct profiler_request {
    uint64_t duration_ms;   /* of the window that is recorded; above 0 */
    uint64_t start_unix_ns; /* when the window begins, by the server's own clock; 0 or in the past: at once */
    const char *repository_root, *session_id, *host_name;
};

/* Appends the message with the five bytes that gRPC puts in front. A failure stays in `out`. */
void profiler_request_write(const struct profiler_request *request, struct buf *out);
