/* SPDX-License-Identifier: Apache-2.0
 * change_table.c: see change_table.h. */
#include "views/change_table.h"

#include "base/markdown.h"
#include "plan/describe.h"

enum { CHANGE_WIDTH = 12 };

const char *change_table_safe(const struct change_table *table, struct str text)
{
    struct buf *scratch = table->request->scratch; /* which `text` may be in */
    const struct str copy = {arena_text(table->request->arena, text), text.length};
    scratch->length = 0;
    if (table->is_markdown)
        markdown_text(scratch, copy);
    else
        buf_printable(scratch, copy);
    return arena_text(table->request->arena, describe_str(scratch));
}

const char *change_table_padded(const struct change_table *table, const char *text, int width)
{
    return table->is_markdown ? text : arena_format(table->request->arena, "%-*s", width, text);
}

void change_table_side(const struct change_table *table, const char *side, const char *name, const char *where,
                       const char *total)
{
    buf_format(table->request->out, table->is_markdown ? "- %s: %s%s%s, %s\n" : "%s  %s%s%s, %s\n", side, name,
               where[0] != '\0' ? " " : "", where, total);
}

void change_table_begin(const struct change_table *table, const char *title, const char *heads)
{
    struct buf *out = table->request->out;
    if (!table->is_markdown) {
        buf_format(out, "\n%s\n", title);
        return;
    }
    buf_format(out, "\n| %s |\n|---:|", heads);
    for (const char *at = strchr(heads, '|'); at != NULL; at = strchr(at + 1, '|'))
        buf_text(out, "---|");
    buf_char(out, '\n');
}

/* Columns of a terminal count characters, not bytes. */
static int width_of(const char *text)
{
    int width = 0;
    for (; *text != '\0'; text++)
        width += ((unsigned char)*text & 0xC0) != 0x80;
    return width;
}

void change_table_row(const struct change_table *table, const char *change, const char *second, const char *third)
{
    struct buf *out = table->request->out;
    int room = table->is_markdown ? 0 : CHANGE_WIDTH - width_of(change);
    buf_format(out, table->is_markdown ? "| %*s%s | %s" : "  %*s%s  %s", room > 0 ? room : 0, "", change, second);
    if (third != NULL)
        buf_format(out, table->is_markdown ? " | %s" : "  %s", third);
    buf_text(out, table->is_markdown ? " |\n" : "\n");
}
