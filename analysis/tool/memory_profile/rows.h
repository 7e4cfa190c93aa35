/* SPDX-License-Identifier: Apache-2.0
 * rows.h: what the tables of the memory profile have in common: sorted by
 * numbers (texts by their rank), filtered, paged, as JSON or CSV.
 *
 * Of millions of rows only those up to the end of the page are put in order, and where they are sorted
 * by numbers only twice as many are kept. */
#ifndef ANALYSIS_TOOL_MEMORY_PROFILE_ROWS_H
#define ANALYSIS_TOOL_MEMORY_PROFILE_ROWS_H

#include "base/csv.h"
#include "tool/filter.h"
#include "tool/memory_profile/views.h"

enum { PROFILE_ROWS_KEYS = 2 };

/* A name by which rows are sorted besides the filter's fields, and before them. */
struct memory_profile_rows_sort {
    const char *name;
    size_t field;
};

struct memory_profile_rows_item {
    double keys[PROFILE_ROWS_KEYS];
    uint32_t row;
};

/* A list that is asked for. Rows are numbers that only the view understands. */
struct memory_profile_rows {
    const struct tool_request *request;
    const struct filter_table *table;       /* its context gives numbers and texts */
    const struct memory_profile_rows_sort *longer; /* further names, ends with NULL; may be NULL */
    struct filter filter;
    size_t fields[PROFILE_ROWS_KEYS];
    bool is_descending[PROFILE_ROWS_KEYS];
    size_t key_count;
    int64_t offset, limit;
    bool is_csv;
    struct memory_profile_rows_item *items; /* those that match; of many the least */
    uint32_t count, kept, capacity;
    uint32_t need;                 /* items that are wanted: up to the end of the page */
    bool has_bound;
    struct memory_profile_rows_item bound; /* what is not less is none of the least */
    struct table ranks_of; /* texts that are sorted by */
    uint32_t *rank;
};

/* Reads sort, filter, offset, limit and format. False with an `argument` report. */
bool memory_profile_rows_begin(struct memory_profile_rows *rows, const struct tool_request *request, const struct filter_table *table,
                        const struct memory_profile_rows_sort *longer, const char *usual_sort, uint32_t capacity,
                        struct err *err);
/* Adds a row if the filter takes it. True if it does. */
bool memory_profile_rows_add(struct memory_profile_rows *rows, uint32_t row);
/* Puts the rows of the page in their places: items[*first … *end) are to be written. */
void memory_profile_rows_order(struct memory_profile_rows *rows, uint32_t *first, uint32_t *end);
/* A number's cell, or an empty one. */
void memory_profile_rows_cell(struct csv *csv, int64_t value, bool is_known);
/* "key": "g:…": a group's identity, from its texts and a number. */
void memory_profile_rows_key(struct json *json, const struct str *parts, size_t count, int64_t number);
/* "total", "matched", "matched_bytes", "offset". */
void memory_profile_rows_counts(struct json *json, const struct memory_profile_rows *rows, uint32_t total, int64_t matched_bytes);

#endif
