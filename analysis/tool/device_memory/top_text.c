/* SPDX-License-Identifier: Apache-2.0
 * top_text.c: see device_memory_top.h. Names come out of files: only what a terminal
 * can print reaches it. */
#include "base/size_text.h"
#include "tool/device_memory/top.h"

#include <stdio.h>

enum { VALUE_TEXT = 32, PERCENT_TEXT = 16 };

/* "76.29 MiB", "-512 B"; other units as they are. */
static void value_text(char out[VALUE_TEXT], int64_t value, struct str unit)
{
    if (str_equal(unit, STR("bytes")))
        size_text_column(out, value);
    else
        snprintf(out, VALUE_TEXT, "%lld", (long long)value);
}

static void percent_text(char out[PERCENT_TEXT], int64_t value, int64_t whole)
{
    snprintf(out, PERCENT_TEXT, "%.2f%%", study_percent(value, whole));
}

static void name_write(struct buf *out, struct str name)
{
    for (size_t i = 0; i < name.length; i++) {
        unsigned char c = (unsigned char)name.data[i];
        size_t length = str_utf8_length(name.data + i, name.length - i);
        bool is_plain = c >= 0x20 && c != 0x7F && length > 0 && !(c == 0xC2 && (unsigned char)name.data[i + 1] < 0xA0);
        if (is_plain)
            buf_add(out, name.data + i, length);
        else
            buf_format(out, "\\x%02x", c);
        i += is_plain ? length - 1 : 0;
    }
    buf_char(out, '\n');
}

void device_memory_top_text(const struct sums *sums, const struct table_rows *rows)
{
    const struct study *study = sums->study;
    struct buf *out = study->request->out, *scratch = study->request->scratch;
    const struct pprof_type *type = &study->pprof->types[study->metric];
    char flat[VALUE_TEXT], cum[VALUE_TEXT], flat_percent[PERCENT_TEXT], sum_percent[PERCENT_TEXT],
        cum_percent[PERCENT_TEXT];
    int64_t sum = 0;
    value_text(flat, study->total, type->unit);
    value_text(cum, study->percent_base, type->unit);
    buf_format(out, "%.*s: %s, 100 %% is %s\n", (int)type->name.length, type->name.data, flat, cum);
    if (study->unknown_count > 0)
        buf_format(out, "%lld executables of unknown size are not in these sums\n", (long long)study->unknown_count);
    if (study->folds)
        buf_text(
            out,
            "frames of JAX and Python count for the line that called them; machinery lists them too, as pprof does\n");
    buf_format(out, "%12s %8s %8s %12s %8s  %s\n", "flat", "flat%", "sum%", "cum", "cum%", "name");
    for (uint32_t i = rows->first; i < rows->end; i++) {
        uint32_t frame = sums->listed[table_row_at(rows, i)];
        const struct sums_row *row = &sums->rows[frame];
        sum = pprof_add(sum, row->self);
        value_text(flat, row->self, type->unit);
        value_text(cum, row->total, type->unit);
        percent_text(flat_percent, row->self, study->percent_base);
        percent_text(sum_percent, sum, study->percent_base);
        percent_text(cum_percent, row->total, study->percent_base);
        buf_format(out, "%12s %8s %8s %12s %8s  ", flat, flat_percent, sum_percent, cum, cum_percent);
        frames_full_name(study->frames, frame, scratch);
        name_write(out, (struct str){scratch->data, scratch->length});
    }
    if (rows->matched > rows->end)
        buf_format(out, "… %u more\n", rows->matched - rows->end);
}
