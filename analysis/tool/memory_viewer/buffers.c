/* SPDX-License-Identifier: Apache-2.0
 * buffers.c: the view "buffers": what takes memory, as rows that are sorted,
 * filtered and paged here; or all filtered rows as CSV. */
#include "base/csv.h"
#include "base/sum.h"
#include "input/shape.h"
#include "tool/memory_viewer/row_groups.h"

#include <stdlib.h>

enum { LIMIT_MOST = 1000, LIMIT_USUAL = 100, SORT_KEYS_MOST = 4 };

/* What is listed; `row` first, so that it serves as the filter's context. `key`: of the only group, or NULL. */
struct listing {
    struct row_fields_context row;
    const struct tool_request *request;
    const struct plan_space *space;
    const char *key;
    size_t way;
};

static bool is_in_group(const struct listing *listing, uint32_t at)
{
    return listing->key == NULL || str_equal(row_groups_key(&listing->row, at, listing->way), str_of(listing->key));
}

/* ---- sorting ---- */

struct sort_key {
    int field;
    bool is_descending;
};

struct sorted {
    uint32_t row;
    double numbers[SORT_KEYS_MOST];
    struct str texts[SORT_KEYS_MOST];
    const struct sort_key *keys;
    size_t key_count;
};

static int by_keys(const void *left, const void *right)
{
    const struct sorted *a = left, *b = right;
    for (size_t i = 0; i < a->key_count; i++) {
        int order = row_fields[a->keys[i].field].kind == FILTER_NUMBER ? (a->numbers[i] > b->numbers[i]) - (a->numbers[i] < b->numbers[i])
                                                       : str_compare(a->texts[i], b->texts[i]);
        if (order != 0)
            return a->keys[i].is_descending ? -order : order;
    }
    return (a->row > b->row) - (a->row < b->row);
}

/* "-size,name": the fields by the names they have in a filter, and their longer ones. */
static bool keys_read(const char *text, struct sort_key *keys, size_t *count, struct err *err)
{
    static const struct {
        const char *name;
        int field;
    } longer[] = {{"padding", ROW_PADDING}, {"category", ROW_CATEGORY}, {"opcode", ROW_OPCODE}, {"source", ROW_LINE}, {"bytes", ROW_SIZE}};
    *count = 0;
    while (*text != '\0') {
        bool is_descending = *text == '-';
        text += is_descending;
        size_t length = strcspn(text, ",");
        struct str name = {text, length};
        int field = -1;
        for (int i = 0; i < ROW_FIELD_COUNT; i++)
            if (length > 0 && row_fields[i].kind != FILTER_SPAN && str_equal(name, str_of(row_fields[i].name)))
                field = i;
        for (size_t i = 0; i < sizeof longer / sizeof longer[0]; i++)
            if (str_equal(name, str_of(longer[i].name)))
                field = longer[i].field;
        if (field < 0)
            return err_set(err, ERR_argument, ERR_NO_OFFSET, "sort: unknown column \"%.*s\"", length > 40 ? 40 : (int)length, text);
        if (*count == SORT_KEYS_MOST)
            return err_set(err, ERR_argument, ERR_NO_OFFSET, "sort: more than %d columns", SORT_KEYS_MOST);
        keys[(*count)++] = (struct sort_key){field, is_descending};
        text += length + (text[length] == ',');
    }
    return true;
}

static void key_values(const struct listing *listing, struct sorted *item)
{
    struct arena *arena = listing->request->arena;
    for (size_t i = 0; i < item->key_count; i++) {
        size_t field = (size_t)item->keys[i].field;
        item->numbers[i] = -1; /* what has no number comes before all */
        if (row_fields[field].kind == FILTER_NUMBER) {
            row_fields_number(&listing->row, item->row, field, &item->numbers[i]);
        } else {
            struct str text = row_fields_text(&listing->row, item->row, field);
            item->texts[i] = (struct str){arena_text(arena, text), text.length};
        }
    }
}

/* ---- output ---- */

struct matched {
    struct sorted *items;
    uint32_t count, total_count;
    int64_t bytes, total_bytes, largest_bytes;
};

static struct matched match(const struct listing *listing, const struct filter *filter, const struct sort_key *keys, size_t key_count,
                            uint32_t step, bool is_all)
{
    uint32_t most = is_all ? listing->space->row_count : views_alive_count(listing->space, step);
    struct matched matched = {arena_array(listing->request->arena, struct sorted, (size_t)most + 1), 0, 0, 0, 0, 0};
    for (uint32_t i = 0; i < listing->space->row_count; i++) {
        const struct plan_row *row = &listing->space->rows[i];
        if (!is_all && !plan_row_is_alive(row, step))
            continue;
        matched.total_count++;
        matched.total_bytes = sum_add(matched.total_bytes, row->bytes);
        if (!filter_matches(filter, i) || !is_in_group(listing, i))
            continue;
        struct sorted *item = &matched.items[matched.count++];
        *item = (struct sorted){.row = i, .keys = keys, .key_count = key_count};
        key_values(listing, item);
        matched.bytes = sum_add(matched.bytes, row->bytes);
        if (row->bytes > matched.largest_bytes)
            matched.largest_bytes = row->bytes;
    }
    qsort(matched.items, matched.count, sizeof *matched.items, by_keys);
    return matched;
}

static void known_cell(struct csv *csv, int64_t value, bool is_known)
{
    if (is_known)
        csv_int(csv, value);
    else
        csv_none(csv);
}

