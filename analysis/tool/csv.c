/* SPDX-License-Identifier: Apache-2.0
 * csv.c: see csv.h. */
#include "tool/csv.h"

void csv_text(struct buf *out, struct str text)
{
    bool is_formula = text.length > 0 && strchr("=+-@\t\r", text.data[0]) != NULL;
    buf_char(out, '"');
    if (is_formula)
        buf_char(out, '\'');
    for (size_t i = 0; i < text.length; i++) {
        if (text.data[i] == '"')
            buf_char(out, '"');
        buf_char(out, text.data[i]);
    }
    buf_add(out, "\",", 2);
}

void csv_number(struct buf *out, int64_t value, bool is_known)
{
    if (is_known)
        buf_format(out, "%lld,", (long long)value);
    else
        buf_char(out, ',');
}

void csv_end(struct buf *out)
{
    if (out->length > 0 && !out->failed)
        out->length--;
    buf_add(out, "\r\n", 2);
}
