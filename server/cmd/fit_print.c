/* SPDX-License-Identifier: Apache-2.0 */
#include "server/cmd/fit_print.h"

#include "base/printable.h"
#include "base/size_text.h"
#include "base/sum.h"

#include <stdio.h>
#include <string.h>

static const char *fit_text(const cJSON *object, const char *name)
{
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, name));
    return text ? text : "";
}

int64_t fit_print_number(const cJSON *object, const char *name)
{
    const cJSON *member = cJSON_GetObjectItemCaseSensitive(object, name);
    return cJSON_IsNumber(member) ? sum_of_real(member->valuedouble) : -1;
}

/* "-1.05 GiB" */
static void size_put(struct buf *out, int64_t bytes, int width)
{
    char size[SIZE_TEXT_BYTES], text[SIZE_TEXT_BYTES + 2];
    snprintf(text, sizeof(text), "%s%s", bytes < 0 ? "-" : "",
             size_text(size, bytes < 0 ? (uint64_t)-bytes : (uint64_t)bytes));
    buf_format(out, "%*s", width, text);
}

/* "batch=0.5 + donate=all → 5.42 GiB (model)" */
static void remedy_put(struct buf *out, const cJSON *remedy)
{
    const cJSON *change;
    const char *before = "";
    char size[SIZE_TEXT_BYTES];
    cJSON_ArrayForEach(change, cJSON_GetObjectItemCaseSensitive(remedy, "changes"))
    {
        buf_text(out, before);
        buf_printable(out, str_of(cJSON_IsString(change) ? change->valuestring : ""));
        before = " + ";
    }
    buf_format(out, " → %s (%s)", size_text(size, (uint64_t)fit_print_number(remedy, "total_bytes")),
               fit_text(remedy, "confidence"));
}

static void row_put(struct buf *out, const cJSON *row)
{
    const cJSON *remedy = cJSON_GetObjectItemCaseSensitive(row, "remedy");
    buf_format(out, "  %-11s", fit_text(row, "device"));
    size_put(out, fit_print_number(row, "needed_bytes"), 12);
    size_put(out, fit_print_number(row, "capacity_bytes"), 12);
    size_put(out, sum_of_real(cJSON_GetNumberValue(cJSON_GetObjectItemCaseSensitive(row, "headroom_bytes"))), 13);
    buf_format(out, "  %-15s  %-8s", fit_text(row, "word"), fit_text(row, "source"));
    if (cJSON_IsObject(remedy)) {
        buf_text(out, "  ");
        remedy_put(out, remedy);
    }
    while (out->length > 0 && out->data[out->length - 1] == ' ')
        out->length--;
    buf_char(out, '\n');
}

/* What a compiler said where it gave no figure; each sentence once. */
static void refusals_put(struct buf *out, const cJSON *rows)
{
    const cJSON *row, *earlier;
    cJSON_ArrayForEach(row, rows)
    {
        const char *sentence = fit_text(cJSON_GetObjectItemCaseSensitive(row, "compile"), "sentence");
        bool is_first = sentence[0] != '\0' && strcmp(fit_text(row, "source"), "compiled") != 0;
        for (earlier = rows->child; is_first && earlier != row; earlier = earlier->next)
            is_first =
                strcmp(sentence, fit_text(cJSON_GetObjectItemCaseSensitive(earlier, "compile"), "sentence")) != 0;
        if (!is_first)
            continue;
        buf_format(out, "  Not compiled for %s: ", fit_text(row, "device"));
        buf_printable(out, str_of(sentence));
        buf_char(out, '\n');
    }
}

void fit_print(const cJSON *program, struct buf *out)
{
    const cJSON *rows = cJSON_GetObjectItemCaseSensitive(program, "rows"), *row;
    buf_printable(out, str_of(fit_text(program, "name")));
    buf_text(out, ": ");
    buf_printable(out, str_of(fit_text(program, "sentence")));
    buf_format(out, "\n  %-11s%12s%12s%13s  %-15s  %-8s  %s\n", "device", "needs", "has", "headroom", "", "by",
               "would fit");
    cJSON_ArrayForEach(row, rows) row_put(out, row);
    refusals_put(out, rows);
    buf_format(out, "  %s\n", fit_text(program, "note"));
}
