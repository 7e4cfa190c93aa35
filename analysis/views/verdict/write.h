/* SPDX-License-Identifier: Apache-2.0
 * write.h: a verdict as JSON (schema Verdict in docs/openapi.yaml), and for a terminal. */
#pragma once

#include "base/csv.h"
#include "base/json.h"
#include "verdict/verdict.h"

/* An object, as the next value. */
void write_verdict_json(const struct verdict *verdict, struct json *json);
void write_verdict_text(const struct verdict *verdict, struct buf *out);

/* A row of the columns of row.def: at most 40 cells come before them, equal in each row of a table. */
struct verdict_row_form {
    enum csv_form form;
    bool is_head; /* the names of the columns, as CSV or CSV_CELLS; there is no verdict then */
    const struct csv_cell *lead;
    size_t lead_count;
    const char *configuration; /* of the job, whatever the program says; NULL: as that says */
};
/* `verdict` NULL: nothing is known but the cells before it. */
void write_verdict_row(const struct verdict *verdict, const struct verdict_row_form *form, struct buf *scratch,
                       struct buf *out);
