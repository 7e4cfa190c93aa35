/* SPDX-License-Identifier: Apache-2.0
 * map.c: the view "map": temporaries as rectangles, steps across and offset in
 * their allocation up; what lives from begin to end as a list of its own, since
 * it has no offset in the heap.
 *
 * At most two rectangles a pixel column: one for each of the largest, and for
 * the rest of a column one that bounds it and counts it. Zooming in, by asking
 * for a smaller range, takes merged ones apart. */
#include "base/sum.h"
#include "tool/memory_viewer/row_fields.h"

#include <stdlib.h>

enum { WIDTH_MOST = 8192 };

struct range {
    int64_t from, to, low, high; /* steps, bytes of offset */
    int64_t width;
};

struct rectangle {
    uint32_t row;
    double area; /* inside the range */
};

struct rest {
    uint32_t count;
    int64_t bytes, largest_bytes;
    int64_t from, to, low, high;
};

static int larger_first(const void *left, const void *right)
{
    const struct rectangle *a = left, *b = right;
    if (a->area < b->area || a->area > b->area)
        return a->area < b->area ? 1 : -1;
    return (a->row > b->row) - (a->row < b->row);
}

static int64_t end_of_life(const struct plan_space *space, const struct plan_row *row)
{
    return row->dies < space->step_count ? row->dies : space->step_count;
}

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}
static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static uint32_t rectangles_collect(const struct plan_space *space, const struct range *range, struct rectangle *rectangles)
{
    uint32_t count = 0;
    for (uint32_t i = space->indefinite_row_count; i < space->row_count; i++) {
        const struct plan_row *row = &space->rows[i];
        int64_t steps = smaller(end_of_life(space, row), range->to) - larger(row->born, range->from);
        int64_t bytes = smaller(row->offset_bytes + row->bytes, range->high) - larger(row->offset_bytes, range->low);
        if (steps > 0 && bytes > 0)
            rectangles[count++] = (struct rectangle){i, (double)steps * (double)bytes};
    }
    qsort(rectangles, count, sizeof *rectangles, larger_first);
    return count;
}

static void rectangle_write(const struct row_fields_context *row, struct json *json, uint32_t at)
{
    const struct plan_row *buffer = &row->space->rows[at];
    json_object_begin(json);
    json_key(json, "id");
    views_row_id(json, row->request->plan, buffer);
    json_key_uint(json, "count", 1);
    json_key_uint(json, "from", buffer->born);
    json_key_int(json, "to", end_of_life(row->space, buffer));
    json_key_int(json, "low_bytes", buffer->offset_bytes);
    json_key_int(json, "high_bytes", buffer->offset_bytes + buffer->bytes);
    json_key_int(json, "bytes", buffer->bytes);
    json_key_int(json, "padding_bytes", views_padding(buffer));
    json_key_int(json, "largest_bytes", buffer->bytes);
    json_key_string(json, "category", row_fields_text(row, at, ROW_CATEGORY));
    json_key_string(json, "name", row_fields_text(row, at, ROW_NAME));
    json_object_end(json);
}

static void rest_add(struct rest *rest, const struct plan_space *space, const struct plan_row *row)
{
    int64_t to = end_of_life(space, row), high = row->offset_bytes + row->bytes;
    rest->from = rest->count == 0 ? row->born : smaller(rest->from, row->born);
    rest->to = larger(rest->to, to);
    rest->low = rest->count == 0 ? row->offset_bytes : smaller(rest->low, row->offset_bytes);
    rest->high = larger(rest->high, high);
    rest->bytes = sum_add(rest->bytes, row->bytes);
    rest->largest_bytes = larger(rest->largest_bytes, row->bytes);
    rest->count++;
}

static void rest_write(struct json *json, const struct rest *rest)
{
    json_object_begin(json);
    json_key_null(json, "id");
    json_key_uint(json, "count", rest->count);
    json_key_int(json, "from", rest->from);
    json_key_int(json, "to", rest->to);
    json_key_int(json, "low_bytes", rest->low);
    json_key_int(json, "high_bytes", rest->high);
    json_key_int(json, "bytes", rest->bytes);
    json_key_null(json, "padding_bytes");
    json_key_int(json, "largest_bytes", rest->largest_bytes);
    json_key_null(json, "category");
    json_key_null(json, "name");
    json_object_end(json);
}

static void rectangles_write(const struct row_fields_context *row, struct json *json, const struct range *range)
{
    const struct plan_space *space = row->space;
    struct arena *arena = row->request->arena;
    struct rectangle *rectangles = arena_array(arena, struct rectangle, (size_t)space->row_count + 1);
    struct rest *rests = arena_array(arena, struct rest, (size_t)range->width + 1);
    uint32_t count = rectangles_collect(space, range, rectangles);
    uint32_t own = count <= 2 * range->width ? count : (uint32_t)range->width;
    json_key_uint(json, "rectangle_count", count);
    json_key(json, "rectangles");
    json_array_begin(json);
    for (uint32_t i = 0; i < count; i++) {
        if (i < own) {
            rectangle_write(row, json, rectangles[i].row);
            continue;
        }
        const struct plan_row *buffer = &space->rows[rectangles[i].row];
        int64_t column = (larger(buffer->born, range->from) - range->from) * range->width / (range->to - range->from);
        rest_add(&rests[column], space, buffer);
    }
    for (int64_t i = 0; i < range->width; i++)
        if (rests[i].count > 0)
            rest_write(json, &rests[i]);
    json_array_end(json);
}

/* Temporaries of a space mostly lie in one allocation: its size is the height of the map. */
static int64_t height_of(const struct plan_space *space)
{
    int64_t high = 0;
    for (uint32_t i = space->indefinite_row_count; i < space->row_count; i++)
        high = larger(high, space->rows[i].offset_bytes + space->rows[i].bytes);
    return high;
}

bool view_map(const struct tool_request *request, struct json *json, struct err *err)
{
    struct row_fields_context row = {request, views_space(request, err)};
    struct range range;
    if (row.space == NULL)
        return false;
    int64_t height = height_of(row.space), steps = row.space->step_count;
    if (!tool_param_number(request, "width", 1, WIDTH_MOST, 1024, &range.width, err) ||
        !tool_param_number(request, "from", 0, steps, 0, &range.from, err) ||
        !tool_param_number(request, "to", range.from, steps, steps, &range.to, err) ||
        !tool_param_number(request, "low", 0, height, 0, &range.low, err) ||
        !tool_param_number(request, "high", range.low, height, height, &range.high, err))
        return false;
    json_object_begin(json);
    json_key_int(json, "space", row.space->space);
    json_key_int(json, "step_count", steps);
    json_key_int(json, "height_bytes", height);
    json_key_int(json, "from", range.from);
    json_key_int(json, "to", range.to);
    json_key_int(json, "low_bytes", range.low);
    json_key_int(json, "high_bytes", range.high);
    json_key_uint(json, "indefinite_count", row.space->indefinite_row_count);
    json_key_int(json, "indefinite_bytes", row.space->indefinite_bytes);
    rectangles_write(&row, json, &range);
    json_object_end(json);
    return true;
}
