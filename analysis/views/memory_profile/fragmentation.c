/* SPDX-License-Identifier: Apache-2.0
 * fragmentation.c: the view "fragmentation": free memory, the largest free chunk
 * that the allocator's figures imply, and which request would not have fitted. */
#include "model/memory_profile/waste.h"
#include "views/finding_write.h"
#include "views/memory_profile/sentences.h"
#include "views/memory_profile/thin.h"
#include "views/memory_profile/views.h"

enum { WIDTH_MAX = 16384 };

struct figures {
    const struct tool_request *request;
    const struct memory_profile_pool *pool;
    struct memory_profile_window window;
};

static void columns_write(struct json *json, const struct figures *figures, const uint32_t *at, uint32_t count)
{
    static const char *const names[] = {
        "time_ps", "event", "free_bytes", "fragmentation", "largest_free_bytes", "failed_request_bytes"};
    const struct memory_profile *profile = figures->request->model;
    json_key_object(json, "columns");
    for (int column = 0; column < 6; column++) {
        json_key_array(json, names[column]);
        for (uint32_t i = 0; i < count; i++) {
            uint32_t event = figures->pool->first + at[i];
            int64_t value = column == 0   ? profile->time_ps[event]
                            : column == 1 ? (int64_t)at[i]
                            : column == 2 ? memory_profile_free_bytes(profile, event)
                            : column == 4 ? memory_profile_waste_chunk(profile, event)
                            : column == 5 && memory_profile_waste_fails(figures->pool, event)
                                ? figures->pool->largest_request_bytes
                                : MEMORY_UNKNOWN;
            if (column == 3 && (profile->flags[event] & MEMORY_HAS_FRAGMENTATION) != 0)
                json_double(json, memory_profile_fragmentation_of(profile, event));
            else if (value == MEMORY_UNKNOWN)
                json_null(json);
            else
                json_int(json, value);
        }
        json_array_end(json);
    }
    json_object_end(json);
}

/* The moment of the window with the smallest largest chunk, and how long the largest request would have failed. */
static void worst_write(struct json *json, const struct figures *figures)
{
    const struct memory_profile *profile = figures->request->model;
    const struct memory_profile_window *window = &figures->window;
    struct memory_profile_waste_range range = {PROFILE_NONE, 0};
    if (window->end > window->first) {
        uint32_t last = figures->pool->first + window->end - 1;
        range = memory_profile_waste_of(figures->pool, window->first, window->end);
        range.failing_ps +=
            memory_profile_waste_fails(figures->pool, last) ? window->to_ps - profile->time_ps[last] : 0;
    }
    uint32_t worst = range.min_at == PROFILE_NONE ? PROFILE_NONE : figures->pool->first + range.min_at;
    json_key(json, "worst");
    if (worst == PROFILE_NONE) {
        json_null(json);
    } else {
        json_object_begin(json);
        json_key_int(json, "time_ps", profile->time_ps[worst]);
        json_key_uint(json, "event", worst - figures->pool->first);
        json_key_int(json, "free_bytes", memory_profile_free_bytes(profile, worst));
        json_key_double(json, "fragmentation", memory_profile_fragmentation_of(profile, worst));
        json_key_int(json, "largest_free_bytes", memory_profile_waste_chunk(profile, worst));
        json_object_end(json);
    }
    json_key_int(json, "failing_ps", range.failing_ps);
    finding_write_sentences(
        json, "said",
        memory_profile_sentences_fragmentation(figures->pool, worst, range.failing_ps, figures->request->arena));
}

static void largest_write(struct json *json, const struct figures *figures)
{
    const struct memory_profile *profile = figures->request->model;
    json_key(json, "largest_request");
    if (figures->pool->largest_request == PROFILE_NONE) {
        json_null(json);
        return;
    }
    json_object_begin(json);
    json_key_uint(json, "event", figures->pool->largest_request - figures->pool->first);
    json_key_int(json, "time_ps", profile->time_ps[figures->pool->largest_request]);
    json_key_int(json, "size_bytes", figures->pool->largest_request_bytes);
    memory_profile_views_text(
        json, "op",
        memory_profile_text(profile, profile->events.whats[profile->what[figures->pool->largest_request]].op));
    json_object_end(json);
}

/* What a drawing of the curve keeps, and of each part of the time the moment with the smallest largest chunk:
 * that is rarely a moment with an extreme of what is in use. */
static uint32_t *thin(const struct figures *figures, uint32_t width, uint32_t *count)
{
    const struct memory_profile_window *window = &figures->window;
    struct arena *arena = figures->request->arena;
    uint32_t *drawn = memory_profile_thin(figures->pool, window, width, arena, count), min_count = 0, merged_count = 0;
    if (*count == window->end - window->first)
        return drawn;
    uint32_t *min = arena_array(arena, uint32_t, (size_t)width + 1);
    uint32_t *merged = arena_array(arena, uint32_t, (size_t)*count + width + 1);
    double span = (double)window->to_ps - (double)window->from_ps;
    for (uint32_t column = 0, first = window->first; column < width && first < window->end; column++) {
        int64_t to_ps = window->from_ps + (int64_t)(span * (column + 1) / width);
        uint32_t end = column + 1 == width ? window->end : memory_profile_after(figures->pool, to_ps);
        end = end < window->end ? end : window->end;
        if (end <= first)
            continue;
        uint32_t at = memory_profile_waste_of(figures->pool, first, end).min_at;
        if (at != PROFILE_NONE)
            min[min_count++] = at;
        first = end;
    }
    for (uint32_t a = 0, b = 0; a < *count || b < min_count;) {
        uint32_t next = b == min_count || (a < *count && drawn[a] <= min[b]) ? drawn[a] : min[b];
        a += a < *count && drawn[a] == next;
        b += b < min_count && min[b] == next;
        merged[merged_count++] = next;
    }
    *count = merged_count;
    return merged;
}

bool memory_profile_fragmentation(const struct tool_request *request, struct json *json, struct err *err)
{
    struct figures figures = {.request = request, .pool = memory_profile_views_pool(request, err)};
    int64_t width;
    uint32_t count;
    if (figures.pool == NULL || !tool_param_number(request, "width", 1, WIDTH_MAX, 1024, &width, err) ||
        !memory_profile_views_window(request, figures.pool, &figures.window, err))
        return false;
    bool has_figures = figures.pool->has_free && figures.pool->has_fragmentation;
    uint32_t *at = thin(&figures, (uint32_t)width, &count);
    json_object_begin(json);
    memory_profile_views_memory(json, figures.pool);
    json_key_int(json, "from_ps", figures.window.from_ps);
    json_key_int(json, "to_ps", figures.window.to_ps);
    json_key(json, "reason");
    memory_profile_views_reason(
        json, has_figures ? NULL : "no_free_figures",
        "This allocator does not record free memory or fragmentation (the CPU allocator never does).");
    columns_write(json, &figures, at, has_figures ? count : 0);
    worst_write(json, &figures);
    largest_write(json, &figures);
    json_object_end(json);
    return true;
}
