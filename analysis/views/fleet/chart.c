/* SPDX-License-Identifier: Apache-2.0
 * chart.c: the view "chart": jobs, or all series, as lines over time. */
#include "base/nearest.h"
#include "base/sort.h"
#include "views/fleet/views.h"

enum { LINES_DEFAULT = 12, LINES_MAX = 100 };

struct chart {
    const struct fleet *fleet;
    bool is_of_jobs, has_categories;
    int64_t line_max;
    uint32_t *lines; /* series, those that need most first */
    uint32_t count;
};

static int largest_first(const void *left, const void *right, void *context)
{
    const struct fleet *fleet = context;
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    int64_t a_bytes = fleet->points[fleet_last_point(fleet, a)].max_bytes;
    int64_t b_bytes = fleet->points[fleet_last_point(fleet, b)].max_bytes;
    return ORDER(b_bytes, a_bytes) ?: ORDER(a, b);
}

static void lines_choose(struct chart *chart, struct arena *arena)
{
    const struct fleet *fleet = chart->fleet;
    chart->lines = arena_array(arena, uint32_t, (size_t)fleet->series_count + 1);
    for (uint32_t i = 0; i < fleet->series_count; i++)
        if (!chart->is_of_jobs || fleet->series[i].is_line)
            chart->lines[chart->count++] = i;
    arena_work(arena, (uint64_t)chart->count * 8);
    sort_items(chart->lines, chart->count, sizeof(*chart->lines), largest_first, (void *)fleet);
}

static void column_write(const struct chart *chart, const struct fleet_series *series, const char *key,
                         struct json *json,
                         int64_t (*value)(const struct fleet *fleet, const struct fleet_point *point))
{
    json_key_array(json, key);
    for (uint32_t i = 0; i < series->point_count; i++) {
        int64_t number = value(chart->fleet, &chart->fleet->points[series->first_point + i]);
        if (number >= 0)
            json_int(json, number);
        else
            json_null(json);
    }
    json_array_end(json);
}

#define POINT_VALUE(name, expression)                                                                                  \
    static int64_t name(const struct fleet *fleet, const struct fleet_point *point)                                    \
    {                                                                                                                  \
        (void)fleet;                                                                                                   \
        return expression;                                                                                             \
    }
POINT_VALUE(time_of, point->first_at_ms)
POINT_VALUE(needed_of, point->max_bytes)
POINT_VALUE(peak_of, point->peak_bytes)
POINT_VALUE(capacity_of, fleet->records[point->record].capacity_bytes)
POINT_VALUE(over_of, fleet_over_bytes(fleet, point))
POINT_VALUE(hosts_of, point->host_count > 0 ? point->host_count : -1)

static void commits_write(const struct chart *chart, const struct fleet_series *series, struct json *json)
{
    json_key_array(json, "commits");
    for (uint32_t i = 0; i < series->point_count; i++)
        json_text(json, fleet_record_of(chart->fleet, series->first_point + i)->commit);
    json_array_end(json);
    json_key_array(json, "references");
    for (uint32_t i = 0; i < series->point_count; i++)
        json_text(json, fleet_record_of(chart->fleet, series->first_point + i)->reference);
    json_array_end(json);
}

static void steps_write(const struct chart *chart, const struct fleet_series *series,
                        const struct tool_request *request, struct json *json)
{
    json_key_array(json, "steps");
    for (uint32_t i = series->first_step; i < series->first_step + series->step_count; i++) {
        const struct fleet_step *step = &chart->fleet->steps[i];
        json_object_begin(json);
        json_key_uint(json, "point", step->point - series->first_point);
        json_key_int(json, "change_bytes", fleet_step_change(step));
        json_key_bool(json, "is_lasting", step->level.is_lasting);
        json_key_text(json, "sentence", fleet_step_sentence(chart->fleet, step, request->arena, request->scratch));
        json_key_text(json, "diff_sentence", step->diff_sentence);
        json_object_end(json);
    }
    json_array_end(json);
}

static void categories_write(const struct chart *chart, const struct fleet_series *series, struct json *json)
{
    const struct fleet *fleet = chart->fleet;
    json_key_array(json, "categories");
    for (uint32_t at = 0; chart->has_categories && at < fleet->category_count; at++) {
        json_object_begin(json);
        json_key_text(json, "category", fleet->category_names[at]);
        json_key_array(json, "bytes");
        for (uint32_t i = 0; i < series->point_count; i++) {
            const int64_t *bytes = fleet_record_of(fleet, series->first_point + i)->category_bytes;
            if (bytes != NULL && bytes[at] >= 0)
                json_int(json, bytes[at]);
            else
                json_null(json);
        }
        json_array_end(json);
        json_object_end(json);
    }
    json_array_end(json);
}

static void line_write(const struct chart *chart, uint32_t at, const struct tool_request *request, struct json *json)
{
    const struct fleet_series *series = &chart->fleet->series[at];
    const struct fleet_record *record = fleet_record_of(chart->fleet, fleet_last_point(chart->fleet, at));
    json_object_begin(json);
    json_key_text(json, "job", record->job);
    json_key_text(json, "module", record->module);
    json_key_text(json, "kind", record->kind);
    json_key_text(json, "memory_space", record->memory_space);
    json_key_text(json, "configuration", record->configuration);
    json_key_text(json, "host", fleet_host_of(chart->fleet, at));
    json_key_text(json, "measure", series->is_of_peaks ? "peak" : "needed");
    json_key_text(json, "trend", capacity_trend_kind_name(series->trend.kind));
    json_key_text(json, "trend_sentence", fleet_trend_sentence(chart->fleet, at, request->arena, request->scratch));
    column_write(chart, series, "at_ms", json, time_of);
    column_write(chart, series, "needed_bytes", json, needed_of);
    column_write(chart, series, "peak_bytes", json, peak_of);
    column_write(chart, series, "capacity_bytes", json, capacity_of);
    column_write(chart, series, "over_bytes", json, over_of);
    column_write(chart, series, "host_counts", json, hosts_of);
    commits_write(chart, series, json);
    steps_write(chart, series, request, json);
    categories_write(chart, series, json);
    json_object_end(json);
}

static bool choices_read(struct chart *chart, const struct tool_request *request, struct err *err)
{
    static const char *const choices[] = {"job", "series"};
    const char *rows = tool_param_text(request, "rows");
    size_t chosen = 0;
    int64_t has_categories;
    if (rows != NULL && rows[0] != '\0' && !nearest_choose("rows", "choice", str_of(rows), choices, 2, &chosen, err))
        return false;
    if (!tool_param_number(request, "lines", 1, LINES_MAX, LINES_DEFAULT, &chart->line_max, err) ||
        !tool_param_number(request, "categories", 0, 1, 0, &has_categories, err))
        return false;
    chart->is_of_jobs = chosen == 0;
    chart->has_categories = has_categories == 1;
    return true;
}

bool fleet_chart(const struct tool_request *request, struct json *json, struct err *err)
{
    struct chart chart = {.fleet = request->model};
    if (!choices_read(&chart, request, err))
        return false;
    lines_choose(&chart, request->arena);
    json_object_begin(json);
    json_key_text(json, "rows_of", chart.is_of_jobs ? "job" : "series");
    json_key_uint(json, "line_count", chart.count);
    json_key_array(json, "lines");
    for (uint32_t i = 0; i < chart.count && i < (uint32_t)chart.line_max; i++)
        line_write(&chart, chart.lines[i], request, json);
    json_array_end(json);
    json_object_end(json);
    return true;
}
