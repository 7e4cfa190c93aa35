/* SPDX-License-Identifier: Apache-2.0 */
#include "read/trace/kernel_launches.h"

#include <stdlib.h>

enum { KEY_ABSENT, KEY_REF, KEY_TEXT };
enum { NAME_MAX = 1024 };
#define NAME_LOST UINT32_MAX /* the file is cut before it */

/* A text of an event, as the file has it. */
struct text_key {
    uint64_t kind, value; /* id of a stat's name, or a hash */
};

struct span {
    int64_t begin_ps, end_ps, offset_ps;
    uint32_t module;
};

struct kernel_launches_reading {
    struct arena *arena; /* freed at the end */
    int64_t timestamp_ns, origin_ns;
    struct table modules; /* {kind, value, program id, has program id} */
    struct chunks texts;  /* struct str of each module that an event itself contains */
    struct chunks spans;  /* struct span */
    struct span *open;    /* on this stream */
    struct text_key first_op, last_op;
    uint64_t last_call; /* correlation id of the last kernel */
    bool has_last_call;
    const struct module_calls *calls; /* NULL: not asked */
    const uint32_t *call_modules;     /* numbers there of the modules here */
    size_t module_count;              /* of those; in a file that is written meanwhile there may be more by now */
    uint64_t damaged_count, doubtful_count, unclear_count;
};

static struct text_key key_of(const struct trace_event *event, enum trace_stat stat)
{
    if (!trace_line_has(event, stat))
        return (struct text_key){KEY_ABSENT, 0};
    if (event->type[stat] == TRACE_REF)
        return (struct text_key){KEY_REF, event->value[stat]};
    if (event->type[stat] != TRACE_TEXT || event->text[stat].length == 0)
        return (struct text_key){KEY_ABSENT, 0};
    return (struct text_key){KEY_TEXT, hash_bytes(event->text[stat].data, event->text[stat].length, 0)};
}

static bool is_same(struct text_key a, struct text_key b) { return a.kind == b.kind && a.value == b.value; }

static uint32_t module_of(struct kernel_launches_reading *reading, const struct trace_event *event,
                          struct text_key name)
{
    bool has_program = trace_line_has(event, TRACE_STAT_PROGRAM_ID);
    uint64_t key[4] = {name.kind, name.value, (uint64_t)trace_line_number(event, TRACE_STAT_PROGRAM_ID, 0),
                       has_program};
    uint32_t number = table_number(&reading->modules, key);
    if (number == reading->texts.count) {
        struct str *text = chunks_add(&reading->texts);
        *text = (struct str){"", 0};
        if (name.kind == KEY_TEXT) {
            struct str told = event->text[TRACE_STAT_HLO_MODULE];
            *text = (struct str){arena_text(reading->arena, told), told.length};
        }
    }
    return number;
}

/* Does the kernel, of the module that the stream is running, begin another launch of it? */
static bool is_next(struct kernel_launches_reading *reading, const struct trace_event *event, uint32_t module,
                    struct text_key op)
{
    bool has_call = trace_line_has(event, TRACE_STAT_CORRELATION_ID);
    uint64_t call = (uint64_t)trace_line_number(event, TRACE_STAT_CORRELATION_ID, 0);
    if (!is_same(op, reading->first_op)) /* no launch begins with it */
        return false;
    if (has_call && reading->has_last_call && call == reading->last_call) /* a graph of kernels */
        return false;
    reading->doubtful_count++;
    if (reading->calls != NULL && module < reading->module_count && has_call && reading->has_last_call) {
        enum module_calls_answer answer =
            module_calls_compare(reading->calls, reading->call_modules[module], reading->last_call, call);
        if (answer != MODULE_CALLS_UNKNOWN)
            return answer == MODULE_CALLS_TWO_RUNS;
    }
    bool is_again = !is_same(op, reading->last_op);
    reading->unclear_count += !is_again;
    return is_again;
}

static void kernel_launches_take(void *context, const struct trace_event *event)
{
    struct kernel_launches_reading *reading = context;
    struct text_key name = key_of(event, TRACE_STAT_HLO_MODULE), op = key_of(event, TRACE_STAT_HLO_OP);
    int64_t begin_ps, end_ps;
    if (name.kind == KEY_ABSENT || event->is_aggregated)
        return;
    if (!module_launches_span(event, reading->timestamp_ns, reading->origin_ns, &begin_ps, &end_ps)) {
        reading->damaged_count++;
        return;
    }
    uint32_t module = module_of(reading, event, name);
    struct span *open = reading->open;
    if (open != NULL && open->module == module && !is_next(reading, event, module, op)) {
        open->begin_ps = begin_ps < open->begin_ps ? begin_ps : open->begin_ps;
        open->end_ps = end_ps > open->end_ps ? end_ps : open->end_ps;
    } else {
        reading->open = chunks_add(&reading->spans);
        *reading->open = (struct span){begin_ps, end_ps, event->offset_ps, module};
        reading->first_op = op;
    }
    reading->last_op = op;
    reading->has_last_call = trace_line_has(event, TRACE_STAT_CORRELATION_ID);
    reading->last_call = (uint64_t)trace_line_number(event, TRACE_STAT_CORRELATION_ID, 0);
}

static int by_module_and_begin(const void *left, const void *right)
{
    const struct span *a = left, *b = right;
    return ORDER(a->module, b->module) ?: ORDER(a->begin_ps, b->begin_ps) ?: ORDER(a->end_ps, b->end_ps);
}

