/* SPDX-License-Identifier: Apache-2.0 */
#include "read/trace/module_launches.h"

#include "read/trace/trace_groups.h"

struct module_launches_reading {
    struct module_launches *launches;
    struct arena *arena;
    int64_t timestamp_ns, origin_ns;
    struct table *ids; /* of event metadata, as met */
};

void module_launches_init(struct module_launches *launches, struct arena *arena)
{
    *launches = (struct module_launches){.planes = NULL};
    chunks_init(&launches->items, arena, sizeof(struct module_launch));
    intern_init(&launches->names, arena);
}

bool module_launches_span(const struct trace_event *event, int64_t timestamp_ns, int64_t origin_ns, int64_t *begin_ps,
                          int64_t *end_ps)
{
    bool is_clamped = false;
    *begin_ps = trace_groups_time(timestamp_ns, origin_ns, event->offset_ps, &is_clamped);
    return !is_clamped && event->duration_ps >= 0 && !__builtin_add_overflow(*begin_ps, event->duration_ps, end_ps) &&
           *end_ps <= TRACE_TIME_MAX_PS;
}

static void module_launches_take(void *context, const struct trace_event *event)
{
    struct module_launches_reading *reading = context;
    int64_t begin_ps, end_ps;
    if (event->is_aggregated)
        return;
    if (!module_launches_span(event, reading->timestamp_ns, reading->origin_ns, &begin_ps, &end_ps)) {
        reading->launches->damaged_count++;
        return;
    }
    uint64_t id = (uint64_t)event->metadata_id;
    *(struct module_launch *)chunks_add(&reading->launches->items) = (struct module_launch){
        begin_ps, end_ps, event->offset_ps, reading->launches->plane_count, table_number(reading->ids, &id), false};
}

void module_launches_plane(struct module_launches *launches, struct arena *arena, struct str plane)
{
    launches->planes = arena_grown(arena, launches->planes, (size_t)launches->plane_count + 1,
                                   &launches->plane_capacity, sizeof(*launches->planes));
    launches->planes[launches->plane_count++] = (struct str){arena_text(arena, plane), plane.length};
}

/* What is only needed while the plane is read is in `scratch`. */
static void plane_read(struct stream *stream, struct stream_scope scope, struct module_launches_reading *reading,
                       struct arena *scratch)
{
    struct module_launches *launches = reading->launches;
    struct trace_plane plane;
    trace_plane_read(stream, scope, scratch, &plane);
    size_t before = launches->items.count;
    bool is_resolved = false;
    for (size_t i = 0; i < plane.line_count; i++) {
        struct trace_line line;
        trace_line_head(stream, plane.lines[i], scratch, &line);
        if (!str_equal(line.name, STR("XLA Modules")))
            continue;
        if (!is_resolved) {
            trace_plane_resolve(stream, scratch, &plane);
            table_init(reading->ids, scratch, 1);
            is_resolved = true;
        }
        reading->timestamp_ns = line.timestamp_ns;
        trace_line_events(stream, plane.lines[i], &plane, scratch, module_launches_take, reading, &line);
        launches->damaged_count += line.damaged_count;
    }
    if (!is_resolved)
        return;
    module_launches_plane(launches, reading->arena, plane.name);
    uint32_t *numbers = arena_array(scratch, uint32_t, table_count(reading->ids) + 1);
    for (size_t i = 0; i < table_count(reading->ids); i++)
        numbers[i] = intern_number(
            &launches->names, trace_plane_event_name(stream, &plane, (int64_t)*table_key(reading->ids, i), scratch));
    size_t kept = before;
    for (size_t i = before; i < launches->items.count; i++) {
        struct module_launch launch = CHUNKS_AT(&launches->items, struct module_launch, i);
        launch.name_at = numbers[launch.name_at];
        if (plane.is_cut && launches->names.items[launch.name_at].length == 0) {
            launches->unnamed_count++;
            continue;
        }
        CHUNKS_AT(&launches->items, struct module_launch, kept++) = launch;
    }
    launches->items.count = kept;
}

void module_launches_read(struct stream *stream, struct stream_scope scope, int64_t origin_ns, struct arena *arena,
                          struct module_launches *launches)
{
    struct table ids;
    struct module_launches_reading reading = {launches, arena, 0, origin_ns, &ids};
    struct arena *scratch = arena_child(arena);
    plane_read(stream, scope, &reading, scratch);
    arena_free(scratch);
}
