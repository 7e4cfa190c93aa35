/* SPDX-License-Identifier: Apache-2.0
 * table_write.c: rows as JSON, CSV and NDJSON, and what the columns are; see table.h. */
#include "views/table.h"

static void value_write(const struct table_value *value, struct json *json)
{
    switch (value->kind) {
    case TABLE_UNKNOWN: json_null(json); break;
    case TABLE_INTEGER: json_int(json, value->integer); break;
    case TABLE_REAL: json_double(json, value->real); break;
    case TABLE_STRING: json_string(json, value->text); break;
    }
}

void table_row_write(const struct table_column *columns, const void *context, uint32_t row, struct json *json)
{
    for (; columns->name != NULL; columns++) {
        if (columns->json == NULL)
            continue;
        json_key(json, columns->json);
        if (columns->write != NULL) {
            columns->write(json, context, row);
        } else {
            struct table_value value = (columns->member != NULL ? columns->member : columns->value)(context, row);
            value_write(&value, json);
        }
    }
}

void table_columns_write(const struct table_column *columns, const char *key, struct json *json)
{
    json_key_array(json, key);
    for (; columns->name != NULL; columns++) {
        const char *aliases = columns->aliases;
        if (columns->title == NULL && (columns->help == NULL || columns->name[0] == '\0'))
            continue;
        json_object_begin(json);
        json_key_text(json, "name", columns->name);
        json_key_array(json, "aliases");
        for (struct str alias; table_word_next(&aliases, &alias);)
            json_string(json, alias);
        json_array_end(json);
        json_key_text(json, "title", columns->title);
        json_key_text(json, "type", columns->type == TABLE_NUMBER ? "number" : "text");
        json_key_text(json, "unit", columns->unit);
        json_key_text(json, "field", columns->json);
        json_key_text(json, "csv", columns->csv);
        json_key_text(json, "help", columns->help);
        json_object_end(json);
    }
    json_array_end(json);
}

void table_head_write(const struct table_rows *rows, struct json *json)
{
    json_key_uint(json, "total_count", rows->taken);
    json_key_uint(json, "matched_count", rows->matched);
    json_key_int(json, "offset", rows->offset);
    table_columns_write(rows->spec->columns, "columns", json);
}

void table_rows_write(const struct table_rows *rows, const char *key, struct json *json)
{
    json_key_array(json, key);
    for (uint32_t at = rows->first; at < rows->end; at++) {
        json_object_begin(json);
        table_row_write(rows->spec->columns, rows->context, table_row_at(rows, at), json);
        json_object_end(json);
    }
    json_array_end(json);
}

/* ---- lines: CSV, NDJSON ---- */

static void cell_write(struct csv *csv, const struct table_column *column, const void *context, uint32_t row)
{
    if (column->cells != NULL) {
        column->cells(csv, context, row);
        return;
    }
    struct table_value value = row == TABLE_HEAD ? table_unknown() : column->value(context, row);
    bool is_text = value.kind == TABLE_STRING || (column->type != TABLE_NUMBER && csv->heads == NULL);
    if (row == TABLE_HEAD)
        csv_head(csv, column->csv);
    else if (value.kind == TABLE_INTEGER)
        csv_int(csv, value.integer);
    else if (value.kind == TABLE_REAL)
        csv_double(csv, value.real);
    else if (is_text)
        csv_text(csv, value.text);
    else
        csv_none(csv);
}

/* The columns of the lines, in their order. */
static size_t line_columns(const struct table_rows *rows, const char *names, const struct table_column ***out)
{
    const struct table_column *columns = rows->spec->columns;
    size_t count = 0, capacity = 1;
    bool is_all = names == NULL;
    while (columns[capacity - 1].name != NULL)
        capacity++;
    *out = arena_array(rows->request->arena, const struct table_column *, capacity);
    for (struct str name; count < capacity && table_word_next(&names, &name);)
        (*out)[count++] = table_column_find(columns, name);
    for (; is_all && columns->name != NULL; columns++)
        if (columns->csv != NULL || columns->cells != NULL)
            (*out)[count++] = columns;
    return count;
}

static void line_write(const struct table_lines *table, struct csv *csv, uint32_t row)
{
    for (size_t i = 0; i < table->lead_count; i++)
        csv_cell(csv, &table->lead[i], row == TABLE_HEAD);
    for (size_t i = 0; i < table->column_count; i++)
        cell_write(csv, table->columns[i], table->rows.context, row);
    csv_row_end(csv);
}

/* A column may have any number of cells, as many heads. */
static struct csv_heads *heads_collect(const struct table_lines *table)
{
    struct arena *arena = table->rows.request->arena;
    struct csv_heads *heads = arena_array(arena, struct csv_heads, 1);
    for (size_t capacity = 64;; capacity *= 2) {
        *heads = (struct csv_heads){arena_array(arena, struct str, capacity), 0, capacity};
        struct csv csv = {.collected = heads};
        line_write(table, &csv, TABLE_HEAD);
        if (heads->count < capacity)
            return heads;
    }
}

bool table_lines_next(const struct table_lines *table, uint64_t *at, size_t size_bytes, struct buf *out)
{
    const struct table_rows *rows = &table->rows;
    const uint64_t line_count = (uint64_t)rows->end - rows->first + table->head_count;
    struct csv csv = {.out = out, .heads = table->heads};
    for (; *at < line_count && out->length < size_bytes && !out->failed; ++*at)
        line_write(table, &csv,
                   *at < table->head_count ? TABLE_HEAD
                                           : table_row_at(rows, rows->first + (uint32_t)(*at - table->head_count)));
    return *at < line_count;
}

bool table_is_lines(const struct table_rows *rows)
{
    return table_is_format(rows, "csv") || table_is_format(rows, "ndjson");
}

void table_lines_write(const struct table_rows *rows, const char *names)
{
    const struct tool_request *request = rows->request;
    struct table_lines *table = arena_array(request->arena, struct table_lines, 1);
    uint64_t at = 0;
    table->rows = *rows;
    table->column_count = line_columns(rows, names, &table->columns);
    table->lead = request->lead;
    table->lead_count = request->lead_count;
    if (table_is_format(rows, "ndjson"))
        table->heads = heads_collect(table);
    else
        table->head_count = !request->is_headless;
    if (!table_lines_next(table, &at, request->rest != NULL ? TABLE_WHOLE_BYTES : SIZE_MAX, request->out) ||
        request->rest == NULL)
        return;
    buf_free(request->out);
    table_keep_order(&table->rows);
    *request->rest = table;
}
