/* SPDX-License-Identifier: Apache-2.0
 * trace_launches.c: see trace_launches.h. */
#include "read/trace/trace_launches.h"

#include "read/trace/kernel_launches.h"
#include "xplane.fields.h"

struct places {
    struct chunks tpus, gpus; /* struct stream_scope */
    struct stream_scope host;
    bool has_host;
    uint64_t damaged_count;
};

static void planes_find(struct stream *stream, struct arena *arena, struct places *places)
{
    struct stream_scope scope = stream_whole(stream);
    struct stream_field field;
    chunks_init(&places->tpus, arena, sizeof(scope));
    chunks_init(&places->gpus, arena, sizeof(scope));
    while (stream_next(stream, &scope, &field)) {
        if (field.number != XSPACE_PLANES || field.type != WIRE_BYTES)
            continue;
        arena_work(arena, 64);
        struct str name = trace_plane_name(stream, field.payload, arena);
        if (stream->err->code == ERR_malformed || stream->err->code == ERR_truncated) {
            *stream->err = (struct err)ERR_INIT;
            places->damaged_count++;
        }
        if (str_starts(name, STR("/device:TPU:"))) {
            CHUNKS_ADD(&places->tpus, struct stream_scope, field.payload);
        } else if (str_starts(name, STR("/device:GPU:"))) {
            CHUNKS_ADD(&places->gpus, struct stream_scope, field.payload);
        } else if (str_equal(name, STR("/host:CPU")) && !places->has_host) {
            places->host = field.payload;
            places->has_host = true;
        }
    }
}

static void min_take(struct stream *stream, const struct chunks *planes, struct arena *arena, int64_t *min_ns)
{
    for (size_t i = 0; i < planes->count; i++) {
        struct arena *scratch = arena_child(arena);
        struct trace_plane plane;
        trace_plane_read(stream, CHUNKS_AT(planes, struct stream_scope, i), scratch, &plane);
        for (size_t at = 0; at < plane.line_count; at++) {
            struct trace_line line;
            trace_line_head(stream, plane.lines[at], scratch, &line);
            *min_ns = line.timestamp_ns < *min_ns ? line.timestamp_ns : *min_ns;
        }
        arena_free(scratch);
    }
}

bool trace_launches_read(const struct source *source, struct arena *arena, struct module_launches *out, struct err *err)
{
    struct stream stream;
    struct places places = {.has_host = false};
    struct trace_plane plane;
    int64_t origin_ns = INT64_MAX;
    stream_init(&stream, source, arena, err);
    planes_find(&stream, arena, &places);
    module_launches_init(out, arena);
    min_take(&stream, &places.tpus, arena, &origin_ns);
    min_take(&stream, &places.gpus, arena, &origin_ns);
    for (size_t i = 0; i < places.tpus.count && !err_is_set(err); i++)
        module_launches_read(&stream, CHUNKS_AT(&places.tpus, struct stream_scope, i), origin_ns, arena, out);
    struct kernel_host host = {.arena = arena};
    if (places.gpus.count > 0 && places.has_host && !err_is_set(err)) {
        trace_plane_read(&stream, places.host, arena, &plane);
        trace_plane_resolve(&stream, arena, &plane);
        host.plane = &plane;
    }
    for (size_t i = 0; i < places.gpus.count && !err_is_set(err); i++)
        kernel_launches_read(&stream, CHUNKS_AT(&places.gpus, struct stream_scope, i), &host, origin_ns, arena, out);
    out->damaged_count += places.damaged_count;
    return !err_is_set(err);
}
