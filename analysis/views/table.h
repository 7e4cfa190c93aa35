/* SPDX-License-Identifier: Apache-2.0
 * table.h: the tables of all tools. A column is one row of a list; from it come the filter's fields, the
 * orders, the members of a row's JSON, the cells of CSV and the columns of the page.
 *
 * To add a column: a row in the tool's list and its value, and the member in docs/openapi.yaml.
 *
 *   TABLE_VALUE(size_of, const struct item *item = item_at(context, row), table_integer(item->bytes))
 *   static const struct table_column columns[] = {
 *       {.name = "size", .aliases = "bytes", .type = TABLE_NUMBER, .value = size_of, .unit = "bytes", .title = "Size",
 *        .json = "bytes", .csv = "size_bytes", .help = "what it takes: size:>64MiB · 1GiB..2GiB · >10%"},
 *       {.name = NULL}};
 *
 * Of millions of rows only those up to the end of the page are kept and put in order. */
#pragma once

#include "base/csv.h"
#include "views/filter.h"
#include "views/tool.h"

#define TABLE_HEAD UINT32_MAX

enum { TABLE_KEYS_MAX = 4, TABLE_LIMIT_DEFAULT = 100, TABLE_LIMIT_MAX = 1000 };

/* A cell. */
struct table_value {
    enum { TABLE_UNKNOWN, TABLE_INTEGER, TABLE_REAL, TABLE_STRING } kind;
    int64_t integer;
    double real;
    struct str text; /* lives as long as the model; if it is what the request's scratch holds, until the next value */
};

static inline struct table_value table_unknown(void) { return (struct table_value){.kind = TABLE_UNKNOWN}; }
static inline struct table_value table_integer(int64_t integer)
{
    return (struct table_value){.kind = TABLE_INTEGER, .integer = integer};
}
static inline struct table_value table_integer_if(bool is_known, int64_t integer)
{
    return is_known ? table_integer(integer) : table_unknown();
}
static inline struct table_value table_real(double real)
{
    return (struct table_value){.kind = TABLE_REAL, .real = real};
}
static inline struct table_value table_text(struct str text)
{
    return (struct table_value){.kind = TABLE_STRING, .text = text};
}
/* An empty text is not known. */
static inline struct table_value table_text_if_any(struct str text)
{
    return text.length > 0 ? table_text(text) : table_unknown();
}

/* A column's value as one expression, of what `unpack` declares out of `context` and `row`. */
#define TABLE_VALUE(name, unpack, expression)                                                                          \
    static struct table_value name(const void *context, uint32_t row)                                                  \
    {                                                                                                                  \
        unpack;                                                                                                        \
        return expression;                                                                                             \
    }

enum table_type {
    TABLE_TEXT,   /* op:fusion */
    TABLE_NUMBER, /* size:>64MiB; with a `%` the column of that name and `%` is asked: pad:>10% */
    TABLE_SHAPE,  /* a text like "bf16[8,2048]{1,0}": shape:[*,2048] */
    TABLE_SPAN,   /* alive:1536; reaches from this column's number to the next one's, not included; no order */
};

/* What is NULL or false is not there. */
struct table_column {
    const char *name;    /* in a filter, in `sort`, in `columns`; "" is never typed; NULL ends the list */
    const char *aliases; /* other names, with spaces between */
    enum table_type type;
    bool is_searched; /* a word of a filter that names no column looks here too */
    bool is_main;     /* what `>64MiB` means in a filter, without a name */
    struct table_value (*value)(const void *context, uint32_t row);
    /* The number that it is sorted by, and a column of numbers is filtered by, if not its value. */
    struct table_value (*order)(const void *context, uint32_t row);
    struct table_value (*word)(const void *context, uint32_t row); /* what people call it: a filter takes that too */
    bool (*is_value)(struct str typed); /* a text with few values: is this one of them? A filter then means it whole */
    bool is_list; /* its text is values with ", " between: what a filter means whole is any of them */
    struct table_value (*member)(const void *context, uint32_t row);     /* its JSON, if not its value */
    void (*write)(struct json *json, const void *context, uint32_t row); /* its JSON, if that is no single value */
    /* Its cells in CSV and NDJSON, if they are not one; their heads for the row TABLE_HEAD. */
    void (*cells)(struct csv *csv, const void *context, uint32_t row);
    const char *json;  /* member of a row */
    const char *csv;   /* head in CSV, member in NDJSON */
    const char *title; /* on the page */
    const char *unit;  /* of its numbers: "bytes", "count", "step", "percent", "ms", "bytes_per_step", … */
    const char *help;  /* a few words: what it is, or how it is typed */
};

/* The parts that nearly every row of a list has. */
#define COLUMN_TEXT(name_, value_) .name = name_, .type = TABLE_TEXT, .value = value_
#define COLUMN_NUMBER(name_, value_, unit_) .name = name_, .type = TABLE_NUMBER, .value = value_, .unit = unit_
#define COLUMN_SHAPE(name_, value_) .name = name_, .type = TABLE_SHAPE, .value = value_
#define COLUMN_SPAN(name_, value_) .name = name_, .type = TABLE_SPAN, .value = value_

