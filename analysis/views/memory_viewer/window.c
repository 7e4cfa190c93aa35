/* SPDX-License-Identifier: Apache-2.0
 * window.c: the view "window": a range of steps, its own peak, and which buffers
 * live, are born and die in it, largest first; all of them, or those that a
 * filter keeps. */
#include "base/sum.h"
#include "plan/describe.h"
#include "views/memory_viewer/columns.h"

#include <stdlib.h>

enum { NAMED_MAX = 200, NAMED_DEFAULT = 20 };

struct item {
    uint32_t row;
    int64_t bytes;
};

static int larger_first(const void *left, const void *right)
{
    const struct item *a = left, *b = right;
    if (a->bytes != b->bytes)
        return a->bytes < b->bytes ? 1 : -1;
    return (a->row > b->row) - (a->row < b->row);
}

struct window {
    struct memory_viewer_columns_rows row;
    struct filter filter;
    uint32_t from, to; /* steps; `to` is not included */
    int64_t limit;
};

/* ---- sums ---- */

/* Live bytes of what the filter keeps: [0] before the window, [1 + i] at its step i. */
static int64_t *series_of(const struct window *window)
{
    const struct plan_space *space = window->row.space;
    int64_t *series = arena_array(window->row.request->arena, int64_t, (size_t)(window->to - window->from) + 2),
            bytes = 0;
    for (uint32_t i = 0; i < space->row_count; i++) {
        const struct plan_row *row = &space->rows[i];
        bool is_before = row->is_indefinite || row->born < window->from;
        uint32_t dies = row->is_indefinite || row->dies > window->to ? window->to : row->dies;
        if ((!row->is_indefinite && (row->born >= window->to || row->dies < window->from)) ||
            !filter_matches(&window->filter, i))
            continue;
        size_t begin = is_before ? 0 : row->born - window->from + 1, end = (size_t)(dies - window->from) + 1;
        if (begin >= end)
            continue;
        series[begin] = sum_add(series[begin], row->bytes);
        series[end] = sum_add(series[end], -row->bytes);
    }
    for (uint32_t i = 0; i <= window->to - window->from; i++) {
        bytes = sum_add(bytes, series[i]);
        series[i] = bytes;
    }
    return series;
}

/* ---- what changes ---- */

enum change { LIVES, IS_BORN, DIES };

static bool takes_part(const struct window *window, const struct plan_row *row, enum change change)
{
    if (row->is_indefinite)
        return change == LIVES;
    if (change == LIVES)
        return row->born < window->to && row->dies > window->from;
    uint32_t step = change == IS_BORN ? row->born : row->dies;
    return step >= window->from && step < window->to;
}

static void named_write(const struct window *window, struct json *json, uint32_t at, enum change change)
{
    const struct plan_row *row = &window->row.space->rows[at];
    json_object_begin(json);
    json_key(json, "id");
    views_row_id(json, window->row.request->model, row);
    bool is_cut = describe_short(json, "name", memory_viewer_columns_name(&window->row, at));
    json_key_int(json, "bytes", row->bytes);
    json_key_uint(json, "step", change == DIES ? row->dies : row->born);
    struct memory_viewer_columns_whose whose = memory_viewer_columns_whose_of(&window->row, at);
    memory_viewer_columns_whose_write(json, &whose);
    is_cut |= describe_short(json, "source", memory_viewer_columns_source(&window->row, at));
    json_key_bool(json, "is_cut", is_cut);
    json_object_end(json);
}

static void changes_write(const struct window *window, struct json *json, const char *key, enum change change)
{
    const struct plan_space *space = window->row.space;
    struct item *items = arena_array(window->row.request->arena, struct item, (size_t)space->row_count + 1);
    uint32_t count = 0, from = space->step_count, to = 0;
    int64_t bytes = 0;
    for (uint32_t i = 0; i < space->row_count; i++) {
        const struct plan_row *row = &space->rows[i];
        if (!takes_part(window, row, change) || !filter_matches(&window->filter, i))
            continue;
        items[count++] = (struct item){i, row->bytes};
        bytes = sum_add(bytes, row->bytes);
        from = row->born < from ? row->born : from;
        to = row->dies > to ? row->dies : to;
    }
    qsort(items, count, sizeof(*items), larger_first);
    json_key_object(json, key);
    json_key_uint(json, "count", count);
    json_key_int(json, "bytes", bytes);
    if (change == LIVES) {
        json_key_known(json, "from", count > 0 ? (int64_t)from : -1);
        json_key_known(json, "to", count > 0 ? (int64_t)(to < space->step_count ? to : space->step_count) : -1);
    }
    json_key_array(json, "largest");
    for (int64_t i = 0; i < window->limit && i < count; i++)
        named_write(window, json, items[i].row, change);
    json_array_end(json);
    json_object_end(json);
}

bool memory_viewer_window(const struct tool_request *request, struct json *json, struct err *err)
{
    struct window window = {.row = memory_viewer_columns_of(request, views_space(request, err))};
    const char *filter_text = tool_param_text(request, "filter");
    int64_t from, to;
    if (window.row.space == NULL ||
        !tool_param_number(request, "from", 0, window.row.space->step_count, 0, &from, err) ||
        !tool_param_number(request, "to", from, window.row.space->step_count, window.row.space->step_count, &to, err) ||
        !tool_param_number(request, "limit", 0, NAMED_MAX, NAMED_DEFAULT, &window.limit, err) ||
        !filter_read(filter_text != NULL ? filter_text : "", memory_viewer_columns, &window.row, request->arena,
                     &window.filter, err))
        return false;
    window.from = (uint32_t)from;
    window.to = (uint32_t)to;
    const int64_t *series = series_of(&window);
    uint32_t last = window.to - window.from, peak = last > 0 ? 1 : 0; /* no step at all: what was live before stays */
    for (uint32_t i = 1; i <= last; i++)
        peak = series[i] > series[peak] ? i : peak;
    json_object_begin(json);
    json_key_int(json, "space", window.row.space->space);
    json_key_int(json, "from", from);
    json_key_int(json, "to", to);
    json_key_object(json, "peak");
    json_key_uint(json, "step", window.from + peak > 0 ? window.from + peak - 1 : 0);
    json_key_int(json, "bytes", series[peak]);
    json_object_end(json);
    json_key_int(json, "bytes_before", series[0]);
    json_key_int(json, "bytes_after", series[last]);
    changes_write(&window, json, "alive", LIVES);
    changes_write(&window, json, "born", IS_BORN);
    changes_write(&window, json, "died", DIES);
    json_object_end(json);
    return true;
}
