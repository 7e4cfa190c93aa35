/* SPDX-License-Identifier: Apache-2.0
 * csv.h: rows of cells, for other tools: comma-separated as in RFC 4180, for spreadsheets, one JSON object a line
 * (NDJSON), whose members are the heads, or lines as PostgreSQL's COPY … FROM STDIN takes them.
 *
 * CSV_CELLS is for programs: of each cell a byte that says what follows (enum csv_mark), without anything between cells
 * or at the end of a row, whose cells are as many as there are heads.
 *
 * In CSV a text that a spreadsheet would take for a formula gets a quote before it; numbers do not. In NDJSON texts are
 * as they are, numbers are numbers, and what is not known is null. So it is for COPY; what is not UTF-8 becomes U+FFFD
 * in both, and in CSV_CELLS. */
#pragma once

#include "base/buf.h"
#include "base/str.h"

#include <stdint.h>

/* The form in which another module wants its rows. */
enum csv_form { CSV_COMMAS, CSV_NDJSON, CSV_COPY, CSV_CELLS };

/* What a column holds, whatever its cells do. */
enum csv_type {
    CSV_TYPE_TEXT,
    CSV_TYPE_INTEGER, /* of 64 bits, with a sign */
    CSV_TYPE_TIME,    /* a text: ISO 8601 with microseconds, UTC */
    CSV_TYPE_OBJECT,  /* a text: a JSON object of texts */
};

/* How a cell of CSV_CELLS begins. A head is CSV_MARK_HEAD, a byte of enum csv_type, a byte that is 1 where every row
 * has a value, and its name as a text is. */
enum csv_mark {
    CSV_MARK_NONE,    /* nothing follows: not known */
    CSV_MARK_INTEGER, /* 8 bytes, the lowest first */
    CSV_MARK_TEXT,    /* 4 bytes, the lowest first: how many bytes of UTF-8 follow */
    CSV_MARK_HEAD,
};

/* Heads of columns, by place; `items` has room for all of them. Texts are borrowed. */
struct csv_heads {
    struct str *items;
    size_t count, capacity;
};

struct csv {
    struct buf *out;
    bool is_in_row;
    struct csv_heads *collected;   /* heads go there, and nothing is written; NULL */
    const struct csv_heads *heads; /* NDJSON; NULL: CSV, or COPY */
    bool is_cells;                 /* CSV_CELLS */
    bool is_copy;                  /* without heads: the SQL statement names the order of the columns */
    size_t at;                     /* of the next cell in `heads` */
};

#define CSV_INIT(buf) {(buf), false, NULL, NULL, false, false, 0}

/* The head of a column: a word of ours, as it is. */
void csv_head(struct csv *csv, const char *word);
/* The same, of a column whose type CSV_CELLS tells. `is_always`: every row has a value. */
void csv_head_typed(struct csv *csv, const char *word, enum csv_type type, bool is_always);
void csv_text(struct csv *csv, struct str text);
/* Would a spreadsheet take the text for a formula, by how it begins? As OWASP lists it ("CSV Injection"). */
bool csv_is_formula(struct str text);
void csv_int(struct csv *csv, int64_t value);
/* Six digits: for percentages and slopes. */
void csv_double(struct csv *csv, double value);
/* A cell without anything: not known. */
void csv_none(struct csv *csv);
void csv_row_end(struct csv *csv);

/* A cell that comes before those of a table, equal in every row. Borrowed. */
struct csv_cell {
    const char *head;
    enum { CSV_NONE, CSV_TEXT, CSV_INTEGER } kind;
    const char *text;
    int64_t integer;
    enum csv_type type; /* of its column */
    bool is_always;     /* every row has a value */
};
/* The cell, or its head. */
void csv_cell(struct csv *csv, const struct csv_cell *cell, bool is_head);