/* A table's parts that do not change from question to question. */
struct table_spec {
    const struct table_column *columns;
    const struct table_column *filtered; /* the filter's, if not these */
    const char *sort;                    /* without the parameter */
    const char *const *formats;          /* the first is the default; ends with NULL */
    int64_t limit_max; /* 0: TABLE_LIMIT_MAX; in every format but the first all rows are the default */
};
extern const char *const table_formats[]; /* json, csv, ndjson */

struct table_order {
    const struct table_column *column;
    bool is_descending;
};

struct table_item; /* a row that is kept */

/* A table that is asked for. Rows are numbers that only the columns understand. */
struct table_rows {
    const struct tool_request *request;
    const struct table_spec *spec;
    const void *context; /* of the columns' values */
    struct filter filter;
    struct table_order keys[TABLE_KEYS_MAX];
    struct str *texts[TABLE_KEYS_MAX]; /* of keys whose texts do not last: by row, once they were asked for */
    uint32_t key_count;
    int64_t offset, limit;
    size_t format;           /* in the spec's */
    uint32_t row_count;      /* rows that there can be */
    uint32_t taken, matched; /* rows that were given, and those of them that match */
    uint32_t first, end;     /* of the page, among those that match; after table_sort */
    struct arena *memory;    /* of `items`, and of `order` afterwards */
    unsigned char *items;
    uint32_t *order; /* rows from `first` on; NULL: `items` tells */
    size_t item_size;
    uint32_t kept, capacity, needed;
    struct table_item *bound; /* what is not less is not asked for; NULL: nothing is known yet */
};

/* Reads `sort`, `filter`, `format`, `offset` and `limit`. False with an `argument` report that names the nearest
 * column or format. `context` need not be filled yet. */
bool table_read(struct table_rows *rows, const struct tool_request *request, const struct table_spec *spec,
                const void *context, struct err *err);
/* Before the first row: room for at most `row_count` of them. */
void table_begin(struct table_rows *rows, uint32_t row_count);
/* Takes a row in, once each. True if the filter takes it. */
bool table_take(struct table_rows *rows, uint32_t row);
/* Behind the last row: puts those from rows->first to rows->end in their order. */
void table_sort(struct table_rows *rows);
/* Row `at` of the order, first ≤ at < end. */
uint32_t table_row_at(const struct table_rows *rows, uint32_t at);
/* Keeps only what table_row_at needs, four bytes a row; no row can be taken any more. */
void table_keep_order(struct table_rows *rows);
/* The three together, for rows 0 … row_count − 1. */
void table_take_all(struct table_rows *rows, uint32_t row_count);

/* The format is `name`. */
bool table_is_format(const struct table_rows *rows, const char *name);

/* "columns" (or `key`): what a page needs to show them and to filter by them: name, aliases, title, type, unit, field
 * (member of a row), csv, help; those with a title, and with a name and a help. */
void table_columns_write(const struct table_column *columns, const char *key, struct json *json);
/* "total_count", "matched_count", "offset", "columns". */
void table_head_write(const struct table_rows *rows, struct json *json);
/* "rows" (or `key`): those of the page, as objects. */
void table_rows_write(const struct table_rows *rows, const char *key, struct json *json);
/* The members of a row, without the braces, in the order of the columns. */
void table_row_write(const struct table_column *columns, const void *context, uint32_t row, struct json *json);
/* The format is one of lines: csv, ndjson. */
bool table_is_lines(const struct table_rows *rows);
/* Writes the page as lines. In CSV the heads come first, then row after row, each written before the next is made. The
 * cells of request->lead come before the columns. `names` are the columns to write in that order, with spaces between;
 * NULL: all that have a head, as they are. With request->rest a page of more than TABLE_WHOLE_BYTES is left there
 * instead: columns and their context must be in the request's arena, or live as long as the model. */
void table_lines_write(const struct table_rows *rows, const char *names);
enum { TABLE_WHOLE_BYTES = 4 << 20 };

/* Rows that are written piece by piece. */
struct table_lines {
    struct table_rows rows;
    const struct table_column **columns;
    size_t column_count;
    const struct csv_cell *lead;
    size_t lead_count;
    const struct csv_heads *heads; /* of NDJSON; NULL: CSV */
    size_t head_count;             /* lines of heads: 0 or 1 */
};
/* Appends lines from *at on, which is 0 for the first, until `out` has `size_bytes` or there are no more; then
 * false. */
bool table_lines_next(const struct table_lines *table, uint64_t *at, size_t size_bytes, struct buf *out);

/* The column with this name or alias, in any case of letters; NULL without one. */
const struct table_column *table_column_find(const struct table_column *columns, struct str name);
/* What a filter and an order see: the number of a row (false when it has none), and its text. */
bool table_number_of(const struct table_column *column, const void *context, uint32_t row, double *number);
struct str table_text_of(const struct table_column *column, const void *context, uint32_t row);
/* The next of some words with spaces between, cut off the front of *words; false at the end. */
bool table_word_next(const char **words, struct str *word);
