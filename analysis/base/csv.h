/* SPDX-License-Identifier: Apache-2.0
 * csv.h: rows of comma-separated cells as in RFC 4180, for spreadsheets.
 *
 * A text that a spreadsheet would take for a formula gets a quote before it; numbers do not. */
#pragma once

#include "base/buf.h"
#include "base/str.h"

#include <stdint.h>

struct csv {
    struct buf *out;
    bool is_in_row;
};

#define CSV_INIT(buf) {(buf), false}

/* The head of a column: a word of ours, as it is. */
void csv_head(struct csv *csv, const char *word);
void csv_text(struct csv *csv, struct str text);
void csv_int(struct csv *csv, int64_t value);
/* Six digits: for percentages and slopes. */
void csv_double(struct csv *csv, double value);
/* A cell without anything: not known. */
void csv_none(struct csv *csv);
void csv_row_end(struct csv *csv);
