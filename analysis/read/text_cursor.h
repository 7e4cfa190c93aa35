/* SPDX-License-Identifier: Apache-2.0
 * text_cursor.h: a place in a text of the compiler, and what is read there.
 *
 * Every function moves on by what it has read, so a walk is linear; nothing is read past the end. */
#pragma once

#include "base/err.h"
#include "base/str.h"

struct text_cursor {
    const char *at, *end, *begin;
    struct str file; /* its name, for reports; may be empty */
    struct err *err;
};

struct text_cursor text_cursor_open(struct str text, struct str file, struct err *err);
/* Reports `malformed`, with file and line. Always false. */
bool text_cursor_fail(const struct text_cursor *cursor, const char *format, ...) __attribute__((format(printf, 2, 3)));

static inline struct str text_cursor_rest(const struct text_cursor *cursor)
{
    return (struct str){cursor->at, (size_t)(cursor->end - cursor->at)};
}
/* The character at the cursor; a line break at the end. */
static inline char text_cursor_peek(const struct text_cursor *cursor)
{
    return cursor->at < cursor->end ? *cursor->at : '\n';
}
/* Passes `word` if it is here. */
bool text_cursor_take(struct text_cursor *cursor, const char *word);
/* The same, and reports what is missing. */
bool text_cursor_want(struct text_cursor *cursor, const char *word);
/* A whole number, below 0 too; false, and the cursor stays, if none is here or it passes 64 bits. */
bool text_cursor_number(struct text_cursor *cursor, int64_t *number);
/* Spaces, and comments as in "/ *index=5* /". Not line breaks. */
void text_cursor_blanks(struct text_cursor *cursor);
/* What comes before the next of the characters `stops`, a line break or the end. */
struct str text_cursor_until(struct text_cursor *cursor, const char *stops);
/* The same, but neither inside of quotes nor of brackets, which may go over lines; a closing bracket that was not
 * opened here ends it too. False, and a report, where one is never closed. */
bool text_cursor_balanced(struct text_cursor *cursor, const char *stops, struct str *passed);
/* All of the line, its break passed. */
struct str text_cursor_line(struct text_cursor *cursor);
/* An attribute of an operation or a module, "key=value", behind its comma; one without a value has an empty one. False,
 * and a report, where the value is not closed. */
bool text_cursor_attribute(struct text_cursor *cursor, struct str *key, struct str *value);
