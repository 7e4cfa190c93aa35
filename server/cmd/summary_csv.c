/* SPDX-License-Identifier: Apache-2.0 */
#include "server/cmd/summary.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char *const COLUMNS[] = {
    "total_bytes",     "peak_bytes",          "peak_unpadded_bytes", "indefinite_bytes",
    "parameter_bytes", "output_bytes",        "temporary_bytes",     "constant_bytes",
    "padding_bytes",   "fragmentation_bytes", "buffer_count",        "live_at_peak_count",
};
enum { MEMORY_COLUMN_COUNT = 8, COLUMN_COUNT = sizeof(COLUMNS) / sizeof(COLUMNS[0]) };
/* Of allocators, in rows without a module; rows of modules leave them empty. */
static const char MEMORY_COLUMNS[] = "memory,host,memory_peak_bytes,memory_peak_time_ps,memory_capacity_bytes,"
                                     "memory_lifetime_peak_bytes,allocation_count,deallocation_count";

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
    printf(",%s\n", MEMORY_COLUMNS);
}

static void put_commas(size_t count)
{
    while (count-- > 0)
        putchar(',');
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
        put_commas(MEMORY_COLUMN_COUNT);
        putchar('\n');
    }
}

/* Empty when it is not told. */
static void put_told(int64_t value)
{
    putchar(',');
    if (value >= 0)
        printf("%" PRId64, value);
}

static void write_memory(const struct summary_pool *pool)
{
    const struct analysis_trace_pool *figures = &pool->figures;
    put_text(pool->session->name);
    put_commas(2);
    put_text(pool->host->file->path);
    put_commas(3 + COLUMN_COUNT);
    put_text(figures->name);
    putchar(',');
    put_text(pool->host->name);
    printf(",%" PRId64 ",%" PRId64, figures->peak_bytes, figures->peak_time_ps);
    put_told(figures->capacity_bytes);
    put_told(figures->lifetime_peak_bytes);
    printf(",%" PRIu64 ",%" PRIu64 "\n", figures->allocation_count, figures->deallocation_count);
}

const struct summary_form summary_csv = {.begin = begin, .module = write_module, .memory = write_memory};
