/* SPDX-License-Identifier: Apache-2.0
 * timeline.c: the view "timeline": stack, heap, free and fragmentation over
 * time, thinned to the asked width. A value holds from its event to the next. */
#include "model/memory_profile/failures.h"
#include "views/memory_profile/blocks.h"
#include "views/memory_profile/thin.h"
#include "views/memory_profile/views.h"

enum { WIDTH_MAX = 16384, FAILURES_DRAWN = 256, BLOCKS_MAX = 2048 };

struct timeline_drawing {
    const struct tool_request *request;
    const struct memory_profile_pool *pool;
    struct memory_profile_window window;
    uint32_t *at; /* events, counted from the pool's first */
    uint32_t count;
};

static void column_begin(struct json *json, const char *name) { json_key_array(json, name); }

static void timeline_known(struct json *json, int64_t value, bool is_known)
{
    if (is_known)
        json_int(json, value);
    else
        json_null(json);
}

static void fragmentation_column(struct json *json, const struct timeline_drawing *drawing)
{
    const struct memory_profile *profile = drawing->request->model;
    column_begin(json, "fragmentation");
    for (uint32_t i = 0; i < drawing->count; i++) {
        uint32_t event = drawing->pool->first + drawing->at[i];
        if ((profile->flags[event] & MEMORY_HAS_FRAGMENTATION) != 0)
            json_double(json, memory_profile_fragmentation_of(profile, event));
        else
            json_null(json);
    }
    json_array_end(json);
}

/* The largest fragmentation from each drawn event up to the next: events that are not drawn count too. Nothing if all
 * are drawn. */
static void largest_fragmentation_column(struct json *json, const struct timeline_drawing *drawing)
{
    const struct memory_profile_pool *pool = drawing->pool;
    if (!pool->has_fragmentation || drawing->count == drawing->window.end - drawing->window.first)
        return;
    column_begin(json, "largest_fragmentation");
    for (uint32_t i = 0; i < drawing->count; i++) {
        uint32_t min_at, max_at, end = i + 1 < drawing->count ? drawing->at[i + 1] : drawing->window.end;
        extremes_of(&pool->fragmentation, drawing->at[i], end, &min_at, &max_at);
        if ((pool->profile->flags[pool->first + max_at] & MEMORY_HAS_FRAGMENTATION) != 0)
            json_double(json, memory_profile_fragmentation_of(pool->profile, pool->first + max_at));
        else
            json_null(json);
    }
    json_array_end(json);
}

static void columns_write(struct json *json, const struct timeline_drawing *drawing)
{
    const struct memory_profile *profile = drawing->request->model;
    uint32_t first = drawing->pool->first;
    json_key_object(json, "columns");
    column_begin(json, "time_ps");
    for (uint32_t i = 0; i < drawing->count; i++)
        json_int(json, profile->time_ps[first + drawing->at[i]]);
    json_array_end(json);
    column_begin(json, "event");
    for (uint32_t i = 0; i < drawing->count; i++)
        json_uint(json, drawing->at[i]);
    json_array_end(json);
    column_begin(json, "stack_bytes");
    for (uint32_t i = 0; i < drawing->count; i++)
        json_int(json, memory_profile_stack_bytes(profile, first + drawing->at[i]));
    json_array_end(json);
    column_begin(json, "heap_bytes");
    for (uint32_t i = 0; i < drawing->count; i++)
        json_int(json, profile->heap_bytes[first + drawing->at[i]]);
    json_array_end(json);
    column_begin(json, "free_bytes");
    for (uint32_t i = 0; i < drawing->count; i++) {
        int64_t free_bytes = memory_profile_free_bytes(profile, first + drawing->at[i]);
        timeline_known(json, free_bytes, free_bytes != MEMORY_UNKNOWN);
    }
    json_array_end(json);
    fragmentation_column(json, drawing);
    largest_fragmentation_column(json, drawing);
    column_begin(json, "step");
    for (uint32_t i = 0; i < drawing->count; i++)
        timeline_known(json, profile->step[first + drawing->at[i]], profile->step[first + drawing->at[i]] >= 0);
    json_array_end(json);
    json_object_end(json);
}

/* ---- details ---- */

