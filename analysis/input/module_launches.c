/* SPDX-License-Identifier: Apache-2.0
 * module_launches.c: see module_launches.h. */
#include "input/module_launches.h"

#include "input/trace_groups.h"

struct reading {
    struct module_launches *launches;
    struct arena *arena;
    int64_t timestamp_ns, origin_ns;
    struct table *ids; /* of event metadata, as met */
};

void module_launches_init(struct module_launches *launches, struct arena *arena)
{
    *launches = (struct module_launches){.planes = NULL};
    chunks_init(&launches->items, arena, sizeof(struct module_launch));
}

static void take(void *context, const struct trace_event *event)
{
    struct reading *reading = context;
    bool is_clamped = false;
    if (event->is_aggregated)
        return;
    int64_t begin_ps = trace_groups_time(reading->timestamp_ns, reading->origin_ns, event->offset_ps, &is_clamped),
            end_ps;
    if (event->duration_ps < 0 || __builtin_add_overflow(begin_ps, event->duration_ps, &end_ps) ||
        end_ps > TRACE_TIME_MOST_PS || is_clamped) {
        reading->launches->damaged_count++;
        return;
    }
    uint64_t id = (uint64_t)event->metadata_id;
    *(struct module_launch *)chunks_add(&reading->launches->items) = (struct module_launch){
        begin_ps, end_ps, event->offset_ps, reading->launches->plane_count, table_number(reading->ids, &id), false};
}

/* A copy of a list of names with room for `more`. */
static struct str *names_grow(struct arena *arena, const struct str *names, size_t count, size_t more)
{
    struct str *grown = arena_array(arena, struct str, count + more);
    if (count > 0)
        memcpy(grown, names, count * sizeof *grown);
    return grown;
}

uint32_t module_launches_plane(struct module_launches *launches, struct arena *arena, struct str plane, size_t name_count)
{
    uint32_t name_at = launches->name_count;
    launches->planes = names_grow(arena, launches->planes, launches->plane_count, 1);
    launches->planes[launches->plane_count++] = plane;
    launches->names = names_grow(arena, launches->names, name_at, name_count);
    launches->name_count += (uint32_t)name_count;
    return name_at;
}

void module_launches_read(struct stream *stream, struct stream_scope scope, int64_t origin_ns, struct arena *arena,
                          struct module_launches *launches)
{
    struct trace_plane plane;
    struct table ids;
    struct reading reading = {launches, arena, 0, origin_ns, &ids};
    trace_plane_read(stream, scope, arena, &plane);
    size_t before = launches->items.count;
    bool is_resolved = false;
    for (size_t i = 0; i < plane.line_count; i++) {
        struct trace_line line;
        trace_line_head(stream, plane.lines[i], arena, &line);
        if (!str_equal(line.name, STR("XLA Modules")))
            continue;
        if (!is_resolved) {
            trace_plane_resolve(stream, arena, &plane);
            table_init(&ids, arena, 1);
            is_resolved = true;
        }
        reading.timestamp_ns = line.timestamp_ns;
        trace_line_events(stream, plane.lines[i], &plane, arena, take, &reading, &line);
        launches->damaged_count += line.damaged_count + line.is_cut;
    }
    if (!is_resolved)
        return;
    uint32_t name_at = module_launches_plane(launches, arena, plane.name, table_count(&ids));
    for (size_t i = 0; i < table_count(&ids); i++)
        launches->names[name_at + i] = trace_plane_event_name(stream, &plane, (int64_t)*table_key(&ids, i), arena);
    for (size_t i = before; i < launches->items.count; i++)
        CHUNKS_AT(&launches->items, struct module_launch, i).name_at += name_at;
}
