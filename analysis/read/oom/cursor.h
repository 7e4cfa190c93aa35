/* SPDX-License-Identifier: Apache-2.0
 * cursor.h: steps through the sentences of a cleaned text (text.h).
 *
 * A step that fits moves `*at` behind what it took; one that does not leaves it. */
#pragma once

#include "read/oom/oom.h"
#include "read/oom/text.h"

#include <ctype.h>
#include <string.h>

/* `literal` holds no white space. */
bool oom_cursor_take(const struct oom_text *text, size_t *at, const char *literal);
/* The first `literal` that begins at most `within` bytes on. */
bool oom_cursor_find(const struct oom_text *text, size_t *at, const char *literal, size_t within);
/* The last `literal` that ends at `at` or up to `within` bytes before: sets *found to its begin. */
bool oom_cursor_find_before(const struct oom_text *text, size_t at, const char *literal, size_t within, size_t *found);

/* A printed size, powers of 1024: "17.60G", "0B", "1004.50MiB", "2.00GiB", "201. GiB", "12kB"; or
 * "123 bytes". False when there is none, so "NaNG" is none; past 2^64 or cut by
 * the end of the text it is taken with is_known false. */
bool oom_cursor_take_size(const struct oom_text *text, size_t *at, struct oom_figure *figure);
/* A number that is printed without its unit: of bytes ('B'), of KiB ('K'), of MiB ('M'), of GiB ('G'), with decimals or
 * not; 'x': "0xc400" bytes. */
bool oom_cursor_take_amount(const struct oom_text *text, size_t *at, char unit, struct oom_figure *figure);
/* A size, or a number of bytes without a unit. Where the text ends behind the point of a size, it is not known. */
bool oom_cursor_take_any(const struct oom_text *text, size_t *at, struct oom_figure *figure);
/* Decimal digits, whatever follows. */
bool oom_cursor_take_number(const struct oom_text *text, size_t *at, struct oom_figure *figure);
/* Letters, digits and '_', at most 256; *from is where they begin. */
bool oom_cursor_take_word(const struct oom_text *text, size_t *at, size_t *from);
/* Goes on to the first of `ends` (a set of bytes), at most `within` bytes on. */
bool oom_cursor_skip_to(const struct oom_text *text, size_t *at, const char *ends, size_t within);

/* The value of NAME="…" at `*at` (behind the '='), quotes inside escaped. False
 * when no quote opens or closes within `within`; *from and *to bound the value. */
bool oom_cursor_take_quoted(const struct oom_text *text, size_t *at, size_t within, size_t *from, size_t *to);

/* `word` of small letters at `*at`, in letters of either case; bytes of `skipped` may stand between them. Asked of many
 * words at many places: no call. */
static inline bool oom_cursor_take_folded(const struct oom_text *text, size_t *at, const char *word,
                                          const char *skipped)
{
    size_t end = *at;
    for (const char *letter = word; *letter != '\0'; end++) {
        if (end >= text->length)
            return false;
        const char c = text->bytes[end];
        if (letter > word && c != '\0' && strchr(skipped, c) != NULL)
            continue;
        if (tolower((unsigned char)c) != *letter++)
            return false;
    }
    *at = end;
    return true;
}

/* Does `word`, in letters of either case, end before clean byte `at`? */
static inline bool oom_cursor_is_folded_before(const struct oom_text *text, size_t at, const char *word)
{
    size_t length = strlen(word);
    return at >= length && oom_cursor_take_folded(text, &(size_t){at - length}, word, "");
}
