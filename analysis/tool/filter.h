/* SPDX-License-Identifier: Apache-2.0
 * filter.h: the filter text above a table.
 *
 *   >64MiB dtype:f32 op:dot,fusion line:model.py:41 -scope:*layer_0* name:/fus.*[0-9]$/
 *
 * Terms are joined by AND; `-` before one negates it; a `,` inside a field is
 * OR. A word without a field is looked for in the fields marked `is_searched`;
 * a bare comparison (`>64MiB`) means the first number field.
 * Texts match anywhere and in any case; with a `*`, which stands for any text,
 * the whole text must match; between slashes stands a regular expression
 * (base/regex.h). What is quoted means itself.
 * Numbers: N, <N, <=N, >N, >=N or N..M; K M G T P, with or without iB, are
 * powers of 1024; N% asks the field of that name with a `%`.
 * Shapes: "[8,*]" has two dimensions, "..." stands for any number of them.
 *
 * The filter knows no table: it asks for a row's fields by number. Its work is
 * charged to the arena, so that no text and no expression can take for ever. */
#ifndef ANALYSIS_TOOL_FILTER_H
#define ANALYSIS_TOOL_FILTER_H

#include "base/arena.h"
#include "base/err.h"

enum filter_kind {
    FILTER_TEXT,   /* op:fusion */
    FILTER_NUMBER, /* size:>64MiB; with a `%` the field of that name and `%` is asked: pad:>10% */
    FILTER_SHAPE,  /* shape:[*,2048], against texts like "bf16[8,2048]{1,0}" */
    FILTER_SPAN,   /* alive:1536; reaches from this field's number to the next field's, not included */
};

struct filter_field {
    const char *name;  /* as typed before the colon, letters alone; "" is never typed; NULL ends the list */
    enum filter_kind kind;
    bool is_searched;  /* a bare word looks here too */
};

struct filter_table {
    const struct filter_field *fields;
    /* The row's value of field `at`. Texts live until the next call. */
    struct str (*text)(const void *context, uint32_t row, size_t at);
    /* False when the row has no such number: then only negated terms match. */
    bool (*number)(const void *context, uint32_t row, size_t at, double *value);
    const void *context;
};

struct filter_term;

struct filter {
    const struct filter_table *table;
    struct arena *arena;
    struct filter_term *terms;
    size_t term_count;
};

/* Reads `text`. False with an `argument` report whose offset is the place of the fault in
 * `text`, in bytes; for an unknown field it names the nearest known one. */
bool filter_read(const char *text, const struct filter_table *table, struct arena *arena, struct filter *out, struct err *err);
bool filter_matches(const struct filter *filter, uint32_t row);

#endif
