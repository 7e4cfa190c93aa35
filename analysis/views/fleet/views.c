/* SPDX-License-Identifier: Apache-2.0
 * views.c: see views.h. */
#include "views/fleet/views.h"

bool views_table(const struct tool_request *request, const struct table_spec *spec, uint32_t row_count,
                 bool (*is_wanted)(const struct fleet *fleet, uint32_t row), struct json *json, struct err *err)
{
    struct views_listing *listing = arena_array(request->arena, struct views_listing, 1);
    *listing = (struct views_listing){.fleet = request->model, .request = request};
    if (!table_read(&listing->rows, request, spec, listing, err))
        return false;
    table_begin(&listing->rows, row_count);
    for (uint32_t i = 0; i < row_count; i++)
        if (is_wanted == NULL || is_wanted(listing->fleet, i))
            table_take(&listing->rows, i);
    table_sort(&listing->rows);
    if (table_is_lines(&listing->rows)) {
        table_lines_write(&listing->rows, NULL);
        return true;
    }
    json_object_begin(json);
    table_head_write(&listing->rows, json);
    table_rows_write(&listing->rows, "rows", json);
    json_object_end(json);
    return true;
}
