/* SPDX-License-Identifier: Apache-2.0 */
#include "read/trace/memory_events.h"

#include "read/trace/kernel_launches.h"
#include "read/trace/memory_pieces.h"
#include "xplane.fields.h"

/* Start times below this count from the start of the capture; larger ones are a clock's. */
#define CAPTURE_MAX_NS (INT64_C(1) << 43)

/* ---- planes ---- */

/* The steps' names, and which step each event is in: as numbered here, else as the file says, as XProf has it. */
static void steps_take(struct memory_reading *reading, bool is_grouped)
{
    struct memory_events *out = reading->out;
    struct trace_step *steps;
    trace_groups_number(reading->groups, is_grouped, out->origin_ns, reading->arena, &steps, &out->step_count);
    struct str *names = arena_array(reading->arena, struct str, out->step_count + 1);
    for (size_t i = 0; i < out->step_count; i++) {
        bool is_same = i > 0 && steps[i].name_id == steps[i - 1].name_id; /* nearly all are */
        if (is_same)
            names[i] = names[i - 1];
        else
            names[i] = trace_encoded_base(
                trace_plane_event_name(reading->stream, reading->plane, steps[i].name_id, reading->arena));
    }
    out->steps = steps;
    out->step_names = names;
    for (size_t i = 0; i < out->count; i++) {
        int32_t *step = &COLUMN_AT(&out->step, int32_t, i);
        int64_t number = trace_groups_of(reading->groups, (uint32_t)*step); /* it is a node's so far */
        *step = number > INT32_MAX ? -1 : (int32_t)number;
        if (*step < 0 && reading->plane->has_group_id)
            *step = CHUNKS_AT(&reading->given_steps, int32_t, i);
        out->has_steps |= *step >= 0;
    }
}

/* Small start times count from the capture's start; else the first line's start is the origin. */
static int64_t origin_of(const struct chunks *lines)
{
    int64_t min = INT64_MAX, max = INT64_MIN;
    for (size_t i = 0; i < lines->count; i++) {
        const struct trace_line *line = chunks_at(lines, i);
        if (line->event_count == 0)
            continue;
        min = line->timestamp_ns < min ? line->timestamp_ns : min;
        max = line->timestamp_ns > max ? line->timestamp_ns : max;
    }
    return min > max || (min >= 0 && max < CAPTURE_MAX_NS) ? 0 : min;
}

/* ---- the file ---- */

struct places {                       /* of the planes that matter */
    struct chunks tpus, gpus, others; /* struct stream_scope; others: all but the host's */
    struct stream_scope host, environment;
    bool has_host, has_environment;
};

static void planes_find(struct stream *stream, struct arena *arena, struct memory_events *out, struct places *places)
{
    struct stream_scope scope = stream_whole(stream);
    struct stream_field field;
    chunks_init(&places->tpus, arena, sizeof(scope));
    chunks_init(&places->gpus, arena, sizeof(scope));
    chunks_init(&places->others, arena, sizeof(scope));
    out->is_empty = true;
    while (stream_next(stream, &scope, &field)) {
        out->is_empty = false;
        if (field.number != XSPACE_PLANES || field.type != WIRE_BYTES)
            continue;
        arena_work(arena, 64);
        struct str name = trace_plane_name(stream, field.payload, arena);
        if (stream->err->code == ERR_malformed || stream->err->code == ERR_truncated) {
            *stream->err = (struct err)ERR_INIT;
            out->damaged_count++;
        }
        bool is_host = str_equal(name, STR("/host:CPU"));
        if (!is_host)
            *(struct stream_scope *)chunks_add(&places->others) = field.payload;
        if (str_starts(name, STR("/device:GPU:"))) {
            out->has_gpu_plane = true;
            *(struct stream_scope *)chunks_add(&places->gpus) = field.payload;
        } else if (str_starts(name, STR("/device:TPU:"))) {
            out->has_tpu_plane = true;
            *(struct stream_scope *)chunks_add(&places->tpus) = field.payload;
        } else if (is_host && !places->has_host) {
            places->host = field.payload;
            places->has_host = true;
        } else if (str_equal(name, STR("Task Environment"))) {
            places->environment = field.payload;
            places->has_environment = true;
        }
    }
    out->cut = stream_cut(stream);
    out->is_empty &= !out->cut.is && !err_is_set(stream->err);
    if (places->has_host && places->host.end > stream->source->size_bytes)
        places->host.end = stream->source->size_bytes; /* in a gzip stream it is known only now */
}

