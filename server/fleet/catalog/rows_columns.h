/* SPDX-License-Identifier: Apache-2.0
 * rows_columns.h: the one list of the columns of `memviewd index`: their names, types and what they say.
 *
 * It is made of the heads that rows themselves write (rows.h, analysis/verdict/row.def), so that it cannot differ from
 * them. What columns say is in rows_columns.def. */
#pragma once

#include "base/csv.h"

enum { ROWS_COLUMNS_MAX = 160, ROWS_COLUMNS_NAME_SIZE = 64 };

struct rows_column {
    char name[ROWS_COLUMNS_NAME_SIZE];
    enum csv_type type;
    bool is_always; /* every row has a value */
};

struct rows_columns {
    struct rows_column items[ROWS_COLUMNS_MAX];
    size_t count;
};

void rows_columns_read(struct rows_columns *columns);
/* One or two sentences; "" for a column that has none, which a test refuses. Static storage. */
const char *rows_columns_help(const char *name);

/* A cell of CSV_CELLS. Text is borrowed. */
struct rows_cell {
    enum csv_mark mark;
    enum csv_type type; /* of a head */
    bool is_always;     /* the same */
    int64_t integer;
    struct str text;
};
/* Takes the next cell off `left`. False: there is none. */
bool rows_columns_cell(struct str *left, struct rows_cell *cell);
/* A text of rows_time. False: it is none. */
bool rows_columns_time(struct str text, int64_t *unix_us);
