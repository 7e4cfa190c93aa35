/* SPDX-License-Identifier: Apache-2.0
 * rows.c: see rows.h. */
#include "tool/memory_profile/rows.h"

#include "base/select.h"

#include <stdio.h>
#include <stdlib.h>

enum { LIMIT_MOST = 1000, LIMIT_USUAL = 100, SPARE_LEAST = 1024 };

static bool field_find(const struct memory_profile_rows *rows, struct str name, size_t *field)
{
    const struct filter_field *fields = rows->table->fields;
    for (const struct memory_profile_rows_sort *longer = rows->longer; longer != NULL && longer->name != NULL; longer++)
        if (str_equal(name, str_of(longer->name))) {
            *field = longer->field;
            return true;
        }
    for (*field = 0; fields[*field].name != NULL; ++*field)
        if (str_equal(name, str_of(fields[*field].name)))
            return true;
    return false;
}

/* "-size,op". */
static bool keys_read(struct memory_profile_rows *rows, const char *text, struct err *err)
{
    while (*text != '\0') {
        bool is_descending = *text == '-';
        text += is_descending;
        size_t length = strcspn(text, ","), field;
        if (!field_find(rows, (struct str){text, length}, &field))
            return err_set(err, ERR_argument, ERR_NO_OFFSET, "sort: unknown column \"%.*s\"",
                           length > 40 ? 40 : (int)length, text);
        if (rows->key_count == PROFILE_ROWS_KEYS)
            return err_set(err, ERR_argument, ERR_NO_OFFSET, "sort: more than %d columns", PROFILE_ROWS_KEYS);
        rows->fields[rows->key_count] = field;
        rows->is_descending[rows->key_count++] = is_descending;
        text += length + (text[length] == ',');
    }
    return true;
}

static bool is_by_numbers(const struct memory_profile_rows *rows)
{
    for (size_t i = 0; i < rows->key_count; i++)
        if (rows->table->fields[rows->fields[i]].kind != FILTER_NUMBER)
            return false;
    return true;
}

/* The end of the page. */
static uint32_t need_of(const struct memory_profile_rows *rows, uint32_t capacity)
{
    return rows->offset + rows->limit < capacity ? (uint32_t)(rows->offset + rows->limit) : capacity;
}

bool memory_profile_rows_begin(struct memory_profile_rows *rows, const struct tool_request *request, const struct filter_table *table,
                        const struct memory_profile_rows_sort *longer, const char *usual_sort, uint32_t capacity,
                        struct err *err)
{
    const char *sort = tool_param_text(request, "sort"), *filter = tool_param_text(request, "filter");
    const char *format = tool_param_text(request, "format");
    *rows = (struct memory_profile_rows){.request = request, .table = table, .longer = longer, .capacity = capacity};
    if (format != NULL && strcmp(format, "csv") != 0 && strcmp(format, "json") != 0 && format[0] != '\0')
        return err_set(err, ERR_argument, ERR_NO_OFFSET, "format: \"%.40s\" is neither json nor csv", format);
    rows->is_csv = format != NULL && strcmp(format, "csv") == 0;
    if (!tool_param_number(request, "offset", 0, UINT32_MAX, 0, &rows->offset, err) ||
        !tool_param_number(request, "limit", 0, LIMIT_MOST, LIMIT_USUAL, &rows->limit, err) ||
        !keys_read(rows, sort != NULL && sort[0] != '\0' ? sort : usual_sort, err) ||
        !filter_read(filter != NULL ? filter : "", table, request->arena, &rows->filter, err))
        return false;
    table_init(&rows->ranks_of, request->arena, 2);
    rows->need = rows->is_csv || !is_by_numbers(rows) ? capacity : need_of(rows, capacity);
    if (rows->need <= capacity / 4) /* else all are kept */
        rows->capacity = rows->need * 2 > SPARE_LEAST ? rows->need * 2 : SPARE_LEAST;
    rows->items = arena_raw(request->arena, ((size_t)rows->capacity + 1) * sizeof *rows->items);
    return true;
}

static int compare(const void *left, const void *right)
{
    const struct memory_profile_rows_item *a = left, *b = right;
    for (int i = 0; i < PROFILE_ROWS_KEYS; i++)
        if (a->keys[i] != b->keys[i])
            return a->keys[i] < b->keys[i] ? -1 : 1;
    return (a->row > b->row) - (a->row < b->row);
}

/* Makes room: the least that are needed stay. */
static void least_keep(struct memory_profile_rows *rows)
{
    select_least(rows->request->arena, rows->items, rows->kept, sizeof *rows->items, rows->need, compare);
    rows->kept = rows->need;
    rows->bound = rows->items[0];
    for (uint32_t i = 1; i < rows->kept; i++)
        if (compare(&rows->items[i], &rows->bound) > 0)
            rows->bound = rows->items[i];
    rows->has_bound = true;
}

