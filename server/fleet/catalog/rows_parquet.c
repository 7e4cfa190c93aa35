/* SPDX-License-Identifier: Apache-2.0 */
#include "server/fleet/catalog/rows_parquet.h"

#include "server/base/memory.h"
#include "server/base/version.h"
#include "server/fleet/catalog/rows.h"
#include "server/fleet/catalog/rows_columns.h"

#include <stdio.h>
#include <stdlib.h>

struct rows_parquet {
    struct rows_columns columns;
    struct parquet_column heads[ROWS_COLUMNS_MAX];
    struct parquet *file;
    size_t at; /* of the next cell */
};

struct rows_parquet *rows_parquet_open(parquet_put *put, void *context)
{
    static const enum parquet_type types[] = {PARQUET_TEXT, PARQUET_INTEGER, PARQUET_TIME, PARQUET_TEXT};
    struct rows_parquet *file = memory_new(sizeof(*file));
    rows_columns_read(&file->columns);
    for (size_t at = 0; at < file->columns.count; at++) {
        const struct rows_column *column = &file->columns.items[at];
        file->heads[at] = (struct parquet_column){column->name, types[column->type], column->is_always};
    }
    file->file = parquet_open(file->heads, file->columns.count, put, context);
    return file;
}

static void time_write(struct parquet *file, struct str text)
{
    int64_t unix_us;
    if (rows_columns_time(text, &unix_us))
        parquet_number(file, unix_us);
    else
        parquet_null(file);
}

bool rows_parquet_take(struct rows_parquet *file, struct str rows)
{
    struct rows_cell cell;
    bool is_good = true;
    while (is_good && rows_columns_cell(&rows, &cell)) {
        if (cell.mark == CSV_MARK_INTEGER)
            parquet_number(file->file, cell.integer);
        else if (cell.mark != CSV_MARK_TEXT)
            parquet_null(file->file);
        else if (file->heads[file->at].type == PARQUET_TIME)
            time_write(file->file, cell.text);
        else
            parquet_text(file->file, cell.text);
        if (++file->at < file->columns.count)
            continue;
        is_good = parquet_row_end(file->file);
        file->at = 0;
    }
    return is_good;
}

bool rows_parquet_close(struct rows_parquet *file)
{
    char version[24], created_by[96];
    snprintf(version, sizeof(version), "%d", ROWS_SCHEMA);
    snprintf(created_by, sizeof(created_by), "memviewd version %s (build %s)", version_number, version_commit);
    bool is_whole = parquet_close(file->file, "memviewd.schema_version", version, created_by);
    free(file);
    return is_whole;
}

void rows_parquet_drop(struct rows_parquet *file)
{
    parquet_drop(file->file);
    free(file);
}