/* The spans of all streams as launches; names: numbers of those of the modules. */
static void spans_join(struct kernel_launches_reading *reading, struct module_launches *launches, const uint32_t *names)
{
    size_t count = reading->spans.count;
    struct span *spans = chunks_copy(&reading->spans, reading->arena);
    qsort(spans, count, sizeof(*spans), by_module_and_begin);
    for (size_t i = 0, end; i < count; i = end) {
        struct span whole = spans[i];
        for (end = i + 1; end < count && spans[end].module == whole.module && spans[end].begin_ps < whole.end_ps; end++)
            whole.end_ps = spans[end].end_ps > whole.end_ps ? spans[end].end_ps : whole.end_ps;
        if (names[whole.module] == NAME_LOST) {
            launches->unnamed_count++;
            continue;
        }
        *(struct module_launch *)chunks_add(&launches->items) = (struct module_launch){
            whole.begin_ps, whole.end_ps, whole.offset_ps, launches->plane_count - 1, names[whole.module], true};
        launches->inferred_count++;
    }
}

static struct str module_name(struct kernel_launches_reading *reading, struct stream *stream, struct trace_plane *plane,
                              size_t module)
{
    const uint64_t *key = table_key(&reading->modules, module);
    struct str name = key[0] == KEY_REF ? trace_plane_stat_name(stream, plane, (int64_t)key[1], reading->arena)
                                        : CHUNKS_AT(&reading->texts, struct str, module);
    name.length = name.length > NAME_MAX ? NAME_MAX : name.length; /* very many launches may have it */
    return name;
}

/* "jit_step(15)" */
static struct str full_name(struct kernel_launches_reading *reading, struct str name, size_t module)
{
    const uint64_t *key = table_key(&reading->modules, module);
    if (key[3] == 0)
        return name;
    return str_of(arena_format(reading->arena, "%.*s(%llu)", (int)name.length, name.data, (unsigned long long)key[2]));
}

static void lines_read(struct kernel_launches_reading *reading, struct stream *stream, const struct trace_plane *plane)
{
    chunks_init(&reading->spans, reading->arena, sizeof(struct span));
    reading->damaged_count = reading->doubtful_count = reading->unclear_count = 0;
    for (size_t i = 0; i < plane->line_count; i++) {
        struct trace_line line;
        trace_line_head(stream, plane->lines[i], reading->arena, &line);
        reading->timestamp_ns = line.timestamp_ns;
        reading->open = NULL;
        trace_line_events(stream, plane->lines[i], plane, reading->arena, kernel_launches_take, reading, &line);
        reading->damaged_count += line.damaged_count;
    }
}

/* What the host tells, where kernels alone do not: then the device's lines are read a second time. */
static void host_ask(struct kernel_launches_reading *reading, struct stream *stream, struct trace_plane *plane,
                     struct kernel_host *host)
{
    if (reading->doubtful_count == 0 || host->plane == NULL)
        return;
    if (host->calls == NULL) {
        host->calls = arena_array(host->arena, struct module_calls, 1);
        module_calls_read(stream, host->plane, reading->origin_ns, host->arena, host->calls);
    }
    if (host->calls->call_count == 0)
        return;
    reading->module_count = table_count(&reading->modules);
    uint32_t *numbers = arena_array(reading->arena, uint32_t, reading->module_count + 1);
    for (size_t i = 0; i < reading->module_count; i++)
        numbers[i] = intern_find(&host->calls->modules, module_name(reading, stream, plane, i));
    reading->calls = host->calls;
    reading->call_modules = numbers;
    lines_read(reading, stream, plane);
}

static void kernels_read(struct stream *stream, struct trace_plane *plane, struct kernel_host *host,
                         struct arena *arena, struct kernel_launches_reading *reading, struct module_launches *launches)
{
    table_init(&reading->modules, reading->arena, 4);
    chunks_init(&reading->texts, reading->arena, sizeof(struct str));
    lines_read(reading, stream, plane);
    host_ask(reading, stream, plane, host);
    launches->damaged_count += reading->damaged_count;
    launches->unclear_count += reading->unclear_count;
    if (reading->spans.count == 0)
        return;
    size_t count = table_count(&reading->modules);
    uint32_t *names = arena_array(reading->arena, uint32_t, count + 1);
    for (size_t i = 0; i < count; i++) {
        struct str name = module_name(reading, stream, plane, i);
        names[i] = plane->is_cut && name.length == 0 ? NAME_LOST
                                                     : intern_number(&launches->names, full_name(reading, name, i));
    }
    module_launches_plane(launches, arena, plane->name);
    spans_join(reading, launches, names);
}

void kernel_launches_read(struct stream *stream, struct stream_scope scope, struct kernel_host *host, int64_t origin_ns,
                          struct arena *arena, struct module_launches *launches)
{
    struct trace_plane plane;
    size_t before = launches->items.count;
    module_launches_read(stream, scope, origin_ns, arena, launches);
    if (launches->items.count > before)
        return;
    struct kernel_launches_reading reading = {.arena = arena_child(arena), .origin_ns = origin_ns};
    trace_plane_read(stream, scope, reading.arena, &plane);
    if (plane.line_count > 0) {
        trace_plane_resolve(stream, reading.arena, &plane);
        kernels_read(stream, &plane, host, arena, &reading, launches);
    }
    arena_free(reading.arena);
}
