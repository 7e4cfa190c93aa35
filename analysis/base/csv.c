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
    if (csv->heads == NULL && csv->is_in_row && !csv->is_cells)
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

/* What is not UTF-8 becomes U+FFFD. */
static void utf8_write(struct buf *out, struct str text, void (*byte_write)(struct buf *out, char c))
{
    for (size_t i = 0, length; i < text.length; i += length) {
        length = str_utf8_length(text.data + i, text.length - i);
        if (length == 1)
            byte_write(out, text.data[i]);
        else
            buf_add(out, length > 0 ? text.data + i : "\xEF\xBF\xBD", length > 0 ? length : 3);
        length = length > 0 ? length : 1;
    }
}

/* The lowest byte first. */
static void cells_number(struct buf *out, uint64_t number, int byte_count)
{
    for (int at = 0; at < byte_count; at++)
        buf_char(out, (char)(number >> (8 * at)));
}

static void cells_text(struct buf *out, struct str text)
{
    size_t before = out->length;
    cells_number(out, 0, 4);
    utf8_write(out, text, buf_char);
    if (out->failed)
        return;
    uint64_t length = out->length - before - 4;
    for (int at = 0; at < 4; at++)
        out->data[before + (size_t)at] = (char)(length >> (8 * at));
}

void csv_head_typed(struct csv *csv, const char *word, enum csv_type type, bool is_always)
{
    if (!cell_begin(csv, str_of(word)))
        return;
    if (!csv->is_cells) {
        buf_text(csv->out, word);
        return;
    }
    buf_char(csv->out, CSV_MARK_HEAD);
    buf_char(csv->out, (char)type);
    buf_char(csv->out, is_always);
    cells_text(csv->out, str_of(word));
}

void csv_head(struct csv *csv, const char *word) { csv_head_typed(csv, word, CSV_TYPE_TEXT, false); }

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
        utf8_write(csv->out, text, copy_byte);
        return;
    }
    if (csv->is_cells) {
        buf_char(csv->out, CSV_MARK_TEXT);
        cells_text(csv->out, text);
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
    if (!cell_begin(csv, STR("")))
        return;
    if (csv->is_cells) {
        buf_char(csv->out, CSV_MARK_INTEGER);
        cells_number(csv->out, (uint64_t)value, 8);
    } else {
        buf_format(csv->out, "%lld", (long long)value);
    }
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
    if (!cell_begin(csv, STR("")))
        return;
    if (csv->is_cells)
        buf_char(csv->out, CSV_MARK_NONE);
    else if (csv->heads != NULL || csv->is_copy)
        buf_text(csv->out, csv->is_copy ? "\\N" : "null");
}

void csv_row_end(struct csv *csv)
{
    if (csv->collected == NULL && !csv->is_cells)
        buf_text(csv->out, csv->is_copy ? "\n" : csv->heads != NULL ? csv->is_in_row ? "}\n" : "{}\n" : "\r\n");
    csv->is_in_row = false;
    csv->at = 0;
}

void csv_cell(struct csv *csv, const struct csv_cell *cell, bool is_head)
{
    if (is_head)
        csv_head_typed(csv, cell->head, cell->type, cell->is_always);
    else if (cell->kind == CSV_TEXT)
        csv_text(csv, str_of(cell->text));
    else if (cell->kind == CSV_INTEGER)
        csv_int(csv, cell->integer);
    else
        csv_none(csv);
}
