/* SPDX-License-Identifier: Apache-2.0
 * change_table.h: what differs between two things, as tables for a terminal or in Markdown.
 *
 * Names come out of files: what would end a line or move a cursor, or be more than a text in Markdown,
 * is taken out or escaped (change_table_safe). */
#pragma once

#include "views/tool.h"

struct change_table {
    const struct tool_request *request;
    bool is_markdown;
};

/* "A  NAME WHERE, TOTAL": what a side is. `where` may be empty. */
void change_table_side(const struct change_table *table, const char *side, const char *name, const char *where,
                       const char *total);
/* A title, or heads in Markdown: "Change | From A to B"; the first column holds figures. */
void change_table_begin(const struct change_table *table, const char *title, const char *heads);
/* A line: a change ("+3.00 GiB", "" before the others), and one cell or two. */
void change_table_row(const struct change_table *table, const char *change, const char *second, const char *third);
/* In a terminal `text` with spaces behind it, up to `width` bytes; itself in Markdown. In the arena. */
const char *change_table_padded(const struct change_table *table, const char *text, int width);
/* Without bytes that would end a line; in Markdown as markdown_text has it. In the arena. */
const char *change_table_safe(const struct change_table *table, struct str text);
