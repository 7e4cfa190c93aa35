/* SPDX-License-Identifier: Apache-2.0
 * window.c: the view "window": a range of steps, its own peak, and which buffers
 * are born and die in it, largest first. */
#include "base/sum.h"
#include "tool/memory_viewer/describe.h"
#include "tool/memory_viewer/row_fields.h"

#include <stdlib.h>

enum { NAMED_MOST = 200, NAMED_USUAL = 20 };

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

static void changes_write(const struct row_fields_context *row, struct json *json, const char *key, bool births, uint32_t from,
                          uint32_t to, int64_t limit)
{
    const struct plan_space *space = row->space;
    struct item *items = arena_array(row->request->arena, struct item, (size_t)space->row_count + 1);
    uint32_t count = 0;
    int64_t bytes = 0;
    for (uint32_t i = space->indefinite_row_count; i < space->row_count; i++) {
        uint32_t step = births ? space->rows[i].born : space->rows[i].dies;
        if (step < from || step >= to)
            continue;
        items[count++] = (struct item){i, space->rows[i].bytes};
        bytes = sum_add(bytes, space->rows[i].bytes);
    }
    qsort(items, count, sizeof *items, larger_first);
    json_key(json, key);
    json_object_begin(json);
    json_key_uint(json, "count", count);
    json_key_int(json, "bytes", bytes);
    json_key(json, "largest");
    json_array_begin(json);
    for (int64_t i = 0; i < limit && i < count; i++) {
        json_object_begin(json);
        json_key(json, "id");
        views_row_id(json, row->request->plan, &space->rows[items[i].row]);
        bool is_cut = describe_short(json, "name", row_fields_text(row, items[i].row, ROW_NAME));
        json_key_int(json, "bytes", items[i].bytes);
        json_key_uint(json, "step", births ? space->rows[items[i].row].born : space->rows[items[i].row].dies);
        is_cut |= describe_short(json, "source", row_fields_text(row, items[i].row, ROW_LINE));
        json_key_bool(json, "is_cut", is_cut);
        json_object_end(json);
    }
    json_array_end(json);
    json_object_end(json);
}

bool view_window(const struct tool_request *request, struct json *json, struct err *err)
{
    struct row_fields_context row = {request, views_space(request, err)};
    int64_t from, to, limit;
    if (row.space == NULL || !tool_param_number(request, "from", 0, row.space->step_count, 0, &from, err) ||
        !tool_param_number(request, "to", from, row.space->step_count, row.space->step_count, &to, err) ||
        !tool_param_number(request, "limit", 0, NAMED_MOST, NAMED_USUAL, &limit, err))
        return false;
    int64_t before = from > 0 ? plan_bytes_at(row.space, (uint32_t)from - 1) : row.space->indefinite_bytes;
    /* No step at all: what is there before it stays. */
    uint32_t peak = (uint32_t)(to > from || from == 0 ? from : from - 1);
    for (uint32_t i = (uint32_t)from; i < to; i++)
        if (plan_bytes_at(row.space, i) > plan_bytes_at(row.space, peak))
            peak = i;
    json_object_begin(json);
    json_key_int(json, "space", row.space->space);
    json_key_int(json, "from", from);
    json_key_int(json, "to", to);
    json_key(json, "peak");
    json_object_begin(json);
    json_key_uint(json, "step", peak);
    json_key_int(json, "bytes", plan_bytes_at(row.space, peak));
    json_object_end(json);
    json_key_int(json, "bytes_before", before);
    json_key_int(json, "bytes_after", to > from ? plan_bytes_at(row.space, (uint32_t)to - 1) : before);
    changes_write(&row, json, "born", true, (uint32_t)from, (uint32_t)to, limit);
    changes_write(&row, json, "died", false, (uint32_t)from, (uint32_t)to, limit);
    json_object_end(json);
    return true;
}