/* The allocation that a free ends: it tells what was freed, where the free does not. The event itself otherwise. */
static uint32_t told_by(const struct memory_profile *profile, uint32_t event)
{
    bool is_known = memory_profile_is_free(profile, event) && profile->partner[event] != PROFILE_NONE;
    return is_known ? profile->partner[event] : event;
}

static void index_column(struct json *json, const struct timeline_drawing *drawing, const char *name,
                         struct table *texts,
                         struct str (*text_of)(const struct memory_profile *, const struct memory_what *))
{
    const struct memory_profile *profile = drawing->request->model;
    column_begin(json, name);
    for (uint32_t i = 0; i < drawing->count; i++) {
        uint32_t event = drawing->pool->first + drawing->at[i];
        struct str text = text_of(profile, &profile->events.whats[profile->what[event]]);
        if (text.length == 0)
            text = text_of(profile, &profile->events.whats[profile->what[told_by(profile, event)]]);
        uint64_t key[2] = {(uint64_t)(uintptr_t)text.data, text.length};
        json_int(json, text.length == 0 ? -1 : (int64_t)table_number(texts, key));
    }
    json_array_end(json);
}

static struct str op_of(const struct memory_profile *profile, const struct memory_what *what)
{
    return memory_profile_text(profile, what->op);
}

static struct str region_of(const struct memory_profile *profile, const struct memory_what *what)
{
    return memory_profile_text(profile, what->region);
}

static struct str shape_of(const struct memory_profile *profile, const struct memory_what *what)
{
    return memory_profile_text(profile, what->shape);
}

static void details_write(struct json *json, const struct timeline_drawing *drawing)
{
    const struct memory_profile *profile = drawing->request->model;
    uint32_t first = drawing->pool->first;
    struct table texts;
    table_init(&texts, drawing->request->arena, 2);
    json_key_object(json, "details");
    column_begin(json, "activity");
    for (uint32_t i = 0; i < drawing->count; i++)
        json_text(json, memory_profile_is_free(profile, first + drawing->at[i]) ? "deallocation" : "allocation");
    json_array_end(json);
    column_begin(json, "size_bytes");
    for (uint32_t i = 0; i < drawing->count; i++)
        timeline_known(json, profile->size_bytes[first + drawing->at[i]],
                       memory_profile_has_size(profile, first + drawing->at[i]));
    json_array_end(json);
    column_begin(json, "requested_bytes");
    for (uint32_t i = 0; i < drawing->count; i++) {
        uint32_t event = first + drawing->at[i];
        event = (profile->flags[event] & MEMORY_HAS_REQUESTED) != 0 ? event : told_by(profile, event);
        timeline_known(json, memory_profile_requested_bytes(profile, event),
                       (profile->flags[event] & MEMORY_HAS_REQUESTED) != 0);
    }
    json_array_end(json);
    column_begin(json, "address");
    for (uint32_t i = 0; i < drawing->count; i++)
        memory_profile_views_address(json, NULL, profile->address[first + drawing->at[i]],
                                     (profile->flags[first + drawing->at[i]] & MEMORY_HAS_ADDRESS) != 0);
    json_array_end(json);
    index_column(json, drawing, "op", &texts, op_of);
    index_column(json, drawing, "region", &texts, region_of);
    index_column(json, drawing, "dtype", &texts, memory_profile_what_data_type);
    index_column(json, drawing, "shape", &texts, shape_of);
    index_column(json, drawing, "program", &texts, memory_profile_what_program);
    index_column(json, drawing, "role", &texts, memory_profile_what_role);
    index_column(json, drawing, "category", &texts, memory_profile_what_category);
    index_column(json, drawing, "confidence", &texts, memory_profile_what_confidence);
    column_begin(json, "texts");
    for (size_t i = 0; i < table_count(&texts); i++) {
        const uint64_t *key = table_key(&texts, i);
        json_string(json, (struct str){(const char *)(uintptr_t)key[0], (size_t)key[1]});
    }
    json_array_end(json);
    json_object_end(json);
}

/* ---- the answer ---- */

