/* SPDX-License-Identifier: Apache-2.0
 * profile_fragmentation.c: the view "fragmentation": free memory, the largest free chunk
 * that the allocator's figures imply, and which request would not have fitted.
 *
 * BFC tells fragmentation = (free − largest free chunk) / free. Where the pool was
 * reserved whole (JAX's usual), free × (1 − fragmentation) is that chunk. */
#include "tool/memory_profile/profile_thin.h"

enum { WIDTH_MOST = 16384 };

struct figures {
    const struct tool_request *request;
    const struct profile_pool *pool;
    struct profile_window window;
    uint32_t largest; /* the event with the largest request; PROFILE_NONE */
};

/* MEMORY_UNKNOWN without both figures. */
static int64_t largest_free(const struct profile *profile, uint32_t event)
{
    int64_t free_bytes = profile_free_bytes(profile, event);
    if (free_bytes == MEMORY_UNKNOWN || (profile->flags[event] & MEMORY_HAS_FRAGMENTATION) == 0)
        return MEMORY_UNKNOWN;
    return free_bytes <= 0 ? 0 : (int64_t)((double)free_bytes * (1 - profile_fragmentation_of(profile, event)));
}

static int64_t request_of(const struct profile *profile, uint32_t event)
{
    return (profile->flags[event] & MEMORY_HAS_REQUESTED) != 0 ? profile->requested_bytes[event]
                                                               : profile->size_bytes[event];
}

static void largest_find(struct figures *figures)
{
    const struct profile *profile = figures->request->trace;
    figures->largest = PROFILE_NONE;
    for (uint32_t i = figures->pool->first; i < figures->pool->first + figures->pool->count; i++)
        if (!profile_is_free(profile, i) &&
            (figures->largest == PROFILE_NONE || request_of(profile, i) > request_of(profile, figures->largest)))
            figures->largest = i;
}

static bool fails(const struct figures *figures, uint32_t event)
{
    int64_t chunk = largest_free(figures->request->trace, event);
    return chunk != MEMORY_UNKNOWN && figures->largest != PROFILE_NONE &&
           request_of(figures->request->trace, figures->largest) > chunk;
}

