/* SPDX-License-Identifier: Apache-2.0
 * lanes.c: the view "lanes": steps and launches of modules below the curve,
 * neighbours that are narrower than a pixel joined. */
#include "views/memory_profile/views.h"

#include <stdlib.h>

enum { WIDTH_MAX = 16384 };

struct window {
    int64_t from_ps, to_ps, pixel_ps;
};

/* A bar, or several neighbours that are each narrower than a pixel. */
struct bar {
    int64_t begin_ps, end_ps, longest_ps;
    uint64_t at; /* the longest */
    uint32_t merged_count;
};

struct bars {
    const struct window *window;
    struct bar *items;
    size_t count;
};

static void bar_add(struct bars *bars, uint64_t at, int64_t begin_ps, int64_t end_ps)
{
    if (end_ps < bars->window->from_ps || begin_ps > bars->window->to_ps)
        return;
    struct bar *last = bars->count > 0 ? &bars->items[bars->count - 1] : NULL;
    int64_t length_ps = end_ps - begin_ps, pixel_ps = bars->window->pixel_ps;
    if (last != NULL && length_ps < pixel_ps && last->longest_ps < pixel_ps && begin_ps - last->begin_ps < pixel_ps) {
        last->end_ps = end_ps > last->end_ps ? end_ps : last->end_ps;
        last->at = length_ps > last->longest_ps ? at : last->at;
        last->longest_ps = length_ps > last->longest_ps ? length_ps : last->longest_ps;
        last->merged_count++;
        return;
    }
    bars->items[bars->count++] = (struct bar){begin_ps, end_ps, length_ps, at, 1};
}

static void span_write(struct json *json, const struct bar *bar)
{
    json_key_int(json, "start_ps", bar->begin_ps);
    json_key_int(json, "end_ps", bar->end_ps);
    json_key_uint(json, "merged_count", bar->merged_count);
}

static void steps_write(struct json *json, const struct memory_profile *profile, const struct window *window,
                        struct arena *arena)
{
    struct bars bars = {window, arena_array(arena, struct bar, (size_t)profile->step_count + 1), 0};
    for (uint32_t i = 0; i < profile->step_count; i++)
        bar_add(&bars, i, profile->steps[i].begin_ps, profile->steps[i].end_ps);
    json_key_array(json, "steps");
    for (size_t i = 0; i < bars.count; i++) {
        const struct trace_step *step = &profile->steps[bars.items[i].at];
        json_object_begin(json);
        json_key_int(json, "step", step->number);
        memory_profile_views_text(json, "name", profile->step_names[bars.items[i].at]);
        json_key_known(json, "step_num", step->step_number);
        span_write(json, &bars.items[i]);
        json_object_end(json);
    }
    json_array_end(json);
}

struct sorted {
    uint32_t rank, plane; /* rank: of the plane by its name */
    int64_t begin_ps;
    size_t at;
};

static int by_begin(const void *left, const void *right)
{
    const struct sorted *a = left, *b = right;
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    if (a->begin_ps != b->begin_ps)
        return a->begin_ps < b->begin_ps ? -1 : 1;
    return (a->at > b->at) - (a->at < b->at);
}

struct plane_name {
    struct str name;
    uint32_t plane;
};

static int by_name(const void *left, const void *right)
{
    const struct plane_name *a = left, *b = right;
    int order = str_compare_natural(a->name, b->name);
    return order != 0 ? order : (a->plane > b->plane) - (a->plane < b->plane);
}

/* The place of each plane in the order of their names. */
static uint32_t *ranks_of(const struct module_launches *launches, struct arena *arena)
{
    struct plane_name *names = arena_array(arena, struct plane_name, launches->plane_count + 1);
    uint32_t *ranks = arena_array(arena, uint32_t, launches->plane_count + 1);
    for (uint32_t i = 0; i < launches->plane_count; i++)
        names[i] = (struct plane_name){launches->planes[i], i};
    qsort(names, launches->plane_count, sizeof(*names), by_name);
    for (uint32_t i = 0; i < launches->plane_count; i++)
        ranks[names[i].plane] = i;
    return ranks;
}

/* "jit_step(1915)": the digits in the brackets at the end. */
static struct str program_id_of(struct str name)
{
    size_t open = name.length;
    if (name.length < 3 || name.data[name.length - 1] != ')')
        return (struct str){"", 0};
    for (open--; open > 0 && name.data[open - 1] >= '0' && name.data[open - 1] <= '9';)
        open--;
    if (open == 0 || name.data[open - 1] != '(' || open == name.length - 1)
        return (struct str){"", 0};
    return (struct str){name.data + open, name.length - 1 - open};
}

static void launch_write(struct json *json, const struct module_launches *launches, const struct bar *bar)
{
    const struct module_launch *launch = chunks_at(&launches->items, bar->at);
    struct str key = launches->names.items[launch->name_at], id = program_id_of(key), name = key;
    if (id.length > 0)
        name.length -= id.length + 2;
    json_object_begin(json);
    json_key_string(json, "name", name);
    memory_profile_views_text(json, "key", id.length > 0 ? key : (struct str){"", 0});
    memory_profile_views_text(json, "program_id", id);
    span_write(json, bar);
    json_object_end(json);
}

