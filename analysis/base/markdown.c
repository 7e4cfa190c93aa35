/* SPDX-License-Identifier: Apache-2.0 */
#include "base/markdown.h"

#include "base/printable.h"

static const char APART[] = "&#8203;"; /* a space without width */

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static bool ends_with(struct str text, size_t end, struct str word)
{
    return end >= word.length && str_equal_any_case((struct str){text.data + end - word.length, word.length}, word);
}

/* Would GitHub turn the character at `at` and the text behind it into a mention or link? */
static bool is_begin(struct str text, size_t at)
{
    char next = at + 1 < text.length ? text.data[at + 1] : ' ';
    switch (text.data[at]) {
    case '@': return true;
    case '#': return is_digit(next);
    case '-': return is_digit(next) && ends_with(text, at, STR("gh"));
    case ':': return next == '/';
    case 'w': return next == '.' && ends_with(text, at + 1, STR("www"));
    }
    return false;
}

/* Behind a backslash a backslash is one. */
static void hidden_write(struct buf *out, struct str character)
{
    char escape[PRINTABLE_ESCAPE_SIZE];
    printable_escape(character, escape);
    buf_char(out, '\\');
    buf_text(out, escape);
}

void markdown_text(struct buf *out, struct str text)
{
    for (size_t at = 0; at < text.length;) {
        size_t length = str_utf8_length(text.data + at, text.length - at);
        char c = text.data[at];
        if (memchr("\\`*_{}[]<>#|~", c, 13) != NULL)
            buf_char(out, '\\');
        if (length == 0)
            buf_text(out, "\xEF\xBF\xBD");
        else if (c == '&')
            buf_text(out, "&amp;");
        else if (printable_run((struct str){text.data + at, length}, PRINTABLE_WORDS) == 0)
            hidden_write(out, (struct str){text.data + at, length});
        else
            buf_add(out, text.data + at, length);
        if (is_begin(text, at))
            buf_text(out, APART);
        at += length == 0 ? 1 : length;
    }
}
