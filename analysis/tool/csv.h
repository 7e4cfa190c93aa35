/* SPDX-License-Identifier: Apache-2.0
 * csv.h: cells of a table as CSV (RFC 4180), safe for spreadsheets. */
#ifndef ANALYSIS_TOOL_CSV_H
#define ANALYSIS_TOOL_CSV_H

#include "base/buf.h"
#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

/* A text in quotes; one that a spreadsheet would take for a formula gets a quote before it. */
void csv_text(struct buf *out, struct str text);
/* Empty when not known. */
void csv_number(struct buf *out, int64_t value, bool is_known);
void csv_end(struct buf *out); /* of a row: the comma before it goes */

#endif
