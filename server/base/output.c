/* SPDX-License-Identifier: Apache-2.0 */
#include "server/base/output.h"

#include "base/printable.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool write_shown(FILE *out, struct str text)
{
    bool is_good = true;
    while (text.length > 0 && is_good) {
        char escape[PRINTABLE_ESCAPE_SIZE];
        size_t length = printable_run(text, PRINTABLE_LINES);
        is_good = fwrite(text.data, 1, length, out) == length;
        text = (struct str){text.data + length, text.length - length};
        if (text.length == 0)
            break;
        length = printable_escape(text, escape);
        is_good = is_good && fputs(escape, out) >= 0;
        text = (struct str){text.data + length, text.length - length};
    }
    return is_good;
}

/* A disk that is full is seen at the end, when standard output is closed. */
void output_text(const char *bytes, size_t size) { (void)!write_shown(stdout, (struct str){bytes, size}); }

void output_word(const char *text) { output_text(text, strlen(text)); }

void output_format(const char *format, ...)
{
    struct buf text = BUF_INIT;
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, arguments);
    char *to = length < 0 ? NULL : buf_reserve(&text, (size_t)length + 1);
    if (to) {
        vsnprintf(to, (size_t)length + 1, format, again);
        output_text(to, (size_t)length);
    }
    va_end(again);
    va_end(arguments);
    buf_free(&text);
}

bool output_data(FILE *out, const char *bytes, size_t size)
{
    return isatty(fileno(out)) ? write_shown(out, (struct str){bytes, size}) : fwrite(bytes, 1, size, out) == size;
}

void output_answer(const char *bytes, size_t size, bool is_data)
{
    if (is_data)
        (void)!output_data(stdout, bytes, size);
    else
        output_text(bytes, size);
}

int output_width(const char *shown, int columns)
{
    for (; *shown; shown++)
        columns += ((unsigned char)*shown & 0xC0) == 0x80;
    return columns;
}
