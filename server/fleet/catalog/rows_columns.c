/* SPDX-License-Identifier: Apache-2.0 */
#include "server/fleet/catalog/rows_columns.h"

#include "server/fleet/catalog/rows.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

enum { US_PER_S = 1000000 };

static const struct {
    const char *name, *help;
    bool is_family; /* the name is a prefix */
} columns_help[] = {
#define COLUMN(name, help) {name, help, false},
#define FAMILY(prefix, help) {prefix, help, true},
#include "server/fleet/catalog/rows_columns.def"
#undef COLUMN
#undef FAMILY
};

const char *rows_columns_help(const char *name)
{
    for (size_t at = 0; at < sizeof(columns_help) / sizeof(columns_help[0]); at++) {
        const char *known = columns_help[at].name;
        if (columns_help[at].is_family ? strncmp(name, known, strlen(known)) == 0 : strcmp(name, known) == 0)
            return columns_help[at].help;
    }
    return "";
}

/* The lowest byte first. False: so many bytes are not left. */
static bool number_take(struct str *left, size_t byte_count, uint64_t *number)
{
    *number = 0;
    if (left->length < byte_count)
        return false;
    for (size_t at = byte_count; at-- > 0;)
        *number = *number << 8 | (unsigned char)left->data[at];
    left->data += byte_count;
    left->length -= byte_count;
    return true;
}

static bool text_take(struct str *left, struct str *text)
{
    uint64_t length;
    if (!number_take(left, 4, &length) || length > left->length)
        return false;
    *text = (struct str){left->data, (size_t)length};
    left->data += length;
    left->length -= (size_t)length;
    return true;
}

bool rows_columns_cell(struct str *left, struct rows_cell *cell)
{
    uint64_t mark, number;
    *cell = (struct rows_cell){.mark = CSV_MARK_NONE};
    if (!number_take(left, 1, &mark))
        return false;
    cell->mark = (enum csv_mark)mark;
    switch (cell->mark) {
    case CSV_MARK_NONE: return true;
    case CSV_MARK_INTEGER:
        if (!number_take(left, 8, &number))
            return false;
        cell->integer = (int64_t)number;
        return true;
    case CSV_MARK_TEXT: return text_take(left, &cell->text);
    case CSV_MARK_HEAD:
        if (!number_take(left, 1, &number))
            return false;
        cell->type = (enum csv_type)number;
        if (!number_take(left, 1, &number))
            return false;
        cell->is_always = number != 0;
        return text_take(left, &cell->text);
    }
    return false;
}

bool rows_columns_time(struct str text, int64_t *unix_us)
{
    char copy[ROWS_TIME_SIZE];
    struct tm parts = {0};
    int microseconds = 0, length = 0;
    snprintf(copy, sizeof(copy), "%.*s", (int)text.length, text.data);
    const char *end = strptime(copy, "%Y-%m-%dT%H:%M:%S", &parts);
    if (!end || sscanf(end, ".%6dZ%n", &microseconds, &length) != 1 || length != 8 || end[length] || microseconds < 0)
        return false;
    *unix_us = (int64_t)timegm(&parts) * US_PER_S + microseconds;
    return true;
}

void rows_columns_read(struct rows_columns *columns)
{
    struct buf heads = BUF_INIT;
    struct rows_cell cell;
    rows_heads(CSV_CELLS, &heads);
    struct str left = {heads.data, heads.failed ? 0 : heads.length};
    columns->count = 0;
    while (columns->count < ROWS_COLUMNS_MAX && rows_columns_cell(&left, &cell)) {
        struct rows_column *column = &columns->items[columns->count++];
        snprintf(column->name, sizeof(column->name), "%.*s", (int)cell.text.length, cell.text.data);
        column->type = cell.type;
        column->is_always = cell.is_always;
    }
    buf_free(&heads);
}
