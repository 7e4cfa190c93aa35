/* SPDX-License-Identifier: Apache-2.0 */
#include "read/trace/module_calls.h"

#include "read/trace/trace_groups.h"

#include <stdlib.h>

enum { CALLS_MAX = 1 << 20, NAME_MAX = 1024 };
static const char suffix[] = ":XLA GPU module";

struct call {
    uint64_t id;
    int64_t time_ps;
};

struct module_calls_reading {
    struct module_calls *out;
    int64_t timestamp_ns, origin_ns;
    struct map module_of_event; /* by event metadata */
    struct chunks calls, spans; /* struct call, struct module_call_span */
};

/* Which events are runs of a module. */
static void names_find(struct module_calls_reading *reading, struct stream *stream, const struct trace_plane *plane,
                       struct arena *arena)
{
    struct module_calls *out = reading->out;
    size_t count = trace_plane_event_count(plane), length = sizeof(suffix) - 1;
    map_init(&reading->module_of_event, arena, count);
    for (size_t i = 0; i < count; i++) {
        int64_t id;
        struct str name = trace_plane_event_at(stream, plane, i, NAME_MAX, &id);
        arena_work(arena, 8 + name.length / 8);
        if (name.length <= length ||
            !str_equal((struct str){name.data + name.length - length, length}, (struct str){suffix, length}))
            continue;
        name.length -= length;
        map_put(&reading->module_of_event, (uint64_t)id, intern_number(&out->modules, name), true);
    }
}

static void module_calls_take(void *context, const struct trace_event *event)
{
    struct module_calls_reading *reading = context;
    bool is_clamped = false;
    int64_t end_ps;
    if (event->is_aggregated || reading->calls.count >= CALLS_MAX || reading->spans.count >= CALLS_MAX)
        return;
    int64_t begin_ps = trace_groups_time(reading->timestamp_ns, reading->origin_ns, event->offset_ps, &is_clamped);
    if (trace_line_has(event, TRACE_STAT_CORRELATION_ID))
        *(struct call *)chunks_add(&reading->calls) =
            (struct call){(uint64_t)trace_line_number(event, TRACE_STAT_CORRELATION_ID, 0), begin_ps};
    uint32_t module = map_get(&reading->module_of_event, (uint64_t)event->metadata_id);
    if (module == MAP_NONE || event->duration_ps < 0 || __builtin_add_overflow(begin_ps, event->duration_ps, &end_ps))
        return;
    *(struct module_call_span *)chunks_add(&reading->spans) =
        (struct module_call_span){begin_ps, end_ps, end_ps, module};
}

static int by_module_and_begin(const void *left, const void *right)
{
    const struct module_call_span *a = left, *b = right;
    return ORDER(a->module, b->module) ?: ORDER(a->begin_ps, b->begin_ps);
}

static int by_time(const void *left, const void *right)
{
    const int64_t *a = left, *b = right;
    return ORDER(*a, *b);
}

static void spans_take(struct module_calls_reading *reading, struct arena *arena)
{
    struct module_calls *out = reading->out;
    size_t count = reading->spans.count;
    out->spans = chunks_copy(&reading->spans, arena);
    out->ends = arena_array(arena, int64_t, count + 1);
    qsort(out->spans, count, sizeof(*out->spans), by_module_and_begin);
    for (size_t i = 0, end; i < count; i = end) {
        for (end = i; end < count && out->spans[end].module == out->spans[i].module; end++) {
            struct module_call_span *span = &out->spans[end];
            if (end > i && span[-1].last_ps > span->last_ps)
                span->last_ps = span[-1].last_ps;
            out->ends[end] = span->end_ps;
        }
        qsort(out->ends + i, end - i, sizeof(*out->ends), by_time);
    }
    out->span_count = count;
}

/* If two calls have one number, the first counts. */
static void calls_take(struct module_calls_reading *reading, struct arena *arena)
{
    struct module_calls *out = reading->out;
    size_t count = reading->calls.count;
    map_init(&out->times, arena, count);
    out->time_ps = arena_array(arena, int64_t, count + 1);
    for (size_t i = 0; i < count; i++) {
        const struct call *call = chunks_at(&reading->calls, i);
        out->time_ps[i] = call->time_ps;
        map_put(&out->times, call->id, (uint32_t)i, false);
    }
    out->call_count = count;
}

void module_calls_read(struct stream *stream, const struct trace_plane *host, int64_t origin_ns, struct arena *arena,
                       struct module_calls *out)
{
    struct module_calls_reading reading = {.out = out, .origin_ns = origin_ns};
    *out = (struct module_calls){.call_count = 0};
    intern_init(&out->modules, arena);
    chunks_init(&reading.calls, arena, sizeof(struct call));
    chunks_init(&reading.spans, arena, sizeof(struct module_call_span));
    names_find(&reading, stream, host, arena);
    for (size_t i = 0; i < host->line_count && out->modules.map.count > 0; i++) {
        struct trace_line line;
        trace_line_head(stream, host->lines[i], arena, &line);
        reading.timestamp_ns = line.timestamp_ns;
        trace_line_events(stream, host->lines[i], host, arena, module_calls_take, &reading, &line);
    }
    bool is_whole = reading.calls.count < CALLS_MAX && reading.spans.count < CALLS_MAX;
    if (!is_whole || reading.spans.count == 0)
        return;
    spans_take(&reading, arena);
    calls_take(&reading, arena);
}

/* How many of the spans in [first, end) begin at the time or before it. */
static size_t begun(const struct module_calls *calls, size_t first, size_t end, uint32_t module, int64_t time_ps)
{
    size_t low = first, high = end;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct module_call_span *span = &calls->spans[middle];
        if (span->module < module || (span->module == module && span->begin_ps <= time_ps))
            low = middle + 1;
        else
            high = middle;
    }
    return low - first;
}

/* How many of those ends, which are in order, lie before the time. */
static size_t ended(const struct module_calls *calls, size_t first, size_t end, int64_t time_ps)
{
    size_t low = first, high = end;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (calls->ends[middle] < time_ps)
            low = middle + 1;
        else
            high = middle;
    }
    return low - first;
}

enum module_calls_answer module_calls_compare(const struct module_calls *calls, uint32_t module, uint64_t one,
                                              uint64_t other)
{
    uint32_t a = calls->call_count > 0 ? map_get(&calls->times, one) : MAP_NONE;
    uint32_t b = calls->call_count > 0 ? map_get(&calls->times, other) : MAP_NONE;
    if (module == UINT32_MAX || a == MAP_NONE || b == MAP_NONE)
        return MODULE_CALLS_UNKNOWN;
    int64_t from_ps = calls->time_ps[a], to_ps = calls->time_ps[b];
    if (from_ps > to_ps) {
        from_ps = calls->time_ps[b];
        to_ps = calls->time_ps[a];
    }
    size_t first = begun(calls, 0, calls->span_count, module, INT64_MIN);
    size_t end = first + begun(calls, first, calls->span_count, module, INT64_MAX);
    size_t before = begun(calls, first, end, module, from_ps);
    size_t around_from = before - ended(calls, first, end, from_ps);
    size_t around_to = begun(calls, first, end, module, to_ps) - ended(calls, first, end, to_ps);
    assert(first + before <= end && around_from <= before && around_to <= end - first);
    if (around_from == 0 || around_to == 0)
        return MODULE_CALLS_UNKNOWN;
    if (calls->spans[first + before - 1].last_ps < to_ps)
        return MODULE_CALLS_TWO_RUNS;
    return around_from == 1 ? MODULE_CALLS_ONE_RUN : MODULE_CALLS_UNKNOWN;
}
