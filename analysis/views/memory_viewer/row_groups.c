/* SPDX-License-Identifier: Apache-2.0
 * row_groups.c: see row_groups.h. */
#include "views/memory_viewer/row_groups.h"

#include "base/nearest.h"
#include "plan/group_key.h"

#include <ctype.h>

/* Names of columns, and what is read out of the scope. */
static const char *const ways[] = {
    [ROW_GROUPS_SHAPE] = "shape",       [ROW_GROUPS_DTYPE] = "dtype", [ROW_GROUPS_OPCODE] = "opcode",
    [ROW_GROUPS_CATEGORY] = "category", [ROW_GROUPS_KIND] = "kind",   [ROW_GROUPS_LINE] = "line",
    [ROW_GROUPS_SCOPE] = "scope",       [ROW_GROUPS_LAYER] = "layer", [ROW_GROUPS_WHOSE] = "whose",
};

bool row_groups_way(const struct tool_request *request, size_t *way, struct err *err)
{
    const char *by = tool_param_text(request, "by");
    *way = 0;
    return by == NULL || nearest_choose("by", "group", str_of(by), ways, sizeof(ways) / sizeof(ways[0]), way, err);
}

const char *row_groups_name(size_t way) { return ways[way]; }

/* "jit(f)/layer_12/dot_general" to "jit(f)/layer_*", in place. */
static size_t scope_make(char *text, size_t length)
{
    size_t kept = 0;
    while (length > 0 && text[length - 1] != '/')
        length--;
    if (length > 0)
        length--;
    for (size_t i = 0; i < length; i++) {
        if (!isdigit((unsigned char)text[i]))
            text[kept++] = text[i];
        else if (kept == 0 || text[kept - 1] != '*')
            text[kept++] = '*';
    }
    return kept;
}

static bool is_letter(char c) { return isalpha((unsigned char)c) != 0; }

/* "state[0]['layers'][12]['w1']" and "jit(f)/transpose(jvp(layer_12))/dot" to "layer 12", in place. */
static size_t layer_make(char *text, size_t length)
{
    for (size_t at = 0; at < length; at++) {
        bool is_begin = is_letter(text[at]) && (at == 0 || !(is_letter(text[at - 1]) || text[at - 1] == '_'));
        size_t end = is_begin ? group_key_layer_word_end((struct str){text, length}, at) : 0, digits = end;
        if (end == 0)
            continue;
        while (digits < length && digits < end + 3 && strchr("_'\"][.-", text[digits]) != NULL && text[digits] != '\0')
            digits++;
        size_t last = digits;
        while (last < length && isdigit((unsigned char)text[last]))
            last++;
        if (last == digits)
            continue;
        size_t stem = end > at + 1 && tolower((unsigned char)text[end - 1]) == 's' ? end - 1 - at : end - at;
        memmove(text, text + at, stem);
        text[stem] = ' ';
        memmove(text + stem + 1, text + digits, last - digits);
        return stem + 1 + last - digits;
    }
    return 0;
}

struct str row_groups_key(const struct memory_viewer_columns_rows *rows, uint32_t at, size_t way)
{
    struct arena *arena = rows->request->arena;
    struct str column = str_of(way == ROW_GROUPS_LAYER ? "scope" : way == ROW_GROUPS_WHOSE ? "group" : ways[way]);
    struct str text = table_text_of(table_column_find(memory_viewer_columns, column), rows, at);
    char *copy = arena_text(arena, text);
    arena_work(arena, text.length);
    if (way == ROW_GROUPS_LAYER)
        return (struct str){copy, layer_make(copy, text.length)};
    if (way == ROW_GROUPS_SCOPE)
        return (struct str){copy, scope_make(copy, text.length)};
    return (struct str){copy, text.length};
}
