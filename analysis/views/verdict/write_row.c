/* SPDX-License-Identifier: Apache-2.0 */
#include "views/verdict/write.h"

#include "plan/category.h"
#include "plan/pattern.h"

#include <string.h>

static const char *const where_kinds[] = {
#define COLUMN(kind, head, value)
#define WHERE(kind) #kind,
#define CATEGORIES
#define PATTERNS
#include "verdict/row.def"
#undef COLUMN
#undef WHERE
#undef CATEGORIES
#undef PATTERNS
};
enum {
    WHERE_COUNT = sizeof(where_kinds) / sizeof(where_kinds[0]),
    WHERE_OTHERS = WHERE_COUNT - 1,
    HEADS_MAX = 160,
};

static const char *const category_heads[] = {
#define CATEGORY(constant, name, ...) "category_" name "_bytes",
#include "plan/category.def"
#undef CATEGORY
};
static const char *const pattern_heads[] = {
#define PATTERN(constant, name, ...) "pattern_" name "_bytes",
#include "plan/pattern.def"
#undef PATTERN
};

/* One row, or the heads of its columns. */
struct row {
    const struct verdict *verdict; /* NULL: there is none */
    struct csv *csv;
    bool is_head;
};

static void text_write(const struct row *row, const char *head, const char *text)
{
    if (row->is_head)
        csv_head(row->csv, head);
    else if (text != NULL && text[0] != '\0')
        csv_text(row->csv, str_of(text));
    else
        csv_none(row->csv);
}

static void bytes_write(const struct row *row, const char *head, int64_t bytes)
{
    if (row->is_head)
        csv_head_typed(row->csv, head, CSV_TYPE_INTEGER, false);
    else if (bytes >= 0)
        csv_int(row->csv, bytes);
    else
        csv_none(row->csv);
}

/* The bytes of a bar of the ledger; -1: it has none. */
static int64_t bar_bytes(const struct verdict *verdict, const char *kind)
{
    for (uint32_t i = 0; i < verdict->ledger.bar_count; i++)
        if (strcmp(verdict->ledger.bars[i].kind, kind) == 0)
            return verdict->ledger.bars[i].bytes;
    return -1;
}

/* What to do first; of a program that fits, what is first in the list. NULL: there is none. */
static const struct verdict_advice *row_advice(const struct verdict *verdict)
{
    if (verdict->advice_count == 0)
        return NULL;
    return &verdict->advice[verdict->best_at >= 0 ? verdict->best_at : 0];
}

/* A kind that has no column is among the others, so that the columns add up. */
static int where_column(const char *kind)
{
    for (int at = 0; at < WHERE_COUNT; at++)
        if (strcmp(where_kinds[at], kind) == 0)
            return at;
    return WHERE_OTHERS;
}

static void where_write(const struct row *row, const char *head, const char *kind)
{
    const struct verdict *verdict = row->verdict;
    int64_t bytes = verdict == NULL || verdict->where_count == 0 ? -1 : 0;
    for (uint32_t i = 0; bytes >= 0 && i < verdict->where_count; i++)
        if (where_column(verdict->where[i].kind) == where_column(kind))
            bytes += verdict->where[i].bytes;
    bytes_write(row, head, bytes);
}

static void categories_write(const struct row *row)
{
    const struct verdict *verdict = row->verdict;
    bool is_known = verdict != NULL && verdict->category_count > 0;
    int64_t rest = is_known ? 0 : -1;
    for (int at = 0; at < CATEGORY_COUNT; at++) {
        int64_t bytes = is_known ? 0 : -1;
        for (uint32_t i = 0; is_known && i < verdict->category_count; i++) {
            const char *category = verdict->categories[i].category;
            if (category != NULL && strcmp(category, category_name((enum category)at)) == 0)
                bytes += verdict->categories[i].bytes;
        }
        bytes_write(row, category_heads[at], bytes);
    }
    for (uint32_t i = 0; is_known && i < verdict->category_count; i++)
        rest += verdict->categories[i].category == NULL ? verdict->categories[i].bytes : 0;
    bytes_write(row, "category_rest_bytes", rest);
}

static void patterns_write(const struct row *row)
{
    const struct verdict *verdict = row->verdict;
    bool is_known = verdict != NULL && verdict->patterns != NULL;
    for (int at = 0; at < PATTERN_COUNT; at++) {
        int64_t bytes = is_known ? 0 : -1;
        for (uint32_t i = 0; is_known && i < verdict->pattern_count; i++)
            if (strcmp(verdict->patterns[i].kind, pattern_name((enum pattern_kind)at)) == 0)
                bytes += verdict->patterns[i].bytes;
        bytes_write(row, pattern_heads[at], bytes);
    }
}

static void notes_write(const struct row *row, struct buf *scratch)
{
    scratch->length = 0;
    for (uint32_t i = 0; row->verdict != NULL && i < row->verdict->note_count; i++)
        buf_format(scratch, "%s%s", i > 0 ? " " : "", row->verdict->notes[i].text);
    buf_char(scratch, '\0');
    text_write(row, "notes", scratch->failed ? "" : scratch->data);
}

static void cells_write(const struct row *row, const struct verdict_row_form *form, struct buf *scratch)
{
    const struct verdict *verdict = row->verdict;
    for (size_t i = 0; i < form->lead_count; i++)
        csv_cell(row->csv, &form->lead[i], row->is_head);
#define KNOWN_TEXT(head, value) text_write(row, head, verdict != NULL ? (value) : NULL);
#define KNOWN_BYTES(head, value) bytes_write(row, head, verdict != NULL ? (value) : -1);
#define COLUMN(kind, head, value) KNOWN_##kind(head, value)
#define WHERE(kind) where_write(row, "where_" #kind "_bytes", #kind);
#define CATEGORIES categories_write(row);
#define PATTERNS patterns_write(row);
#include "verdict/row.def"
#undef COLUMN
#undef WHERE
#undef CATEGORIES
#undef PATTERNS
    notes_write(row, scratch);
    csv_row_end(row->csv);
}

void write_verdict_row(const struct verdict *verdict, const struct verdict_row_form *form, struct buf *scratch,
                       struct buf *out)
{
    struct str items[HEADS_MAX];
    struct csv_heads heads = {.items = items, .capacity = HEADS_MAX};
    struct csv collecting = CSV_INIT(out), csv = CSV_INIT(out);
    csv.is_copy = form->form == CSV_COPY && !form->is_head;
    csv.is_cells = form->form == CSV_CELLS;
    if (form->form == CSV_NDJSON) {
        collecting.collected = &heads;
        cells_write(&(struct row){NULL, &collecting, true}, form, scratch);
        csv.heads = &heads;
    }
    cells_write(&(struct row){verdict, &csv, form->is_head}, form, scratch);
}