static void lane_write(struct json *json, const struct module_launches *launches, const struct sorted *sorted,
                       size_t count, const struct window *window, struct arena *arena)
{
    static const char prefix[] = "/device:";
    struct bars bars = {window, arena_array(arena, struct bar, count + 1), 0};
    struct str plane = launches->planes[sorted[0].plane], name = plane;
    if (str_starts(plane, STR(prefix)))
        name = (struct str){plane.data + sizeof(prefix) - 1, plane.length - (sizeof(prefix) - 1)};
    for (size_t i = 0; i < count; i++) {
        const struct module_launch *launch = chunks_at(&launches->items, sorted[i].at);
        bar_add(&bars, sorted[i].at, launch->begin_ps, launch->end_ps);
    }
    json_object_begin(json);
    json_key_string(json, "name", name);
    json_key_string(json, "plane", plane);
    bool is_inferred = ((const struct module_launch *)chunks_at(&launches->items, sorted[0].at))->is_inferred;
    json_key_text(json, "line", is_inferred ? NULL : "XLA Modules");
    json_key_bool(json, "is_inferred", is_inferred);
    json_key_uint(json, "launch_count", count);
    json_key_array(json, "launches");
    for (size_t i = 0; i < bars.count; i++)
        launch_write(json, launches, &bars.items[i]);
    json_array_end(json);
    json_object_end(json);
}

static void lanes_write(struct json *json, const struct module_launches *launches, const struct window *window,
                        struct arena *arena)
{
    size_t count = launches->items.count;
    struct sorted *sorted = arena_array(arena, struct sorted, count + 1);
    const uint32_t *ranks = ranks_of(launches, arena);
    for (size_t i = 0; i < count; i++) {
        const struct module_launch *launch = chunks_at(&launches->items, i);
        sorted[i] = (struct sorted){ranks[launch->plane_at], launch->plane_at, launch->begin_ps, i};
    }
    qsort(sorted, count, sizeof(*sorted), by_begin);
    json_key_array(json, "lanes");
    for (size_t i = 0, end; i < count; i = end) {
        for (end = i; end < count && sorted[end].plane == sorted[i].plane;)
            end++;
        lane_write(json, launches, sorted + i, end - i, window, arena);
    }
    json_array_end(json);
}

/* From the first to the last of whatever the trace has: events, steps, launches. */
static void extent(const struct memory_profile *profile, int64_t *start_ps, int64_t *end_ps)
{
    bool is_empty = profile->count == 0;
    *start_ps = is_empty ? INT64_MAX : profile->start_ps;
    *end_ps = is_empty ? INT64_MIN : profile->end_ps;
    for (uint32_t i = 0; i < profile->step_count; i++) {
        *start_ps = profile->steps[i].begin_ps < *start_ps ? profile->steps[i].begin_ps : *start_ps;
        *end_ps = profile->steps[i].end_ps > *end_ps ? profile->steps[i].end_ps : *end_ps;
    }
    for (size_t i = 0; i < profile->events.launches.items.count; i++) {
        const struct module_launch *launch = chunks_at(&profile->events.launches.items, i);
        *start_ps = launch->begin_ps < *start_ps ? launch->begin_ps : *start_ps;
        *end_ps = launch->end_ps > *end_ps ? launch->end_ps : *end_ps;
    }
    if (*start_ps > *end_ps)
        *start_ps = *end_ps = 0;
}

bool memory_profile_lanes(const struct tool_request *request, struct json *json, struct err *err)
{
    const struct memory_profile *profile = request->model;
    int64_t width, start_ps, end_ps;
    struct window window;
    extent(profile, &start_ps, &end_ps);
    if (!tool_param_number(request, "width", 1, WIDTH_MAX, 1024, &width, err) ||
        !tool_param_number(request, "from", -(INT64_C(1) << 61), INT64_C(1) << 61, start_ps, &window.from_ps, err) ||
        !tool_param_number(request, "to", -(INT64_C(1) << 61), INT64_C(1) << 61, end_ps, &window.to_ps, err))
        return false;
    window.pixel_ps = window.to_ps > window.from_ps ? (window.to_ps - window.from_ps) / width : 0;
    memory_profile_views_notes(request, NULL);
    json_object_begin(json);
    json_key_int(json, "from_ps", window.from_ps);
    json_key_int(json, "to_ps", window.to_ps);
    json_key_int(json, "start_ps", start_ps);
    json_key_int(json, "end_ps", end_ps);
    json_key_uint(json, "step_count", profile->step_count);
    json_key_uint(json, "launch_count", profile->events.launches.items.count);
    steps_write(json, profile, &window, request->arena);
    lanes_write(json, &profile->events.launches, &window, request->arena);
    json_object_end(json);
    return true;
}