static void csv_write(const struct listing *listing, const struct matched *matched, bool has_paths)
{
    static const enum row_field before[] = {ROW_ID, ROW_NAME, ROW_OPCODE, ROW_CATEGORY, ROW_SHAPE, ROW_DTYPE};
    struct csv csv = CSV_INIT(listing->request->out);
    buf_format(csv.out, "id,name,opcode,category,shape,dtype,size_bytes,unpadded_bytes,padding_bytes,born_step,dies_step,"
                        "allocation_index,allocation_offset_bytes%s,op_name\r\n", has_paths ? ",source" : "");
    for (uint32_t i = 0; i < matched->count; i++) {
        uint32_t at = matched->items[i].row;
        const struct plan_row *row = &listing->space->rows[at];
        bool has_size = row->unpadded_bytes != SHAPE_UNKNOWN_SIZE;
        for (size_t field = 0; field < sizeof before / sizeof before[0]; field++)
            csv_text(&csv, row_fields_text(&listing->row, at, before[field]));
        csv_int(&csv, row->bytes);
        known_cell(&csv, row->unpadded_bytes, has_size);
        known_cell(&csv, views_padding(row), has_size);
        known_cell(&csv, row->born, !row->is_indefinite);
        known_cell(&csv, row->dies, !row->is_indefinite && row->dies < listing->space->step_count);
        csv_int(&csv, listing->request->plan->hlo.allocations[row->allocation_at].index);
        csv_int(&csv, row->offset_bytes);
        if (has_paths)
            csv_text(&csv, row_fields_text(&listing->row, at, ROW_LINE));
        csv_text(&csv, row_fields_text(&listing->row, at, ROW_SCOPE));
        csv_row_end(&csv);
    }
}

/* Ranks of the rows of one page; NULL where all steps are listed. */
static struct row_ranks *page_ranks(const struct listing *listing, const struct matched *matched, uint32_t step, bool is_all,
                                    uint32_t first, uint32_t count)
{
    struct arena *arena = listing->request->arena;
    if (is_all || count == 0)
        return NULL;
    uint32_t *rows = arena_array(arena, uint32_t, count);
    struct row_ranks *ranks = arena_array(arena, struct row_ranks, count);
    for (uint32_t i = 0; i < count; i++)
        rows[i] = matched->items[first + i].row;
    row_ranks_find(listing->space, step, rows, count, arena, ranks);
    return ranks;
}

static void json_write(const struct listing *listing, struct json *json, const struct matched *matched, uint32_t step, bool is_all,
                       int64_t offset, int64_t limit)
{
    json_object_begin(json);
    json_key_int(json, "space", listing->space->space);
    json_key_known(json, "step", is_all ? -1 : (int64_t)step);
    json_key_uint(json, "total_count", matched->total_count);
    json_key_int(json, "total_bytes", matched->total_bytes);
    json_key_uint(json, "matched_count", matched->count);
    json_key_int(json, "matched_bytes", matched->bytes);
    json_key_int(json, "largest_bytes", matched->largest_bytes);
    json_key_int(json, "offset", offset);
    json_key(json, "rows");
    json_array_begin(json);
    uint32_t first = offset < matched->count ? (uint32_t)offset : matched->count;
    uint32_t count = matched->count - first < limit ? matched->count - first : (uint32_t)limit;
    const struct row_ranks *ranks = page_ranks(listing, matched, step, is_all, first, count);
    for (uint32_t i = 0; i < count; i++) {
        json_object_begin(json);
        views_buffer_write(listing->request, json, listing->space, &listing->space->rows[matched->items[first + i].row]);
        views_ranks_write(json, ranks != NULL ? &ranks[i] : NULL);
        json_object_end(json);
    }
    json_array_end(json);
    json_object_end(json);
}

bool memory_viewer_buffers(const struct tool_request *request, struct json *json, struct err *err)
{
    struct listing listing = {.request = request, .space = views_space(request, err)};
    struct filter_table table = {row_fields, row_fields_text, row_fields_number, &listing.row};
    struct filter filter;
    struct sort_key keys[SORT_KEYS_MOST];
    size_t key_count;
    const char *filter_text = tool_param_text(request, "filter"), *sort_text = tool_param_text(request, "sort");
    int64_t offset, limit;
    uint32_t step;
    bool is_all, is_csv, has_paths;
    listing.row = (struct row_fields_context){request, listing.space};
    listing.key = tool_param_text(request, "key");
    if (listing.space == NULL || !views_step(request, listing.space, true, &step, &is_all, err) ||
        !row_groups_way(request, 0, &listing.way, err) ||
        !views_format(request, &is_csv, err) || !views_paths(request, &has_paths, err) || !tool_param_number(request, "offset", 0, UINT32_MAX, 0, &offset, err) ||
        !tool_param_number(request, "limit", 0, LIMIT_MOST, LIMIT_USUAL, &limit, err) ||
        !keys_read(sort_text != NULL ? sort_text : "-size", keys, &key_count, err) ||
        !filter_read(filter_text != NULL ? filter_text : "", &table, request->arena, &filter, err))
        return false;
    struct matched matched = match(&listing, &filter, keys, key_count, step, is_all);
    if (is_csv)
        csv_write(&listing, &matched, has_paths);
    else
        json_write(&listing, json, &matched, step, is_all, offset, limit);
    return true;
}