/* The largest level in the window: after one of its events, or the one that holds at its start. */
static void window_peak_write(struct json *json, const struct timeline_drawing *drawing)
{
    const struct memory_profile_pool *pool = drawing->pool;
    const struct memory_profile_window *window = &drawing->window;
    uint32_t min_at, max_at = PROFILE_NONE;
    if (window->end > window->first)
        extremes_of(&pool->extremes, window->first, window->end, &min_at, &max_at);
    json_key(json, "window_peak");
    if (max_at != PROFILE_NONE && memory_profile_in_use_bytes(pool->profile, pool->first + max_at) >=
                                      memory_profile_in_use_after(pool, window->first))
        memory_profile_views_point(json, pool, max_at);
    else
        memory_profile_views_level(json, pool, window->first, window->from_ps);
}

static void peaks_write(struct json *json, const struct timeline_drawing *drawing)
{
    const struct memory_profile_pool *pool = drawing->pool;
    window_peak_write(json, drawing);
    json_key(json, "peak");
    memory_profile_views_point(json, pool, pool->peak_at - pool->first);
    json_key_array(json, "local_peaks");
    for (uint32_t i = 0; i < pool->peak_count; i++)
        memory_profile_views_point(json, pool, pool->peaks[i] - pool->first);
    json_array_end(json);
}

static void before_write(struct json *json, const struct timeline_drawing *drawing)
{
    uint32_t count = drawing->window.first;
    json_key(json, "before");
    if (count > 0) {
        memory_profile_views_point(json, drawing->pool, count - 1);
        return;
    }
    memory_profile_views_level(json, drawing->pool, 0, drawing->window.from_ps);
}

/* Requests that failed in the window: the latest ones, where there are more than can be drawn. */
static void failures_write(struct json *json, const struct timeline_drawing *drawing)
{
    const struct memory_profile_pool *pool = drawing->pool;
    uint32_t from = 0, to = pool->failure_count;
    while (from < to && pool->failures[from].time_ps < drawing->window.from_ps)
        from++;
    while (to > from && pool->failures[to - 1].time_ps > drawing->window.to_ps)
        to--;
    memory_profile_views_failures(json, pool, to - from > FAILURES_DRAWN ? to - FAILURES_DRAWN : from, to);
}

bool memory_profile_timeline(const struct tool_request *request, struct json *json, struct err *err)
{
    const struct memory_profile *profile = request->model;
    struct timeline_drawing drawing = {.request = request, .pool = memory_profile_views_pool(request, err)};
    int64_t width, details, blocks;
    const char *stack;
    if (drawing.pool == NULL || !tool_param_number(request, "width", 1, WIDTH_MAX, 1024, &width, err) ||
        !tool_param_number(request, "details", 0, 1, 0, &details, err) ||
        !tool_param_number(request, "blocks", 0, BLOCKS_MAX, 0, &blocks, err) ||
        !memory_profile_stacked_read(request, &stack, err) ||
        !memory_profile_views_window(request, drawing.pool, &drawing.window, err))
        return false;
    drawing.at = memory_profile_thin(drawing.pool, &drawing.window, (uint32_t)width, request->arena, &drawing.count);
    json_object_begin(json);
    memory_profile_views_memory(json, drawing.pool);
    json_key_int(json, "from_ps", drawing.window.from_ps);
    json_key_int(json, "to_ps", drawing.window.to_ps);
    json_key_int(json, "start_ps", profile->start_ps);
    json_key_int(json, "end_ps", profile->end_ps);
    json_key_uint(json, "event_count", drawing.window.end - drawing.window.first);
    json_key_bool(json, "is_thinned", drawing.count < drawing.window.end - drawing.window.first);
    json_key_bool(json, "has_free", drawing.pool->has_free);
    json_key_bool(json, "has_fragmentation", drawing.pool->has_fragmentation);
    memory_profile_views_bytes(json, "capacity_bytes", drawing.pool->capacity_bytes);
    before_write(json, &drawing);
    failures_write(json, &drawing);
    columns_write(json, &drawing);
    if (details != 0)
        details_write(json, &drawing);
    const struct memory_profile_drawn drawn = {drawing.pool, &drawing.window, drawing.at, drawing.count};
    const struct memory_profile_bands bands = memory_profile_stacked_write(request, &drawn, stack, json);
    memory_profile_blocks_write(request, &drawn, &bands, (uint32_t)blocks, json);
    peaks_write(json, &drawing);
    json_object_end(json);
    return true;
}
