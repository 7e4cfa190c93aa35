/* SPDX-License-Identifier: Apache-2.0 */
#include "read/trace/host_runs.h"

#include "read/trace/module_launches.h"

#include <stdlib.h>

enum { RUNS_MAX = 1 << 21, LINES_MAX = 1 << 20, NAME_MAX = 1024 };
static const char run_suffix[] = ":XLA GPU module", call_prefix[] = "PjitFunction(";

/* The span's module is `number / 2`; odd numbers are calls. */
struct host_runs_reading {
    struct host_runs *out;
    int64_t timestamp_ns, origin_ns;
    uint32_t line;
    struct map span_of_event; /* by event metadata */
    struct chunks runs;       /* struct host_run */
};

struct str host_runs_name(struct arena *arena, const char *prefix, struct str name)
{
    size_t length = strlen(prefix);
    char *text = arena_raw(arena, length + name.length + 1);
    memcpy(text, prefix, length);
    for (size_t i = 0; i < name.length; i++) {
        char c = name.data[i];
        bool is_kept = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
                       c == '-' || (unsigned char)c >= 0x80;
        text[length++] = is_kept ? c : '_';
    }
    while (length > 0 && text[length - 1] == '_')
        length--;
    text[length] = '\0';
    return (struct str){text, length};
}

/* Which events are runs of a module, or calls of a function. */
static void names_find(struct host_runs_reading *reading, struct stream *stream, const struct trace_plane *plane,
                       struct arena *arena)
{
    size_t count = trace_plane_event_count(plane), suffix = sizeof(run_suffix) - 1, prefix = sizeof(call_prefix) - 1;
    map_init(&reading->span_of_event, arena, 16);
    for (size_t i = 0; i < count; i++) {
        int64_t id;
        struct str name = trace_plane_event_at(stream, plane, i, NAME_MAX, &id);
        arena_work(arena, 8 + name.length / 8);
        bool is_call = str_starts(name, STR(call_prefix)) && name.length > prefix + 1;
        bool is_run = name.length > suffix && str_equal((struct str){name.data + name.length - suffix, suffix},
                                                        (struct str){run_suffix, suffix});
        if (!is_call && !is_run)
            continue;
        if (is_call)
            name = (struct str){name.data + prefix, name.length - prefix - (name.data[name.length - 1] == ')')};
        else
            name.length -= suffix;
        uint32_t module = intern_number(&reading->out->modules, host_runs_name(arena, is_call ? "jit_" : "", name));
        map_put(&reading->span_of_event, (uint64_t)id, module * 2 + is_call, true);
    }
}

static void host_runs_take(void *context, const struct trace_event *event)
{
    struct host_runs_reading *reading = context;
    struct host_run run;
    uint32_t span = map_get(&reading->span_of_event, (uint64_t)event->metadata_id);
    if (span == MAP_NONE || event->is_aggregated ||
        !module_launches_span(event, reading->timestamp_ns, reading->origin_ns, &run.begin_ps, &run.end_ps))
        return;
    if (reading->runs.count >= RUNS_MAX) {
        reading->out->dropped_count++;
        return;
    }
    run.line = reading->line;
    run.module = span / 2;
    run.is_call = span % 2 == 1;
    CHUNKS_ADD(&reading->runs, struct host_run, run);
}

static int by_line_and_begin(const void *left, const void *right)
{
    const struct host_run *a = left, *b = right;
    return ORDER(a->line, b->line) ?: ORDER(a->begin_ps, b->begin_ps) ?: ORDER(b->end_ps, a->end_ps);
}

void host_runs_read(struct stream *stream, const struct trace_plane *host, int64_t origin_ns, struct arena *arena,
                    struct host_runs *out)
{
    struct arena *scratch = arena_child(arena);
    struct host_runs_reading reading = {.out = out, .origin_ns = origin_ns};
    *out = (struct host_runs){.count = 0};
    intern_init(&out->modules, arena);
    chunks_init(&reading.runs, scratch, sizeof(struct host_run));
    names_find(&reading, stream, host, scratch);
    for (size_t i = 0; i < host->line_count && i < LINES_MAX && reading.span_of_event.count > 0; i++) {
        struct trace_line line;
        trace_line_head(stream, host->lines[i], scratch, &line);
        reading.line = (uint32_t)i;
        reading.timestamp_ns = line.timestamp_ns;
        trace_line_events(stream, host->lines[i], host, scratch, host_runs_take, &reading, &line);
    }
    out->items = chunks_copy(&reading.runs, arena);
    out->count = reading.runs.count;
    qsort(out->items, out->count, sizeof(*out->items), by_line_and_begin);
    arena_free(scratch);
}
