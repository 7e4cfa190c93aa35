/* SPDX-License-Identifier: Apache-2.0
 * trace_capture.h: when a trace was taken.
 *
 * Unix times of the capture's start and end in ns, 0 when not told.
 * Source: plane stats profile_start_time and profile_stop_time of the plane "Task Environment". */
#pragma once

#include "read/trace/trace_plane.h"

struct trace_capture {
    uint64_t start_ns, stop_ns;
};

void trace_capture_read(struct stream *stream, struct stream_scope plane, struct arena *arena,
                        struct trace_capture *out);
