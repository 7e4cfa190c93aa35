/* SPDX-License-Identifier: Apache-2.0 */
#include "server/summary.h"

#include <stdio.h>
#include <string.h>

static const char *const COLUMNS[] = {
    "total_bytes",     "peak_bytes",          "peak_unpadded_bytes", "indefinite_bytes",
    "parameter_bytes", "output_bytes",        "temporary_bytes",     "constant_bytes",
    "padding_bytes",   "fragmentation_bytes", "buffer_count",        "live_at_peak_count",
};
enum { COLUMN_COUNT = sizeof(COLUMNS) / sizeof(COLUMNS[0]) };

/* Quoted when it must be; a text that a spreadsheet would take for a formula gets a quote in front. */
static void put_text(const char *text)
{
    bool is_formula = text[0] && strchr("=+-@\t\r", text[0]);
    bool is_quoted = is_formula || text[strcspn(text, ",\"\r\n")] != '\0';
    if (is_quoted)
        putchar('"');
    if (is_formula)
        putchar('\'');
    for (; *text; text++) {
        if (*text == '"')
            putchar('"');
        putchar(*text);
    }
    if (is_quoted)
        putchar('"');
}

static void begin(void)
{
    fputs("session,module,file,space,space_name", stdout);
    for (size_t at = 0; at < COLUMN_COUNT; at++)
        printf(",%s", COLUMNS[at]);
    putchar('\n');
}

static void put_number(const cJSON *row, const char *name)
{
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(row, name);
    if (cJSON_IsNumber(value))
        printf("%.0f", value->valuedouble);
}

static void write_module(const struct summary_module *module, int64_t space)
{
    const struct modules_entry *entry = module->entry;
    const cJSON *row;
    cJSON_ArrayForEach(row, cJSON_GetObjectItemCaseSensitive(module->summary, "spaces"))
    {
        const cJSON *number = cJSON_GetObjectItemCaseSensitive(row, "space");
        const char *name = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(row, "name"));
        if (space != SUMMARY_ALL_SPACES && (!cJSON_IsNumber(number) || (int64_t)number->valuedouble != space))
            continue;
        put_text(module->session->name);
        putchar(',');
        put_text(entry->program->key);
        putchar(',');
        put_text(entry->file->file->path);
        putchar(',');
        put_number(row, "space");
        putchar(',');
        put_text(name ? name : "");
        for (size_t at = 0; at < COLUMN_COUNT; at++) {
            putchar(',');
            put_number(row, COLUMNS[at]);
        }
        putchar('\n');
    }
}

const struct summary_form summary_csv = {.begin = begin, .module = write_module};
