/* SPDX-License-Identifier: Apache-2.0
 * listing.c: the views "groups" and "buffers": what is new, gone, grown, shrunk and the same, summed by category, scope
 * and shapes, or pair by pair. */
#include "base/nearest.h"
#include "base/sum.h"
#include "views/compare/columns.h"
#include "views/compare/views.h"

static const struct table_spec spec = {.columns = columns_all, .sort = "-change,-b,-a"};

/* `context` first, so that it serves the columns. */
struct listing_listing {
    struct columns_rows context;
    struct table_rows rows;
    struct compare compare;
    struct alignment alignment;
    int64_t group, matched_delta_bytes, largest_bytes; /* group −1: all */
    size_t state;                                      /* COMPARE_STATE_COUNT: all */
    uint32_t total_count;
};

static uint32_t row_count(const struct listing_listing *listing)
{
    return listing->context.is_of_groups ? listing->compare.group_count : listing->compare.pair_count;
}

static const struct compare_pair *pair_of(const struct listing_listing *listing, uint32_t row)
{
    const struct compare *compare = &listing->compare;
    return &compare->pairs[listing->context.is_of_groups ? compare->groups[row].first_pair : row];
}

static bool is_asked(const struct listing_listing *listing, uint32_t row)
{
    const struct compare_pair *pair = pair_of(listing, row);
    return (listing->state == COMPARE_STATE_COUNT || listing->state == pair->state) &&
           (listing->group < 0 || listing->group == (int64_t)pair->group);
}

static void rows_take(struct listing_listing *listing)
{
    table_begin(&listing->rows, row_count(listing));
    for (uint32_t i = 0; i < row_count(listing); i++) {
        listing->total_count += is_asked(listing, i);
        if (!is_asked(listing, i) || !table_take(&listing->rows, i))
            continue;
        int64_t delta = listing->context.is_of_groups ? listing->compare.groups[i].delta_bytes
                                                      : listing->compare.pairs[i].delta_bytes;
        int64_t size = delta < 0 ? -delta : delta;
        listing->matched_delta_bytes += delta;
        listing->largest_bytes = size > listing->largest_bytes ? size : listing->largest_bytes;
    }
    table_sort(&listing->rows);
}

static bool state_read(const struct tool_request *request, size_t *state, struct err *err)
{
    const char *names[COMPARE_STATE_COUNT + 1], *text = tool_param_text(request, "state");
    for (int i = 0; i < COMPARE_STATE_COUNT; i++)
        names[i] = compare_state_name((enum compare_state)i);
    names[COMPARE_STATE_COUNT] = "all";
    *state = COMPARE_STATE_COUNT;
    return text == NULL || nearest_choose("state", "state", str_of(text), names, COMPARE_STATE_COUNT + 1, state, err);
}

static bool paths_read(const struct tool_request *request, bool *has_paths, struct err *err)
{
    static const char *const choices[] = {"with", "without"};
    const char *text = tool_param_text(request, "paths");
    size_t choice = 0;
    bool is_read = text == NULL || nearest_choose("paths", "choice", str_of(text), choices, 2, &choice, err);
    *has_paths = choice == 0;
    return is_read;
}

static bool listing_answer(const struct tool_request *request, bool is_of_groups, struct json *json, struct err *err)
{
    struct listing_listing *listing = arena_array(request->arena, struct listing_listing, 1);
    enum alignment_way way;
    listing->context = (struct columns_rows){request, &listing->compare, &listing->alignment, is_of_groups, true};
    listing->group = -1;
    if (!views_align(request, &way, err) || !state_read(request, &listing->state, err) ||
        !paths_read(request, &listing->context.has_paths, err) ||
        (!is_of_groups && !tool_param_number(request, "group", 0, UINT32_MAX, -1, &listing->group, err)) ||
        !table_read(&listing->rows, request, &spec, &listing->context, err) ||
        !views_compare(request, &listing->compare, err))
        return false;
    rows_take(listing);
    if (table_is_lines(&listing->rows)) {
        table_lines_write(&listing->rows, NULL);
        return true;
    }
    alignment_make(&listing->compare, way, request->arena, &listing->alignment);
    json_object_begin(json);
    json_key_uint(json, "total_count", listing->total_count);
    json_key_uint(json, "matched_count", listing->rows.matched);
    json_key_int(json, "matched_delta_bytes", listing->matched_delta_bytes);
    json_key_int(json, "largest_bytes", listing->largest_bytes);
    json_key_int(json, "offset", listing->rows.offset);
    json_key_uint(json, "axis_length", listing->alignment.length);
    table_columns_write(columns_all, "columns", json);
    table_rows_write(&listing->rows, is_of_groups ? "groups" : "rows", json);
    json_object_end(json);
    return true;
}

bool listing_groups(const struct tool_request *request, struct json *json, struct err *err)
{
    return listing_answer(request, true, json, err);
}

bool listing_buffers(const struct tool_request *request, struct json *json, struct err *err)
{
    return listing_answer(request, false, json, err);
}
