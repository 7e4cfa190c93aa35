/* SPDX-License-Identifier: Apache-2.0 */
#include "base/csv.h"

static void cell_begin(struct csv *csv)
{
    if (csv->is_in_row)
        buf_char(csv->out, ',');
    csv->is_in_row = true;
}

void csv_head(struct csv *csv, const char *word)
{
    cell_begin(csv);
    buf_text(csv->out, word);
}

void csv_text(struct csv *csv, struct str text)
{
    cell_begin(csv);
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
    cell_begin(csv);
    buf_format(csv->out, "%lld", (long long)value);
}

void csv_double(struct csv *csv, double value)
{
    cell_begin(csv);
    buf_format(csv->out, "%.6g", value);
}

void csv_none(struct csv *csv) { cell_begin(csv); }

void csv_row_end(struct csv *csv)
{
    buf_text(csv->out, "\r\n");
    csv->is_in_row = false;
}
