/* SPDX-License-Identifier: Apache-2.0 */
#include "read/profiler/profiler_request.h"

#include "profiler_service.fields.h"
#include "wire/wire_write.h"

/* Level 2 of the host has the allocators' events, which the allocator of TensorFlow and XLA marks as such ("info"), and
 * level 1 has not. Python's calls would cost the job much and say nothing of memory. */
enum { OPTIONS_VERSION = 1, HOST_LEVEL = 2, DEVICE_LEVEL = 1, PREFIX_BYTES = 5 };

static void write_options(const struct profiler_request *request, struct buf *out)
{
    size_t begin = wire_write_begin(out, PROFILE_REQUEST_OPTS);
    wire_write_number(out, PROFILE_OPTIONS_HOST_TRACER_LEVEL, HOST_LEVEL);
    wire_write_number(out, PROFILE_OPTIONS_DEVICE_TRACER_LEVEL, DEVICE_LEVEL);
    wire_write_number(out, PROFILE_OPTIONS_VERSION, OPTIONS_VERSION);
    wire_write_number(out, PROFILE_OPTIONS_ENABLE_HLO_PROTO, true);
    wire_write_number(out, PROFILE_OPTIONS_START_TIMESTAMP_NS, request->start_unix_ns);
    wire_write_number(out, PROFILE_OPTIONS_DURATION_MS, request->duration_ms);
    wire_write_end(out, begin);
}

void profiler_request_write(const struct profiler_request *request, struct buf *out)
{
    size_t begin = out->length;
    buf_add(out, "\0\0\0\0\0", PREFIX_BYTES); /* not compressed; the size of what follows */
    wire_write_number(out, PROFILE_REQUEST_DURATION_MS, request->duration_ms);
    write_options(request, out);
    wire_write_bytes(out, PROFILE_REQUEST_REPOSITORY_ROOT, str_of(request->repository_root));
    wire_write_bytes(out, PROFILE_REQUEST_SESSION_ID, str_of(request->session_id));
    wire_write_bytes(out, PROFILE_REQUEST_HOST_NAME, str_of(request->host_name));
    wire_write_number(out, PROFILE_REQUEST_EMIT_XSPACE, true);
    if (out->failed)
        return;
    size_t size = out->length - begin - PREFIX_BYTES;
    for (int at = 0; at < 4; at++)
        out->data[begin + 1 + (size_t)at] = (char)(size >> (24 - 8 * at) & 0xFF);
}
