/* SPDX-License-Identifier: Apache-2.0
 * map.c: the view "map": temporaries as rectangles, steps across and offset in
 * their allocation up; what lives from begin to end as a list of its own, since
 * it has no offset in the heap.
 *
 * At most two rectangles a pixel column: as many of the largest as there are
 * columns, and for the rest a grid of as many cells, each with one rectangle
 * that bounds what begins there and counts it. Zooming in, by asking for a
 * smaller range, takes merged ones apart. */
#include "base/sum.h"
#include "plan/describe.h"
#include "views/memory_viewer/columns.h"

#include <stdlib.h>

enum { WIDTH_MAX = 8192, CELL_COLUMNS = 16, BANDS = 16, INDEFINITE_NAMED = 24 };

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
    struct memory_viewer_columns_whose whose; /* where they agree */
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

static int64_t map_smaller(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t map_larger(int64_t a, int64_t b) { return a > b ? a : b; }

static uint32_t rectangles_collect(const struct plan_space *space, const struct filter *filter,
                                   const struct range *range, struct rectangle *rectangles)
{
    uint32_t count = 0;
    for (uint32_t i = space->indefinite_row_count; i < space->row_count; i++) {
        const struct plan_row *row = &space->rows[i];
        int64_t steps = map_smaller(end_of_life(space, row), range->to) - map_larger(row->born, range->from);
        int64_t bytes =
            map_smaller(row->offset_bytes + row->bytes, range->high) - map_larger(row->offset_bytes, range->low);
        if (steps > 0 && bytes > 0 && filter_matches(filter, i))
            rectangles[count++] = (struct rectangle){i, (double)steps * (double)bytes};
    }
    qsort(rectangles, count, sizeof(*rectangles), larger_first);
    return count;
}

/* What a tooltip says of one buffer. */
static void words_write(const struct memory_viewer_columns_rows *row, struct json *json, uint32_t at)
{
    struct memory_viewer_columns_whose whose = memory_viewer_columns_whose_of(row, at);
    memory_viewer_columns_whose_write(json, &whose);
    bool is_cut = describe_short(json, "name", memory_viewer_columns_name(row, at));
    is_cut |= describe_short(json, "source", memory_viewer_columns_source(row, at));
    json_key_bool(json, "is_cut", is_cut);
}

/* The same of several that are drawn as one. */
static void rest_words_write(struct json *json, const struct rest *rest)
{
    memory_viewer_columns_whose_write(json, &rest->whose);
    json_key_bool(json, "is_cut", false);
}

static void rectangle_write(const struct memory_viewer_columns_rows *row, struct json *json, uint32_t at)
{
    const struct plan_row *buffer = &row->space->rows[at];
    json_object_begin(json);
    json_key(json, "id");
    views_row_id(json, row->request->model, buffer);
    json_key_uint(json, "count", 1);
    json_key_uint(json, "from", buffer->born);
    json_key_int(json, "to", end_of_life(row->space, buffer));
    json_key_int(json, "low_bytes", buffer->offset_bytes);
    json_key_int(json, "high_bytes", buffer->offset_bytes + buffer->bytes);
    json_key_int(json, "bytes", buffer->bytes);
    json_key_int(json, "padding_bytes", views_padding(buffer));
    json_key_int(json, "largest_bytes", buffer->bytes);
    words_write(row, json, at);
    json_object_end(json);
}

static void rest_add(struct rest *rest, const struct memory_viewer_columns_rows *rows, uint32_t at)
{
    const struct plan_row *row = &rows->space->rows[at];
    int64_t to = end_of_life(rows->space, row), high = row->offset_bytes + row->bytes;
    struct memory_viewer_columns_whose whose = memory_viewer_columns_whose_of(rows, at);
    if (rest->count == 0)
        rest->whose = whose;
    memory_viewer_columns_whose_join(&rest->whose, &whose);
    rest->from = rest->count == 0 ? row->born : map_smaller(rest->from, row->born);
    rest->to = map_larger(rest->to, to);
    rest->low = rest->count == 0 ? row->offset_bytes : map_smaller(rest->low, row->offset_bytes);
    rest->high = map_larger(rest->high, high);
    rest->bytes = sum_add(rest->bytes, row->bytes);
    rest->largest_bytes = map_larger(rest->largest_bytes, row->bytes);
    rest->count++;
}

static void rest_write(struct json *json, const struct rest *rest)
{
    json_object_begin(json);
    json_key_uint(json, "count", rest->count);
    json_key_int(json, "from", rest->from);
    json_key_int(json, "to", rest->to);
    json_key_int(json, "low_bytes", rest->low);
    json_key_int(json, "high_bytes", rest->high);
    json_key_int(json, "bytes", rest->bytes);
    json_key_int(json, "largest_bytes", rest->largest_bytes);
    rest_words_write(json, rest);
    json_object_end(json);
}

static int64_t grid_columns(const struct range *range) { return map_larger(1, range->width / CELL_COLUMNS); }

static int64_t grid_bands(const struct range *range) { return map_smaller(BANDS, range->width); }

/* The cell of the grid in which a row begins. */
static int64_t cell_of(const struct range *range, const struct plan_row *row)
{
    int64_t columns = grid_columns(range), bands = grid_bands(range);
    int64_t column = (map_larger(row->born, range->from) - range->from) * columns / (range->to - range->from);
    double height = (double)(range->high - range->low),
           above = (double)(map_larger(row->offset_bytes, range->low) - range->low);
    int64_t band = (int64_t)(above / height * (double)bands);
    return column * bands + map_smaller(band, bands - 1);
}

static void rectangles_write(const struct memory_viewer_columns_rows *row, const struct filter *filter,
                             struct json *json, const struct range *range)
{
    const struct plan_space *space = row->space;
    struct arena *arena = row->request->arena;
    struct rectangle *rectangles = arena_array(arena, struct rectangle, (size_t)space->row_count + 1);
    int64_t cell_count = grid_columns(range) * grid_bands(range);
    struct rest *rests = arena_array(arena, struct rest, (size_t)cell_count);
    uint32_t count = rectangles_collect(space, filter, range, rectangles);
    uint32_t own = count <= 2 * range->width ? count : (uint32_t)range->width;
    json_key_uint(json, "rectangle_count", count);
    json_key_array(json, "rectangles");
    for (uint32_t i = 0; i < count; i++) {
        if (i < own) {
            rectangle_write(row, json, rectangles[i].row);
            continue;
        }
        const struct plan_row *buffer = &space->rows[rectangles[i].row];
        rest_add(&rests[cell_of(range, buffer)], row, rectangles[i].row);
    }
    for (int64_t i = 0; i < cell_count; i++)
        if (rests[i].count > 0)
            rest_write(json, &rests[i]);
    json_array_end(json);
}

static void band_write(const struct memory_viewer_columns_rows *row, struct json *json, uint32_t at)
{
    const struct plan_row *buffer = &row->space->rows[at];
    json_object_begin(json);
    json_key(json, "id");
    views_row_id(json, row->request->model, buffer);
    json_key_uint(json, "count", 1);
    json_key_int(json, "bytes", buffer->bytes);
    json_key_int(json, "padding_bytes", views_padding(buffer));
    json_key_int(json, "largest_bytes", buffer->bytes);
    words_write(row, json, at);
    json_object_end(json);
}

static void band_rest_write(struct json *json, const struct rest *rest)
{
    json_object_begin(json);
    json_key_uint(json, "count", rest->count);
    json_key_int(json, "bytes", rest->bytes);
    json_key_int(json, "largest_bytes", rest->largest_bytes);
    rest_words_write(json, rest);
    json_object_end(json);
}

/* What lives from begin to end: the largest by themselves, the rest added up by category. */
static void indefinite_write(const struct memory_viewer_columns_rows *row, const struct filter *filter,
                             struct json *json)
{
    const struct plan_space *space = row->space;
    struct rectangle *items =
        arena_array(row->request->arena, struct rectangle, (size_t)space->indefinite_row_count + 1);
    struct rest rests[CATEGORY_COUNT] = {0};
    uint32_t count = 0;
    for (uint32_t i = 0; i < space->indefinite_row_count; i++)
        if (filter_matches(filter, i))
            items[count++] = (struct rectangle){i, (double)space->rows[i].bytes};
    qsort(items, count, sizeof(*items), larger_first);
    json_key_array(json, "indefinite");
    for (uint32_t i = 0; i < count; i++) {
        if (i >= INDEFINITE_NAMED)
            rest_add(&rests[space->rows[items[i].row].choice.category], row, items[i].row);
        else
            band_write(row, json, items[i].row);
    }
    for (int i = 0; i < CATEGORY_COUNT; i++)
        if (rests[i].count > 0)
            band_rest_write(json, &rests[i]);
    json_array_end(json);
}

/* Temporaries of a space mostly lie in one allocation: its size is the height of the map. */
static int64_t height_of(const struct plan_space *space)
{
    int64_t high = 0;
    for (uint32_t i = space->indefinite_row_count; i < space->row_count; i++)
        high = map_larger(high, space->rows[i].offset_bytes + space->rows[i].bytes);
    return high;
}

bool memory_viewer_map(const struct tool_request *request, struct json *json, struct err *err)
{
    struct memory_viewer_columns_rows row = memory_viewer_columns_of(request, views_space(request, err));
    struct filter filter;
    struct range range;
    const char *filter_text = tool_param_text(request, "filter");
    if (row.space == NULL)
        return false;
    int64_t height = height_of(row.space), steps = row.space->step_count;
    if (!tool_param_number(request, "width", 1, WIDTH_MAX, 1024, &range.width, err) ||
        !tool_param_number(request, "from", 0, steps, 0, &range.from, err) ||
        !tool_param_number(request, "to", range.from, steps, steps, &range.to, err) ||
        !tool_param_number(request, "low", 0, height, 0, &range.low, err) ||
        !tool_param_number(request, "high", range.low, height, height, &range.high, err) ||
        !filter_read(filter_text != NULL ? filter_text : "", memory_viewer_columns, &row, request->arena, &filter, err))
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
    indefinite_write(&row, &filter, json);
    rectangles_write(&row, &filter, json, &range);
    json_object_end(json);
    return true;
}