bool memory_profile_rows_add(struct memory_profile_rows *rows, uint32_t row)
{
    if (rows->filter.term_count > 0 && !filter_matches(&rows->filter, row))
        return false;
    struct memory_profile_rows_item item = {.row = row};
    for (size_t i = 0; i < rows->key_count; i++) {
        size_t field = rows->fields[i];
        item.keys[i] = -1e300; /* what has no number comes before all */
        if (rows->table->fields[field].kind == FILTER_NUMBER) {
            rows->table->number(rows->table->context, row, field, &item.keys[i]);
            item.keys[i] = rows->is_descending[i] ? -item.keys[i] : item.keys[i];
        } else {
            struct str text = rows->table->text(rows->table->context, row, field);
            uint64_t key[2] = {(uint64_t)(uintptr_t)text.data, text.length};
            item.keys[i] = (double)table_number(&rows->ranks_of, key);
        }
    }
    rows->count++;
    if (rows->has_bound && compare(&item, &rows->bound) >= 0)
        return true;
    if (rows->kept == rows->capacity)
        least_keep(rows);
    rows->items[rows->kept++] = item;
    return true;
}

struct ranked {
    struct str text;
    uint32_t number;
};

static int by_text(const void *left, const void *right)
{
    const struct ranked *a = left, *b = right;
    return str_compare(a->text, b->text);
}

/* Texts so far stand for themselves by number; from here on by their rank. */
static void ranks_make(struct memory_profile_rows *rows)
{
    size_t count = table_count(&rows->ranks_of);
    struct ranked *ranked = arena_array(rows->request->arena, struct ranked, count + 1);
    rows->rank = arena_array(rows->request->arena, uint32_t, count + 1);
    for (size_t i = 0; i < count; i++) {
        const uint64_t *key = table_key(&rows->ranks_of, i);
        ranked[i] = (struct ranked){{(const char *)(uintptr_t)key[0], (size_t)key[1]}, (uint32_t)i};
    }
    qsort(ranked, count, sizeof *ranked, by_text);
    for (size_t i = 0, rank = 0; i < count; i++) {
        rank = i > 0 && by_text(&ranked[i], &ranked[i - 1]) == 0 ? rank : i;
        rows->rank[ranked[i].number] = (uint32_t)rank;
    }
    for (size_t k = 0; k < rows->key_count; k++) {
        if (rows->table->fields[rows->fields[k]].kind == FILTER_NUMBER)
            continue;
        for (uint32_t i = 0; i < rows->kept; i++) {
            double rank = (double)rows->rank[(uint32_t)rows->items[i].keys[k]];
            rows->items[i].keys[k] = rows->is_descending[k] ? -rank : rank;
        }
    }
}

void memory_profile_rows_order(struct memory_profile_rows *rows, uint32_t *first, uint32_t *end)
{
    ranks_make(rows);
    *first = rows->is_csv ? 0 : rows->offset < rows->count ? (uint32_t)rows->offset : rows->count;
    *end = rows->is_csv || rows->limit > rows->count - *first ? rows->count : *first + (uint32_t)rows->limit;
    if (*first == *end) { /* behind the last row: nothing that was kept is asked for */
        *first = *end = 0;
        return;
    }
    if (*end < rows->kept)
        select_least(rows->request->arena, rows->items, rows->kept, sizeof *rows->items, *end, compare);
    qsort(rows->items, *end, sizeof *rows->items, compare);
}

void memory_profile_rows_counts(struct json *json, const struct memory_profile_rows *rows, uint32_t total, int64_t matched_bytes)
{
    json_key_uint(json, "total", total);
    json_key_uint(json, "matched", rows->count);
    json_key_int(json, "matched_bytes", matched_bytes);
    json_key_int(json, "offset", rows->offset);
}

void memory_profile_rows_key(struct json *json, const struct str *parts, size_t count, int64_t number)
{
    char text[24];
    uint64_t hash = 14695981039346656037ULL ^ (uint64_t)number; /* FNV-1a */
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j <= parts[i].length; j++)
            hash = (hash ^ (j < parts[i].length ? (unsigned char)parts[i].data[j] : 0xFFu)) * 1099511628211ULL;
    snprintf(text, sizeof text, "g:%016llx", (unsigned long long)hash);
    json_key_text(json, "key", text);
}

void memory_profile_rows_cell(struct csv *csv, int64_t value, bool is_known)
{
    if (is_known)
        csv_int(csv, value);
    else
        csv_none(csv);
}
