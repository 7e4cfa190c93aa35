/* SPDX-License-Identifier: Apache-2.0 */
#include "base/csv.h"

#include "base/json.h"

/* Where a cell begins; false: it is a head, and was only collected. */
static bool cell_begin(struct csv *csv, struct str head)
{
    struct csv_heads *collected = csv->collected;
    if (collected != NULL) {
        if (collected->count < collected->capacity)
            collected->items[collected->count++] = head;
        return false;
    }
    if (csv->heads == NULL && csv->is_in_row)
        buf_char(csv->out, ',');
    if (csv->heads != NULL) {
        struct json json = JSON_INIT(csv->out);
        buf_char(csv->out, csv->is_in_row ? ',' : '{');
        json_key_name(&json, csv->at < csv->heads->count ? csv->heads->items[csv->at++] : STR(""));
    }
    csv->is_in_row = true;
    return true;
}

static void value_write(struct csv *csv, struct str text)
{
    struct json json = JSON_INIT(csv->out);
    json_string(&json, text);
}

void csv_head(struct csv *csv, const char *word)
{
    if (cell_begin(csv, str_of(word)))
        buf_text(csv->out, word);
}

void csv_text(struct csv *csv, struct str text)
{
    if (!cell_begin(csv, text))
        return;
    if (csv->heads != NULL) {
        value_write(csv, text);
        return;
    }
    buf_char(csv->out, '"');
    if (text.length > 0 && memchr("=+-@\t\r", text.data[0], 6) != NULL)
        buf_char(csv->out, '\'');
    for (size_t i = 0; i < text.length; i++) {
        if (text.data[i] == '"')
            buf_char(csv->out, '"');
        buf_char(csv->out, text.data[i]);
    }
    buf_char(csv->out, '"');
}

void csv_int(struct csv *csv, int64_t value)
{
    if (cell_begin(csv, STR("")))
        buf_format(csv->out, "%lld", (long long)value);
}

void csv_double(struct csv *csv, double value)
{
    struct json json = JSON_INIT(csv->out);
    if (!cell_begin(csv, STR("")))
        return;
    if (csv->heads != NULL)
        json_double(&json, value); /* what is no number is null */
    else
        buf_format(csv->out, "%.6g", value);
}

void csv_none(struct csv *csv)
{
    if (cell_begin(csv, STR("")) && csv->heads != NULL)
        buf_text(csv->out, "null");
}

void csv_row_end(struct csv *csv)
{
    if (csv->collected == NULL)
        buf_text(csv->out, csv->heads != NULL ? csv->is_in_row ? "}\n" : "{}\n" : "\r\n");
    csv->is_in_row = false;
    csv->at = 0;
}

void csv_cell(struct csv *csv, const struct csv_cell *cell, bool is_head)
{
    if (is_head)
        csv_head(csv, cell->head);
    else if (cell->kind == CSV_TEXT)
        csv_text(csv, str_of(cell->text));
    else if (cell->kind == CSV_INTEGER)
        csv_int(csv, cell->integer);
    else
        csv_none(csv);
}
