/* SPDX-License-Identifier: Apache-2.0
 * filter.h: the filter text above a table.
 *
 *   >64MiB dtype:f32 op:dot,fusion line:model.py:41 -scope:*layer_0* name:/fus.*[0-9]$/
 *
 * Terms are joined by AND; `-` before one negates it; a `,` inside a field is
 * OR. A word without a field is looked for in the columns marked `is_searched`;
 * a bare comparison (`>64MiB`) means the column marked `is_main`.
 * Texts match anywhere and in any case; with a `*`, which matches any text,
 * the whole text must match; between slashes is a regular expression
 * (base/regex.h). What is quoted means itself. In a column with few values one of them means itself, whole:
 * "gradient" is not "gradient_accumulator".
 * Numbers: N, <N, <=N, >N, >=N or N..M; K M G T P, with or without iB, are
 * powers of 1024; N% asks the field of that name with a `%`.
 * Shapes: "[8,*]" has two dimensions, "..." matches any number of them.
 *
 * Its work is charged to the arena, so that no text and no expression can take for ever. */
#pragma once

#include "base/arena.h"
#include "base/err.h"

struct table_column;
struct filter_term;

struct filter {
    const struct table_column *columns;
    const void *context; /* of their values */
    struct arena *arena;
    struct filter_term *terms;
    size_t term_count;
};

/* Reads `text`; the fields are the names and aliases of the columns (views/table.h). False with an `argument` report
 * whose offset is the place of the fault in `text`, in bytes; for an unknown field it names the nearest known one. */
bool filter_read(const char *text, const struct table_column *columns, const void *context, struct arena *arena,
                 struct filter *out, struct err *err);
bool filter_matches(const struct filter *filter, uint32_t row);
