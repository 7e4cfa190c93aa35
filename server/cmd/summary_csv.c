/* SPDX-License-Identifier: Apache-2.0 */
#include "server/cmd/summary.h"

#include "base/buf.h"
#include "base/csv.h"
#include "base/sum.h"
#include "server/base/output.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char *const COLUMNS[] = {
    "total_bytes",     "peak_bytes",          "peak_unpadded_bytes", "indefinite_bytes",
    "parameter_bytes", "output_bytes",        "temporary_bytes",     "constant_bytes",
    "padding_bytes",   "fragmentation_bytes", "buffer_count",        "live_at_peak_count",
};
enum { MEMORY_COLUMN_COUNT = 8, COLUMN_COUNT = sizeof(COLUMNS) / sizeof(COLUMNS[0]) };
/* Columns for allocators, in rows without a module; rows of modules leave them empty. */
static const char MEMORY_COLUMNS[] = "memory,host,memory_peak_bytes,memory_peak_time_ps,memory_capacity_bytes,"
                                     "memory_lifetime_peak_bytes,allocation_count,deallocation_count";

/* Quoted when it must be; a text that a spreadsheet would take for a formula gets a quote in front. */
static void put_text(struct buf *row, const char *text)
{
    bool is_formula = csv_is_formula(str_of(text));
    bool is_quoted = is_formula || text[strcspn(text, ",\"\r\n")] != '\0';
    if (is_quoted)
        buf_char(row, '"');
    if (is_formula)
        buf_char(row, '\'');
    for (; *text; text++) {
        if (*text == '"')
            buf_char(row, '"');
        buf_char(row, *text);
    }
    if (is_quoted)
        buf_char(row, '"');
}

static void put_row(struct buf *row)
{
    buf_char(row, '\n');
    if (!row->failed)
        (void)!output_data(stdout, row->data, row->length);
    buf_free(row);
}

static void summary_csv_begin(void)
{
    struct buf row = BUF_INIT;
    buf_text(&row, "session,module,file,space,space_name");
    for (size_t at = 0; at < COLUMN_COUNT; at++)
        buf_format(&row, ",%s", COLUMNS[at]);
    buf_format(&row, ",%s", MEMORY_COLUMNS);
    put_row(&row);
}

static void put_commas(struct buf *row, size_t count)
{
    while (count-- > 0)
        buf_char(row, ',');
}

static void put_number(struct buf *row, const cJSON *space, const char *name)
{
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(space, name);
    if (cJSON_IsNumber(value))
        buf_format(row, "%.0f", value->valuedouble);
}

static void write_space(const struct summary_module *module, const cJSON *space)
{
    const struct modules_entry *entry = module->entry;
    const char *name = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(space, "name"));
    struct buf row = BUF_INIT;
    put_text(&row, module->session->name);
    buf_char(&row, ',');
    put_text(&row, entry->program->key);
    buf_char(&row, ',');
    put_text(&row, entry->file->file->path);
    buf_char(&row, ',');
    put_number(&row, space, "space");
    buf_char(&row, ',');
    put_text(&row, name ? name : "");
    for (size_t at = 0; at < COLUMN_COUNT; at++) {
        buf_char(&row, ',');
        put_number(&row, space, COLUMNS[at]);
    }
    put_commas(&row, MEMORY_COLUMN_COUNT);
    put_row(&row);
}

static void write_module(const struct summary_module *module, int64_t wanted)
{
    const cJSON *space;
    cJSON_ArrayForEach(space, cJSON_GetObjectItemCaseSensitive(module->summary, "spaces"))
    {
        const cJSON *number = cJSON_GetObjectItemCaseSensitive(space, "space");
        if (wanted == SUMMARY_ALL_SPACES || (cJSON_IsNumber(number) && sum_of_real(number->valuedouble) == wanted))
            write_space(module, space);
    }
}

/* Empty when it is not told. */
static void put_told(struct buf *row, int64_t value)
{
    buf_char(row, ',');
    if (value >= 0)
        buf_int(row, value);
}

static void write_memory(const struct summary_pool *pool)
{
    const struct analysis_trace_pool *figures = &pool->figures;
    struct buf row = BUF_INIT;
    put_text(&row, pool->session->name);
    put_commas(&row, 2);
    put_text(&row, pool->host->file->path);
    put_commas(&row, 3 + COLUMN_COUNT);
    put_text(&row, figures->name);
    buf_char(&row, ',');
    put_text(&row, pool->host->name);
    buf_format(&row, ",%" PRId64 ",%" PRId64, figures->peak_bytes, figures->peak_time_ps);
    put_told(&row, figures->capacity_bytes);
    put_told(&row, figures->lifetime_peak_bytes);
    buf_format(&row, ",%" PRIu64 ",%" PRIu64, figures->allocation_count, figures->deallocation_count);
    put_row(&row);
}

const struct summary_form summary_csv = {.begin = summary_csv_begin, .module = write_module, .memory = write_memory};
