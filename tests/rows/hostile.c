/* SPDX-License-Identifier: Apache-2.0
 * hostile.c: hostile ROW_COUNT writes a Parquet file to standard output: columns `number` (which row), `text`,
 * `integer` and `time`, of the worst values in turn; tests/rows/hostile.py has the same lists. */
#include "server/fleet/catalog/parquet.h"

#include <stdio.h>
#include <stdlib.h>

static const struct parquet_column columns[] = {{"number", PARQUET_INTEGER, true}, {"text", PARQUET_TEXT, false},
                                                {"word", PARQUET_TEXT, true},      {"integer", PARQUET_INTEGER, false},
                                                {"time", PARQUET_TIME, false},     {"nothing", PARQUET_TEXT, false}};
enum { COLUMN_COUNT = sizeof(columns) / sizeof(columns[0]) };

static const struct str texts[] = {STR(""),     STR("a\0b"), STR("'\"\\,;\r\n\t"), STR("\xF0\x9F\x98\x80"),
                                   STR("NULL"), STR("PAR1")};
static const int64_t integers[] = {0, INT64_MIN, INT64_MAX, -1, (int64_t)1 << 53 | 1};
static const int64_t times[] = {0, -62135596800000000, 253402300799999999, 1700000000123456};

static bool put(void *context, const char *bytes, size_t size) { return fwrite(bytes, 1, size, context) == size; }

int main(int argc, char **argv)
{
    int64_t row_count = argc == 2 ? strtoll(argv[1], NULL, 10) : 0;
    struct parquet *file = parquet_open(columns, COLUMN_COUNT, put, stdout);
    for (int64_t at = 0; at < row_count; at++) {
        parquet_number(file, at);
        if (at % 7 == 6)
            parquet_null(file);
        else
            parquet_text(file, texts[at % (int64_t)(sizeof(texts) / sizeof(texts[0]))]);
        parquet_text(file, STR("w"));
        if (at % 3 == 2)
            parquet_null(file);
        else
            parquet_number(file, integers[at % (int64_t)(sizeof(integers) / sizeof(integers[0]))]);
        parquet_number(file, times[at % (int64_t)(sizeof(times) / sizeof(times[0]))]);
        if (!parquet_row_end(file)) { /* the last column is null by itself */
            parquet_drop(file);
            return 1;
        }
    }
    return parquet_close(file, "key", "value", "hostile") ? 0 : 1;
}
