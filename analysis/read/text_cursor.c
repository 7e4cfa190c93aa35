/* SPDX-License-Identifier: Apache-2.0 */
#include "read/text_cursor.h"

#include <stdarg.h>
#include <stdio.h>

enum { NAME_SHOWN = 80, REASON_SIZE = 100 };

struct text_cursor text_cursor_open(struct str text, struct str file, struct err *err)
{
    return (struct text_cursor){text.data, text.data + text.length, text.data, file, err};
}

bool text_cursor_fail(const struct text_cursor *cursor, const char *format, ...)
{
    char reason[REASON_SIZE];
    unsigned long line = 1;
    va_list arguments;
    if (err_is_set(cursor->err))
        return false;
    va_start(arguments, format);
    vsnprintf(reason, sizeof(reason), format, arguments);
    va_end(arguments);
    for (const char *at = cursor->begin; at < cursor->at; at++)
        line += *at == '\n';
    int shown = cursor->file.length < NAME_SHOWN ? (int)cursor->file.length : NAME_SHOWN;
    return err_set(cursor->err, ERR_malformed, (uint64_t)(cursor->at - cursor->begin), "%.*s%sline %lu: %s", shown,
                   cursor->file.data, shown > 0 ? ", " : "", line, reason);
}

bool text_cursor_take(struct text_cursor *cursor, const char *word)
{
    if (!str_starts(text_cursor_rest(cursor), str_of(word)))
        return false;
    cursor->at += strlen(word);
    return true;
}

bool text_cursor_want(struct text_cursor *cursor, const char *word)
{
    return text_cursor_take(cursor, word) || text_cursor_fail(cursor, "\"%s\" is missing", word);
}

bool text_cursor_number(struct text_cursor *cursor, int64_t *number)
{
    const char *at = cursor->at;
    bool is_negative = at < cursor->end && *at == '-', is_one = false;
    uint64_t value = 0;
    for (at += is_negative; at < cursor->end && *at >= '0' && *at <= '9'; at++) {
        uint64_t digit = (uint64_t)(*at - '0');
        if (value > ((uint64_t)INT64_MAX - digit) / 10)
            return false;
        value = value * 10 + digit;
        is_one = true;
    }
    if (!is_one)
        return false;
    *number = is_negative ? -(int64_t)value : (int64_t)value;
    cursor->at = at;
    return true;
}

void text_cursor_blanks(struct text_cursor *cursor)
{
    for (;;) {
        while (cursor->at < cursor->end && (*cursor->at == ' ' || *cursor->at == '\t'))
            cursor->at++;
        struct str rest = text_cursor_rest(cursor);
        if (!str_starts(rest, STR("/*")))
            return;
        const char *close = memmem(rest.data + 2, rest.length - 2, "*/", 2);
        cursor->at = close ? close + 2 : cursor->end;
    }
}

struct str text_cursor_until(struct text_cursor *cursor, const char *stops)
{
    const char *from = cursor->at;
    while (cursor->at < cursor->end && *cursor->at != '\n' && (*cursor->at == '\0' || !strchr(stops, *cursor->at)))
        cursor->at++;
    return (struct str){from, (size_t)(cursor->at - from)};
}

/* Passes a text in quotes; the cursor is at the first of them. */
static void quoted_pass(struct text_cursor *cursor)
{
    for (cursor->at++; cursor->at < cursor->end && *cursor->at != '"'; cursor->at++)
        cursor->at += *cursor->at == '\\' && cursor->end - cursor->at > 1;
    cursor->at += cursor->at < cursor->end;
}

bool text_cursor_balanced(struct text_cursor *cursor, const char *stops, struct str *passed)
{
    const struct text_cursor first = *cursor;
    size_t depth = 0;
    while (cursor->at < cursor->end) {
        char c = *cursor->at;
        if (c == '"') {
            quoted_pass(cursor);
            continue;
        }
        bool is_close = c == ')' || c == ']' || c == '}';
        if (depth == 0 && (c == '\n' || is_close || (c != '\0' && strchr(stops, c))))
            break;
        depth += c == '(' || c == '[' || c == '{';
        depth -= is_close;
        cursor->at++;
    }
    *passed = (struct str){first.at, (size_t)(cursor->at - first.at)};
    return depth == 0 || text_cursor_fail(&first, "a bracket that is opened here is never closed");
}

struct str text_cursor_line(struct text_cursor *cursor)
{
    struct str line = text_cursor_until(cursor, "");
    cursor->at += cursor->at < cursor->end;
    return line;
}

bool text_cursor_attribute(struct text_cursor *cursor, struct str *key, struct str *value)
{
    *value = (struct str){"", 0};
    text_cursor_blanks(cursor);
    *key = text_cursor_until(cursor, "=,");
    return !text_cursor_take(cursor, "=") || text_cursor_balanced(cursor, ",", value);
}
