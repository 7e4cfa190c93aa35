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
        buf_char(csv->out, csv->is_copy ? '\t' : ',');
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

/* What PostgreSQL takes for the end of a cell or of a row, or for the beginning of such a sequence. It has no NUL in
 * texts. */
static void copy_byte(struct buf *out, char c)
{
    static const char bytes[] = "\\\t\n\r", letters[] = "\\tnr";
    const char *at = c != '\0' ? strchr(bytes, c) : NULL;
    if (c == '\0')
        buf_add(out, "\xEF\xBF\xBD", 3);
    else if (at != NULL)
        buf_format(out, "\\%c", letters[at - bytes]);
    else
        buf_char(out, c);
}

static void copy_write(struct csv *csv, struct str text)
{
    for (size_t i = 0, length; i < text.length; i += length) {
        length = str_utf8_length(text.data + i, text.length - i);
        if (length == 1)
            copy_byte(csv->out, text.data[i]);
        else
            buf_add(csv->out, length > 0 ? text.data + i : "\xEF\xBF\xBD", length > 0 ? length : 3);
        length = length > 0 ? length : 1;
    }
}

bool csv_is_formula(struct str text)
{
    static const char *const wide[] = {"＝", "＋", "－", "＠"};
    if (text.length > 0 && memchr("=+-@\t\r\n", text.data[0], 7) != NULL)
        return true;
    for (size_t at = 0; at < sizeof(wide) / sizeof(wide[0]); at++)
        if (str_starts(text, str_of(wide[at])))
            return true;
    return false;
}

void csv_text(struct csv *csv, struct str text)
{
    if (!cell_begin(csv, text))
        return;
    if (csv->heads != NULL) {
        value_write(csv, text);
        return;
    }
    if (csv->is_copy) {
        copy_write(csv, text);
        return;
    }
    buf_char(csv->out, '"');
    if (csv_is_formula(text))
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
    if (cell_begin(csv, STR("")) && (csv->heads != NULL || csv->is_copy))
        buf_text(csv->out, csv->is_copy ? "\\N" : "null");
}

void csv_row_end(struct csv *csv)
{
    if (csv->collected == NULL)
        buf_text(csv->out, csv->is_copy ? "\n" : csv->heads != NULL ? csv->is_in_row ? "}\n" : "{}\n" : "\r\n");
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