static void columns_write(struct json *json, const struct figures *figures, const uint32_t *at, uint32_t count)
{
    static const char *const names[] = {
        "time_ps", "event", "free_bytes", "fragmentation", "largest_free_bytes", "failed_request_bytes"};
    const struct profile *profile = figures->request->trace;
    json_key(json, "columns");
    json_object_begin(json);
    for (int column = 0; column < 6; column++) {
        json_key(json, names[column]);
        json_array_begin(json);
        for (uint32_t i = 0; i < count; i++) {
            uint32_t event = figures->pool->first + at[i];
            int64_t value = column == 0                            ? profile->time_ps[event]
                            : column == 1                          ? (int64_t)at[i]
                            : column == 2                          ? profile_free_bytes(profile, event)
                            : column == 4                          ? largest_free(profile, event)
                            : column == 5 && fails(figures, event) ? request_of(profile, figures->largest)
                                                                   : MEMORY_UNKNOWN;
            if (column == 3 && (profile->flags[event] & MEMORY_HAS_FRAGMENTATION) != 0)
                json_double(json, profile_fragmentation_of(profile, event));
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
    const struct profile *profile = figures->request->trace;
    uint32_t worst = PROFILE_NONE;
    int64_t failing_ps = 0;
    for (uint32_t i = figures->window.first; i < figures->window.end; i++) {
        uint32_t event = figures->pool->first + i;
        int64_t chunk = largest_free(profile, event);
        if (chunk == MEMORY_UNKNOWN)
            continue;
        worst = worst == PROFILE_NONE || chunk < largest_free(profile, worst) ? event : worst;
        int64_t until_ps = i + 1 < figures->window.end ? profile->time_ps[event + 1] : figures->window.to_ps;
        failing_ps += fails(figures, event) ? until_ps - profile->time_ps[event] : 0;
    }
    json_key(json, "worst");
    if (worst == PROFILE_NONE) {
        json_null(json);
    } else {
        json_object_begin(json);
        json_key_int(json, "time_ps", profile->time_ps[worst]);
        json_key_uint(json, "event", worst - figures->pool->first);
        json_key_int(json, "free_bytes", profile_free_bytes(profile, worst));
        json_key(json, "fragmentation");
        json_double(json, profile_fragmentation_of(profile, worst));
        json_key_int(json, "largest_free_bytes", largest_free(profile, worst));
        json_object_end(json);
    }
    json_key_int(json, "failing_ps", failing_ps);
}

static void largest_write(struct json *json, const struct figures *figures)
{
    const struct profile *profile = figures->request->trace;
    json_key(json, "largest_request");
    if (figures->largest == PROFILE_NONE) {
        json_null(json);
        return;
    }
    json_object_begin(json);
    json_key_uint(json, "event", figures->largest - figures->pool->first);
    json_key_int(json, "time_ps", profile->time_ps[figures->largest]);
    json_key_int(json, "size_bytes", request_of(profile, figures->largest));
    profile_views_text(json, "op", profile_text(profile, profile->events.whats[profile->what[figures->largest]].op));
    json_object_end(json);
}

/* What a drawing of the curve keeps, and of each part of the time the moment with the smallest largest chunk:
 * that is rarely a moment with an extreme of what is in use. */
static uint32_t *thin(const struct figures *figures, uint32_t width, uint32_t *count)
{
    const struct profile *profile = figures->request->trace;
    const struct profile_window *window = &figures->window;
    struct arena *arena = figures->request->arena;
    uint32_t *drawn = profile_thin(figures->pool, window, width, arena, count), least_count = 0, merged_count = 0;
    if (*count == window->end - window->first)
        return drawn;
    uint32_t *least = arena_array(arena, uint32_t, (size_t)width + 1);
    uint32_t *merged = arena_array(arena, uint32_t, (size_t)*count + width + 1);
    double span = (double)window->to_ps - (double)window->from_ps;
    int64_t column_now = -1, smallest = 0;
    for (uint32_t i = window->first; i < window->end; i++) {
        uint32_t event = figures->pool->first + i;
        int64_t chunk = largest_free(profile, event);
        int64_t column = (int64_t)((double)(profile->time_ps[event] - window->from_ps) * width / (span + 1));
        if (chunk == MEMORY_UNKNOWN || (column == column_now && chunk >= smallest))
            continue;
        least_count += column > column_now && least_count < width;
        least[least_count - 1] = i;
        column_now = column;
        smallest = chunk;
    }
    for (uint32_t a = 0, b = 0; a < *count || b < least_count;) {
        uint32_t next = b == least_count || (a < *count && drawn[a] <= least[b]) ? drawn[a] : least[b];
        a += a < *count && drawn[a] == next;
        b += b < least_count && least[b] == next;
        merged[merged_count++] = next;
    }
    *count = merged_count;
    return merged;
}

bool profile_fragmentation(const struct tool_request *request, struct json *json, struct err *err)
{
    struct figures figures = {.request = request, .pool = profile_views_pool(request, err)};
    int64_t width;
    uint32_t count;
    if (figures.pool == NULL || !tool_param_number(request, "width", 1, WIDTH_MOST, 1024, &width, err) ||
        !profile_views_window(request, figures.pool, &figures.window, err))
        return false;
    bool has_figures = figures.pool->has_free && figures.pool->has_fragmentation;
    largest_find(&figures);
    uint32_t *at = thin(&figures, (uint32_t)width, &count);
    json_object_begin(json);
    profile_views_memory(json, figures.pool);
    json_key_int(json, "from_ps", figures.window.from_ps);
    json_key_int(json, "to_ps", figures.window.to_ps);
    json_key(json, "reason");
    profile_views_reason(
        json, has_figures ? NULL : "no_free_figures",
        "This allocator tells neither what is free nor how it is fragmented (the CPU allocator does not).");
    columns_write(json, &figures, at, has_figures ? count : 0);
    worst_write(json, &figures);
    largest_write(json, &figures);
    json_object_end(json);
    return true;
}
