/* SPDX-License-Identifier: Apache-2.0 */
#include "base/printable.h"

#include <stdint.h>
#include <stdio.h>

/* First and last of the characters that are valid and not shown, in order; all of them have three bytes at most. */
static const struct {
    uint32_t first, last;
} HIDDEN[] = {
    {0x0000, 0x001F}, {0x007F, 0x009F}, {0x061C, 0x061C}, {0x200E, 0x200F},
    {0x2028, 0x202E}, {0x2066, 0x206F}, {0xFFF9, 0xFFFB},
};

/* The character of one to three bytes that str_utf8_length has found. */
static uint32_t rune_of(const char *text, size_t length)
{
    const unsigned char *at = (const unsigned char *)text;
    return length == 1   ? at[0]
           : length == 2 ? (uint32_t)(at[0] & 0x1F) << 6 | (at[1] & 0x3F)
                         : (uint32_t)(at[0] & 0x0F) << 12 | (uint32_t)(at[1] & 0x3F) << 6 | (at[2] & 0x3F);
}

static bool is_hidden(uint32_t rune)
{
    for (size_t at = 0; at < sizeof(HIDDEN) / sizeof(HIDDEN[0]); at++)
        if (rune >= HIDDEN[at].first && rune <= HIDDEN[at].last)
            return true;
    return false;
}

static bool is_layout(struct str text, size_t at)
{
    char c = text.data[at];
    return c == '\n' || c == '\t' || (c == '\r' && at + 1 < text.length && text.data[at + 1] == '\n');
}

size_t printable_run(struct str text, enum printable_form form)
{
    size_t at = 0;
    while (at < text.length) {
        char c = text.data[at];
        size_t length = (unsigned char)c < 0x80 ? 1 : str_utf8_length(text.data + at, text.length - at);
        bool is_shown = length == 1 ? !str_is_control(c)
                                    : length == 4 || (length > 0 && !is_hidden(rune_of(text.data + at, length)));
        if (!is_shown && (form != PRINTABLE_LINES || !is_layout(text, at)))
            break;
        at += length;
    }
    return at;
}

size_t printable_escape(struct str text, char escape[PRINTABLE_ESCAPE_SIZE])
{
    size_t length = str_utf8_length(text.data, text.length);
    if (length == 0)
        snprintf(escape, PRINTABLE_ESCAPE_SIZE, "\\x%02x", (unsigned char)text.data[0]);
    else
        snprintf(escape, PRINTABLE_ESCAPE_SIZE, "\\u%04x", (unsigned)(rune_of(text.data, length) & 0xFFFF));
    return length == 0 ? 1 : length;
}