/* Do other planes tell of loops of TensorFlow? The steps of such a file are never numbered. */
static bool has_loops(struct stream *stream, const struct places *places, struct arena *parent)
{
    bool is = false;
    for (size_t i = 0; i < places->others.count && !is && !err_is_set(stream->err); i++) {
        struct arena *arena = arena_child(parent);
        struct trace_plane plane;
        trace_plane_read(stream, CHUNKS_AT(&places->others, struct stream_scope, i), arena, &plane);
        trace_plane_resolve(stream, arena, &plane);
        is = plane.has_loops;
        arena_free(arena);
    }
    return is;
}

static void host_plane(struct memory_reading *reading, const struct places *places, const struct workers *workers)
{
    struct memory_events *out = reading->out;
    struct trace_plane *plane = arena_array(reading->scratch, struct trace_plane, 1);
    trace_plane_read(reading->stream, places->host, reading->arena, plane);
    trace_plane_resolve(reading->stream, reading->arena, plane);
    reading->plane = plane;
    out->has_host_plane = true;
    if (plane->has_unparsed) {
        struct trace_encoded *encoded = arena_array(reading->scratch, struct trace_encoded, 1);
        trace_encoded_find(encoded, reading->stream, plane, reading->scratch);
        reading->encoded = encoded;
    }
    out->lacks_names = plane->is_cut;
    if (plane->has_memory_events || plane->has_unparsed || plane->is_cut)
        memory_pieces_read(reading, workers);
    out->damaged_count += plane->damaged_count;
    if (out->count == 0 && err_is_set(&plane->damage) && !err_is_set(reading->stream->err))
        *reading->stream->err = plane->damage; /* it is why there is nothing */
    out->origin_ns = origin_of(&reading->lines);
    bool is_settled = plane->has_loops || out->count == 0;
    steps_take(reading, is_settled || has_loops(reading->stream, places, reading->scratch));
}

/* ---- allocations without a name ---- */

bool memory_events_is_unnamed(const struct memory_events *events, uint32_t what_at)
{
    uint32_t op = events->whats[what_at].op;
    return op == MEMORY_NO_TEXT || str_equal(events->texts[op], STR("dummy")) ||
           str_equal(events->texts[op], STR("(null)"));
}

static bool has_unnamed(const struct memory_events *events, struct arena *scratch)
{
    bool *is_unnamed = arena_array(scratch, bool, events->what_count + 1), has = false;
    for (size_t i = 0; i < events->what_count; i++)
        is_unnamed[i] = memory_events_is_unnamed(events, (uint32_t)i);
    for (size_t i = 0; i < events->count && !has; i++)
        has = is_unnamed[COLUMN_AT(&events->what, uint32_t, i)] &&
              (COLUMN_AT(&events->flags, uint8_t, i) & MEMORY_FREED) == 0;
    return has;
}

bool memory_events_read(const struct source *source, const struct workers *workers, struct arena *arena,
                        struct memory_events *out, struct err *err)
{
    struct stream stream;
    struct places places = {.has_host = false};
    struct memory_reading *reading = arena_array(arena, struct memory_reading, 1);
    struct arena *scratch = arena_child(arena);
    *out = (struct memory_events){.count = 0};
    stream_init(&stream, source, scratch, err);
    memory_reading_init(reading, &stream, out, arena, scratch);
    planes_find(&stream, reading->scratch, out, &places);
    if (places.has_host)
        host_plane(reading, &places, workers);
    trace_groups_free(reading->groups);
    if (out->count > 0)
        memory_reading_columns_trim(out);
    memory_reading_take(reading);
    out->lines = chunks_copy(&reading->lines, arena);
    out->line_count = reading->lines.count;
    module_launches_init(&out->launches, arena);
    for (size_t i = 0; i < places.tpus.count && !err_is_set(err); i++)
        module_launches_read(&stream, CHUNKS_AT(&places.tpus, struct stream_scope, i), out->origin_ns, arena,
                             &out->launches);
    struct kernel_host host = {.plane = reading->plane, .arena = reading->scratch};
    for (size_t i = 0; i < places.gpus.count && out->count > 0 && !err_is_set(err); i++)
        kernel_launches_read(&stream, CHUNKS_AT(&places.gpus, struct stream_scope, i), &host, out->origin_ns, arena,
                             &out->launches);
    out->has_unnamed = out->has_gpu_plane && has_unnamed(out, reading->scratch);
    if (out->has_unnamed && !err_is_set(err))
        host_runs_read(&stream, reading->plane, out->origin_ns, arena, &out->runs);
    if (places.has_environment && !err_is_set(err))
        trace_capture_read(&stream, places.environment, reading->scratch, &out->capture);
    arena_free(reading->scratch); /* of the first piece, if it was read in pieces */
    arena_free(scratch);
    return !err_is_set(err);
}
