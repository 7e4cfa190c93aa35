/* SPDX-License-Identifier: Apache-2.0
 * buffers.c: the view "buffers": what takes memory, as rows that are sorted,
 * filtered and paged; or all filtered rows as CSV. */
#include "base/sum.h"
#include "views/memory_viewer/row_glob.h"
#include "views/memory_viewer/row_groups.h"
#include "views/memory_viewer/saving.h"

static const struct table_spec spec = {.columns = memory_viewer_columns, .sort = "-saves,-size"};

/* What is listed; `context` first, so that it serves the columns. `key`: of the only group, or NULL. */
struct memory_viewer_listing {
    struct memory_viewer_columns_rows context;
    struct table_rows rows;
    const char *key;
    size_t way;
    uint32_t step, total_count;
    bool is_all, has_paths;
    int64_t bytes, total_bytes, largest_bytes;
    uint32_t *group, group_count; /* rows of the only group, whenever they live */
};

static bool is_in_group(const struct memory_viewer_listing *listing, uint32_t at)
{
    return listing->key == NULL || str_equal(row_groups_key(&listing->context, at, listing->way), str_of(listing->key));
}

static void rows_take(struct memory_viewer_listing *listing)
{
    const struct plan_space *space = listing->context.space;
    table_begin(&listing->rows, space->row_count);
    if (listing->key != NULL)
        listing->group = arena_array(listing->context.request->arena, uint32_t, (size_t)space->row_count + 1);
    for (uint32_t i = 0; i < space->row_count; i++) {
        const struct plan_row *row = &space->rows[i];
        bool is_listed = listing->is_all || plan_row_is_alive(row, listing->step);
        listing->total_count += is_listed;
        listing->total_bytes = sum_add(listing->total_bytes, is_listed ? row->bytes : 0);
        if ((!is_listed && listing->key == NULL) || !is_in_group(listing, i) ||
            !(is_listed ? table_take(&listing->rows, i) : filter_matches(&listing->rows.filter, i)))
            continue;
        if (listing->key != NULL)
            listing->group[listing->group_count++] = i;
        if (!is_listed)
            continue;
        listing->bytes = sum_add(listing->bytes, row->bytes);
        listing->largest_bytes = row->bytes > listing->largest_bytes ? row->bytes : listing->largest_bytes;
    }
    table_sort(&listing->rows);
}

/* Ranks of the rows of one page; NULL where all steps are listed. */
static struct row_ranks *page_ranks(const struct memory_viewer_listing *listing)
{
    struct arena *arena = listing->context.request->arena;
    uint32_t first = listing->rows.first, count = listing->rows.end - first;
    if (listing->is_all || count == 0)
        return NULL;
    uint32_t *rows = arena_array(arena, uint32_t, count);
    struct row_ranks *ranks = arena_array(arena, struct row_ranks, count);
    for (uint32_t i = 0; i < count; i++)
        rows[i] = table_row_at(&listing->rows, first + i);
    row_ranks_find(listing->context.space, listing->step, rows, count, arena, ranks);
    return ranks;
}

static void json_write(const struct memory_viewer_listing *listing, struct json *json)
{
    const struct table_rows *rows = &listing->rows;
    const struct row_ranks *ranks = page_ranks(listing);
    json_object_begin(json);
    json_key_int(json, "space", listing->context.space->space);
    json_key_known(json, "step", listing->is_all ? -1 : (int64_t)listing->step);
    json_key_uint(json, "total_count", listing->total_count);
    json_key_int(json, "total_bytes", listing->total_bytes);
    json_key_uint(json, "matched_count", rows->matched);
    json_key_int(json, "matched_bytes", listing->bytes);
    json_key_int(json, "largest_bytes", listing->largest_bytes);
    if (listing->key != NULL)
        saving_write_rows(json, &listing->context, listing->group, listing->group_count, "the group");
    row_glob_write(json, listing->context.request->model, listing->context.space, listing->group, listing->group_count,
                   listing->context.request->arena);
    json_key_int(json, "offset", rows->offset);
    table_columns_write(memory_viewer_columns, "columns", json);
    json_key_array(json, "rows");
    for (uint32_t i = rows->first; i < rows->end; i++) {
        json_object_begin(json);
        table_row_write(memory_viewer_columns, listing, table_row_at(rows, i), json);
        views_ranks_write(json, ranks != NULL ? &ranks[i - rows->first] : NULL);
        json_object_end(json);
    }
    json_array_end(json);
    json_object_end(json);
}

bool memory_viewer_buffers(const struct tool_request *request, struct json *json, struct err *err)
{
    struct memory_viewer_listing *listing = arena_array(request->arena, struct memory_viewer_listing, 1);
    listing->context = memory_viewer_columns_of(request, views_space(request, err));
    listing->key = tool_param_text(request, "key");
    if (listing->context.space == NULL ||
        !views_step(request, listing->context.space, true, &listing->step, &listing->is_all, err) ||
        !row_groups_way(request, &listing->way, err) || !views_paths(request, &listing->has_paths, err) ||
        !table_read(&listing->rows, request, &spec, &listing->context, err))
        return false;
    rows_take(listing);
    if (listing->context.space->row_count > 0)
        marginal_of_row(memory_viewer_columns_marginal(&listing->context), 0); /* a long CSV is written after this */
    if (table_is_lines(&listing->rows))
        table_lines_write(&listing->rows,
                          listing->has_paths ? memory_viewer_columns_csv : memory_viewer_columns_csv_without_paths);
    else
        json_write(listing, json);
    return true;
}
