/* SPDX-License-Identifier: Apache-2.0 */
#include "read/trace/trace_capture.h"

#include "xplane.fields.h"

void trace_capture_read(struct stream *stream, struct stream_scope scope, struct arena *arena,
                        struct trace_capture *out)
{
    struct trace_plane plane;
    struct stream_scope whole = scope;
    struct stream_field field, inner;
    trace_plane_read(stream, scope, arena, &plane);
    trace_plane_resolve(stream, arena, &plane);
    while (stream_next(stream, &whole, &field)) {
        if (field.number != XPLANE_STATS || field.type != WIRE_BYTES)
            continue;
        int64_t id = 0;
        uint64_t value = 0;
        while (stream_next(stream, &field.payload, &inner)) {
            if (inner.number == XSTAT_METADATA_ID && inner.type == WIRE_VARINT)
                id = (int64_t)inner.value;
            else if (inner.number == XSTAT_UINT64_VALUE && inner.type == WIRE_VARINT)
                value = inner.value;
        }
        struct str name = trace_plane_stat_name(stream, &plane, id, arena);
        if (str_equal(name, STR("profile_start_time")))
            out->start_ns = value;
        else if (str_equal(name, STR("profile_stop_time")))
            out->stop_ns = value;
    }
}
